package gateway

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/resource"
	"mycelium/internal/gateway/resource/issuertest"
)

const ourResource = "https://mcp.example.com/mcp"

// guarded is a gateway that accepts the tokens of a test issuer.
type guarded struct {
	*web
	issuer *issuertest.Issuer
	clock  time.Duration // by which the gateway's clock is ahead
	mu     sync.Mutex
}

func newGuarded(t *testing.T, change func(*resource.Config)) *guarded {
	t.Helper()
	i := issuertest.New(t)
	o := resource.Config{
		Resource: ourResource, Issuers: []string{i.URL}, Algorithms: []string{"ES256", "RS256", "EdDSA"},
		Role: "roles", May: "may", Skew: 10 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	g := &guarded{web: newWeb(t, Options{OAuth: &o}), issuer: i}
	g.server.oauth.Now = func() time.Time { g.mu.Lock(); defer g.mu.Unlock(); return time.Now().Add(g.clock) }
	return g
}

func (g *guarded) ahead(d time.Duration) { g.mu.Lock(); defer g.mu.Unlock(); g.clock = d }

// good is a valid token of alice, who may be a guest and a developer, with changes of claims and header.
func (g *guarded) good(claims, header map[string]any) string {
	c := map[string]any{"roles": []string{"guest", "developer"}}
	maps.Copy(c, claims)
	return g.issuer.Token(g.issuer.Claims(ourResource, c), header)
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list",` +
	`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c",` +
	`"version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// knock lists tools with a token.
func (g *guarded) knock(token string) (status int, header http.Header, body string) {
	g.t.Helper()
	res := g.do(g.t.Context(), http.MethodPost, listTools, "Authorization", "Bearer "+token,
		headerVersion, v20260728, headerMethod, "tools/list")
	return res.StatusCode, res.Header, bodyOf(g.t, res.Body)
}

// let knocks, and fails the test if the token is refused.
func (g *guarded) let(token string) string {
	g.t.Helper()
	status, h, body := g.knock(token)
	if status != http.StatusOK {
		g.t.Fatalf("%d %s: %s", status, h.Get("WWW-Authenticate"), body)
	}
	return body
}

const (
	refusedBody      = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"unauthorized: the access token is not valid here"}}`
	refusedChallenge = `Bearer realm="mycelium", error="invalid_token", error_description="the access token is not valid here", ` +
		`resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
)

func (g *guarded) refuse(name, token string) {
	g.t.Helper()
	status, h, body := g.knock(token)
	if status != http.StatusUnauthorized || body != refusedBody || h.Get("WWW-Authenticate") != refusedChallenge {
		g.t.Errorf("%s: %d, %s, %s", name, status, h.Get("WWW-Authenticate"), body)
	}
}

// TestAccessToken: a valid token opens a session with the role of its claims, recorded under its principal. Our own tokens still work.
func TestAccessToken(t *testing.T) {
	g := newGuarded(t, nil)
	if body := g.let(g.good(nil, nil)); !strings.Contains(body, "docs__echo") || strings.Contains(body, "editor__write") {
		t.Errorf("a guest sees %s", body)
	}
	infos, err := g.world.Sessions.List(t.Context())
	if err != nil || len(infos) != 2 {
		t.Fatalf("%+v, %v", infos, err)
	}
	got := infos[1]
	want := session.Summary{
		ID: got.ID, Name: "app", Principal: "oauth:" + g.issuer.URL + "#alice", Role: "guest", Roles: []string{"developer", "guest"},
		Skills: got.Skills, Created: got.Created, Expires: got.Expires, Live: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if g.world.records(`"principal":"oauth:`+g.issuer.URL+`#alice"`) == 0 {
		t.Error("the audit does not know who came")
	}
	if status, _, _ := g.knock(g.token); status != http.StatusOK {
		t.Errorf("a token of ours: %d", status)
	}
	if body := g.let(g.good(map[string]any{"sub": "bob", "roles": nil}, nil)); strings.Contains(body, "docs__echo") {
		t.Errorf("without a claim bob sees %s", body)
	}
	if body := g.let(g.good(map[string]any{"sub": "carol", "roles": "developer"}, nil)); !strings.Contains(body, "editor__write") {
		t.Errorf("carol sees %s", body)
	}
}

// TestBadTokens: every invalid token gets the same answer.
func TestBadTokens(t *testing.T) {
	g := newGuarded(t, nil)
	other := issuertest.New(t)
	now := time.Now().Unix()
	claim := func(k string, v any) string { return g.good(map[string]any{k: v}, nil) }
	head := func(k string, v any) string { return g.good(nil, map[string]any{k: v}) }
	good := g.good(nil, nil)
	parts := strings.Split(good, ".")
	b64 := base64.RawURLEncoding.EncodeToString
	for name, token := range map[string]string{
		"alg none":               head("alg", "none"),
		"alg none, no signature": strings.Join(append(strings.Split(head("alg", "none"), ".")[:2], ""), "."),
		"alg None":               head("alg", "None"),
		"HS256 with the key":     head("alg", "HS256"),
		"alg of another key":     head("alg", "RS256"),
		"alg not allowed":        head("alg", "ES384"),
		"alg a number":           head("alg", 5),
		"no alg":                 head("alg", nil),
		"typ of a logout token":  head("typ", "logout+jwt"),
		"typ of a proof":         head("typ", "dpop+jwt"),
		"critical":               head("crit", []string{"exp"}),
		"unknown key":            head("kid", "nobody"),
		"own key": other.Token(g.issuer.Claims(ourResource, nil), map[string]any{
			"jwk": map[string]any{"kty": "oct", "k": "AAAA"},
		}),
		"signed by another":     other.Token(g.issuer.Claims(ourResource, nil), nil),
		"another issuer":        other.Token(other.Claims(ourResource, nil), nil),
		"issuer with a slash":   claim("iss", g.issuer.URL+"/"),
		"no issuer":             claim("iss", nil),
		"issuers":               claim("iss", []string{g.issuer.URL}),
		"another audience":      claim("aud", "https://other.example/mcp"),
		"audience with a slash": claim("aud", ourResource+"/"),
		"no audience":           claim("aud", nil),
		"audience an object":    claim("aud", map[string]any{ourResource: true}),
		"expired":               claim("exp", now-11),
		"no expiry":             claim("exp", nil),
		"expiry in words":       claim("exp", "tomorrow"),
		"expiry beyond reason":  claim("exp", 1e300),
		"negative expiry":       claim("exp", -1),
		"not yet":               claim("nbf", now+60),
		"of the future":         claim("iat", now+60),
		"no time of issue":      claim("iat", nil),
		"no subject":            claim("sub", nil),
		"empty subject":         claim("sub", ""),
		"subject of two lines":  claim("sub", "alice\nrole=admin"),
		"endless subject":       claim("sub", strings.Repeat("a", 256)),
		"endless client":        claim("client_id", strings.Repeat("a", 256)),
		"bound to a key":        claim("cnf", map[string]any{"jkt": "x"}),
		"huge":                  claim("filler", strings.Repeat("x", 20<<10)),
		"huge header":           head("filler", strings.Repeat("x", 20<<10)),
		"cut":                   good[:len(good)-5],
		"signature of another":  strings.Join(append(parts[:2:2], strings.Split(g.good(map[string]any{"sub": "bob"}, nil), ".")[2]), "."),
		"claims twice":          parts[0] + "." + b64([]byte(`{"iss":"`+g.issuer.URL+`","iss":"x"}`)) + "." + parts[2],
		"one part":              parts[0],
		"four parts":            good + ".x",
		"five parts":            good + ".x.y",
		"padding":               parts[0] + "=." + parts[1] + "." + parts[2],
		"no base64":             "*." + parts[1] + "." + parts[2],
		"no JSON":               parts[0] + "." + b64([]byte("{")) + "." + parts[2],
		"an array":              parts[0] + "." + b64([]byte("[]")) + "." + parts[2],
		"JSON form":             `{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `","signature":"` + parts[2] + `"}]}`,
		"junk":                  "junk",
		"dots":                  "..",
	} {
		g.refuse(name, token)
	}
	g.let(good)
	if n := g.world.records("session verified"); n != 1 {
		t.Errorf("%d sessions were recorded, want 1", n)
	}
}

// TestChallenges: the answer without a token says where to get one and with which scopes; the answer to a token without a scope names it.
func TestChallenges(t *testing.T) {
	g := newGuarded(t, func(o *resource.Config) { o.Scopes = []string{"mcp:use", "mcp:call"} })
	const tail = `, scope="mcp:use mcp:call", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
	ask := func(header ...string) (int, string) {
		res := g.do(t.Context(), http.MethodPost, listTools, header...)
		return res.StatusCode, res.Header.Get("WWW-Authenticate")
	}
	if status, h := ask("Authorization", ""); status != http.StatusUnauthorized || h != `Bearer realm="mycelium"`+tail {
		t.Errorf("without a token: %d %s", status, h)
	}
	for name, claims := range map[string]map[string]any{
		"no scope": {"scope": nil}, "one of two": {"scope": "mcp:use"}, "part of a word": {"scope": "mcp:user mcp:call"},
		"of another spelling": {"scp": []string{"MCP:USE", "mcp:call"}},
	} {
		status, h := ask("Authorization", "Bearer "+g.good(claims, nil))
		if status != http.StatusForbidden || h != `Bearer realm="mycelium", error="insufficient_scope", error_description="the access token `+
			`lacks a scope that is needed"`+tail {
			t.Errorf("%s: %d %s", name, status, h)
		}
	}
	g.let(g.good(map[string]any{"scope": "mcp:call openid mcp:use"}, nil))
	g.let(g.good(map[string]any{"scp": []string{"mcp:call", "mcp:use"}}, nil))

	h := g.server.Metadata()
	get := func(method, path, host string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), method, "http://"+host+path, http.NoBody)
		w := newRecorder()
		h.ServeHTTP(w, r)
		return w.status, w.String()
	}
	want := `{"authorization_servers":["` + g.issuer.URL + `"],"bearer_methods_supported":["header"],` +
		`"resource":"` + ourResource + `","resource_name":"Mycelium","scopes_supported":["mcp:use","mcp:call"]}`
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		for _, host := range []string{"mcp.example.com", "127.0.0.1:1"} {
			if status, body := get(http.MethodGet, path, host); status != http.StatusOK || body != want {
				t.Errorf("%s %s: %d %s", host, path, status, body)
			}
		}
	}
	for what, status := range map[[3]string]int{
		{http.MethodGet, "/.well-known/oauth-protected-resource/other", "mcp.example.com"}: http.StatusNotFound,
		{http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "evil.example"}:      http.StatusForbidden,
		{http.MethodPost, "/.well-known/oauth-protected-resource/mcp", "mcp.example.com"}:  http.StatusMethodNotAllowed,
	} {
		if got, _ := get(what[0], what[1], what[2]); got != status {
			t.Errorf("%v: %d, want %d", what, got, status)
		}
	}
	h = newWeb(t, Options{}).server.Metadata()
	if got, _ := get(http.MethodGet, "/.well-known/oauth-protected-resource", "127.0.0.1"); got != http.StatusNotFound {
		t.Errorf("without OAuth: %d", got)
	}
}

