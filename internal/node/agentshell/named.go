package agentshell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/worktree"
)

// An agent that was started without the program before its shell may take another command from its hook in the place of its own. Then the
// command is this program with the name of a ticket, and the ticket has the agent's own command.

// whereArg asks the program in which folder the command of a ticket ended.
const whereArg = "where"

// wherePrefix begins the name of the file in the command's /tmp that says it.
const wherePrefix = ".myc-where-"

// keepFor is how long the folder of a session is kept after its last command.
const keepFor = 7 * 24 * time.Hour

// sessionPrefix begins the names of the folders of sessions.
const sessionPrefix = "agent-"

// Irreplaceable says why no other command can stand in the place of the one of an event; "" if one can.
func (g *Gate) Irreplaceable(e harness.Event) string {
	agent, _ := harness.Named(e.Agent)
	_, inside := g.tree(e.Dir)
	switch {
	case e.Session == "" || e.ToolUse == "":
		return "the call has no id"
	case e.Prefix != "":
		return "another program stands before the shell of " + agent.Title
	case !inside:
		return "it works outside of the project"
	}
	if _, err := g.State().ReadNote(); err != nil {
		return "it is not known whose project this is"
	}
	if why := install.Own(g.State(), agent, e.Parent, e.Dir); why != "" {
		return why + ", and " + agent.Title + " would not look at what its person set; myc claude keeps both"
	}
	return ""
}

// tree returns the working tree of the project in which a folder lies.
func (g *Gate) tree(dir string) (string, bool) {
	project, workers := g.State().Project, g.State().Workers()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return "", false
	}
	if within(dir, project) {
		return project, true
	}
	t, linked := worktree.Of(dir, workers)
	return t.Dir, linked && worktree.Main(t.Dir, workers) == project
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// Replace lets a command run once in a sandbox, and returns the command that does it.
func (g *Gate) Replace(e harness.Event, command string, in box.Box, closed policy.Closed) (string, error) {
	paths := g.State()
	tree, inside := g.tree(e.Dir)
	if !inside {
		return "", fmt.Errorf("%s is outside of the project", e.Dir)
	}
	folder := paths.Run(sessionPrefix + digest(e.Agent + "\x00" + e.Session + "\x00" + tree)[:32])
	if _, err := os.Lstat(shim.Path(folder)); err != nil {
		dropOld(paths.Run(sessionPrefix + "*"))
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find this program: %w", err)
		}
		known, err := paths.ReadNote()
		if err != nil {
			return "", fmt.Errorf("find whose project this is: %w", err)
		}
		n := Note{Agent: e.Agent, Folder: tree, Project: paths.Project, State: string(paths.Root), ID: paths.Chosen(), Home: known.Home,
			Named: true}
		if err := Prepare(folder, self, n, append(known.Environ, "HOME="+known.Home)); err != nil {
			return "", err
		}
	}
	t, err := g.ticket(e.Dir, in)
	if err != nil {
		return "", err
	}
	t.Closed = closed
	return replace(folder, e, command, t)
}

// dropOld removes the folders of sessions that have run nothing for long.
func dropOld(pattern string) {
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return // not reached: the state has no such path
	}
	for _, folder := range folders {
		if st, err := os.Stat(filepath.Join(folder, ticketsName)); err == nil && time.Since(st.ModTime()) > keepFor {
			_ = os.RemoveAll(folder)
		}
	}
}

// isTicket reports whether a text has the form of the name of a ticket: two sums.
func isTicket(name string) bool {
	sum, call, ok := strings.Cut(name, "-")
	return ok && len(sum) == 64 && len(call) == 64 && strings.Trim(sum+call, "0123456789abcdef") == ""
}

// named runs the command of a ticket, or says where it ended.
func (s *Shell) named(folder string, n *Note) int {
	name := s.Args[0]
	if !isTicket(name) {
		return s.refuse(n, name, errNotCalled())
	}
	sum, _, _ := strings.Cut(name, "-")
	dir, err := s.dir()
	switch {
	case err != nil:
		return s.refuse(n, name, err)
	case len(s.Args) == 2 && s.Args[1] == whereArg:
		_, _ = fmt.Fprintln(s.Out, where(folder, n.Folder, name, dir))
		return 0
	case len(s.Args) != 1:
		return s.refuse(n, name, errNotCalled())
	}
	ticket, err := first([]string{filepath.Join(folder, ticketsName, name)}, dir, time.Now())
	if err == nil && digest(ticket.Command) != sum {
		err = errors.New("its ticket is of another command")
	}
	if err != nil {
		return s.refuse(n, name, err)
	}
	shell, err := find(s.caller())
	if err != nil {
		return s.refuse(n, ticket.Command, err)
	}
	if ticket.Box.None() {
		return s.runOutside(folder, n, ticket, harness.Wrapped{Command: ticket.Command, Shell: filepath.Base(shell)}, shell,
			[]string{shell, "-c", ticket.Command}, dir)
	}
	c, err := s.command(folder, n, ticket, dir)
	if err != nil {
		return s.refuse(n, ticket.Command, err)
	}
	c.Argv = []string{shell, "-c", "eval " + harness.ShellWord(ticket.Command) + " && pwd -P >| /tmp/" + wherePrefix + name}
	return s.run(n, c, &ran{folder: folder, command: ticket.Command, dir: dir, more: ticket.More})
}

// caller returns the name of the shell that started the program, for which the command is written.
func (s *Shell) caller() string {
	switch {
	case s.served == nil:
		return shim.Caller()
	case s.served.asked.Shell == "zsh":
		return "zsh"
	}
	return "bash"
}

// maxWhere bounds the name of a folder, in bytes (PATH_MAX).
const maxWhere = 4096

// where returns the folder in which a command ended, if that is in the tree outside of the sandbox too; else dir. The command wrote it, so
// it may say anything.
func where(folder, tree, name, dir string) string {
	root, err := os.OpenRoot(filepath.Join(folder, tempName))
	if err != nil {
		return dir
	}
	defer func() { _ = root.Close() }()
	f, err := root.OpenFile(wherePrefix+name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return dir
	}
	defer func() { _ = f.Close() }()
	_ = root.Remove(wherePrefix + name)
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return dir
	}
	text, err := io.ReadAll(io.LimitReader(f, maxWhere))
	at := strings.TrimSuffix(string(text), "\n")
	if err != nil || !filepath.IsAbs(at) {
		return dir
	}
	at, err = filepath.EvalSymlinks(at)
	if st, serr := os.Stat(at); err != nil || serr != nil || !st.IsDir() || !within(at, tree) {
		return dir
	}
	return at
}
