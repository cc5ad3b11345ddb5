package view

import (
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// The URI of an app in a tool's definition has the form in which clients read it; all other bytes stay.
func TestAppURIs(t *testing.T) {
	it := policy.Item{Server: "shop", Name: "buy"}
	for _, c := range []struct{ in, want string }{
		{`{"name":"buy","_meta": {"x":1.0, "ui":{"resourceUri":"ui://buy/a.html", "v":["app"]}}}`,
			`{"name":"shop__buy","_meta": {"x":1.0, "ui":{"resourceUri":"shop+ui://buy/a.html", "v":["app"]}}}`},
		{`{"name":"buy","_meta":{"ui/resourceUri":"ui://b"}}`, `{"name":"shop__buy","_meta":{"ui/resourceUri":"shop+ui://b"}}`},
		{`{"name":"buy","_meta":{"ui":{"resourceUri":7}}}`, `{"name":"shop__buy","_meta":{"ui":{"resourceUri":7}}}`},
		{`{"name":"buy","description":"resourceUri"}`, `{"name":"shop__buy","description":"resourceUri"}`},
	} {
		got, err := clientForm(policy.Definition{Item: it, Raw: []byte(c.in)}, "name", "")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", c.in, got, err)
		}
		if got, _ := clientForm(policy.Definition{Item: it, Raw: []byte(c.in)}, "name", "shop"); string(got) != c.in {
			t.Errorf("without prefix: %s", got)
		}
	}
}

// What servers say of themselves is shown as one, the first by name winning a conflict; what we do not carry is left out.
func TestWhatServersSay(t *testing.T) {
	w := &Catalog{World: World{Servers: map[string]Server{
		"a": {Capabilities: []byte(`{"tasks":{"list":{},"cancel":{}},` +
			`"extensions":{"io.modelcontextprotocol/skills":{},"e/x":{"n":12345678901234567890,"v":1}},"tools":{}}`)},
		"b": {Capabilities: []byte(`{"completions":{},"resources":{"subscribe":true},` +
			`"extensions":{"e/x":{"v":2,"w":3}},"experimental":{"y":{}}}`)},
		"broken": {Capabilities: []byte(`{"experimental":`)},
		"odd":    {Capabilities: []byte(`{"experimental":7,"resources":{"subscribe":"yes"}}`)},
		"hidden": {Capabilities: []byte(`{"experimental":{"hidden":{}}}`)},
	}}}
	want := `{"completions":{},"experimental":{"y":{}},"extensions":{"e/x":{"n":12345678901234567890,"v":1,"w":3}},` +
		`"subscribe":true,"tasks":{"cancel":{}}}`
	if got := string(w.declared([]string{"a", "b", "broken", "odd", "unknown"})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(w.declared(nil)); got != `{}` {
		t.Errorf("of nobody: %s", got)
	}
	if got := strings.Count(string(w.declared([]string{"a"})), "skills"); got != 0 {
		t.Error("a server's skills are declared")
	}
}
