package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// Own says why a command of an agent must not be replaced: the agent would then not look at what its person has set for the command as the
// model wrote it. "" means that the person has set nothing. What cannot be read, or is not known, counts as set. id is the process of the
// agent, which started the hook, and dir the folder in which it works.
func Own(project state.Paths, agent harness.Agent, id int, dir string) (why string) {
	p, err := running(agent, id)
	if err != nil {
		return "what " + agent.Title + " was started with is not known: " + err.Error()
	}
	home, err := state.AccountHome()
	if err != nil {
		return "the home of the account is not known"
	}
	var seen []string
	// The folder of settings is that which the agent's environment names, or that in the home of the account: both are read.
	for _, environ := range [][]string{p.environ, {"HOME=" + home}} {
		for _, at := range upwards(project.Project, p.dir, dir) {
			files, err := agent.Settings(at, environ)
			if err != nil {
				return "the settings of " + agent.Title + " are not found: " + err.Error()
			}
			for _, path := range agent.Rewrites().Unknown(filepath.Dir(files[0].Path)) {
				if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
					return path + " may have rules"
				}
			}
			for _, f := range files {
				if slices.Contains(seen, f.Path) {
					continue
				}
				seen = append(seen, f.Path)
				s := Setup{Agent: agent, Environ: environ, State: project, Dir: project.Project}
				if why = ownIn(&s, f.Path); why != "" {
					return why
				}
			}
		}
	}
	return agent.Rewrites().Started(p.args)
}

// process is a running agent.
type process struct {
	args    []string // without the program
	environ []string // with which it was started: what its settings set is not in it
	dir     string
}

// running looks at the process of an agent (proc(5)).
func running(agent harness.Agent, id int) (p process, err error) {
	if id <= 1 {
		return p, errors.New("its process has ended")
	}
	at := filepath.Join("/proc", strconv.Itoa(id))
	line, err := os.ReadFile(filepath.Join(at, "cmdline"))
	if err != nil {
		return p, errors.New("its process cannot be read")
	}
	environ, err := os.ReadFile(filepath.Join(at, "environ"))
	if err != nil {
		return p, errors.New("its environment cannot be read")
	}
	if p.dir, err = os.Readlink(filepath.Join(at, "cwd")); err != nil {
		return p, errors.New("its folder cannot be read")
	}
	words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	if len(words) > 1 && slices.Contains([]string{"node", "bun"}, filepath.Base(words[0])) {
		words = words[1:] // the program is a script
	}
	if filepath.Base(words[0]) != agent.Name {
		return p, errors.New("its hook was started by " + filepath.Base(words[0]))
	}
	p.args, p.environ = words[1:], strings.Split(strings.TrimSuffix(string(environ), "\x00"), "\x00")
	return p, nil
}

// upwards returns folders and all folders above them, each one once.
func upwards(dirs ...string) (out []string) {
	for _, dir := range dirs {
		for at := filepath.Clean(dir); filepath.IsAbs(at) && !slices.Contains(out, at); at = filepath.Dir(at) {
			out = append(out, at)
		}
	}
	return out
}

// ownIn says what a person has set in one file of settings.
func ownIn(s *Setup, path string) (why string) {
	text, _, err := readConfig(path)
	if err != nil {
		return path + " cannot be read"
	}
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil || root.kind != '{' && root.kind != 0 {
		return path + " is not understood"
	}
	known := s.Agent.Rewrites()
	if boxed(s.Agent, text, &root) {
		return s.Agent.Title + " has a sandbox of its own (" + strings.Join(known.Sandbox, ".") + " in " + path +
			"), and one is not put into another"
	}
	for _, list := range known.Lists {
		if node := lookup(&root, list); node != nil && !empty(s, path, text, node) {
			return strings.Join(list, ".") + " is set in " + path
		}
	}
	if env := lookup(&root, []string{"env"}); env != nil {
		for _, m := range env.members {
			if s.Agent.Moves(m.name) {
				return "env." + m.name + " is set in " + path
			}
		}
	}
	all, err := s.handlers(text)
	if err != nil {
		return path + " is not understood"
	}
	for _, h := range all {
		if k := s.Agent.Kind(h.Event); !h.ours && (k == harness.PreTool || k == harness.Permission) {
			return "another hook for " + h.Event + " is in " + path
		}
	}
	return ""
}

// boxed reports whether a file switches the agent's own sandbox on.
func boxed(agent harness.Agent, text []byte, root *jsonNode) bool {
	node := lookup(root, agent.Rewrites().Sandbox)
	return node != nil && string(node.raw(text)) != "false"
}

// InOwnSandbox says that the settings of an agent switch on a sandbox of its own in a project folder, and where; "" if they do not. Its
// commands then run in that sandbox, and not in ours.
func InOwnSandbox(agent harness.Agent, dir string, environ []string) string {
	file := ownSandbox(agent, dir, environ)
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s has a sandbox of its own (%s in %s), and Mycelium's is not put into it: where a rule has sandbox, it asks",
		agent.Title, strings.Join(agent.Rewrites().Sandbox, "."), file)
}

// InOwnSandboxes is [InOwnSandbox] for every agent: it returns what there is to say.
func InOwnSandboxes(dir string, environ []string) (out []string) {
	for _, agent := range harness.Agents() {
		if own := InOwnSandbox(agent, dir, environ); own != "" {
			out = append(out, own)
		}
	}
	return out
}

// ownSandbox returns the file of settings that switches on the sandbox of an agent itself; "" if none does.
func ownSandbox(agent harness.Agent, dir string, environ []string) (file string) {
	if agent.Rewrites == nil {
		return ""
	}
	files, err := agent.Settings(dir, environ)
	if err != nil {
		return "" // the agent finds no settings either
	}
	for _, f := range files { // those of an administrator, the last ones, stand above the others
		text, _, err := readConfig(f.Path)
		if err != nil {
			continue
		}
		root, err := parseJSON(text, agent.Hooks.Comments)
		if err != nil || lookup(&root, agent.Rewrites().Sandbox) == nil {
			continue
		}
		if file = ""; boxed(agent, text, &root) {
			file = f.Path
		}
	}
	return file
}

// empty reports whether a list has only entries that we wrote, or an object only members that are switched off.
func empty(s *Setup, path string, text []byte, node *jsonNode) bool {
	switch node.kind {
	case '[':
		var mine []string
		for _, scope := range s.Agent.Scopes() {
			with := *s
			with.Scope = scope
			if n, err := with.readNote(path); err == nil {
				mine = append(mine, n.Denied...)
			}
		}
		return !slices.ContainsFunc(node.elems, func(e jsonNode) bool { return !slices.Contains(mine, e.str(text)) })
	case '{':
		return !slices.ContainsFunc(node.members, func(m jsonMember) bool { return string(m.value.raw(text)) != "false" })
	}
	return string(node.raw(text)) == "null"
}
