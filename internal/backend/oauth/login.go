package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/text"
)

// Login is a request to a person to authorize us.
type Login struct {
	URL      string   `json:"url"`      // to open in a browser
	Redirect string   `json:"redirect"` // where the browser comes back, on this machine
	Issuer   string   `json:"issuer"`   // who asks
	Scopes   []string `json:"scopes,omitempty"`
	Server   string   `json:"server"` // the URL that the tokens are for
}

// pendingLogin is a login whose browser has not come back. The values that prove that an answer belongs to it never leave this process.
type pendingLogin struct {
	state    string
	verifier string
	grant    grant
	iss      bool // the authorization server promises to name itself in its answer
	until    time.Time
}

const (
	loginLife = 10 * time.Minute // from Begin to the browser's return
	maxLogins = 8                // of one server
)

// Forget removes our tokens for the server. It reports whether there were any.
func (a *Authority) Forget(ctx context.Context) (bool, error) {
	unlock, err := a.store.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	g, err := a.store.load()
	had := g != nil || err != nil // a damaged file is removed too
	if err := a.store.save(nil); err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	had = had || a.grant != nil
	a.setGrant(nil)
	return had, nil
}

// Begin prepares an authorization by a person: it finds the authorization server, registers us there if that is needed, and returns
// the address to open. redirect is where the caller listens; the redirect of the configuration, if there is one, is used instead.
func (a *Authority) Begin(ctx context.Context, redirect string) (Login, error) {
	if a.unattended() {
		return Login{}, fmt.Errorf("oauth.grant is %s, which needs no person", GrantCredentials)
	}
	if a.conf.Redirect != "" {
		redirect = a.conf.Redirect
	}
	if err := checkRedirect(redirect); err != nil {
		return Login{}, err
	}
	l, err := a.begin(ctx, redirect)
	if err != nil {
		return Login{}, a.live.Error(err)
	}
	return l, nil
}

// begin makes a pending login.
func (a *Authority) begin(ctx context.Context, redirect string) (Login, error) {
	g, err := a.current()
	if err != nil {
		g = nil // a damaged file is replaced
	}
	a.mu.Lock()
	c, more := a.challenge, a.missing
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
	if f.issuer.assumed && !wanted {
		return Login{}, errors.New("it requires no authorization and names no authorization server")
	}
	if err := f.issuer.checkPKCE(); err != nil {
		return Login{}, fmt.Errorf("authorization server %s: %w", httpclient.VisibleHost(f.issuer.Issuer), err)
	}
	next := grant{Server: a.URL.String(), Resource: f.resource, Issuer: f.issuer.Issuer, Endpoint: f.issuer.Token, Redirect: redirect}
	var before []string
	if g != nil && g.Issuer == next.Issuer {
		before = g.Scopes
		next.ClientID, next.ClientSecret, next.Method = g.ClientID, g.ClientSecret, g.Method
	}
	next.Scopes = a.scopesToRequest(f, c, before, more)
	if a.conf.Scopes == nil && slices.Contains(f.issuer.Scopes, "offline_access") {
		next.Scopes = scopesOf(append(next.Scopes, "offline_access"))
	}
	if err := a.register(ctx, f, g, &next); err != nil {
		return Login{}, err
	}
	pl := &pendingLogin{
		state: rand.Text(), verifier: rand.Text() + rand.Text(), grant: next, iss: f.issuer.IssParameter, until: a.Now().Add(loginLife),
	}
	address, err := pl.address(f.issuer.Authorize)
	if err != nil {
		return Login{}, err
	}
	a.mu.Lock()
	a.logins = append(a.logins, pl)
	a.logins = a.logins[max(0, len(a.logins)-maxLogins):]
	a.mu.Unlock()
	return Login{URL: address, Redirect: redirect, Issuer: next.Issuer, Scopes: next.Scopes, Server: next.Server}, nil
}

// address is the page where a person agrees.
func (pl *pendingLogin) address(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("the authorization endpoint is not an address")
	}
	sum := sha256.Sum256([]byte(pl.verifier))
	q := u.Query()
	for k, v := range map[string]string{
		"response_type": "code", "client_id": pl.grant.ClientID, "redirect_uri": pl.grant.Redirect,
		"state": pl.state, "resource": pl.grant.Resource,
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

// probe sends a request without a token, because a refusal says more than the well-known addresses. wanted is false if the server refuses
// nothing.
func (a *Authority) probe(ctx context.Context) (c challenge, wanted bool, err error) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + a.Protocol +
		`","capabilities":{},"clientInfo":{"name":"mycelium","version":"0"}}}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL.String(), bytes.NewReader(body))
	if err != nil {
		return challenge{}, false, errors.New("its url is not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	client := httpclient.New()
	defer client.CloseIdleConnections()
	res, err := client.Do(req) //nolint:bodyclose // Drain closes it
	if err != nil {
		return challenge{}, false, fmt.Errorf("reach %s: %w", httpclient.VisibleHost(a.URL.Host), withoutURL(err))
	}
	defer httpclient.Drain(res)
	c, wanted = challengeOf(res)
	return c, wanted, nil
}

// End takes the query with which the browser came back, and gets the tokens that its code is worth.
func (a *Authority) End(ctx context.Context, query string) error {
	if err := a.end(ctx, query); err != nil {
		return a.live.Error(err)
	}
	return nil
}

// end handles the browser's return. It does not use or show any part of it before it is certain that it answers a request of ours and
// comes from the server that we asked (RFC 9207).
func (a *Authority) end(ctx context.Context, query string) error {
	q, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the browser's answer cannot be read")
	}
	pl := a.takeLogin(q.Get("state"))
	switch {
	case pl == nil:
		return text.Hinted(errors.New("the browser's answer belongs to no pending login: "+
			"it is too late, was used already, or comes from somebody else"), "log in again")
	case len(q["state"]) > 1 || len(q["code"]) > 1 || len(q["iss"]) > 1:
		return errors.New("the browser's answer has a parameter twice")
	case q.Has("iss") && q.Get("iss") != pl.grant.Issuer:
		return fmt.Errorf("the answer comes from another issuer than %s and is refused (a mix-up)", httpclient.VisibleHost(pl.grant.Issuer))
	case pl.iss && !q.Has("iss"):
		return fmt.Errorf("the answer does not say that it comes from %s, though that server always does: it is refused",
			httpclient.VisibleHost(pl.grant.Issuer))
	case q.Has("error"):
		return &tokenError{code: errorCode(q.Get("error"))}
	case q.Get("code") == "":
		return errors.New("the browser's answer has no code")
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
	return a.storeGrant(next)
}

// takeLogin finds and removes the pending login of a state. Each is valid once.
func (a *Authority) takeLogin(state string) *pendingLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, pl := range a.logins {
		if state != "" && subtle.ConstantTimeCompare([]byte(pl.state), []byte(state)) == 1 {
			a.logins = slices.Delete(a.logins, i, i+1)
			if a.Now().After(pl.until) {
				return nil
			}
			return pl
		}
	}
	return nil
}
