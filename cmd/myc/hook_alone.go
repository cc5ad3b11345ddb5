package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/gate"
	"mycelium/internal/hook"
	"mycelium/internal/store"
)

// hookAlone decides an event in this process: the same files, the same gate, the same log. Nothing is started and nothing is asked: a
// question becomes one in the agent's own terminal, or a refusal.
func (a *app) hookAlone(ctx context.Context, e hook.Event) (hook.Answer, error) {
	v, err := a.look()
	if err != nil {
		return hook.Answer{}, err
	}
	defer v.close()
	log, err := openLog(v.project)
	if err != nil {
		return hook.Answer{}, err
	}
	defer func() { _ = log.Close() }()
	o := gate.Options{Backends: v.pool, Log: log, World: v.world(), Dir: v.project.Dir, Home: v.project.Home, Logger: a.logger()}
	token := a.getenv(tokenVar)
	if token != "" {
		if o.DB, err = v.sessions(ctx); err != nil {
			return hook.Answer{}, err
		}
		defer func() { _ = o.DB.Close() }()
	}
	g, err := gate.New(o)
	if err != nil {
		return hook.Answer{}, err
	}
	defer g.Close()
	var s *gate.Session
	if token != "" {
		if s, err = g.Authenticate(ctx, token); err != nil {
			return hook.Answer{}, errors.New("the session of this agent has ended: its token is not one of a live session")
		}
	}
	host := hook.NewHost(hook.HostOptions{Gate: g, Spec: v.hookSpec, Logger: a.logger(), Alone: true, Mode: func() approval.Mode { return approval.Local }})
	return host.Event(ctx, s, e), nil
}

// hookSpec is the session of an agent whose hook brings no token: the default principal's, as that of a bare stdio client.
func (v *view) hookSpec() gate.Spec {
	conf := v.project.File.Session
	return gate.Spec{Principal: localPrincipal, Role: conf.DefaultRole, Roles: conf.Roles}
}

// openLog opens the log of a project.
func openLog(p *config.Project) (*audit.Log, error) {
	o, err := auditOptions(p)
	if err != nil {
		return nil, err
	}
	return audit.Open(o)
}

// sessions opens the database that holds the session of a token. It makes none, and trusts none that somebody else wrote.
func (v *view) sessions(ctx context.Context) (*store.DB, error) {
	noSession := errors.New("the session of this agent has ended: its token is not one of a live session")
	state, err := config.StateDir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(state, "audit", projectKey(v.project.Dir))); err != nil {
		return nil, noSession
	}
	url := storeURL(v.project)
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, noSession
		}
	}
	return store.Open(ctx, url)
}

// hookNote records a denial that nobody else could record. What cannot be recorded stays denied.
func (a *app) hookNote(ctx context.Context, e hook.Event, why string) {
	p, err := a.load()
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
		ID: audit.NewID(), Kind: audit.Decided, Time: time.Now(), Principal: localPrincipal, Role: p.File.Session.DefaultRole, Surface: "hook", Server: server,
		Tool: tool, Args: e.Input, Effect: "deny", Rule: "hook", Reason: why, DecidedBy: "fault", Note: fmt.Sprintf("%s %s", e.Agent, e.Session),
	})
}