// recorder is an http.ResponseWriter that keeps the response.
type recorder struct {
	strings.Builder
	header http.Header
	status int
}

func newRecorder() *recorder               { return &recorder{header: http.Header{}, status: http.StatusOK} }
func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }

// TestRotation: the first token with a new key makes us fetch the keys; tokens of the old key are refused from then on.
func TestRotation(t *testing.T) {
	g := newGuarded(t, nil)
	old := g.good(nil, nil)
	g.let(old)
	g.issuer.Rotate()
	g.let(old) // the old key is still the one that we know
	g.let(g.good(nil, nil))
	g.refuse("of the old key", old)
	// A set with an RSA key, keys of unknown kinds, and keys that must not be used.
	g.issuer.Publish(
		map[string]any{"kty": "oct", "kid": "shared", "k": "c2VjcmV0", "alg": "HS256"}, map[string]any{"kty": "OKP", "crv": "Ed448", "x": "AA"},
		map[string]any{"kty": "RSA", "kid": "weak", "n": "AQAB", "e": "AQAB"}, map[string]any{"kty": 5}, "text", nil)
	g.issuer.UseRSA(2048)
	g.ahead(time.Minute)
	g.let(g.good(nil, nil))
	g.let(g.good(nil, map[string]any{"kid": nil, "typ": "JWT"}))
	g.refuse("an RSA key for PS256", g.good(nil, map[string]any{"alg": "PS256"}))
	g.ahead(2 * time.Minute)
	g.refuse("the shared secret", g.good(nil, map[string]any{"alg": "HS256", "kid": "shared"}))
	g.ahead(3 * time.Minute)
	g.issuer.UseRSA(1024)
	g.refuse("a weak key", g.good(nil, nil))
}

