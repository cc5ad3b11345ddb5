package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/text"
)

// The grants by which we get a token for a server.
const (
	GrantCode        = "authorization_code" // a person agrees in a browser; the default
	GrantCredentials = "client_credentials" // the client itself is who is authorized
)

// OAuth says how we get tokens for a server (`oauth:` in its entry). All of it is optional: without an entry we register ourselves, and
// a person authorizes us with `myc mcp login`.
type OAuth struct {
	Grant        string   `yaml:"grant" json:"grant,omitempty"`
	ClientID     string   `yaml:"clientId" json:"clientId,omitempty"`         // registered beforehand, or the https URL of a client metadata document
	ClientSecret string   `yaml:"clientSecret" json:"clientSecret,omitempty"` // needs Issuer
	PrivateKey   string   `yaml:"privateKey" json:"privateKey,omitempty"`     // PEM; instead of a secret (private_key_jwt); needs Issuer
	KeyID        string   `yaml:"keyId" json:"keyId,omitempty"`               // of PrivateKey at the authorization server
	Scopes       []string `yaml:"scopes" json:"scopes,omitempty"`             // asked for instead of those that the server names, and never more
	Issuer       string   `yaml:"issuer" json:"issuer,omitempty"`             // the only authorization server that is used
	Hosts        []string `yaml:"hosts" json:"hosts,omitempty"`               // "host" or "host:port" that discovered addresses may lead to though they are not public
	Redirect     string   `yaml:"redirect" json:"redirect,omitempty"`         // http://127.0.0.1:PORT/PATH as it is registered; empty: any free port
}

// Check finds what is wrong in the words of an entry; ${VAR} may stand anywhere but in grant.
func (o *OAuth) Check() error {
	variable := func(s string) bool { return strings.Contains(s, "${") }
	switch {
	case o.Grant != "" && o.Grant != GrantCode && o.Grant != GrantCredentials:
		return text.Hinted(fmt.Errorf("oauth.grant is %.40q", o.Grant), "write "+GrantCode+" or "+GrantCredentials)
	case o.ClientSecret != "" && o.PrivateKey != "":
		return text.Hinted(errors.New("oauth has clientSecret and privateKey"), "keep one of them")
	case (o.ClientSecret != "" || o.PrivateKey != "") && o.ClientID == "":
		return text.Hinted(errors.New("oauth has a secret and no clientId"), "write the clientId that it belongs to")
	case (o.ClientSecret != "" || o.PrivateKey != "") && o.Issuer == "":
		return text.Hinted(errors.New("oauth has a secret and no issuer, so that the server could have it sent anywhere"), "write issuer: the URL of the authorization server that the client is registered at")
	case o.Grant == GrantCredentials && o.ClientSecret == "" && o.PrivateKey == "":
		return errors.New("oauth.grant client_credentials needs clientId with clientSecret or privateKey")
	case o.KeyID != "" && o.PrivateKey == "":
		return text.Hinted(errors.New("oauth.keyId names no key"), "write privateKey, or remove keyId")
	}
	if o.Issuer != "" && !variable(o.Issuer) {
		u, err := url.Parse(o.Issuer)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
			return text.Hinted(errors.New("oauth.issuer is not an https address"), "write it as the authorization server names itself, for instance https://login.example.com")
		}
	}
	if o.Redirect != "" && !variable(o.Redirect) {
		if err := checkRedirect(o.Redirect); err != nil {
			return err
		}
	}
	for _, s := range o.Scopes {
		if !isScope(s) && !variable(s) {
			return text.Hinted(fmt.Errorf("oauth.scopes names %.40q", s), "a scope has no spaces and no quotes; write one per entry")
		}
	}
	for _, h := range o.Hosts {
		if h == "" || strings.ContainsAny(h, "/@ *?#") {
			return text.Hinted(fmt.Errorf("oauth.hosts names %.60q", h), "write a host, or host:port, without scheme and path")
		}
	}
	return nil
}

// checkRedirect refuses a redirect address that is not on this machine: nobody else listens for us there.
func checkRedirect(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || u.Port() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return text.Hinted(fmt.Errorf("oauth.redirect is %.80q", s), "write it as it is registered, like http://127.0.0.1:8765/callback; it must be on this machine")
	}
	return nil
}

