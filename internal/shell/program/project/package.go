package project

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// packageScript handles npm test, npm run x, npm exec x and the subcommands that a project defines (yarn lint).
func packageScript(c *program.Call, _ []program.Word) {
	words := c.Words
	switch {
	case c.Row.Name == "setup" && c.Part.Program == "pnpm": // it writes the settings of the user's shell
		c.Does |= effect.Install
	case c.Part.Program == "bun" && len(words) > 1 && words[1].Text == "repl":
		c.RunInput()
	}
	if len(words) > 1 && words[1].Text == "node" && c.Part.Program != "npm" {
		c.Apply(c.Shell.Find("node"), words[2:])
		return
	}
	program.ExecuteTasks(c, words[1:])
	elsewhere(c)
	for i, w := range words {
		switch w.Text {
		case "exec", "x", "dlx":
			runPackage(c, words[i+1:])
			return
		case "create", "init", "innit":
			if namesInitializer(words[i+1:]) {
				c.Does |= effect.Install | effect.Network
			}
		}
	}
	c.Does |= effect.ProjectCode
	if len(words) > 2 && words[len(words)-1].Text == "env" {
		c.Does |= effect.Secrets // env prints the whole environment
	}
	program.ExecuteSettings(c, words)
	c.WorkHere("rw")
	args := words[1:]
	for i, w := range args {
		if w.Text == "--" {
			args = args[i+1:]
			break
		}
	}
	c.Guess(args)
	c.Finish()
}

// namesInitializer reports whether the words behind npm init name a package, which is fetched and run.
func namesInitializer(words []program.Word) bool {
	for i := 0; i < len(words); i++ {
		switch s := words[i].Text; {
		case program.Named("-w|--workspace|--scope|-C|--prefix|--dir|--cwd|--filter", s):
			i++
		case !strings.HasPrefix(s, "-") || words[i].Unknown:
			return true
		}
	}
	return false
}

// elsewhere goes to the folder of the project that an option behind the subcommand names.
func elsewhere(c *program.Call) {
	for i, w := range c.Words {
		name, _, attached := strings.Cut(w.Text, "=")
		switch {
		case w.Text == "--":
			return
		case !program.Named("--prefix|--cwd|--dir|-C", name):
		case attached:
			c.Enter(w.Tail(len(name) + 1))
			return
		case i+1 < len(c.Words):
			c.Enter(c.Words[i+1])
			return
		}
	}
}

// runPackage handles npx, bunx and uvx: they fetch a package unless it is installed, and run it. A known tool in the project's
// dependencies is that tool.
func runPackage(c *program.Call, args []program.Word) {
	pkg, named, rest := packageOptions(c, args)
	for _, w := range args[:len(args)-len(rest)] { // before the package they are options of npm
		if name, _, _ := strings.Cut(w.Text, "="); changesSource(name) || changesProgram(name) {
			c.Unclear("the option " + name + " changes what is fetched or run")
		}
	}
	if len(rest) == 0 {
		c.Does |= effect.Install | effect.Network
		c.Finish()
		return
	}
	if rest[0].Unknown {
		c.Unclear("which package runs is not known")
	}
	name := packageName(rest[0].Text)
	if program.IsAgentPackage(rest[0].Text) || program.IsAgentPackage(pkg.Text) {
		c.Does |= effect.Agent
	}
	row := c.Shell.Find(name)
	fetches := program.Named("uvx|pipx|pnpx|uv", c.Part.Program) || program.ContainsText(c.Words, "dlx")
	if row != nil && !fetches && !named && !strings.Contains(rest[0].Text, "@") && projectTool(name) {
		c.Does |= effect.ProjectCode
		c.Apply(row, rest[1:])
		return
	}
	c.Does |= effect.Install | effect.Network | effect.ProjectCode
	switch {
	case row == nil:
	case row.Agent:
		c.Does |= effect.Agent
	case row.Ours:
		c.Does |= effect.Operator
	}
	c.Guess(rest[1:])
	c.Finish()
}

// packageOptions reads the options before the program. It returns the package that they name, and the program with its arguments.
func packageOptions(c *program.Call, args []program.Word) (pkg program.Word, named bool, rest []program.Word) {
	for i := 0; i < len(args); i++ {
		s := args[i].Text
		switch {
		case s == "-c" || s == "--call":
			if i+1 < len(args) {
				c.RunNested(args[i+1])
			}
			return pkg, named, nil
		case program.Named("-p|--package|--from", s):
			if i++; i < len(args) {
				pkg, named = args[i], true
			}
		case program.Named("--with|--python|--spec", s):
			i++
		case strings.HasPrefix(s, "--package=") || strings.HasPrefix(s, "--from="):
			pkg, named = args[i].Tail(strings.IndexByte(s, '=')+1), true
		case len(s) < 2 || s[0] != '-':
			return pkg, named, args[i:]
		default:
			if name, _, _ := strings.Cut(s, "="); !program.Named(packageRunners, name) {
				c.Unclear("what the option " + name + " does is not known")
			}
		}
	}
	return pkg, named, nil
}

