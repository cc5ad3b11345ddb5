// Package oauth gets tokens for servers that want an authorization (OAuth 2.1, as MCP uses it): it discovers the authorization server,
// registers us there, sends a person to log in, keeps and renews the tokens, and adds them to requests.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"time"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/backend/redact"
)

// AuthorizationError means that a server wants an authorization that we do not have and cannot get without a person.
type AuthorizationError struct {
	Server string
	Why    string
	hint   string // what a person does about it
}

func (e *AuthorizationError) Error() string { return e.Why }

// Hint is what a person does about it.
func (e *AuthorizationError) Hint() string { return e.hint }

// Options of an authority.
type Options struct {
	Server   string   // name of the server, for messages
	URL      *url.URL // of the server
	Config   *Config  // with its variables expanded; nil: the server's entry says nothing about OAuth
	Realm    string   // who may use the tokens: a project's folder; empty: every project of the user
	Dir      string   // folder where tokens are kept; empty: they end with the process
	Protocol string   // MCP revision that we claim when we ask for metadata
	Now      func() time.Time
	Logger   *slog.Logger

	Context context.Context         // ends with the owner of the authority
	Go      func(work func()) error // runs work in a goroutine that the owner waits for; an error: the owner has ended
}

// Authority gets, keeps and renews our tokens for one server. The tokens go to that server and to nobody else. Tokens of callers
// never come here: what a client presents to us ends at our door.
type Authority struct {
	Options
	conf   Config // empty if the entry has none
	egress *httpclient.Egress
	client *http.Client // for every address that was discovered
	store  tokenStore
	live   *redact.Live

	mu        sync.Mutex
	read      bool      // whether the store was read
	grant     *grant    // the current one; nil: none
	renewal   *renewal  // under way; nil: none
	challenge challenge // the last one
	missing   []string  // scopes that the server asked for in addition
	logins    []*pendingLogin
}

// New makes the authority of one server.
func New(o Options) *Authority {
	a := &Authority{Options: o, live: &redact.Live{}}
	if o.Config != nil {
		a.conf = *o.Config
	}
	var issuer *url.URL
	if a.conf.Issuer != "" {
		issuer, _ = url.Parse(a.conf.Issuer) // Check has parsed it; if a variable broke it, no host is allowed by it
	}
	a.egress = httpclient.NewEgress(a.conf.Hosts, o.URL, issuer)
	a.client = a.egress.Client()
	if o.Dir != "" && !a.unattended() {
		a.store = tokenStore{dir: o.Dir, key: tokenKey(o.Realm, o.URL.String(), &a.conf)}
	}
	return a
}

// Matches reports whether the authority is the right one for this address and configuration.
func (a *Authority) Matches(address *url.URL, c *Config) bool {
	return a.URL.String() == address.String() && reflect.DeepEqual(a.Config, c)
}

// Secrets are the tokens that the authority has got. They change while it works.
func (a *Authority) Secrets() *redact.Live { return a.live }

// unattended reports whether the client authorizes itself, without a person.
func (a *Authority) unattended() bool { return a.conf.Grant == GrantCredentials }

// needLogin is the error that asks a person to log in.
func (a *Authority) needLogin(why string) error {
	return &AuthorizationError{Server: a.Server, Why: why, hint: "a person runs `myc mcp login " + a.Server + "` in a terminal of their own"}
}

// renewBefore is how long before its end a token is renewed, so that it is still valid when it arrives.
const renewBefore = 10 * time.Second

// token is the access token to send; empty: there is none. A token that has expired is renewed first.
func (a *Authority) token(ctx context.Context) (string, error) {
	g, err := a.current()
	if err != nil || g == nil {
		return "", err
	}
	if g.Expires.IsZero() || a.Now().Add(renewBefore).Before(g.Expires) {
		return g.Access, nil
	}
	if g.Refresh == "" && !a.unattended() {
		return g.Access, nil // the server decides whether it is still valid
	}
	return a.renew(ctx, g.Access, nil)
}

// current is the grant that we have. The store is read once, and again by a renewal.
func (a *Authority) current() (*grant, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.read {
		return a.grant, nil
	}
	g, err := a.store.load()
	if err != nil {
		return nil, err
	}
	a.setGrant(g)
	return g, nil
}

// setGrant sets the grant that we have. The lock is held.
func (a *Authority) setGrant(g *grant) {
	a.read, a.grant = true, g
	if g != nil {
		a.live.Add(g.Access, "[access token]")
		a.live.Add(g.Refresh, "[refresh token]")
		a.live.Add(g.ClientSecret, "[client secret]")
	}
}

