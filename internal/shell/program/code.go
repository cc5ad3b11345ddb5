package program

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/effect"
)

// Execute executes a file as an interpreter finds it: a name without an extension, and a folder, stand for one of the row's Modules.
func (c *Call) Execute(w Word) {
	c.File(policy.Execute, w)
	if w.Unknown || w.Pattern || c.Row == nil || c.Row.Modules == "" || w.Text != "." && path.Ext(w.Text) != "" {
		return
	}
	for end := range strings.SplitSeq(c.Row.Modules, "|") {
		c.File(policy.Execute, Known(strings.TrimSuffix(w.Text, "/")+end))
	}
}

// Path gives each name of a list with colons between them a role: a class path.
func Path(c *Call, role byte, list Word) {
	for from := 0; from <= len(list.Text); {
		end := strings.IndexByte(list.Text[from:], ':')
		if end < 0 {
			end = len(list.Text) - from
		}
		one := list
		one.Text = list.Text[from : from+end]
		if one.Text != "" || list.Unknown {
			c.Role(role, one)
		}
		from += end + 1
	}
}

// within executes whatever lies in a folder: hooks, plugins, modules.
func within(c *Call, folder Word) {
	c.File(policy.Execute, folder)
	if !folder.Unknown && !folder.Pattern && folder.Text != "" {
		folder.Text, folder.Pattern = globs.Quote(strings.TrimSuffix(folder.Text, "/"))+"/**", true
		c.File(policy.Execute, folder)
	}
}

// RunFile executes a script: a file, or what another command writes.
func (c *Call) RunFile(w Word) {
	switch {
	case w.Stream || w.Unknown && w.From&effect.Network != 0:
		c.RunOutput(w.From)
	case w.Text == "/dev/stdin" || w.Text == "/dev/fd/0" || w.Text == "/proc/self/fd/0" || w.Text == "-":
		c.RunInput()
	case strings.HasPrefix(w.Text, "/dev/fd/") || strings.HasPrefix(w.Text, "/proc/self/fd/"):
		c.RunOutput(0)
	case strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "file:") && c.Address(w):
		c.Does |= effect.RemoteCode
	default:
		if strings.Contains(w.Text, "node_modules/") && IsAgentPackage(w.Text) {
			c.Does |= effect.Agent
		}
		c.Does |= effect.ProjectCode
		c.Execute(w)
		if w.Pattern || w.Vanishes {
			c.Unclear("which script runs is not known")
		}
	}
}

// RunInput runs code that comes from standard input.
func (c *Call) RunInput() {
	switch {
	case c.Input.Document != nil:
		c.Does |= effect.InlineCode
		if c.Input.Document.From&effect.Network != 0 {
			c.Does |= effect.RemoteCode
		}
	case c.Input.Output != nil:
		c.RunOutput(c.Input.Does)
	case c.Input.File != nil:
		c.Role('x', *c.Input.File)
		c.Does |= effect.InlineCode
	default:
		c.Does |= effect.InlineCode
		c.Unclear("it asks for what it runs")
	}
}

// RunOutput runs code that another command with the given effects writes.
func (c *Call) RunOutput(does effect.Set) {
	if does&effect.Network != 0 {
		c.Does |= effect.RemoteCode
	}
	c.Does |= effect.InlineCode
	c.Unclear("the code that runs is what another command writes")
}

// IsAgentPackage reports whether a package, or a path to one, is another agent.
func IsAgentPackage(s string) bool {
	return ContainsAny(strings.ToLower(s), "claude", "codex", "gemini-cli", "charmland/crush", "opencode", "aider", "goose", "qwen-code",
		"sourcegraph/amp", "cline", "copilot", "openhands", "auggie")
}

// RunProject is the handler of a program that is built from the project, or whose arguments are the project's own: they may be paths.
func RunProject(c *Call, args []Word) {
	c.Does |= effect.ProjectCode | effect.Write
	ExecuteTasks(c, args)
	cargoSettings(c, args)
	Targets(c, args)
	c.WorkHere("rw")
	c.Guess(args)
	ExecuteSettings(c, args)
	c.Finish()
}

// Launchers are scripts in projects that start the build tool of which they are named, with all their arguments.
const Launchers = "gradlew|mvnw"

