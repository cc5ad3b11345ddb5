package agents

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/relay"
	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/hook/door"
	"mycelium/internal/keeper"
	"mycelium/internal/node/api"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
	"mycelium/internal/sandbox"
)

// Boxed is a coding agent that works in the sandbox as a whole, because no program of ours can stand before its shell: with a session, our
// hook, the gateway as its only MCP server, and a home of its own.
type Boxed struct {
	Session api.Session
	Title   string // of the agent, with its version

	app     *app
	door    *door.Door
	command sandbox.Command
	program string
	close   []func()
}

// Box says how an agent is started in the sandbox.
type Box struct {
	Agent    string // its name: codex or gemini
	Role     string
	Skills   []string // active at the start; nil: those of the role
	Ask      approval.WhenAsked
	Anywhere bool   // a myc in a folder where an agent may write is accepted
	Dir      string // where it works: a linked worktree of the project
	Writes   string // the only file that it may change, absolute; empty: what the policy says
	Home     string // absolute: its home, which is made, and kept for the next start
}

// Close ends the session and what the agent reached.
func (x *Boxed) Close() {
	for i := len(x.close) - 1; i >= 0; i-- {
		x.close[i]()
	}
	x.close = nil
}

// OpenBox prepares an agent in the sandbox.
func OpenBox(ctx context.Context, b *base.App, o Box) (x *Boxed, err error) {
	a := &app{b}
	if err := a.NeedPerson("start an agent"); err != nil {
		return nil, err
	}
	known, _ := harness.Named(o.Agent)
	x = &Boxed{app: a}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if x.program, err = known.Find(a.Environ); err != nil {
		return x, failure.Hint(err, "install it: npm install -g "+known.Package)
	}
	version, err := known.Version(ctx, x.program, a.Environ)
	if err != nil {
		return x, err
	}
	x.Title = known.Title + " " + version
	if err := a.installProgram(harness.Project, o.Anywhere); err != nil {
		return x, err
	}
	c, err := a.attach(ctx)
	if err != nil {
		return x, err
	}
	x.close = append(x.close, c.Close) // an automatic daemon does not end while a client is attached
	tree, err := resolved(o.Dir)
	if err != nil {
		return x, err
	}
	options := startOptions{agent: known, role: o.Role, skills: o.Skills, ask: o.Ask, writes: o.Writes, dir: tree, worker: true}
	if x.Session, err = a.mintFor(ctx, c, options); err != nil {
		return x, err
	}
	x.close = append(x.close, func() { a.endFor(ctx, x.Session.ID) })
	return x, x.furnish(ctx, known, o)
}

// furnish makes the home of the agent, opens its door, and describes the sandbox.
func (x *Boxed) furnish(ctx context.Context, known harness.Agent, o Box) error {
	a := x.app
	s, err := a.setup(known, harness.User)
	if err != nil {
		return err
	}
	project := s.State.For(s.Dir)
	l := a.Loader
	l.Err = io.Discard
	l.Environ = append(slices.Clone(a.Environ), hook.TokenVar+"="+x.Session.Token)
	token := x.Session.Token
	x.door = &door.Door{Agent: known.Name, Token: token,
		Program: func() *hook.Program {
			p := program(&l)
			p.Project = project
			return p
		},
		Gateway: func(ctx context.Context, in io.Reader, out io.Writer) error {
			return daemon.Relay(ctx, in, out, relay.Dial(a.App, api.SessionParams{Name: known.Name, Token: token}, func(api.Attached) {}))
		}}
	socket, shut, err := x.door.Listen(ctx)
	if err != nil {
		return err
	}
	x.close = append(x.close, shut)
	s.Door = socket
	private, err := s.Private(o.Home, a.Environ, []string{s.Small, hook.DoorGateway, socket})
	if err != nil {
		return err
	}
	for to, from := range private.Logins { // copies: the person's own files are not in the sandbox
		if private.Files[to], err = os.ReadFile(from); err != nil {
			return fmt.Errorf("sign %s in: %w", known.Title, err)
		}
	}
	for path, text := range private.Files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("make a home for %s: %w", known.Title, err)
		}
		if err := atomicfile.Write(path, text, 0o600); err != nil {
			return err
		}
	}
	return x.boxed(s, private, o, socket)
}

// Run runs the agent once, with what it has on its input, and gives each line of its output to a function.
func (x *Boxed) Run(ctx context.Context, args []string, in string, line func([]byte)) error {
	program, err := filepath.EvalSymlinks(x.program)
	if err != nil {
		return fmt.Errorf("find the program of the agent: %w", err)
	}
	p, err := x.app.Load()
	if err != nil {
		return err
	}
	c := x.command
	c.Argv = append([]string{program}, args...)
	if slices.ContainsFunc(c.Hosts, loopback) { // a model on this machine: the proxy is the way to it
		c.Argv = append([]string{"/usr/bin/env", "NO_PROXY=", "no_proxy="}, c.Argv...)
	}
	said := &keeper.Tail{Most: maxTail}
	out := &lineWriter{line: line}
	c.In, c.Out, c.Err = strings.NewReader(in), out, said
	r, err := sandboxed.Run(ctx, p, &c)
	out.rest()
	switch {
	case err != nil:
		return err
	case r.ExitCode != 0:
		return fmt.Errorf("%s ended with exit code %d: %s", x.Title, r.ExitCode, strings.TrimSpace(said.String()))
	}
	return nil
}

// Decided returns how many calls of tools the hook of the agent was asked about.
func (x *Boxed) Decided() int64 { return x.door.Calls() }
