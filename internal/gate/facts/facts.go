// Package facts says what a call would do, for the policy: the programs, paths, hosts and branches of its arguments ([Of]). It follows
// links in the file system and reads git's settings; it decides nothing. [Written] remembers which files a session wrote.
package facts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/credential/held"
	"mycelium/internal/policy"
	"mycelium/internal/shell"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// maxPaths bounds the paths that one call may name: each costs system calls. A call that names more is refused.
const maxPaths = 1000

// Place is where a call works.
type Place struct {
	// Dir (absolute, links resolved) is where relative paths begin: the project folder, which is the working directory of servers, or the
	// folder of the built-in files server.
	Dir  string
	Home string // the user's home folder; "" leaves ~ alone

	// Project is the project folder, if it is known.
	Project string

	// Worktrees are the other folders of the project: see [policy.Facts.Worktrees]. Those that the call does not concern are left out of
	// its facts.
	Worktrees func() []string

	// Workers is the folder of the state with the git folders of the trees of the project's workers; "": there are none.
	Workers string

	// Inside runs git in those trees; nil: what only git knows of them is not known.
	Inside git.Inside

	// SkillFolder returns the folder of a skill, for the tool that runs its scripts; nil or "": there is none.
	SkillFolder func(name string) string

	// Wrote returns the files of the session with one of the endings, if it is known which files it wrote.
	Wrote func(endings ...string) []string

	// Held reads the files that the call opens. nil: each call reads them anew.
	Held *held.Reader

	// Protects reports whether the policy refuses a path to somebody, or asks. Of the files that a pattern matches only these become
	// facts; with nil all do.
	Protects func(policy.Path) bool
}

// At returns the place of a call that a policy decides. trees has the working trees of the policy's project. They are looked for once at
// most, and not for a call that names no path and no program, because looking for them takes system calls. nil: there are none.
func At(p *policy.Policy, dir, home string, trees *worktree.Cache) Place {
	at := Place{Dir: dir, Home: home, Project: p.Dir()}
	if trees != nil {
		at.Worktrees, at.Workers = sync.OnceValue(func() []string { return trees.Linked(p.Dir()) }), trees.Workers
	}
	at.Protects = func(path policy.Path) bool { return p.Protects(path, at.worktrees()) }
	return at
}

// worktrees are the other folders of the project.
func (p *Place) worktrees() []string {
	if p.Worktrees == nil {
		return nil
	}
	return p.Worktrees()
}

// misread reads every command of an agent in the place of this package, in a build of the tests: see misread.go. It is nil in every other build.
var misread func(dir, home string) policy.Facts

// Of returns the facts of a call of a tool. A call that names more than maxPaths paths is an error, in words for the caller.
func Of(it policy.Item, notes policy.Annotations, args policy.Args, at Place) (policy.Facts, error) {
	if misread != nil && it == bashTool {
		return misread(at.Dir, at.Home), nil
	}
	f := commandFacts(it, notes, args, at.Dir, at.Home)
	if it.RunsScript() {
		f = skillScript(args, at)
	}
	if it.Server == policy.AgentServer {
		fieldFacts(&f, args)
	}
	before := &made{}
	r := resolver{at.Dir, at.Home, before}
	other := &twins{at: at}
	inside := &secrets{at: at}
	s := searcher{resolver: r, protects: at.Protects, twins: other, whole: it == readTool, dots: it == grepTool, trees: at.worktrees,
		secrets: inside}
	t := trees{at: at}
	n := 0
	for i := range f.Parts {
		t.complete(&f.Parts[i])
		t.unpacked(&f.Parts[i], before)
		before.uses(&f.Parts[i])
		// The globs of a tool that lists names are told by their text alone. Read shows whole files, and Grep lines of them.
		switch {
		case it == bashTool || it == readTool || it.RunsScript() || policy.KindOf(it).Commands:
			s.search(&f.Parts[i])
			command, _ := args["command"].(string)
			included(at, &f.Parts[i], command)
			ran(at, &f.Parts[i])
			s.along(&f.Parts[i])
		case it == grepTool && s.mayFind(&f.Parts[i]):
			s.search(&f.Parts[i])
		}
		if n += len(f.Parts[i].Paths); n > maxPaths {
			return policy.Facts{Dir: at.Dir}, fmt.Errorf("they name more than %d paths", maxPaths)
		}
		t.links(&f.Parts[i], before)
		f.Parts[i].Paths = r.paths(f.Parts[i].Paths)
		other.complete(&f.Parts[i])
		inside.complete(&f.Parts[i])
		r.pushed(&f.Parts[i])
		before.moved(&f.Parts[i])
	}
	names := func(p policy.Part) bool { return p.Program != "" || len(p.Paths)+len(p.Trees) > 0 }
	if f.Dir != at.Project || slices.ContainsFunc(f.Parts, names) {
		f.Worktrees = concerned(&f, at.worktrees())
	}
	return f, nil
}