// isScope reports whether s is one scope-token of RFC 6749.
func isScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return s != "" && len(s) <= 200
}

// maxScopes bounds what a server may make us ask for.
const maxScopes = 64

// scopesOf reads a list of scopes; what is none is left out.
func scopesOf(list []string) []string {
	var out []string
	for _, s := range list {
		if isScope(s) && !slices.Contains(out, s) && len(out) < maxScopes {
			out = append(out, s)
		}
	}
	return out
}

// expand puts variables in.
func (o *OAuth) expand(x *expander) *OAuth {
	c := *o
	for _, s := range []*string{&c.ClientID, &c.ClientSecret, &c.PrivateKey, &c.KeyID, &c.Issuer, &c.Redirect} {
		*s = x.expand(*s)
	}
	c.Scopes, c.Hosts = slices.Clone(o.Scopes), slices.Clone(o.Hosts)
	for _, list := range [][]string{c.Scopes, c.Hosts} {
		for i := range list {
			list[i] = x.expand(list[i])
		}
	}
	return &c
}

// AuthorizationError means that a server wants an authorization that we do not have and cannot get by ourselves.
type AuthorizationError struct {
	Server string
	Why    string
	hint   string // what a person does about it
}

func (e *AuthorizationError) Error() string { return e.Why }

// Hint is what a person does about it.
func (e *AuthorizationError) Hint() string { return e.hint }

// authority gets, keeps and renews our tokens for one server. They go to that server and to nobody else, and no caller's token
// ever comes here: what a client presents to us ends at our door.
type authority struct {
	server     string
	url        *url.URL // of the server
	conf       OAuth    // expanded
	configured bool     // the entry has an oauth
	reach      *reach
	client     *http.Client // for everything that was discovered
	store      tokenStore
	now        func() time.Time
	logger     *slog.Logger
	secrets    *liveSecrets

	ctx    context.Context   // ends with the entry
	launch func(func()) bool // runs a function in a goroutine that the pool waits for; false: the pool has ended

	mu       sync.Mutex
	read     bool     // whether the store was
	held     *grant   // what we have; nil: nothing
	renewing *renewal // nil: none is under way
	asked    challenge
	wanted   []string // scopes that the server missed
	pendings []*pendingLogin
}

func newAuthority(server string, l *launch, folder string, now func() time.Time) *authority {
	conf := OAuth{}
	if l.oauth != nil {
		conf = *l.oauth
	}
	var issuer *url.URL
	if conf.Issuer != "" {
		issuer, _ = url.Parse(conf.Issuer) // Check has read it; a variable may have made it another: then nothing is named
	}
	a := &authority{
		server: server, url: l.url, conf: conf, configured: l.oauth != nil, now: now, secrets: &liveSecrets{},
		reach: newReach(conf.Hosts, l.url, issuer),
	}
	a.client = a.reach.client()
	if folder != "" && !a.own() {
		a.store = tokenStore{dir: folder, key: tokenKey(l.realm, l.url.String(), &conf)}
	}
	return a
}

// authorityOf is what gets tokens for a server with this entry; nil where none may be got. It outlives connections.
func (e *entry) authorityOf(l *launch) *authority {
	if l.url == nil || l.noOAuth() != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tokens == nil || !e.tokens.serves(l) {
		e.tokens = newAuthority(e.name, l, e.pool.tokens, e.pool.now)
		e.tokens.ctx, e.tokens.launch, e.tokens.logger = e.ctx, e.pool.crew.launch, e.pool.logger
	}
	l.secrets.live = e.tokens.secrets
	return e.tokens
}

// serves reports whether an authority is the right one for an entry as it is expanded now.
func (a *authority) serves(l *launch) bool {
	conf := OAuth{}
	if l.oauth != nil {
		conf = *l.oauth
	}
	return a.url.String() == l.url.String() && a.configured == (l.oauth != nil) && reflect.DeepEqual(a.conf, conf)
}