// renewal is a renewal that is under way.
type renewal struct {
	done  chan struct{}
	token string // valid when done is closed
	err   error
}

// renewLimit bounds a renewal: discovery and one exchange, each with the client's own time-out.
const renewLimit = time.Minute

// renew replaces a token that has expired or was refused (old). Several callers share one renewal. The renewal does not end with the
// caller that began it: a refresh token is valid once, and would be lost if nobody read the answer. more are additional scopes.
func (a *Authority) renew(ctx context.Context, old string, more []string) (string, error) {
	a.mu.Lock()
	if g := a.grant; g != nil && g.Access != old {
		a.mu.Unlock()
		return g.Access, nil
	}
	r := a.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		if err := a.Go(func() { a.renewOnce(r, old, more) }); err != nil {
			a.mu.Unlock()
			return "", err
		}
		a.renewal = r
	}
	a.mu.Unlock()
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// renewOnce does a renewal.
func (a *Authority) renewOnce(r *renewal, old string, more []string) {
	ctx, cancel := context.WithTimeout(a.Context, renewLimit)
	defer cancel()
	if a.unattended() {
		r.token, r.err = a.clientCredentials(ctx, more)
	} else {
		r.token, r.err = a.refresh(ctx, old)
	}
	a.mu.Lock()
	a.renewal = nil
	a.mu.Unlock()
	close(r.done)
}

// refresh uses the refresh token. It holds the lock of the store, because a refresh token is valid once and other processes of this user
// may share it.
func (a *Authority) refresh(ctx context.Context, old string) (string, error) {
	unlock, err := a.store.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	g, err := a.reread()
	switch {
	case err != nil:
		return "", err
	case g == nil:
		return "", a.needLogin("it requires an authorization")
	case g.Access != old:
		return g.Access, nil // another process was faster
	case g.Refresh == "":
		return "", a.needLogin("its authorization is over")
	}
	next, err := a.exchange(ctx, g, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	var refused *tokenError
	if errors.As(err, &refused) && refused.permanent() {
		return "", a.needLogin("its authorization was not renewed: " + refused.Error())
	}
	if err != nil {
		return "", fmt.Errorf("renew its token: %w", err)
	}
	if err := a.storeGrant(next); err != nil {
		a.Logger.Warn("a token that was renewed is not kept: after a restart somebody has to log in again", "server", a.Server, "error", err)
	}
	return next.Access, nil
}

// reread reads the store again: another process may have stored a grant.
func (a *Authority) reread() (*grant, error) {
	if a.store.dir == "" {
		return a.current()
	}
	g, err := a.store.load()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setGrant(g)
	return g, nil
}

// storeGrant uses a grant from now on, and stores it. It is used even if it cannot be stored, because the grant before it is not valid
// any more.
func (a *Authority) storeGrant(g *grant) error {
	a.mu.Lock()
	a.setGrant(g)
	a.missing = nil
	a.mu.Unlock()
	return a.store.save(g)
}

// onRefusal reacts to a server that refused a request. It returns the token with which to send the request again. sent is the token that
// the request had.
func (a *Authority) onRefusal(ctx context.Context, c challenge, sent string) (string, error) {
	a.mu.Lock()
	a.challenge = c
	var missing []string
	if c.insufficient {
		a.missing = scopesOf(slices.Concat(a.missing, c.scopes))
		missing = a.missing
	}
	held := a.grant
	a.mu.Unlock()
	switch {
	case c.insufficient && held != nil && held.Access == sent && len(a.addable(held, missing)) == 0:
		return "", &AuthorizationError{
			Server: a.Server, Why: "it asks for a scope that our token already has, or that oauth.scopes leaves out",
			hint: "the operator widens oauth.scopes, or the rights of the account there",
		}
	case c.insufficient && !a.unattended():
		if held != nil && held.Access != sent {
			return held.Access, nil
		}
		return "", a.needLogin("it requires more rights than it was authorized for")
	case !a.unattended() && held == nil:
		if g, err := a.reread(); err != nil || g != nil && g.Access != sent {
			return g.access(), err // a person has logged in through another process
		}
		return "", a.needLogin("it requires an authorization")
	}
	return a.renew(ctx, sent, missing)
}

// addable are the scopes that we could ask for in addition to those of a grant.
func (a *Authority) addable(g *grant, more []string) []string {
	var out []string
	for _, s := range more {
		if !slices.Contains(g.Scopes, s) && (a.conf.Scopes == nil || slices.Contains(a.conf.Scopes, s)) {
			out = append(out, s)
		}
	}
	return out
}
