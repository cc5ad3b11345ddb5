package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/gate"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/project"
	"mycelium/internal/run"
	"mycelium/internal/store"
)

// HookAlone decides an event in this process: the same files, the same gate, the same log. Nothing is started and nothing is asked: a
// question becomes one in the agent's own terminal, or a refusal.
func HookAlone(ctx context.Context, l *project.Loader, e harness.Event) (harness.Answer, error) {
	v, err := l.OpenView()
	if err != nil {
		return harness.Answer{}, err
	}
	defer v.Close()
	log, err := openLog(v.Project)
	if err != nil {
		return harness.Answer{}, err
	}
	defer func() { _ = log.Close() }()
	o := gate.Options{Backends: v.Pool, Log: log, World: v.World(), Dir: v.Project.Dir, Home: v.Project.Home, Logger: l.Logger()}
	token := l.Getenv(hook.TokenVar)
	if token != "" {
		if o.DB, err = sessionsOf(ctx, v); err != nil {
			return harness.Answer{}, err
		}
		defer func() { _ = o.DB.Close() }()
	}
	g, err := gate.New(o)
	if err != nil {
		return harness.Answer{}, err
	}
	defer g.Close()
	var s *gate.Session
	if token != "" {
		if s, err = g.Authenticate(ctx, token); err != nil {
			return harness.Answer{}, errors.New("the session of this agent has ended: its token is not one of a live session")
		}
	}
	runs := run.New(run.Options{Gate: g, Spec: v.HookSpec, People: nobody{}, Logger: l.Logger(), Alone: true})
	return runs.Event(ctx, s, e), nil
}

// openLog opens the log of a project.
func openLog(p *config.Project) (*audit.Log, error) {
	o, err := project.AuditOptions(p)
	if err != nil {
		return nil, err
	}
	return audit.Open(o)
}

// sessionsOf opens the database that holds the session of a token. It makes none, and trusts none that somebody else wrote.
func sessionsOf(ctx context.Context, v *project.View) (*store.DB, error) {
	noSession := errors.New("the session of this agent has ended: its token is not one of a live session")
	state, err := config.StateDir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(state, "audit", project.ProjectKey(v.Project.Dir))); err != nil {
		return nil, noSession
	}
	url := project.StoreURL(v.Project)
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, noSession
		}
	}
	return store.Open(ctx, url)
}

// NoteDenial records a denial that nobody else could record. What cannot be recorded stays denied.
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
		ID: audit.NewID(), Kind: audit.Decided, Time: time.Now(), Principal: project.LocalPrincipal, Role: p.File.Session.DefaultRole, Surface: "hook", Server: server,
		Tool: tool, Args: e.Input, Effect: "deny", Rule: "hook", Reason: why, DecidedBy: "fault", Note: fmt.Sprintf("%s %s", e.Agent, e.Session),
	})
}
