package backend

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/text"
)

// Login is an authorization that a person is asked for.
type Login struct {
	URL      string   `json:"url"`      // to open in a browser
	Redirect string   `json:"redirect"` // where the browser comes back, on this machine
	Issuer   string   `json:"issuer"`   // who asks
	Scopes   []string `json:"scopes,omitempty"`
	Server   string   `json:"server"` // the URL that the tokens are for
}

// pendingLogin is one whose browser has not come back. What proves that an answer belongs to it never leaves this process.
type pendingLogin struct {
	state    string
	verifier string
	grant    grant
	iss      bool // the authorization server says that it names itself in its answer
	until    time.Time
}

const (
	loginLife   = 10 * time.Minute // from the question to the browser's return
	maxPendings = 8                // of one server
)

// oauth finds the authority of a server that can have one.
func (p *Pool) oauth(server string) (*entry, *authority, error) {
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
	a := e.authorityOf(l)
	switch {
	case l.url == nil:
		return nil, nil, fmt.Errorf("server %q: it is started here, and gets what it needs by env", server)
	case a == nil:
		return nil, nil, fmt.Errorf("server %q: %w", server, l.noOAuth())
	}
	return e, a, nil
}

// BeginLogin prepares an authorization by a person: it finds the server's authorization server, registers us there where that is needed,
// and returns the address to open. redirect is where the caller listens; the entry's own, where it has one, is used instead.
func (p *Pool) BeginLogin(ctx context.Context, server, redirect string) (Login, error) {
	_, a, err := p.oauth(server)
	if err != nil {
		return Login{}, err
	}
	if a.own() {
		return Login{}, fmt.Errorf("server %q: oauth.grant is %s, which needs no person", server, GrantCredentials)
	}
	if a.conf.Redirect != "" {
		redirect = a.conf.Redirect
	}
	if err := checkRedirect(redirect); err != nil {
		return Login{}, fmt.Errorf("server %q: %w", server, err)
	}
	l, err := a.begin(ctx, redirect)
	if err != nil {
		return Login{}, fmt.Errorf("server %q: %w", server, redactor{live: a.secrets}.error(err))
	}
	return l, nil
}

// EndLogin takes the query with which the browser came back, and the tokens that it is worth. The server is tried at its next need.
func (p *Pool) EndLogin(ctx context.Context, server, query string) error {
	e, a, err := p.oauth(server)
	if err != nil {
		return err
	}
	if err := a.end(ctx, query); err != nil {
		return fmt.Errorf("server %q: %w", server, redactor{live: a.secrets}.error(err))
	}
	e.retry()
	return nil
}

// Logout forgets the tokens of a server. It reports whether there were any.
func (p *Pool) Logout(ctx context.Context, server string) (bool, error) {
	_, a, err := p.oauth(server)
	if err != nil {
		return false, err
	}
	had, err := a.forget(ctx)
	if err != nil {
		return false, fmt.Errorf("server %q: %w", server, err)
	}
	return had, nil
}

func (a *authority) forget(ctx context.Context) (bool, error) {
	unlock, err := a.store.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	g, err := a.store.load()
	had := g != nil || err != nil // what is damaged is removed too
	if err := a.store.save(nil); err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	had = had || a.held != nil
	a.hold(nil)
	return had, nil
}

