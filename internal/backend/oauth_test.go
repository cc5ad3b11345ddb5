package backend

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/backend/oauth"
	"mycelium/internal/backend/oauth/oauthtest"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// guarded is an MCP server of ours behind an authorization server of ours.
type guarded struct {
	*oauthtest.Provider
	web    *web
	server *httptest.Server
	url    string
	tokens string // the folder
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{Provider: oauthtest.New(), web: newWeb(&web{}), tokens: filepath.Join(t.TempDir(), "tokens")}
	t.Cleanup(g.Close)
	g.server = httptest.NewServer(g.Guard("/mcp", g.web))
	t.Cleanup(g.server.Close)
	g.url = g.server.URL + "/mcp"
	return g
}

// hosts names the two servers, which are on loopback, as their operator would.
func (g *guarded) hosts() []string { return []string{strings.TrimPrefix(g.URL, "http://")} }

// entry is the server's entry; edit may change its oauth.
func (g *guarded) entry(edit func(o *oauth.Config)) Server {
	o := &oauth.Config{Hosts: g.hosts()}
	if edit != nil {
		edit(o)
	}
	return Server{Name: "s", URL: g.url, OAuth: o}
}

func (g *guarded) pool(t *testing.T, edit func(o *oauth.Config)) *Pool {
	t.Helper()
	return newPool(t, Options{Tokens: g.tokens}, g.entry(edit))
}

const testRedirect = "http://127.0.0.1:1/callback"

// login does what `myc mcp login` does with a person who agrees.
func login(ctx context.Context, p *Pool) error {
	l, err := p.BeginLogin(ctx, "s", testRedirect)
	if err != nil {
		return err
	}
	back, err := oauthtest.Agree(l.URL)
	if err != nil {
		return err
	}
	return p.EndLogin(ctx, "s", back.RawQuery)
}

func callT(ctx context.Context, p *Pool) error {
	_, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t","arguments":{}}`), nil)
	return err
}

// needsLogin checks that an error sends a person to the command.
func needsLogin(t *testing.T, err error) {
	t.Helper()
	var login *oauth.AuthorizationError
	if !errors.As(err, &login) || !strings.Contains(text.HintOf(err), "myc mcp login s") {
		t.Errorf("error %v", err)
	}
}

func TestOAuthLogin(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.Need = []string{"read"}
	p := g.pool(t, nil)
	ctx := testContext(t)
	needsLogin(t, p.Learn(ctx, "s"))
	needsLogin(t, callT(ctx, p))
	if n := g.Count("/.well-known/oauth-authorization-server"); n != 0 {
		t.Errorf("without a person %d discoveries", n)
	}
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, p); err != nil {
		t.Fatal(err)
	}
	for _, r := range g.Seen() {
		switch {
		case r.Path == "/authorize" && (r.Form.Get("resource") != g.url || r.Form.Get("scope") != "read" ||
			r.Form.Get("code_challenge_method") != "S256"):
			t.Errorf("authorization asked with %v", r.Form)
		case r.Path == "/token" && (r.Form.Get("resource") != g.url || r.Form.Get("code_verifier") == "" || r.Authorization != ""):
			t.Errorf("token asked with %v", r.Form)
		case r.Path != "/mcp" && r.Authorization != "":
			t.Errorf("a token went to %s", r.Path)
		}
	}
	// Another process of this user in the same project has it too; another project has not.
	dir := p.dir
	same := newPool(t, Options{Dir: dir, Tokens: g.tokens}, g.entry(nil))
	if err := callT(ctx, same); err != nil {
		t.Error(err)
	}
	needsLogin(t, callT(ctx, g.pool(t, nil)))
	// The file is for this user only.
	files, _ := filepath.Glob(filepath.Join(g.tokens, "*.json"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	for path, mode := range map[string]os.FileMode{files[0]: 0o600, g.tokens: 0o700 | os.ModeDir} {
		if st, err := os.Stat(path); err != nil || st.Mode() != mode {
			t.Errorf("%s: %v %v", path, st.Mode(), err)
		}
	}
	if had, err := p.Logout(ctx, "s"); err != nil || !had {
		t.Error(had, err)
	}
	if files, _ = filepath.Glob(filepath.Join(g.tokens, "*.json")); len(files) != 0 {
		t.Errorf("after the logout: %v", files)
	}
	needsLogin(t, callT(ctx, p))
}

// A server that the user's own files name has one token for every project.
func TestOAuthSharedToken(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	s := g.entry(nil)
	s.Shared = true
	ctx := testContext(t)
	if err := login(ctx, newPool(t, Options{Tokens: g.tokens}, s)); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, newPool(t, Options{Tokens: g.tokens}, s)); err != nil {
		t.Error(err)
	}
	needsLogin(t, callT(ctx, g.pool(t, nil)))
}