// cargoSettings looks for settings of cargo, and options of the compiler behind it, that name a program.
func cargoSettings(c *Call, args []Word) {
	if c.Words[0].Text != "cargo" {
		return
	}
	for i, w := range args {
		if v, ok := strings.CutPrefix(w.Text, "--config"); ok && (strings.HasPrefix(v, "=") || i+1 < len(args)) {
			c.Unclear("settings of cargo change what runs")
		}
		if _, linker, ok := strings.Cut(w.Text, "linker="); ok {
			c.RunNested(Word{Text: linker, Unknown: w.Unknown})
		}
	}
}

// extensions are those of files that an interpreter runs.
const extensions = ".py|.js|.mjs|.cjs|.ts|.mts|.cts|.tsx|.jsx|.rb|.pl|.php|.exs|.dart|.zig|.swift|.sh|.bash|.lua|.kts"

// ExecuteTasks executes the files among the arguments of programs that run them, and the file in which a program finds its tasks. Runners
// of tests are not among these programs: they run what agents write all day.
func ExecuteTasks(c *Call, args []Word) {
	switch c.Part.Program {
	case "just":
		executeAll(c, "justfile", "Justfile", ".justfile")
		for i, w := range args {
			if Named("-f|--justfile", w.Text) && i+1 < len(args) {
				c.File(policy.Execute, args[i+1])
			}
		}
	case "mvn", "mvnw":
		executeAll(c, ".mvn/jvm.config", ".mvn/maven.config", ".mvn/extensions.xml")
		return
	case "rake":
		executeAll(c, "Rakefile", "rakefile")
	case "task":
		executeAll(c, "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml")
	case "deno", "bun", "coverage", "rails", "mix", "dart", "zig", "swift":
	default:
		if c.Row == nil || c.Row.Name != "cProfile|profile|trace" && !ContainsText(c.Words, "coverage") {
			return
		}
	}
	for _, w := range args {
		if w.Text == "test" {
			return
		}
		if ext := path.Ext(w.Text); !w.Unknown && !strings.HasPrefix(w.Text, "-") && ext != "" && Named(extensions, ext) {
			c.File(policy.Execute, w)
		}
	}
}

func executeAll(c *Call, names ...string) {
	for _, name := range names {
		c.File(policy.Execute, Known(name))
	}
}

// settingsOptions are options of builds and tests that name a file from which the program takes code.
const settingsOptions = "-c|--config|--config-file|--rootdir|--confcutdir|--settings|--setupFiles|--globalSetup|--require|-r|--import|" +
	"--script-shell|--init-script|-I|--settings-file|-s|--shell"

// ExecuteSettings executes the files that options name from which a build or a test takes code: --config x, --rootdir=x.
func ExecuteSettings(c *Call, args []Word) {
	for i, w := range args {
		name, val, attached := strings.Cut(w.Text, "=")
		if !Named(settingsOptions, name) {
			continue
		}
		v := w
		switch {
		case attached:
			v = w.Tail(len(name) + 1)
		case i+1 < len(args):
			v, val = args[i+1], args[i+1].Text
		}
		switch {
		case strings.HasPrefix(val, "{"):
			c.Does |= effect.InlineCode
		case name == "--shell":
			c.Unclear("another shell runs the tasks")
		case strings.HasPrefix(val, "/") || strings.HasPrefix(val, ".."):
			c.File(policy.Execute, v)
		}
	}
}

// Targets looks for words among the arguments of a build that say that it does more than build: deploy, publish, db:drop.
func Targets(c *Call, args []Word) {
	for _, w := range args {
		word := strings.ToLower(w.Text)
		if i := strings.LastIndexByte(word, ':'); i >= 0 && !strings.HasPrefix(word, "db:") {
			word = word[i+1:]
		}
		head, _, _ := strings.Cut(word, "-")
		switch {
		case head == "deploy" || head == "publish" || head == "release" && w.Text != "Release" || head == "upload" ||
			word == "nexus-publish" || strings.HasPrefix(word, "publishto"):
			c.Does |= effect.Publish | effect.Network
		case Named("db:drop|db:reset|db:purge|db:schema:load|flush|sqlflush|reset_db|db:migrate:reset|dropdb", word):
			c.Does |= effect.Database
		case word == "install" && c.Row != nil && c.Row.Name == "make" || word == "uninstall":
			c.Does |= effect.Install
		}
	}
}
