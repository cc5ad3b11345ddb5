package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
)

// Launch has the parts with which an agent is started, so that it works under the policy: a session, our hook, and the gateway as its only MCP
// server. A daemon runs as long as it is not closed.
type Launch struct {
	Session api.Session
	Options []string // of the command line, which come first
	Environ []string
	Dir     string
	Hands   bool // the role sees tools of the agent's own

	app      *app
	agent    harness.Agent
	program  string   // its
	files    string   // the folder of the run
	home     string   // the folder with its configuration and conversations, if those are of this project only
	fixed    []string // files of that folder that it must not change
	tree     string   // of a worker, links resolved; "": it works in the project
	start    string   // the folder in which the program starts, links resolved
	wall     Wall
	unwalled sync.Once // a person is told once that no wall stands
	tell     func(line string)
	close    []func()
}

// warn tells the person of an agent something, and how to mend it.
func (l *Launch) warn(line, hint string) {
	if l.tell != nil {
		l.tell(line + "; " + hint)
		return
	}
	fmt.Fprintf(l.app.Err, "myc: %s\nhint: %s\n", line, hint)
}

// served says that this process starts the commands of the agent's shell, which cannot start them behind the light wall. Elsewhere there is
// no light wall.
const served = runtime.GOOS == "linux"

// Close ends the session and removes its files.
func (l *Launch) Close() {
	for i := len(l.close) - 1; i >= 0; i-- {
		l.close[i]()
	}
	l.close = nil
}

// launch prepares a start of an agent.
func (a *app) launch(ctx context.Context, program string, o startOptions) (l *Launch, err error) {
	l = &Launch{app: a, program: program, agent: o.agent, tree: o.dir, wall: o.wall}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.Dir, err = a.ProjectDir(); err != nil {
		return l, err
	}
	if err = a.installProgram(harness.Project, o.anywhere); err != nil {
		return l, err
	}
	c, err := a.attach(ctx)
	if err != nil {
		return l, err
	}
	if served {
		l.close = append(l.close, a.keepDaemon(ctx, c))
		if c, err = a.attach(ctx); err != nil {
			return l, err
		}
	}
	l.close = append(l.close, c.Close) // an automatic daemon does not end while a client is attached
	if l.Session, err = a.mintFor(ctx, c, o); err != nil {
		return l, err
	}
	l.close = append(l.close, func() { a.endFor(ctx, l.Session.ID) })
	l.Environ = a.environ(l.agent.Launch, l.Session.Token)
	if options := l.agent.Launch.Options; options == nil {
		if err := a.privateFiles(ctx, l); err != nil {
			return l, err
		}
	} else {
		var closeFiles func()
		if l.files, closeFiles, err = a.claudeFiles(ctx, program, l.Dir, l.Session, o); err != nil {
			return l, err
		}
		l.close = append(l.close, closeFiles, func() { _ = os.RemoveAll(l.files) })
		l.Options = options(filepath.Join(l.files, settingsName), filepath.Join(l.files, mcpName))
	}
	if served {
		end, err := a.serveShell(ctx, l)
		if err != nil {
			return l, err
		}
		l.close = append(l.close, end)
	}
	return l, nil
}

// environ is the environment of an agent, with the token of its session.
func (a *app) environ(l harness.Launch, token string) []string {
	env := slices.DeleteFunc(slices.Clone(a.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == hook.TokenVar || slices.Contains(l.Unset, name)
	})
	return append(env, hook.TokenVar+"="+token)
}

// Start says how our own agent starts Claude Code.
type Start struct {
	Program  string
	Role     string
	Skills   []string // active at the start; nil: those of the role
	Ask      approval.WhenAsked
	Anywhere bool   // a myc in a folder where an agent may write is accepted
	Worker   bool   // it is a worker of the swarm
	Dir      string // where it works: a linked worktree of the project; empty: the project's folder
	Within   string // profile of the sandbox for commands that no rule has in one; empty: they run outside
	Writes   string // the only file that it may change, absolute, links resolved; empty: what the policy says
	Wall     Wall
	Tell     func(line string) // tells the person that no light wall stands; nil: standard error does
}

// resolved is a folder without links; "" stays so.
func resolved(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	return filepath.EvalSymlinks(dir)
}

// StartClaude prepares a start of Claude Code by our own agent, which drives it.
func StartClaude(ctx context.Context, b *base.App, s Start) (*Launch, error) {
	a := &app{b}
	if err := a.NeedPerson("start an agent"); err != nil {
		return nil, failure.Hint(err, "an agent asks with --engine api")
	}
	tree, err := resolved(s.Dir)
	if err != nil {
		return nil, err
	}
	known, _ := harness.Named("claude")
	l, err := a.launch(ctx, s.Program, startOptions{agent: known, role: s.Role, skills: s.Skills, ask: s.Ask, anywhere: s.Anywhere,
		within: s.Within, writes: s.Writes, dir: tree, worker: s.Worker, wall: s.Wall})
	if err != nil {
		return nil, err
	}
	l.tell = s.Tell
	v, err := a.OpenView()
	if err != nil {
		l.Close()
		return nil, err
	}
	defer v.Close()
	l.Hands = seesAgentTools(v, l.Session.Role)
	if s.Dir != "" {
		l.Dir = s.Dir
	}
	l.Environ = append(l.Environ, "MCP_CONNECTION_NONBLOCKING=0") // else a turn may begin before the gateway is connected, without its tools
	return l, nil
}