// begin makes a pending login.
func (a *authority) begin(ctx context.Context, redirect string) (Login, error) {
	g, err := a.current()
	if err != nil {
		g = nil // a damaged file is replaced
	}
	a.mu.Lock()
	c, more := a.asked, a.wanted
	a.mu.Unlock()
	wanted := true
	if c.metadata == "" && c.scopes == nil {
		if c, wanted, err = a.probe(ctx); err != nil {
			return Login{}, err
		}
	}
	f, err := a.discover(ctx, c)
	if err != nil {
		return Login{}, err
	}
	if f.issuer.guessed && !wanted {
		return Login{}, errors.New("it asks for no authorization, and names no authorization server")
	}
	if err := f.issuer.proves(); err != nil {
		return Login{}, fmt.Errorf("authorization server %s: %w", visibleHost(f.issuer.Issuer), err)
	}
	next := grant{Server: a.url.String(), Resource: f.resource, Issuer: f.issuer.Issuer, Endpoint: f.issuer.Token, Redirect: redirect}
	var before []string
	if g != nil && g.Issuer == next.Issuer {
		before = g.Scopes
		next.ClientID, next.ClientSecret, next.Method = g.ClientID, g.ClientSecret, g.Method
	}
	next.Scopes = a.wants(f, c, before, more)
	if a.conf.Scopes == nil && slices.Contains(f.issuer.Scopes, "offline_access") {
		next.Scopes = scopesOf(append(next.Scopes, "offline_access"))
	}
	if err := a.register(ctx, f, g, &next); err != nil {
		return Login{}, err
	}
	pl := &pendingLogin{state: rand.Text(), verifier: rand.Text() + rand.Text(), grant: next, iss: f.issuer.IssParameter, until: a.now().Add(loginLife)}
	address, err := pl.address(f.issuer.Authorize)
	if err != nil {
		return Login{}, err
	}
	a.mu.Lock()
	a.pendings = append(a.pendings, pl)
	a.pendings = a.pendings[max(0, len(a.pendings)-maxPendings):]
	a.mu.Unlock()
	return Login{URL: address, Redirect: redirect, Issuer: next.Issuer, Scopes: next.Scopes, Server: next.Server}, nil
}

