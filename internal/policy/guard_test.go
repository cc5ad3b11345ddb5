package policy

import (
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy/box"
)

// TestGuards: the guards of every rule that concerns a call stand together, whichever rule answers it; of a fact one value is
// enough; what cannot be evaluated guards.
func TestGuards(t *testing.T) {
	env, none := "**/.settings", "x"
	p, problems := New(Source{
		Catalog: []Definition{{Item: Item{Server: "web", Name: "get"}}, {Item: Item{Server: "web", Name: "post"}},
			{Item: Item{Server: "fs", Name: "read_file"}}},
		Grants: []Grant{{Name: "k", AllowedRoles: []string{"guest", "admin"}, AllowedTools: []string{"web__*", "fs__*"}}},
		Rules: []Rule{
			{Name: "no-post", Action: "deny", Tool: Names{"web__post"}, Args: map[string]Values{"x": {{Literal: &none}}}},
			{Name: "first", Action: "allow", Tool: Names{"web__*"}},
			{Name: "light", Action: "allow", Tool: Names{"web__*"}, Result: Guard{Spotlight: true, MaxBytes: 5000}},
			{Name: "short", Action: "ask", Tool: Names{"web__post"}, Result: Guard{MaxBytes: 1000}},
			{Name: "guests", Action: "allow", Tool: Names{"*"}, Role: Names{"guest"}, Result: Guard{Redact: true}},
			{Name: "env", Action: "allow", Tool: Names{"fs__*"}, Role: Names{"admin"}, Match: map[string]Values{"path": {{Glob: &env}}},
				Result: Guard{Redact: true, MaxBytes: 300}},
			{Name: "odd", Action: "allow", Tool: Names{"fs__*"}, Role: Names{"admin"}, When: `args.n.size() > 3`, Result: Guard{MaxBytes: 700}},
			{Name: "boxed", Action: "allow", Tool: Names{"web__post"}, Role: Names{"admin"}, Sandbox: box.Of("strict"),
				Result: Guard{MaxBytes: 900}},
		},
		Dir: "/p",
	})
	for _, pr := range problems {
		if !pr.Warning {
			t.Fatal(pr)
		}
	}
	for _, c := range []struct {
		role, tool, args string
		effect           Effect
		want             Guard
	}{
		{"guest", "web__get", `{}`, Allow, Guard{Redact: true, Spotlight: true, MaxBytes: 5000}},
		{"admin", "web__get", `{}`, Allow, Guard{Spotlight: true, MaxBytes: 5000}},
		{"guest", "web__post", `{}`, Ask, Guard{Redact: true, Spotlight: true, MaxBytes: 1000}},
		{"admin", "web__post", `{}`, Ask, Guard{Spotlight: true, MaxBytes: 900}},
		{"guest", "web__post", `{"x":"x"}`, Deny, Guard{}},
		{"guest", "fs__read_file", `{"path":"a"}`, Allow, Guard{Redact: true}},
		{"admin", "fs__read_file", `{"path":"a"}`, Allow, Guard{}},
		{"admin", "fs__read_file", `{"paths":["a","b/.settings"]}`, Allow, Guard{Redact: true, MaxBytes: 300}},
		{"admin", "fs__read_file", `{"path":"a","n":"long text"}`, Allow, Guard{MaxBytes: 700}},
		{"admin", "fs__read_file", `{"path":"a","n":7}`, Allow, Guard{MaxBytes: 700}}, // it cannot be evaluated
		{"nobody", "web__get", `{}`, Deny, Guard{}},
	} {
		it, _ := ParseTool(c.tool)
		args, err := ParseArgs([]byte(c.args))
		if err != nil {
			t.Fatal(err)
		}
		call := Call{Scope: Scope{Principal: Principal{Role: c.role}, Skills: []string{"k"}}, Item: it, Args: args,
			Facts: ArgFacts(it, nil, args, "/p").WithoutLinks()}
		if d := p.Decide(call); d.Effect != c.effect || d.Guard != c.want {
			t.Errorf("%s %s %s: %v %+v, want %v %+v", c.role, c.tool, c.args, d.Effect, d.Guard, c.effect, c.want)
		}
		x := p.Explain(call)
		if (x.Result == nil) != (c.want == Guard{}) || x.Result != nil && *x.Result != c.want {
			t.Errorf("%s %s %s: explained as %+v", c.role, c.tool, c.args, x.Result)
		}
	}
	// Of a call whose arguments are not known every guard counts that could.
	if g := p.Guards(Scope{Principal: Principal{Role: "admin"}, Skills: []string{"k"}},
		Item{Server: "fs", Name: "read_file"}); g != (Guard{Redact: true, MaxBytes: 300}) {
		t.Errorf("whatever the arguments: %+v", g)
	}
	child := Call{Scope: Scope{Principal: Principal{Role: "admin", Parent: &Principal{Role: "guest"}}, Skills: []string{"k"}},
		Item: Item{Server: "web", Name: "get"}}
	if d := p.Decide(child); !d.Guard.Redact {
		t.Errorf("a child is guarded less than its parent: %+v", d.Guard)
	}
}

// TestBadGuards: what cannot be meant is told.
func TestBadGuards(t *testing.T) {
	for want, r := range map[string]Rule{
		"result.maxBytes is 10; write 256 or more": {Action: "allow", Tool: Names{"*"}, Result: Guard{MaxBytes: 10}},
		"result.maxBytes is -1":                    {Action: "allow", Tool: Names{"*"}, Result: Guard{MaxBytes: -1}},
		"a call that is denied has no result":      {Action: "deny", Tool: Names{"*"}, Result: Guard{Redact: true}},
	} {
		r.Name = "r"
		_, problems := New(Source{Rules: []Rule{r}})
		if !slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning && strings.Contains(p.Message, want) }) {
			t.Errorf("%q is not told: %+v", want, problems)
		}
	}
}
