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

// AuthorizationError means that a server wants an authorization that we do not have and cannot get by ourselves.
type AuthorizationError struct {
	Server string
	Why    string
	Hint   string // what a person does about it
}

func (e *AuthorizationError) Error() string { return e.Why + " (hint: " + e.Hint + ")" }

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
	conf   Config // empty where the entry says nothing
	egress *httpclient.Egress
	client *http.Client // for every address that was discovered
	store  tokenStore
	live   *redact.Live

	mu        sync.Mutex
	read      bool      // whether the store was read
	held      *grant    // what we have; nil: nothing
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
	if o.Dir != "" && !a.own() {
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

// own reports whether the client authorizes itself, without a person.
func (a *Authority) own() bool { return a.conf.Grant == GrantCredentials }

// needLogin is the error that sends a person to the command.
func (a *Authority) needLogin(why string) error {
	return &AuthorizationError{Server: a.Server, Why: why, Hint: "a person runs `myc mcp login " + a.Server + "` in a terminal of their own"}
}

// early is how long before its end a token is renewed: it has to arrive while it is good.
const early = 10 * time.Second

// token is the access token to send, renewed where its time is over; empty: there is none.
func (a *Authority) token(ctx context.Context) (string, error) {
	g, err := a.current()
	if err != nil || g == nil {
		return "", err
	}
	if g.Expires.IsZero() || a.Now().Add(early).Before(g.Expires) {
		return g.Access, nil
	}
	if g.Refresh == "" && !a.own() {
		return g.Access, nil // the server says what it thinks of it
	}
	return a.renew(ctx, g.Access, nil)
}

// current is what we hold; the store is read once, and again by renew.
func (a *Authority) current() (*grant, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.read {
		return a.held, nil
	}
	g, err := a.store.load()
	if err != nil {
		return nil, err
	}
	a.hold(g)
	return g, nil
}

// hold takes a grant over. The lock is held.
func (a *Authority) hold(g *grant) {
	a.read, a.held = true, g
	if g != nil {
		a.live.Add(g.Access, "[access token]")
		a.live.Add(g.Refresh, "[refresh token]")
		a.live.Add(g.ClientSecret, "[client secret]")
	}
}

// renewal is one that is under way.
type renewal struct {
	done  chan struct{}
	token string // good after done
	err   error
}

// renewLimit bounds a renewal: discovery and one exchange, each with the client's own time-out.
const renewLimit = time.Minute

// renew gets another token in the place of one that is over or was refused (old); of several callers one does it, and the others get what it
// got. It does not end with the caller that began it: a refresh token is good once, and one whose answer nobody read would be lost. more are
// scopes that the token shall have besides.
func (a *Authority) renew(ctx context.Context, old string, more []string) (string, error) {
	a.mu.Lock()
	if g := a.held; g != nil && g.Access != old {
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
	if a.own() {
		r.token, r.err = a.credentials(ctx, more)
	} else {
		r.token, r.err = a.refresh(ctx, old)
	}
	a.mu.Lock()
	a.renewal = nil
	a.mu.Unlock()
	close(r.done)
}

// refresh uses the refresh token. The store's lock is held meanwhile, because such a token is good for one use and other processes of this
// user may share it.
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
		return "", a.needLogin("it wants an authorization")
	case g.Access != old:
		return g.Access, nil // another process was faster
	case g.Refresh == "":
		return "", a.needLogin("its authorization is over")
	}
	next, err := a.exchange(ctx, g, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	var refused *tokenError
	if errors.As(err, &refused) && refused.final() {
		return "", a.needLogin("its authorization was not renewed: " + refused.Error())
	}
	if err != nil {
		return "", fmt.Errorf("renew its token: %w", err)
	}
	if err := a.keep(next); err != nil {
		a.Logger.Warn("a token that was renewed is not kept: after a restart somebody has to log in again", "server", a.Server, "error", err)
	}
	return next.Access, nil
}

// reread takes over what another process may have stored.
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
	a.hold(g)
	return g, nil
}

// keep uses a grant from now on, and stores it. One that cannot be stored is used all the same: the one before is over.
func (a *Authority) keep(g *grant) error {
	a.mu.Lock()
	a.hold(g)
	a.missing = nil
	a.mu.Unlock()
	return a.store.save(g)
}

// answer reacts to a server that refused a request: the token to send it again with, or why there is none. sent is the token that the request had.
func (a *Authority) answer(ctx context.Context, c challenge, sent string) (string, error) {
	a.mu.Lock()
	a.challenge = c
	var missing []string
	if c.narrow {
		a.missing = scopesOf(slices.Concat(a.missing, c.scopes))
		missing = a.missing
	}
	held := a.held
	a.mu.Unlock()
	switch {
	case c.narrow && held != nil && held.Access == sent && len(a.beyond(held, missing)) == 0:
		return "", &AuthorizationError{Server: a.Server, Why: "it refuses this for want of a scope that our token has already, or that oauth.scopes leaves out",
			Hint: "the operator widens oauth.scopes, or the rights of the account there"}
	case c.narrow && !a.own():
		if held != nil && held.Access != sent {
			return held.Access, nil
		}
		return "", a.needLogin("it wants more rights than it was authorized for")
	case !a.own() && held == nil:
		if g, err := a.reread(); err != nil || g != nil && g.Access != sent {
			return g.access(), err // somebody logged in elsewhere meanwhile
		}
		return "", a.needLogin("it wants an authorization")
	}
	return a.renew(ctx, sent, missing)
}

// beyond are the scopes that could be asked for in addition to what a grant was asked with.
func (a *Authority) beyond(g *grant, more []string) []string {
	var out []string
	for _, s := range more {
		if !slices.Contains(g.Scopes, s) && (a.conf.Scopes == nil || slices.Contains(a.conf.Scopes, s)) {
			out = append(out, s)
		}
	}
	return out
}
