// Package oauthtest is an authorization server and the guard of a resource for tests: honest by itself, and as hostile as a test makes it
// through its hooks. It knows authorization codes with PKCE, client credentials, refresh tokens that rotate, and registration.
package oauthtest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Provider is an authorization server. Its hooks are set before it is asked for the first time; nil hooks do nothing.
type Provider struct {
	URL    string            // its issuer
	Life   time.Duration     // of an access token; 0: it does not say, and the token does not end
	Secret map[string]string // clients that are registered beforehand → secret; "": public
	Need   []string          // scopes that a token must have

	NeedFor      map[string][]string // scopes that a JSON-RPC method needs besides
	EditServer   func(m map[string]any)
	EditResource func(m map[string]any)
	EditReturn   func(q url.Values)
	EditToken    func(m map[string]any)
	Assert       func(assertion string) bool                       // checks a client assertion; nil: refused
	Handle       func(w http.ResponseWriter, r *http.Request) bool // true: it has answered

	server *httptest.Server

	mu      sync.Mutex
	clients map[string]client
	codes   map[string]code
	tokens  map[string]Token
	renew   map[string]Token
	seen    []Request
}

// Request is one that reached the provider or the resource behind its guard.
type Request struct {
	Method, Path, Authorization string
	Form                        url.Values // of a POST to the token endpoint, or the query
	Status                      int        // of the guard's answer; 0: it was let through
	Header                      http.Header
}

// Token is what a grant gave.
type Token struct {
	Client, Resource string
	Scopes           []string
	Until            time.Time
}

type client struct {
	secret    string
	redirects []string
}

type code struct {
	token               Token
	challenge, redirect string
}

// New starts a provider; Close ends it.
func New() *Provider {
	p := &Provider{clients: map[string]client{}, codes: map[string]code{}, tokens: map[string]Token{}, renew: map[string]Token{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", p.metadata)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /register", p.register)
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/token" {
			_ = r.ParseForm()
		}
		p.note(Request{Method: r.Method, Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), Form: formOf(r)})
		if p.Handle == nil || !p.Handle(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	p.URL = p.server.URL
	return p
}

// Close ends the provider.
func (p *Provider) Close() { p.server.Close() }

func formOf(r *http.Request) url.Values {
	if r.PostForm != nil {
		return maps.Clone(r.PostForm)
	}
	return r.URL.Query()
}

func (p *Provider) note(r Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, r)
}

// Seen are the requests so far, as "METHOD path", those of the guarded resource included.
func (p *Provider) Seen() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// Count counts the requests for a path.
func (p *Provider) Count(path string) int {
	n := 0
	for _, r := range p.Seen() {
		if r.Path == path {
			n++
		}
	}
	return n
}

// Expire ends every access token.
func (p *Provider) Expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.tokens)
}

// Revoke ends every grant.
func (p *Provider) Revoke() {
	p.Expire()
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.renew)
}

// Tokens are the access tokens that are good.
func (p *Provider) Tokens() map[string]Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.tokens)
}

func answer(w http.ResponseWriter, status int, m map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(m)
}

func refuse(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]any{"error": code, "error_description": "in words: " + code})
}

func (p *Provider) metadata(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"registration_endpoint":            p.URL + "/register",
		"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
		"authorization_response_iss_parameter_supported": true,
	}
	if p.EditServer != nil {
		p.EditServer(m)
	}
	answer(w, http.StatusOK, m)
}

func (p *Provider) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.Redirects) == 0 {
		refuse(w, http.StatusBadRequest, "invalid_redirect_uri")
		return
	}
	id := "client-" + rand.Text()
	p.mu.Lock()
	p.clients[id] = client{redirects: m.Redirects}
	p.mu.Unlock()
	answer(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": m.Redirects, "token_endpoint_auth_method": "none"})
}

// known finds a client. One that was registered beforehand may come back to any redirect.
func (p *Provider) known(id string) (client, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if secret, ok := p.Secret[id]; ok {
		return client{secret: secret}, true
	}
	c, ok := p.clients[id]
	return c, ok
}

// authorize is the page on which a person agrees; ours agrees at once.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c, ok := p.known(q.Get("client_id"))
	redirect := q.Get("redirect_uri")
	if !ok || c.redirects != nil && !slices.Contains(c.redirects, redirect) {
		http.Error(w, "unknown client or redirect", http.StatusBadRequest)
		return
	}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" || q.Get("resource") == "" || q.Get("state") == "" {
		http.Error(w, "incomplete request", http.StatusBadRequest)
		return
	}
	key := rand.Text()
	p.mu.Lock()
	p.codes[key] = code{
		token:     Token{Client: q.Get("client_id"), Resource: q.Get("resource"), Scopes: strings.Fields(q.Get("scope"))},
		challenge: q.Get("code_challenge"), redirect: redirect,
	}
	p.mu.Unlock()
	back := url.Values{"code": {key}, "state": {q.Get("state")}, "iss": {p.URL}}
	if p.EditReturn != nil {
		p.EditReturn(back)
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound) //nolint:gosec // as an authorization server does
}

