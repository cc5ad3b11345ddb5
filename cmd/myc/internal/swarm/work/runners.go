package work

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/agent"
	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/node"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/tmux"
)

// running is the agent of a worker.
type running struct {
	runner.Runner

	session      string // at the door
	hears        bool   // it takes messages while it works
	title        string // for people
	conversation func() string
	close        func()
}

// Close ends the agent and its session.
func (r *running) Close() error {
	err := r.Runner.Close()
	if r.close != nil {
		r.close()
	}
	return err
}

// openRunner opens the agent of a worker. A new runner is a case here.
func (a *app) openRunner(ctx context.Context, t *telling, o worker.Order) (*running, error) {
	if _, ok := runner.Named(o.Runner); ok {
		return a.openBoxed(ctx, t.work, o)
	}
	if o.Runner == runner.Terminal {
		return a.openTerminal(ctx, t, o)
	}
	name := engine.Claude
	if o.Runner == runner.API {
		name = engine.API
	}
	turns, err := a.turns(o)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, a.App, engine.Options{Role: o.Role, Skills: o.Skills, Model: o.Model, Engine: name,
		Ask: approval.AskReached, Resume: o.Resume, Budget: o.Budget, MaxTurns: turns, Dir: o.Tree, Anywhere: o.Anywhere,
		Writes: o.Writes, Worker: true, Prove: true, Within: within(o), Messages: t.messages, Wall: agents.Wall(o.Wall), Tell: t.note})
	if err != nil {
		return nil, err
	}
	return &running{Runner: e, hears: true, session: e.Session, title: strings.TrimSpace(e.Name() + " " + e.Model), conversation: e.ID}, nil
}

// turns is how many answers of the model a worker may take, by its order and by agents.turns, whichever is less; 0: no limit. Its program
// is told, because a worker that is cut by it says so; one that the daemon tells to stop ends as if it were done.
func (a *app) turns(o worker.Order) (int, error) {
	project, err := a.Load()
	if err != nil {
		return 0, err
	}
	most := project.File.Agents.TurnLimit()
	if most == 0 || o.MaxTurns > 0 && o.MaxTurns < most {
		most = o.MaxTurns
	}
	return most, nil
}

// within is the profile of the sandbox for what a worker's shell runs; "": a person accepted that it runs outside of one.
func within(o worker.Order) string {
	if o.Unsandboxed {
		return ""
	}
	return "project"
}

// openTerminal opens a Claude Code in the terminal of this worker.
func (a *app) openTerminal(ctx context.Context, t *telling, o worker.Order) (*running, error) {
	pane := a.Getenv("TMUX_PANE")
	if pane == "" {
		return nil, failure.Hint(errors.New("this worker is not in a terminal of the swarm"), "myc swarm auto starts it in one")
	}
	known, _ := harness.Named(engine.Claude)
	program, err := known.Find(a.Environ)
	if err != nil {
		return nil, failure.Hint(err, "install it: npm install -g "+known.Package)
	}
	l, err := agents.StartClaude(ctx, a.App, agents.Start{Program: program, Role: o.Role, Skills: o.Skills, Ask: approval.AskReached,
		Anywhere: o.Anywhere, Dir: o.Tree, Within: within(o), Writes: o.Writes, Worker: true,
		Wall: agents.Wall(o.Wall), Tell: t.note})
	if err != nil {
		return nil, err
	}
	if err := l.Prove(ctx); err != nil {
		l.Close()
		return nil, err
	}
	session, args := o.Resume, []string{"--resume", o.Resume}
	if session == "" {
		session = uuid()
		args = []string{"--session-id", session}
	}
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	own, err := known.Files(harness.User, "", a.Environ)
	if err != nil {
		l.Close()
		return nil, err
	}
	gone, end, err := l.AtTerminal(program, args)
	if err != nil {
		l.Close()
		return nil, err
	}
	a.Out = io.Discard // the terminal is the agent's
	return &running{Runner: &runner.TUI{Screen: tmux.At(a.Getenv("TMUX")), Pane: pane, Config: filepath.Dir(own.Hooks), Session: session,
		Budget: o.Budget, Price: node.PriceOf, Gone: gone, Stop: func() { end(terminalGrace) }},
		session: l.Session.ID, title: strings.TrimSpace(known.Title + " at its terminal " + o.Model),
		conversation: func() string { return session }, close: l.Close}, nil
}

// terminalGrace is how long a Claude Code at a terminal may take to end.
const terminalGrace = 5 * time.Second

// uuid is a random UUID (RFC 9562, version 4), as Claude Code wants the id of a session.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// openBoxed opens an agent that works in the sandbox as a whole.
func (a *app) openBoxed(ctx context.Context, w *worker.Work, o worker.Order) (*running, error) {
	if err := swarmed.Affordable(o.Runner, o.Budget); err != nil {
		return nil, err
	}
	// Every worker of an attempt has the same home, so that one goes on with the conversation of the last.
	home := strings.TrimSuffix(string(w.Folder), filepath.Ext(string(w.Folder))) + ".home"
	box, err := agents.OpenBox(ctx, a.App, agents.Box{Agent: runner.Program(o.Runner), Role: o.Role, Skills: o.Skills,
		Ask: approval.AskReached, Anywhere: o.Anywhere, Dir: o.Tree, Writes: o.Writes, Home: home})
	if err != nil {
		return nil, err
	}
	dialect, _ := runner.Named(o.Runner)
	c := &runner.Turns{Dialect: dialect, Start: box.Run, Model: o.Model, ID: o.Resume}
	return &running{Runner: &proved{c, box.Title, box.Decided}, session: box.Session.ID, title: strings.TrimSpace(box.Title + " " + o.Model),
		conversation: func() string { return c.ID }, close: box.Close}, nil
}

// proved ends an agent that calls tools which no hook has decided about.
type proved struct {
	*runner.Turns
	title   string       // of the agent, for people
	decided func() int64 // how many calls the hook was asked about
}

// errUnhooked is the error of an agent that does not run its hook.
var errUnhooked = errors.New("it has called a tool that the hook was not asked about, so it was stopped")

// Say runs one turn.
func (p *proved) Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var ended int64
	before := p.decided()
	turn, err := p.Turns.Say(ctx, said, func(e agent.Event) {
		tell(e)
		if e.Done == nil {
			return
		}
		ended++
		if p.decided()-before < ended {
			stop(errUnhooked)
		}
	})
	if errors.Is(context.Cause(ctx), errUnhooked) {
		turn.Stop = "error"
		err = failure.Hint(fmt.Errorf("%s: %w", p.title, errUnhooked),
			"myc hook check "+p.Name()+" tells whether this version obeys a hook")
	}
	return turn, err
}
