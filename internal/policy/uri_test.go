package policy

import "testing"

// A glob over a URI judges its text. A URI that a server would resolve to something else must not exist for anyone.
func TestResourceURIsCannotClimb(t *testing.T) {
	p, problems := New(Source{Grants: []Grant{{Name: "docs", AllowedRoles: []string{"guest"},
		AllowedResources: []string{"docs__file:///pub/**"}}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := Scope{Principal: Principal{Role: "guest"}, Skills: []string{"docs"}}
	for uri, want := range map[string]bool{
		"file:///pub/a.md":                        true,
		"file:///pub/a..b/c.d.md":                 true,
		"file:///pub/100%25.md":                   true,
		"file:///pub/日本語.md":                      true,
		"file:///etc/passwd":                      false,
		"file:///pub/../etc/passwd":               false,
		"file:///pub/./a.md":                      false,
		"file:///pub/%2e%2e/etc/passwd":           false,
		"file:///pub/%2E./etc/passwd":             false,
		"file:///pub/x/..%2f..%2fetc/passwd":      false,
		"file:///pub/%252e%252e/etc/passwd":       false,
		"file:///pub/..":                          false,
		"file:///pub/..?q":                        false,
		`file:///pub/..\etc`:                      false,
		"file:///pub/%5c..%5cetc":                 false,
		"file:///pub/a%":                          true,
		"file:///pub/%zz":                         true,
		"file:///pub/%25252525252525252e%2e/pass": false,
	} {
		if got := p.Visible(s, Item{Kind: Resource, Server: "docs", Name: uri}); got != want {
			t.Errorf("%s: visible %v, want %v", uri, got, want)
		}
	}
}