// concerned returns those of the folders to which the facts of a call have a relation. The log keeps the facts, and most calls have none.
func concerned(f *policy.Facts, folders []string) (out []string) {
	for _, folder := range folders {
		near := func(path string) bool { return holds(folder, path) || path != "" && holds(filepath.Dir(path), folder) }
		has := near(f.Dir)
		for i := 0; i < len(f.Parts) && !has; i++ {
			has = slices.ContainsFunc(f.Parts[i].Paths, func(p policy.Path) bool { return p.Pattern || near(p.Clean) || near(p.Resolved) })
		}
		if has {
			out = append(out, folder)
		}
	}
	return out
}

// commandFacts returns the facts before links are resolved: for a command what the shell would do, for any other call what its
// arguments show. An MCP tool that runs commands is a second shell (W2), so it gets both.
func commandFacts(it policy.Item, notes policy.Annotations, args policy.Args, dir, home string) policy.Facts {
	if it == bashTool {
		if command, ok := args["command"].(string); ok {
			return shell.Facts(command, shell.Options{Dir: dir, Home: home})
		}
		return policy.ArgFacts(it, notes, args, dir)
	}
	if command, ok := inSandbox(it, args); ok {
		return shell.Facts(command, shell.Options{Dir: dir, Home: home})
	}
	f := policy.ArgFacts(it, notes, args, dir)
	for key, v := range args {
		switch strings.ToLower(strings.ReplaceAll(key, "_", "")) {
		case "command", "cmd", "commandline", "script", "shellcommand", "commands":
			if policy.KindOf(it).Commands {
				f.Parts = append(f.Parts, shell.Facts(commandLine(v, args["args"]), shell.Options{Dir: dir, Home: home}).Parts...)
			}
		}
	}
	return f
}

var (
	bashTool = policy.Item{Server: policy.AgentServer, Name: "Bash"}
	grepTool = policy.Item{Server: policy.AgentServer, Name: "Grep"}
	readTool = policy.Item{Server: policy.AgentServer, Name: "Read"}
)

// Interpreters are the programs that run a script of the sandbox's server, by its ending (requirements, A20). A script without one is its
// own program.
var Interpreters = map[string][]string{".py": {"python3"}, ".sh": {"bash"}, ".js": {"node"}, ".ts": {"npx", "tsx"}}

// skillScript is what a script of a skill does: its interpreter runs the file, in the skill's folder.
func skillScript(args policy.Args, at Place) policy.Facts {
	name, _ := args["skill"].(string)
	path, _ := args["path"].(string)
	folder := ""
	if at.SkillFolder != nil {
		folder = at.SkillFolder(name)
	}
	if folder == "" || !filepath.IsLocal(path) { // no such script, and it is not run
		return policy.Facts{Dir: at.Dir}
	}
	words := []any{}
	for _, w := range append(slices.Clone(Interpreters[filepath.Ext(path)]), filepath.Join(folder, path)) {
		words = append(words, w)
	}
	return shell.Facts(commandLine(words, args["args"]), shell.Options{Dir: folder, Home: at.Home})
}

// inSandbox returns the command that a call of the sandbox's server runs. Its facts are those of the same command in a shell: the walls
// come on top of the policy, not in its place.
func inSandbox(it policy.Item, args policy.Args) (command string, ok bool) {
	if it.Server != policy.SandboxServer {
		return "", false
	}
	switch it.Name {
	case "bash":
		command, ok = args["command"].(string)
	case "sandbox_exec":
		return commandLine([]any{args["command"]}, args["args"]), true // the name of a program, not a command line
	case "sandbox_exec_script":
		path, _ := args["scriptPath"].(string)
		words := []any{}
		for _, w := range append(slices.Clone(Interpreters[filepath.Ext(path)]), path) {
			words = append(words, w)
		}
		list, _ := args["args"].([]any)
		return commandLine(append(words, list...), nil), true
	}
	return command, ok
}

// commandLine returns the command that an argument holds: a text, or a list of words, followed by the words of a second argument.
// For any other value it returns an open quote, which the shell reports as unclear.
func commandLine(v, more any) string {
	var b strings.Builder
	switch v := v.(type) {
	case string:
		b.WriteString(v)
	case []any:
		for _, w := range v {
			quoteInto(&b, w)
		}
	default:
		return "'"
	}
	if list, ok := more.([]any); ok {
		for _, w := range list {
			quoteInto(&b, w)
		}
	}
	return b.String()
}

// quoteInto adds a word, quoted so that a shell does not change it.
func quoteInto(b *strings.Builder, w any) {
	s, ok := w.(string)
	if !ok {
		s = fmt.Sprint(w)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
}