// retry lets the next need try at once: what the last attempt lacked is there.
func (e *entry) retry() {
	e.forgive()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil && e.attempt == nil && e.state == StateFailed {
		e.set(StateIdle, nil)
	}
}

// own reports whether the client authorizes itself, without a person.
func (a *authority) own() bool { return a.conf.Grant == GrantCredentials }

// needLogin is the error that sends a person to the command.
func (a *authority) needLogin(why string) error {
	return &AuthorizationError{Server: a.server, Why: why, hint: "a person runs `myc mcp login " + a.server + "` in a terminal of their own"}
}

// early is how long before its end a token is renewed: it has to arrive while it is good.
const early = 10 * time.Second

// token is the access token to send, renewed where its time is over; empty: there is none.
func (a *authority) token(ctx context.Context) (string, error) {
	g, err := a.current()
	if err != nil || g == nil {
		return "", err
	}
	if g.Expires.IsZero() || a.now().Add(early).Before(g.Expires) {
		return g.Access, nil
	}
	if g.Refresh == "" && !a.own() {
		return g.Access, nil // the server says what it thinks of it
	}
	return a.renew(ctx, g.Access, nil)
}

// current is what we hold; the store is read once, and again by renew.
func (a *authority) current() (*grant, error) {
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
func (a *authority) hold(g *grant) {
	a.read, a.held = true, g
	if g != nil {
		a.secrets.add(g.Access, "[access token]")
		a.secrets.add(g.Refresh, "[refresh token]")
		a.secrets.add(g.ClientSecret, "[client secret]")
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
func (a *authority) renew(ctx context.Context, old string, more []string) (string, error) {
	a.mu.Lock()
	if g := a.held; g != nil && g.Access != old {
		a.mu.Unlock()
		return g.Access, nil
	}
	r := a.renewing
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		if !a.launch(func() { a.work(r, old, more) }) {
			a.mu.Unlock()
			return "", errRemoved
		}
		a.renewing = r
	}
	a.mu.Unlock()
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// work is a renewal.
func (a *authority) work(r *renewal, old string, more []string) {
	ctx, cancel := context.WithTimeout(a.ctx, renewLimit)
	defer cancel()
	if a.own() {
		r.token, r.err = a.credentials(ctx, more)
	} else {
		r.token, r.err = a.refresh(ctx, old)
	}
	a.mu.Lock()
	a.renewing = nil
	a.mu.Unlock()
	close(r.done)
}

// refresh uses the refresh token. The store's lock is held meanwhile, because such a token is good for one use and other processes of this
// user may share it.
func (a *authority) refresh(ctx context.Context, old string) (string, error) {
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
		a.logger.Warn("a token that was renewed is not kept: after a restart somebody has to log in again", "server", a.server, "error", err)
	}
	return next.Access, nil
}

// reread takes over what another process may have stored.
func (a *authority) reread() (*grant, error) {
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
func (a *authority) keep(g *grant) error {
	a.mu.Lock()
	a.hold(g)
	a.wanted = nil
	a.mu.Unlock()
	return a.store.save(g)
}

// answer reacts to a server that refused a request: the token to send it again with, or why there is none. sent is the token that the request had.
func (a *authority) answer(ctx context.Context, c challenge, sent string) (string, error) {
	a.mu.Lock()
	a.asked = c
	var missing []string
	if c.narrow {
		a.wanted = scopesOf(slices.Concat(a.wanted, c.scopes))
		missing = a.wanted
	}
	held := a.held
	a.mu.Unlock()
	switch {
	case c.narrow && held != nil && held.Access == sent && len(a.beyond(held, missing)) == 0:
		return "", &AuthorizationError{Server: a.server, Why: "it refuses this for want of a scope that our token has already, or that oauth.scopes leaves out",
			hint: "the operator widens oauth.scopes, or the rights of the account there"}
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
func (a *authority) beyond(g *grant, more []string) []string {
	var out []string
	for _, s := range more {
		if !slices.Contains(g.Scopes, s) && (a.conf.Scopes == nil || slices.Contains(a.conf.Scopes, s)) {
			out = append(out, s)
		}
	}
	return out
}