func TestOAuthRefresh(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	p := g.pool(t, nil)
	ctx := testContext(t)
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, p); err != nil {
		t.Fatal(err)
	}
	before := g.Count("/token")
	g.Expire()
	// Many calls find out at once, and the refresh token is good once: one of them renews.
	errs := make(chan error, 16)
	for range cap(errs) {
		go func() { errs <- callT(ctx, p) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := g.Count("/token") - before; n != 1 {
		t.Errorf("reconfigured %d times", n)
	}
	// Two processes share the token: what one reconfigured the other reads.
	other := newPool(t, Options{Dir: p.dir, Tokens: g.tokens}, g.entry(nil))
	if err := callT(ctx, other); err != nil {
		t.Fatal(err)
	}
	g.Expire()
	if err := callT(ctx, p); err != nil {
		t.Error(err)
	}
	if err := callT(ctx, other); err != nil {
		t.Error(err)
	}
	if n := g.Count("/token") - before; n != 2 {
		t.Errorf("reconfigured %d times", n)
	}
	g.Revoke()
	err := callT(ctx, p)
	needsLogin(t, err)
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, p); err != nil {
		t.Error(err)
	}
}

// A token whose end is known is reconfigured before it is sent.
func TestOAuthRenewsBeforeTheEnd(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.Life = 10 * time.Second // over at once, as far as we are concerned
	p := g.pool(t, nil)
	ctx := testContext(t)
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, p); err != nil {
		t.Fatal(err)
	}
	for _, r := range g.Seen() {
		if r.Path == "/mcp" && r.Status != 0 && r.Authorization != "" {
			t.Errorf("a request was refused: %+v", r)
		}
	}
	if g.Count("/token") < 2 {
		t.Error("nothing was reconfigured")
	}
}

func TestOAuthStepUp(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.Need, g.NeedFor = []string{"read"}, map[string][]string{"tools/call": {"write"}}
	p := g.pool(t, nil)
	ctx := testContext(t)
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	needsLogin(t, callT(ctx, p))
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, p); err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, r := range g.Seen() {
		if r.Path == "/authorize" {
			asked = append(asked, r.Form.Get("scope"))
		}
	}
	if !slices.Equal(asked, []string{"read", "read write"}) {
		t.Errorf("asked for %q", asked)
	}
	// What the operator wrote is never exceeded, and no login would help.
	bound := g.pool(t, func(o *oauth.Config) { o.Scopes = []string{"read"} })
	if err := login(ctx, bound); err != nil {
		t.Fatal(err)
	}
	if err := callT(ctx, bound); err == nil || !strings.Contains(err.Error(), "oauth.scopes") || strings.Contains(err.Error(), "mcp login") {
		t.Errorf("error %v", err)
	}
}

func TestOAuthClientCredentials(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.Secret = map[string]string{"me": "s3cret:&%"}
	g.Need, g.NeedFor = []string{"read"}, map[string][]string{"tools/call": {"write"}}
	edit := func(o *oauth.Config) {
		o.Grant, o.ClientID, o.ClientSecret, o.Issuer = oauth.GrantCredentials, "me", "${SECRET}", g.URL
	}
	p := newPool(t, Options{Tokens: g.tokens, Environ: []string{"SECRET=s3cret:&%"}}, g.entry(edit))
	ctx := testContext(t)
	if err := callT(ctx, p); err != nil { // one token, and one more for the step up
		t.Fatal(err)
	}
	g.Expire()
	if err := callT(ctx, p); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(g.tokens, "*")); len(files) != 0 {
		t.Errorf("kept %v", files)
	}
	if _, err := p.BeginLogin(ctx, "s", testRedirect); err == nil || !strings.Contains(err.Error(), "needs no person") {
		t.Error(err)
	}
	wrong := newPool(t, Options{Environ: []string{"SECRET=wrong-secret"}}, g.entry(edit))
	if err := callT(ctx, wrong); err == nil || !strings.Contains(err.Error(), "invalid_client") ||
		strings.Contains(err.Error(), "wrong-secret") {
		t.Errorf("error %v", err)
	}
}