// address is where a person agrees.
func (pl *pendingLogin) address(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("the authorization endpoint is not an address")
	}
	sum := sha256.Sum256([]byte(pl.verifier))
	q := u.Query()
	for k, v := range map[string]string{
		"response_type": "code", "client_id": pl.grant.ClientID, "redirect_uri": pl.grant.Redirect, "state": pl.state, "resource": pl.grant.Resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
	} {
		q.Set(k, v)
	}
	if len(pl.grant.Scopes) > 0 {
		q.Set("scope", strings.Join(pl.grant.Scopes, " "))
	}
	if slices.Contains(pl.grant.Scopes, "offline_access") {
		q.Set("prompt", "consent") // OpenID Connect Core, 11: else no refresh token is given
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// probe asks the server, without a token, what it wants: its refusal says more than the well-known addresses. wanted is false where it
// refuses nothing.
func (a *authority) probe(ctx context.Context) (c challenge, wanted bool, err error) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + latestLegacy + `","capabilities":{},"clientInfo":{"name":"mycelium","version":"0"}}}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url.String(), bytes.NewReader(body))
	if err != nil {
		return challenge{}, false, errors.New("its url is not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	client := newClient()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return challenge{}, false, fmt.Errorf("reach %s: %w", visibleHost(a.url.Host), plain(err))
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxErrorBody))
	c, wanted = challengeOf(res)
	return c, wanted, nil
}

// register fills in who we are at the authorization server: the client of the entry, the address of its metadata document, the
// registration of last time, or a new one.
func (a *authority) register(ctx context.Context, f *found, last, next *grant) error {
	id := a.conf.ClientID
	document := strings.HasPrefix(id, "https://")
	switch {
	case id != "" && !document:
		next.ClientID, next.ClientSecret, next.Method = id, "", methodNone
		if a.conf.PrivateKey != "" {
			next.Method = methodKey
		} else if a.conf.ClientSecret != "" {
			next.Method = secretMethod(f.issuer.Methods)
		}
		return nil
	case document && f.issuer.Documents:
		next.ClientID, next.ClientSecret, next.Method = id, "", methodNone
		if a.conf.PrivateKey != "" {
			next.Method = methodKey
		}
		return nil
	case last != nil && next.ClientID != "" && next.ClientID != id && last.Redirect == next.Redirect && last.ClientSecret == "":
		return nil // a registration belongs to its issuer and its redirect; one with a secret ends some day
	case f.issuer.Register == "":
		return text.Hinted(fmt.Errorf("authorization server %s registers no clients by itself", visibleHost(f.issuer.Issuer)),
			"register one there, and write its id as clientId in the entry's oauth, with redirect as it was registered")
	}
	return a.registerNow(ctx, f, next)
}

// registration is what an authorization server answers (RFC 7591).
type registration struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Method       string `json:"token_endpoint_auth_method"`
	Error        string `json:"error"`
}

// registerNow registers us as a native client that keeps no secret, or one with a secret where the server wants that.
func (a *authority) registerNow(ctx context.Context, f *found, next *grant) error {
	way := methodNone
	if m := f.issuer.Methods; len(m) > 0 && !slices.Contains(m, methodNone) {
		way = secretMethod(m)
	}
	meta := map[string]any{
		"client_name": "Mycelium", "redirect_uris": []string{next.Redirect}, "grant_types": []string{GrantCode, "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": way, "application_type": "native",
	}
	b, err := json.Marshal(meta, json.Deterministic(true))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.issuer.Register, bytes.NewReader(b))
	if err != nil {
		return errors.New("the registration endpoint is not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("register: %w", plain(err))
	}
	defer res.Body.Close()
	var r registration
	err = readJSON(res.Body, maxToken, &r)
	switch {
	case res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusOK:
		return text.Hinted(fmt.Errorf("register: the authorization server answers HTTP %d %s", res.StatusCode, errorCode(r.Error)), "register a client there by hand, and write its id as clientId in the entry's oauth")
	case err != nil:
		return fmt.Errorf("register: %w", err)
	case !isSecretText(r.ClientID) || r.ClientSecret != "" && !isSecretText(r.ClientSecret):
		return errors.New("register: the authorization server gives no client id that could be sent")
	}
	next.ClientID, next.ClientSecret, next.Method = r.ClientID, r.ClientSecret, r.Method
	if next.Method == "" {
		next.Method = way
		if r.ClientSecret != "" && way == methodNone {
			next.Method = methodBasic // the default of RFC 7591
		}
	}
	if r.ClientSecret == "" {
		next.Method = methodNone
	}
	return nil
}

// end takes the browser's return. Nothing of it is believed, shown or acted upon before it is certain that it answers a question of ours
// and comes from whom we asked (RFC 9207).
func (a *authority) end(ctx context.Context, query string) error {
	q, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what the browser came back with cannot be read")
	}
	pl := a.take(q.Get("state"))
	switch {
	case pl == nil:
		return text.Hinted(errors.New("what the browser came back with answers no login of ours: it is too late, was used already, or comes from somebody else"), "log in again")
	case len(q["state"]) > 1 || len(q["code"]) > 1 || len(q["iss"]) > 1:
		return errors.New("what the browser came back with says something twice")
	case q.Has("iss") && q.Get("iss") != pl.grant.Issuer:
		return fmt.Errorf("the answer does not come from %s, which was asked: it is refused (a mix-up)", visibleHost(pl.grant.Issuer))
	case pl.iss && !q.Has("iss"):
		return fmt.Errorf("the answer does not say that it comes from %s, though that server always does: it is refused", visibleHost(pl.grant.Issuer))
	case q.Has("error"):
		return &tokenError{code: errorCode(q.Get("error"))}
	case q.Get("code") == "":
		return errors.New("the browser came back without a code")
	}
	form := url.Values{"grant_type": {GrantCode}, "code": {q.Get("code")}, "redirect_uri": {pl.grant.Redirect}, "code_verifier": {pl.verifier}}
	next, err := a.exchange(ctx, &pl.grant, form)
	var refused *tokenError
	if errors.As(err, &refused) && refused.text != "" {
		return fmt.Errorf("%w: %s", err, refused.text)
	}
	if err != nil {
		return err
	}
	unlock, err := a.store.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return a.keep(next)
}

// take finds and removes the pending login of a state: each is good once.
func (a *authority) take(state string) *pendingLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, pl := range a.pendings {
		if state != "" && subtle.ConstantTimeCompare([]byte(pl.state), []byte(state)) == 1 {
			a.pendings = slices.Delete(a.pendings, i, i+1)
			if a.now().After(pl.until) {
				return nil
			}
			return pl
		}
	}
	return nil
}