// packageRunners are the harmless options, without values of their own, of programs that run a package.
const packageRunners = "--|-y|--yes|-n|--no|--no-install|-q|--quiet|-s|--silent|-v|--verbose|--offline|--prefer-offline|--bun|" +
	"--if-present|--isolated|--no-cache|--workspaces|--include-workspace-root|-h|--help|--version|--loglevel|" +
	"--no-progress|-r|--recursive|--parallel"

// projectTool reports whether a tool is one that projects have among their own dependencies.
func projectTool(name string) bool {
	switch name {
	case "tsc", "vue-tsc", "eslint", "prettier", "jest", "vitest", "mocha", "vite", "webpack", "next", "turbo", "nx", "lerna", "playwright",
		"tsx", "ts-node", "biome", "stylelint", "oxlint", "nyc", "prisma", "ng", "standard", "ruff", "black", "mypy", "pytest", "flake8",
		"isort", "pyright", "pylint", "esbuild", "rollup", "ava", "cspell", "knip",
		"commitlint", "size-limit", "storybook":
		return true
	}
	return false
}

// packageName is the name of the program of a package: without scope and version.
func packageName(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// setup executes the script with which pip builds a folder.
func setup(c *program.Call, folder program.Word) {
	name, _, _ := strings.Cut(folder.Text, "[")
	if !folder.Unknown && !program.Named("npm|pnpm|yarn|yarnpkg|bun|go", c.Part.Program) && !strings.Contains(name, "://") {
		c.File(policy.Execute, program.Known(strings.TrimSuffix(name, "/")+"/setup.py"))
	}
}

// install handles npm install, pip install and go get. With a name they fetch something new; without one they fetch the declared
// dependencies.
func install(c *program.Call) {
	c.Does |= effect.ProjectCode
	fresh := global(c) || c.Has("e") || updatesItself(c)
	for _, t := range c.Operands {
		switch {
		case c.Part.Program == "go" && strings.Contains(t.Text, "@"):
			fresh = true
		case strings.HasPrefix(t.Text, "./") && program.Named(".tgz|.gz|.whl|.zip|.bz2", path.Ext(t.Text)):
			fresh = true
			c.Role('r', t)
		case t.Text == ".", strings.HasPrefix(t.Text, "./"), strings.HasPrefix(t.Text, ".["):
			folder, _, _ := strings.Cut(t.Text, "[")
			c.File(policy.Read, program.Word{Text: strings.TrimSuffix(folder, "/"), Unknown: t.Unknown})
			setup(c, program.Word{Text: folder, Unknown: t.Unknown})
		case t.Text == "sync", t.Text == "compile":
		case c.Words[0].Text == "uv" && (program.ContainsText(c.Words, "compile") || program.ContainsText(c.Words, "sync")) && listsPackages(t):
			c.Role('r', t)
		default:
			fresh = true
			if strings.Contains(t.Text, "://") {
				c.Address(program.Word{Text: strings.TrimPrefix(t.Text, "git+"), Unknown: t.Unknown})
			} else if strings.HasPrefix(t.Text, "/") || strings.HasPrefix(t.Text, "..") || strings.HasPrefix(t.Text, "file:") {
				c.Role('r', program.Word{Text: strings.TrimPrefix(t.Text, "file:"), Unknown: t.Unknown})
			}
		}
	}
	if v, ok := c.Value("e"); ok {
		setup(c, v)
	}
	for _, o := range c.Options {
		if program.Named("r|c", o.Name) && c.Walk.Wrote(o.Value) {
			c.Unclear("what the list names was written by this command")
		}
	}
	if v, ok := c.Value("e"); ok && (v.Text == "." || strings.HasPrefix(v.Text, "./") || strings.HasPrefix(v.Text, ".[")) {
		fresh = global(c) || len(c.Operands) > 0
	}
	if v, ok := c.Value("r"); ok && strings.Contains(v.Text, "://") {
		fresh = true
	}
	if c.HasAny("u", "i", "extra-index-url", "f") {
		fresh = true
	}
	if c.HasAny("global-option", "build-option", "install-option") {
		c.Unclear("options of setup scripts may do anything")
	}
	if fresh {
		c.Does |= effect.Install
	} else {
		c.Does |= effect.Deps
	}
}

// uninstall takes software away from the user with -g.
func uninstall(c *program.Call) {
	if global(c) {
		c.Does |= effect.Install
	}
}

// global reports whether a package manager works on what the user has, and not on the project.
func global(c *program.Call) bool {
	where, _ := c.Value("L")
	return c.Has("g") || where.Text == "global" || where.Text == "user" || where.Unknown
}

// listsPackages reports whether a word is a file in which packages are declared.
func listsPackages(t program.Word) bool {
	return !t.Unknown && !strings.Contains(t.Text, "://") && program.Named(".in|.txt|.toml|.cfg", path.Ext(t.Text))
}

// updatesItself reports whether a package manager fetches another version of itself, or lets scripts of others run.
func updatesItself(c *program.Call) bool {
	return len(c.Words) > 1 && (program.Named("self-update|approve-builds", c.Words[1].Text) ||
		c.Part.Program == "bun" && c.Words[1].Text == "upgrade")
}