// TestJunkKeysDoNotHammerTheIssuer: tokens with unknown keys cause a limited number of fetches.
func TestJunkKeysDoNotHammerTheIssuer(t *testing.T) {
	g := newGuarded(t, nil)
	for n := range 50 {
		g.refuse("junk", g.good(nil, map[string]any{"kid": fmt.Sprint("junk-", n)}))
	}
	if n := g.issuer.Fetches(); n > 3 {
		t.Errorf("the issuer was asked %d times", n)
	}
	g.let(g.good(nil, nil))
	g.issuer.Rotate()
	g.refuse("a new key too early", g.good(nil, nil))
	g.ahead(10*time.Second + time.Second)
	g.let(g.good(nil, nil))
}

// TestIssuerDown: without keys every token is refused; keys that were fetched are used for a bounded time.
func TestIssuerDown(t *testing.T) {
	g := newGuarded(t, nil)
	const unavailable = `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"access tokens cannot be verified now: the keys of ` +
		`the issuer cannot be fetched; try again"}}`
	wait := func(name, token string) {
		t.Helper()
		status, h, body := g.knock(token)
		if status != http.StatusServiceUnavailable || body != unavailable || h.Get("Retry-After") == "" || h.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	g.issuer.Down(true)
	long := func(sub string) string {
		return g.good(map[string]any{"exp": time.Now().Unix() + 90000, "sub": sub}, nil)
	}
	wait("down at the start", long("alice"))
	if status, _, _ := g.knock(g.token); status != http.StatusOK {
		t.Errorf("tokens of ours need no issuer: %d", status)
	}
	g.issuer.Down(false)
	g.let(long("alice"))
	g.issuer.Down(true)
	g.ahead(time.Hour - time.Minute)
	g.let(long("alice"))
	g.let(long("bob"))
	g.ahead(time.Hour + time.Minute)
	wait("down for too long", long("alice"))
	wait("down for too long", long("carol"))
	g.issuer.Down(false)
	g.ahead(time.Hour + 2*time.Minute)
	g.let(long("alice"))
}

// TestSlowKeys: concurrent requests share one fetch of keys, which goes on if one of their clients goes away.
func TestSlowKeys(t *testing.T) {
	g := newGuarded(t, nil)
	release := g.issuer.Hold()
	defer release()
	gone, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	status := make([]int, 8)
	tokens := make([]string, len(status))
	for n := range status {
		tokens[n] = g.good(map[string]any{"sub": fmt.Sprint("user", n)}, nil)
	}
	for n := range status {
		all.Go(func() {
			ctx := t.Context()
			if n == 0 {
				ctx = gone
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, strings.NewReader(listTools))
			if err != nil {
				t.Error(err)
				return
			}
			for k, v := range map[string]string{
				"Authorization": "Bearer " + tokens[n], "Content-Type": "application/json", headerVersion: v20260728, headerMethod: "tools/list",
			} {
				r.Header.Set(k, v)
			}
			res, err := g.client.Do(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			status[n] = res.StatusCode
		})
	}
	<-g.issuer.Asked()
	cancel()
	release()
	all.Wait()
	if got := slices.Compact(status[1:]); !slices.Equal(got, []int{http.StatusOK}) {
		t.Errorf("answers %v", status)
	}
	if n := g.issuer.Fetches(); n != 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

// TestDiscovery: an issuer's metadata can name only keys on its own host.
func TestDiscovery(t *testing.T) {
	for name, c := range map[string]struct {
		metadata map[string]any
		keys     string // configured; ISSUER stands for the issuer
		status   int
	}{
		"as it should be":         {nil, "", http.StatusOK},
		"another issuer":          {map[string]any{"issuer": "https://other.example"}, "", http.StatusServiceUnavailable},
		"no keys":                 {map[string]any{"jwks_uri": nil}, "", http.StatusServiceUnavailable},
		"keys on another host":    {map[string]any{"jwks_uri": "https://169.254.169.254/keys"}, "", http.StatusServiceUnavailable},
		"keys by another name":    {map[string]any{"jwks_uri": "http://localhost:1/keys"}, "", http.StatusServiceUnavailable},
		"keys by configuration":   {map[string]any{"issuer": "https://other.example"}, "ISSUER/keys", http.StatusOK},
		"keys without TLS":        {nil, "http://192.0.2.1/keys", http.StatusServiceUnavailable},
		"keys in a file":          {nil, "file:///etc/passwd", http.StatusServiceUnavailable},
		"keys that are metadata":  {nil, "ISSUER/.well-known/openid-configuration", http.StatusServiceUnavailable},
		"keys that are not there": {nil, "ISSUER/none", http.StatusServiceUnavailable},
	} {
		g := newGuarded(t, func(o *resource.Config) {
			o.Keys = map[string]string{o.Issuers[0]: strings.Replace(c.keys, "ISSUER", o.Issuers[0], 1)}
		})
		g.issuer.Describe(c.metadata)
		if status, _, body := g.knock(g.good(nil, nil)); status != c.status {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// TestTokenBelongsToALink: a link of the old era can be used with every token of its session, and with no other.
func TestTokenBelongsToALink(t *testing.T) {
	g := newGuarded(t, nil)
	g.token = g.good(nil, nil)
	g.initialize()
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	refreshed := g.good(map[string]any{"iat": time.Now().Unix(), "jti": "2"}, nil)
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"refreshed": {refreshed, http.StatusOK}, "of bob": {g.good(map[string]any{"sub": "bob"}, nil), http.StatusNotFound},
		"of another client": {g.good(map[string]any{"client_id": "other"}, nil), http.StatusNotFound},
	} {
		if res := g.do(t.Context(), http.MethodPost, ping, "Authorization", "Bearer "+c.token); res.StatusCode != c.status {
			t.Errorf("%s: %s", name, res.Status)
		}
	}
}

// TestEndOfAToken: when a token expires, its streams end and its requests are refused; when a session ends, its token is refused.
func TestEndOfAToken(t *testing.T) {
	g := newGuarded(t, func(o *resource.Config) { o.Skew = 0 })
	short := g.good(map[string]any{"exp": float64(time.Now().UnixMilli())/1000 + 1.5}, nil)
	listen := strings.NewReplacer("tools/list", "subscriptions/listen",
		`"params":{`, `"params":{"notifications":{"toolsListChanged":true},`).Replace(listTools)
	res := g.do(t.Context(), http.MethodPost, listen, "Authorization", "Bearer "+short,
		headerVersion, v20260728, headerMethod, "subscriptions/listen")
	stream := bufio.NewReader(res.Body)
	if line, err := stream.ReadString('\n'); err != nil {
		t.Fatalf("%s %q: %v", res.Status, line, err)
	}
	g.token = short
	g.initialize()
	old := g.do(t.Context(), http.MethodGet, "", "Accept", "text/event-stream")
	if old.StatusCode != http.StatusOK {
		t.Fatal(old.Status)
	}
	_, _ = io.Copy(io.Discard, stream)   // returns when the stream ends: with the token
	_, _ = io.Copy(io.Discard, old.Body) //
	g.link = ""
	g.refuse("expired", short)

	long := g.good(map[string]any{"sub": "bob"}, nil)
	g.let(long)
	infos, err := g.world.Sessions.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if strings.HasSuffix(i.Principal, "#bob") {
			if err := g.world.Sessions.End(t.Context(), i.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	g.refuse("of an ended session", long)
}

// TestTokensAreNotKept: no token is in the log, the audit or the database, and none reaches a server.
func TestTokensAreNotKept(t *testing.T) {
	g := newGuarded(t, nil)
	token := g.good(nil, nil)
	g.let(token)
	call := strings.NewReplacer("tools/list", "tools/call", `"params":{`, `"params":{"name":"docs__echo","arguments":{},`).Replace(listTools)
	res := g.do(t.Context(), http.MethodPost, call,
		"Authorization", "Bearer "+token, headerVersion, v20260728, headerMethod, "tools/call", headerName, "docs__echo")
	if body := bodyOf(t, res.Body); res.StatusCode != http.StatusOK || strings.Contains(body, token) {
		t.Errorf("%s: %s", res.Status, body)
	}
	signature := token[strings.LastIndexByte(token, '.')+1:]
	if calls := strings.Join(g.world.seen(), "\n"); calls == "" || strings.Contains(calls, signature) {
		t.Errorf("the server got %s", calls)
	}
	if g.world.records(signature) > 0 {
		t.Error("the token is in the audit")
	}
}