// TestOAuthSecretsStayInside: neither an echo of the server, nor an error, nor the catalog shows a token (T13).
func TestOAuthSecretsStayInside(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.web.call = func(w http.ResponseWriter, r *http.Request, _ []byte, _ int) {
		http.Error(w, "you sent "+r.Header.Get("Authorization"), http.StatusTeapot)
	}
	catalogs := t.TempDir()
	p := newPool(t, Options{Tokens: g.tokens, Catalogs: catalogs}, g.entry(nil))
	ctx := testContext(t)
	if err := login(ctx, p); err != nil {
		t.Fatal(err)
	}
	var token string
	for token = range g.Tokens() {
	}
	g.web.list = `{"tools":[{"name":"t","description":"your token is ` + token + `","inputSchema":{"type":"object"}}]}`
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	err := callT(ctx, p)
	if err == nil || strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), "[access token]") {
		t.Errorf("error %v", err)
	}
	b, rerr := os.ReadFile(filepath.Join(catalogs, "s.json"))
	if rerr != nil || strings.Contains(string(b), token) || !strings.Contains(string(b), "[access token]") {
		t.Errorf("catalog %s %v", b, rerr)
	}
}

// A key in a header is the operator's word: no token is got in its place.
func TestOAuthLeavesHeadersAlone(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	p := newPool(t, Options{Tokens: g.tokens}, Server{Name: "s", URL: g.url, Headers: map[string]string{"authorization": "Bearer mine"}})
	ctx := testContext(t)
	if err := callT(ctx, p); err == nil || !strings.Contains(text.HintOf(err), "check the entry's headers") {
		t.Error(err)
	}
	if _, err := p.BeginLogin(ctx, "s", testRedirect); err == nil || !strings.Contains(err.Error(), "Authorization header") {
		t.Error(err)
	}
	for _, r := range g.Seen() {
		if r.Path == "/mcp" && r.Authorization != "Bearer mine" {
			t.Errorf("sent %q", r.Authorization)
		}
	}
}

// A server whose tokens this user's projects share is usable everywhere as soon as somebody logged in anywhere.
func TestOAuthLoginElsewhere(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	s := g.entry(nil)
	s.Shared = true
	here, there := newPool(t, Options{Tokens: g.tokens}, s), newPool(t, Options{Tokens: g.tokens}, s)
	ctx := testContext(t)
	needsLogin(t, callT(ctx, here))
	if err := login(ctx, there); err != nil {
		t.Fatal(err)
	}
	here.entry("s").resetFailures() // what time does besides
	if err := callT(ctx, here); err != nil {
		t.Error(err)
	}
}

// A server that asks for nothing is not sent through a login.
func TestOAuthNothingAskedFor(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		f.ServeHTTP(w, r)
	}))})
	if _, err := p.BeginLogin(testContext(t), "s", testRedirect); err == nil || !strings.Contains(err.Error(), "requires no authorization") {
		t.Error(err)
	}
}

func TestOAuthCannotLogInToEverything(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, Server{Name: "c", Command: "true"}, Server{Name: "d", URL: "https://example.com", Disabled: true},
		Server{Name: "plain", URL: "http://example.com/mcp"}, Server{Name: "v", URL: "${NOWHERE}"})
	for name, want := range map[string]string{"x": "no such server", "c": "it is started here", "d": "disabled", "plain": "not https",
		"v": "NOWHERE is not set"} {
		if _, err := p.BeginLogin(t.Context(), name, testRedirect); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
