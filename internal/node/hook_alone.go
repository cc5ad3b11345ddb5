package node

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/unanswered"
	"mycelium/internal/config"
	"mycelium/internal/gate"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/project"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/policy"
	"mycelium/internal/run"
	"mycelium/internal/run/book"
	"mycelium/internal/sandbox/light"
	"mycelium/internal/state"
	"mycelium/internal/store"
)

// HookAlone decides an event of an agent's hook in this process, where no daemon runs: with the same files, the same gate and the same
// log. It starts no server and asks nobody: a question is put in the agent's own terminal, or it is a refusal. Outside of every project it
// has no opinion where only the fallback would decide.
func HookAlone(ctx context.Context, l *project.Loader, e harness.Event) (harness.Answer, error) {
	var abstains func(policy.Item) bool
	if l.Outside {
		if !e.Kind.Precedes() && e.Kind != harness.PostTool {
			return harness.Answer{Verdict: harness.Pass}, nil // there is no session to tell of
		}
		e.Ours = false // whatever gateway it is, it serves no project here
		var err error
		if e.Tool, err = project.OutsideTool(e); err != nil {
			return harness.Answer{}, err
		}
	}
	l.Snapshot = true
	v, err := l.OpenView()
	if err != nil {
		return harness.Answer{}, err
	}
	defer v.Close()
	if l.Outside {
		abstains = v.CompileOutside(e.Tool)
	}
	log, err := openLog(v.Project)
	if err != nil {
		return harness.Answer{}, err
	}
	defer func() { _ = log.Close() }()
	files := func() string { return waiting(v.Project) }
	if e.Kind != harness.Status { // nothing is recorded for a status line
		files = func() string { return waitingAlone(ctx, v.Project, log, l.Logger()) }
		if err := compareAlone(ctx, log, v.Project.State, e, l.Environ); err != nil {
			return harness.Answer{}, err
		}
	}
	o := gate.Options{
		Backends: v.Pool, Log: log, World: v.World(), Dir: v.Project.Dir, Home: v.Project.Home, Written: v.Project.State.Written(),
		Workers: v.Project.State.Workers(), Inside: swarmed.Inside(v.Project.State),
		Limits: limit.Options{Folder: v.Project.State.Limits(), Leaves: true}, Logger: l.Logger(),
		Reach: func() approval.Reach { return approval.Reach{} },
	}
	token := l.Getenv(hook.TokenVar)
	if token != "" {
		if o.DB, err = openSessions(ctx, v.Project); err != nil {
			return harness.Answer{}, err
		}
		defer func() { _ = o.DB.Close() }()
	}
	g, err := gate.New(o)
	if err != nil {
		return harness.Answer{}, err
	}
	defer g.Close()
	var s *session.Session
	if token != "" {
		if s, err = g.Sessions.Authenticate(ctx, token); err != nil {
			return harness.Answer{}, errSessionEnded
		}
	}
	runs := run.New(run.Options{Gate: g, Spec: v.AgentSession, People: nobody{}, Waiting: files, Logger: l.Logger(), Alone: true,
		Abstains: abstains, Book: bookAlone(l, v, e), Unanswered: unansweredIn(v.Project), Shell: agentshell.Of(v.Project),
		Wall: func(session string) (lost, none string) { return light.Of(v.Project.State.Run(session)) }})
	return runs.Event(ctx, s, e), nil
}

// bookAlone is the book of the project, for an event after which it is saved. A call is quicker without it.
func bookAlone(l *project.Loader, v *project.View, e harness.Event) *book.Book {
	if l.Outside || !run.Remembers(e.Kind) {
		return nil
	}
	return book.Open(v.Project.State.Agents(), l.Logger(), nil)
}

// compareAlone records that the environment of an agent differs from its person's, as a daemon does.
func compareAlone(ctx context.Context, log *audit.Log, paths state.Paths, e harness.Event, environ []string) error {
	note, err := paths.ReadNote()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	line := differing(note, e.Agent, e.Session, environ)
	if line == "" {
		return nil
	}
	return recordEnviron(ctx, log, paths, e.Agent, line)
}

// openLog opens the log of a project.
func openLog(p *config.Project) (*audit.Log, error) {
	o, err := p.AuditLog()
	if err != nil {
		return nil, err
	}
	return audit.Open(o)
}

// unansweredIn is run.Options.Unanswered for the log of a project.
func unansweredIn(p *config.Project) func(context.Context, string) ([]audit.Record, error) {
	return func(ctx context.Context, session string) ([]audit.Record, error) {
		o, err := p.AuditLog()
		if err != nil {
			return nil, err
		}
		return unanswered.Calls(ctx, o, session, run.Surface)
	}
}

// openSessions opens the database that has the session of a token. It creates no database.
func openSessions(ctx context.Context, p *config.Project) (*store.DB, error) {
	if _, err := os.Stat(p.State.Keys()); err != nil {
		return nil, errSessionEnded
	}
	url := p.StoreURL()
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, errSessionEnded
		}
	}
	return store.Open(ctx, url)
}

// NoteDenial records a denial of a hook that could not reach a gate. If the log cannot be written, the denial stands without a record.
func NoteDenial(ctx context.Context, l *project.Loader, e harness.Event, why string) {
	p, err := l.Load()
	if err != nil {
		return
	}
	log, err := openLog(p)
	if err != nil {
		return
	}
	defer func() { _ = log.Close() }()
	tool := cmp.Or(e.Tool, e.Native, "(unreadable)")
	server, _, _ := strings.Cut(e.Tool, "__")
	_ = log.Append(ctx, audit.Record{
		ID: audit.NewID(), Kind: audit.Decided, Time: time.Now(), Principal: project.LocalPrincipal,
		Role: p.File.Session.RoleOfAgent(), Surface: "hook",
		Server: server, Tool: tool, Args: e.Input, Effect: "deny", Rule: "hook", Reason: why, DecidedBy: "fault",
		Note: fmt.Sprintf("%s %s", e.Agent, e.Session),
	})
}
