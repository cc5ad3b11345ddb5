package backend

import (
	"context"
	"fmt"
	"maps"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/oauth"
)

// authorityFor is what gets tokens for a server with this entry; nil: no token may be got. It outlives connections. It adds
// its tokens to the secrets of the launch.
func (e *entry) authorityFor(l *launch) *oauth.Authority {
	if l.URL == nil || l.noOAuth() != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.authority == nil || !e.authority.Matches(l.URL, l.oauth) {
		e.authority = oauth.New(oauth.Options{
			Server: e.name, URL: l.URL, Config: l.oauth, Realm: l.realm, Dir: e.pool.tokens, Protocol: mcpclient.LatestLegacy,
			Now: e.pool.now, Logger: e.pool.logger, Context: e.ctx,
			Go: func(work func()) error {
				if !e.pool.tasks.start(work) {
					return errRemoved
				}
				return nil
			},
		})
	}
	l.Secrets = l.Secrets.WithLive(e.authority.Secrets())
	return e.authority
}

// retry lets the next call start the server at once: what the last attempt lacked is there.
func (e *entry) retry() {
	e.resetFailures()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil && e.attempt == nil && e.state == StateFailed {
		e.setState(StateIdle, nil)
	}
}

// authority returns the authority of a server, if the server can have one.
func (p *Pool) authority(server string) (*entry, *oauth.Authority, error) {
	e := p.entry(server)
	if e == nil {
		return nil, nil, fmt.Errorf("server %q: %w", server, ErrUnknownServer)
	}
	if e.builtin != nil {
		return nil, nil, fmt.Errorf("server %q: it is built in and needs no authorization", server)
	}
	e.mu.Lock()
	cfg := e.cfg
	e.mu.Unlock()
	if cfg.Disabled {
		return nil, nil, fmt.Errorf("server %q: it is disabled in the configuration", server)
	}
	l, err := cfg.resolve(p.dir, p.variables(), p.secret)
	if err != nil {
		return nil, nil, fmt.Errorf("server %q: %w", server, err)
	}
	a := e.authorityFor(l)
	switch {
	case l.URL == nil:
		return nil, nil, fmt.Errorf("server %q: it is started here, and gets what it needs by env", server)
	case a == nil:
		return nil, nil, fmt.Errorf("server %q: %w", server, l.noOAuth())
	}
	return e, a, nil
}

// MoveTokens gives the tokens that were got for the project's servers in its former folder to those in its folder. A server whose entry
// cannot be expanded here keeps none: a person logs in again.
func (p *Pool) MoveTokens(from string) error {
	if p.tokens == "" {
		return nil
	}
	p.mu.Lock()
	entries := maps.Clone(p.entries)
	p.mu.Unlock()
	for _, e := range entries {
		e.mu.Lock()
		cfg := e.cfg
		e.mu.Unlock()
		l, err := cfg.resolve(p.dir, p.variables(), p.secret)
		if err != nil || l.URL == nil || l.realm == "" {
			continue
		}
		if err := oauth.Move(oauth.Options{URL: l.URL, Config: l.oauth, Realm: l.realm, Dir: p.tokens}, from); err != nil {
			return fmt.Errorf("server %q: %w", e.name, err)
		}
	}
	return nil
}

// BeginLogin prepares an authorization by a person, and returns the address to open. redirect is where the caller listens; the
// redirect of the server's entry, if there is one, is used instead.
func (p *Pool) BeginLogin(ctx context.Context, server, redirect string) (oauth.Login, error) {
	_, a, err := p.authority(server)
	if err != nil {
		return oauth.Login{}, err
	}
	l, err := a.Begin(ctx, redirect)
	if err != nil {
		return oauth.Login{}, fmt.Errorf("server %q: %w", server, err)
	}
	return l, nil
}

// EndLogin takes the query with which the browser came back, and gets the tokens. The server is tried again at its next need.
func (p *Pool) EndLogin(ctx context.Context, server, query string) error {
	e, a, err := p.authority(server)
	if err != nil {
		return err
	}
	if err := a.End(ctx, query); err != nil {
		return fmt.Errorf("server %q: %w", server, err)
	}
	e.retry()
	return nil
}

// Logout removes the tokens of a server. It reports whether there were any.
func (p *Pool) Logout(ctx context.Context, server string) (bool, error) {
	_, a, err := p.authority(server)
	if err != nil {
		return false, err
	}
	had, err := a.Forget(ctx)
	if err != nil {
		return false, fmt.Errorf("server %q: %w", server, err)
	}
	return had, nil
}