// client says which client asks for a token; empty: it does not prove to be one.
func (p *Provider) client(r *http.Request) string {
	if id, secret, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
		if c, known := p.known(id); known && c.secret != "" && c.secret == secret {
			return id
		}
		return ""
	}
	id := r.PostForm.Get("client_id")
	c, known := p.known(id)
	switch {
	case !known:
		return ""
	case r.PostForm.Get("client_assertion") != "":
		if p.Assert == nil || !p.Assert(r.PostForm.Get("client_assertion")) {
			return ""
		}
	case c.secret != r.PostForm.Get("client_secret"):
		return ""
	}
	return id
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	form := r.PostForm
	id := p.client(r)
	if id == "" {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	var t Token
	var ok bool
	p.mu.Lock()
	switch form.Get("grant_type") {
	case "authorization_code":
		c, found := p.codes[form.Get("code")]
		delete(p.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		t, ok = c.token, found && c.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) && c.redirect == form.Get("redirect_uri")
	case "refresh_token":
		t, ok = p.renew[form.Get("refresh_token")]
		delete(p.renew, form.Get("refresh_token")) // each is good once
	case "client_credentials":
		t, ok = Token{Resource: form.Get("resource"), Scopes: strings.Fields(form.Get("scope"))}, p.Secret[id] != "" || p.Assert != nil
		t.Client = id
	}
	p.mu.Unlock()
	if !ok || t.Client != id || t.Resource != form.Get("resource") {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	m := map[string]any{
		"token_type": "Bearer", "access_token": "at-" + rand.Text(), "refresh_token": "rt-" + rand.Text(), "scope": strings.Join(t.Scopes, " "),
	}
	if p.Life > 0 {
		t.Until = time.Now().Add(p.Life)
		m["expires_in"] = int(p.Life / time.Second)
	}
	p.mu.Lock()
	p.tokens[m["access_token"].(string)] = t
	p.renew[m["refresh_token"].(string)] = t
	p.mu.Unlock()
	if p.EditToken != nil {
		p.EditToken(m)
	}
	answer(w, http.StatusOK, m)
}

// Guard lets requests with a good token through to a resource at base (its URL without path), and serves the resource's metadata.
func (p *Provider) Guard(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := "http://" + r.Host
		const known = "/.well-known/oauth-protected-resource"
		if r.URL.Path == known+path {
			p.note(Request{Method: r.Method, Path: r.URL.Path, Authorization: r.Header.Get("Authorization")})
			m := map[string]any{"resource": base + path, "authorization_servers": []string{p.URL}}
			if p.EditResource != nil {
				p.EditResource(m)
			}
			answer(w, http.StatusOK, m)
			return
		}
		status, challenge := p.admit(r, base+path)
		p.note(Request{
			Method: r.Method, Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), Status: status, Header: r.Header.Clone(),
		})
		if status != 0 {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+base+known+path+`"`+challenge)
			w.WriteHeader(status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit judges the token of a request: 0, or a status with more of the challenge.
func (p *Provider) admit(r *http.Request, resource string) (int, string) {
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	t, ok := p.tokens[text]
	p.mu.Unlock()
	scope := ""
	if len(p.Need) > 0 {
		scope = `, scope="` + strings.Join(p.Need, " ") + `"`
	}
	switch {
	case !bearer:
		return http.StatusUnauthorized, scope
	case !ok || t.Resource != resource || !t.Until.IsZero() && time.Now().After(t.Until):
		return http.StatusUnauthorized, `, error="invalid_token"` + scope
	}
	need := p.Need
	if len(p.NeedFor) > 0 && r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			Method string `json:"method"`
		}
		_ = json.Unmarshal(body, &m)
		need = append(slices.Clone(need), p.NeedFor[m.Method]...)
	}
	for _, s := range need {
		if !slices.Contains(t.Scopes, s) {
			return http.StatusForbidden, `, error="insufficient_scope", scope="` + strings.Join(need, " ") + `"`
		}
	}
	return 0, ""
}

// Agree opens an address as a browser does whose person agrees at once, and returns where it is sent on to.
func Agree(address string) (*url.URL, error) {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer c.CloseIdleConnections()
	res, err := c.Get(address) //nolint:noctx // a test's own server
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return res.Location()
}
