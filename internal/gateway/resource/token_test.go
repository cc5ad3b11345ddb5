package resource

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestRolesOfClaims: which roles a token gives.
func TestRolesOfClaims(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		claims string
		want   []string
	}{
		"a text":           {Config{Role: "role"}, `{"role":"guest"}`, []string{"guest"}},
		"a list":           {Config{Role: "role"}, `{"role":["b","a","b"]}`, []string{"b", "a"}},
		"nested":           {Config{Role: "realm_access.roles"}, `{"realm_access":{"roles":["a"]}}`, []string{"a"}},
		"a name with dots": {Config{Role: "https://x.example/roles"}, `{"https://x.example/roles":["a"]}`, []string{"a"}},
		"and more":         {Config{Role: "role", May: "groups"}, `{"role":"a","groups":["b","a","c"]}`, []string{"a", "b", "c"}},
		"translated": {
			Config{Role: "groups", Roles: map[string]string{"eng": "developer"}}, `{"groups":["admin","eng"]}`, []string{"developer"},
		},
		"bounded":         {Config{Role: "groups", Bound: []string{"guest"}}, `{"groups":["admin","guest"]}`, []string{"guest"}},
		"none":            {Config{Role: "role"}, `{"roles":"a"}`, nil},
		"a number":        {Config{Role: "role"}, `{"role":5}`, nil},
		"not all texts":   {Config{Role: "role"}, `{"role":["a",5]}`, nil},
		"true":            {Config{Role: "role"}, `{"role":true}`, nil},
		"null":            {Config{Role: "role"}, `{"role":null}`, nil},
		"an empty word":   {Config{Role: "role"}, `{"role":["","a"]}`, []string{"a"}},
		"words in a text": {Config{Role: "role"}, `{"role":"a b"}`, []string{"a b"}},
	} {
		r := &Server{Config: c.config}
		if got := r.roles([]byte(c.claims)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzToken: no text panics, and no token that an issuer did not sign is accepted.
func FuzzToken(f *testing.F) {
	s := New(Config{Resource: "https://mcp.example.com/mcp", Algorithms: []string{"ES256"}}, nil, slog.New(slog.DiscardHandler))
	f.Cleanup(s.Close)
	for _, token := range []string{
		"", "..", "e30.e30.", "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.AAAA", "eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.",
	} {
		f.Add(token, `{"aud":"x","exp":1}`)
	}
	f.Fuzz(func(t *testing.T, token, payload string) {
		if _, err := s.verify(t.Context(), token); err == nil {
			t.Error("an issuer that nobody named")
		}
		var v any
		if json.Unmarshal([]byte(payload), &v) == nil {
			_, _ = s.judge([]byte(payload), &issuer{name: "x"}, nil)
			_ = s.roles([]byte(payload))
		}
	})
}
