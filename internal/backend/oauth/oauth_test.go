package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"mycelium/internal/backend/httpclient"
)

// FuzzChallenge: whatever a server writes into WWW-Authenticate, reading it ends, and what is read are scopes.
func FuzzChallenge(f *testing.F) {
	for _, s := range []string{
		`Bearer`, `Bearer resource_metadata="https://a/b", scope="x y", error="insufficient_scope"`,
		`Basic realm="a, Bearer x=y", Bearer scope=z`,
		`Bearer realm="a\"b", scope="q"`, `Negotiate abc==, Bearer error=invalid_token`, `Bearer scope="unterminated`, `bearer SCOPE="upper"`,
		`, , Bearer a = "b"`, `Bearer a="b" c="d"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, _ := challengeOf(&http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Www-Authenticate": {s}}})
		for _, scope := range c.scopes {
			if !isScope(scope) {
				t.Errorf("%q gives the scope %q", s, scope)
			}
		}
	})
}

// FuzzResource: a token is asked for this server or for a parent of it on the same origin, whatever its metadata say, wherever they lie.
func FuzzResource(f *testing.F) {
	const server = "https://mcp.example.com/team/mcp"
	for _, s := range []string{server, server + "/", "https://mcp.example.com", "https://mcp.example.com/team",
		"https://MCP.example.com:443/team/mcp", "https://mcp.example.com/te", "https://mcp.example.com.evil.com/team/mcp", "//x", ""} {
		for _, at := range []string{"", "/team", "/team/mcp", "/te"} {
			f.Add(s, at)
		}
	}
	u, err := url.Parse(server)
	if err != nil {
		f.Fatal(err)
	}
	a := New(Options{Server: "s", URL: u, Now: time.Now})
	f.Fuzz(func(t *testing.T, resource, at string) {
		if a.checkResource(&resourceMetadata{Resource: resource}, wellKnown(u, wellKnownResource, at)) != nil {
			return
		}
		r, err := url.Parse(resource)
		if err != nil || !strings.EqualFold(r.Hostname(), "mcp.example.com") || httpclient.PortOf(r) != "443" ||
			!strings.EqualFold(r.Scheme, "https") || r.User != nil || r.Fragment != "" {
			t.Fatalf("%q is taken for this server", resource)
		}
		if path := strings.TrimSuffix(r.EscapedPath(), "/"); path != "/team/mcp" && (path != at || path != "" && path != "/team") {
			t.Fatalf("%q is taken for this server, with metadata for %q", resource, at)
		}
	})
}

func TestChallenge(t *testing.T) {
	for s, want := range map[string]string{
		`Bearer`: `[map[]]`,
		`Bearer resource_metadata="https://a/b", scope="x y", error="insufficient_scope"`: `[map[error:insufficient_scope ` +
			`resource_metadata:https://a/b scope:x y]]`,
		`Basic realm="a, Bearer x=y", Bearer scope=z`: `[map[scope:z]]`,
		`Bearer realm="a\"b", scope="q"`:              `[map[realm:a"b scope:q]]`,
		`Negotiate abc==, Bearer error=invalid_token`: `[]`,
		`Bearer scope="unterminated`:                  `[map[]]`,
		`bearer SCOPE="upper", scope="twice"`:         `[map[scope:upper]]`,
		`Bearer a = "b" , c="d"`:                      `[map[a:b c:d]]`,
		`Digest a=b`:                                  `[]`,
	} {
		if got := fmt.Sprint(bearerParams([]string{s})); got != want {
			t.Errorf("%s: %s, not %s", s, got, want)
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, bad := range []string{"", "no PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"} {
		if _, err := parseKey(bad); err == nil || !strings.Contains(err.Error(), "oauth.privateKey") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Some authorization servers write the life of a token as a text, or as nonsense.
func TestOAuthLifeOfAToken(t *testing.T) {
	now := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		`3600`: time.Hour, `"3600"`: time.Hour, `1.5`: time.Second, `0`: 0, `-5`: 0, `"soon"`: 0, `null`: 0, `1e400`: 0,
		`1e300`: 365 * 24 * time.Hour, `{}`: 0,
	} {
		var a tokenAnswer
		if err := readJSON(strings.NewReader(`{"access_token":"x","token_type":"bearer","expires_in":`+text+`}`), 1<<10, &a); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		g, err := a.apply(&grant{}, now)
		if err != nil || want == 0 != g.Expires.IsZero() || want != 0 && g.Expires.Sub(now) != want {
			t.Errorf("%s: %v %v", text, g, err)
		}
	}
}
