package policy

import (
	"reflect"
	"strings"
	"testing"

	"mycelium/internal/policy/box"
)

// TestSandboxOfRules: a call runs whole in the sandbox that any of its parts wants, in the narrower of two, and where neither is the
// narrower one people are asked. A profile that does not exist allows nothing.
func TestSandboxOfRules(t *testing.T) {
	lit := func(s string) map[string]Values { return map[string]Values{"program": {{Literal: &s}}} }
	rule := func(name, action, sandbox string) Rule {
		return Rule{Name: name, Action: action, Tool: Names{"Bash"}, Match: lit(name), Sandbox: box.Of(sandbox)}
	}
	p, problems := New(Source{
		Roles:  []Role{{ID: "developer"}},
		Grants: []Grant{{Name: "k", AllowedRoles: []string{"developer"}, AllowedTools: []string{"agent__Bash"}}},
		Rules: []Rule{rule("plain", "allow", ""), rule("strict", "allow", "strict"), rule("wide", "allow", "permissive"),
			rule("work", "allow", "project"), rule("asked", "ask", "project"), rule("no", "deny", ""),
			rule("typo", "allow", "projct"), {Name: "absurd", Action: "deny", Tool: Names{"Write"}, Sandbox: box.Of("strict")}},
		Dir: "/p",
	})
	told := ""
	for _, pr := range problems {
		told += pr.Message + "\n"
	}
	for _, want := range []string{`there is no profile "projct"`, "a call that is denied does not run"} {
		if !strings.Contains(told, want) {
			t.Errorf("the problems are %q, want %q", told, want)
		}
	}
	for _, c := range []struct {
		parts, sandbox string
		effect         Effect
	}{
		{"plain", "", Allow},
		{"work", "project", Allow},
		{"plain work", "project", Allow},
		{"work plain", "project", Allow},
		{"wide strict", "strict", Allow},
		{"strict wide plain", "strict", Allow},
		{"work asked", "project", Ask},
		{"asked strict", "strict", Ask},
		{"work strict", "strict", Ask},
		{"wide work", "permissive", Ask},
		{"work no", "", Deny},
		{"typo", "", Ask}, // the fallback
	} {
		call := Call{Scope: Scope{Principal: Principal{Role: "developer"}, Skills: []string{"k"}}, Item: Bash, Args: Args{"command": c.parts}}
		for _, name := range strings.Fields(c.parts) {
			call.Facts.Parts = append(call.Facts.Parts, Part{Program: name, Argv: []string{name}})
		}
		if d := p.Decide(call); d.Effect != c.effect || d.Sandbox.Profile != c.sandbox && c.effect != Deny {
			t.Errorf("%s: %v in %q by %s (%s), want %v in %q", c.parts, d.Effect, d.Sandbox.Profile, d.Rule, d.Reason, c.effect, c.sandbox)
		}
		if x := p.Explain(call); !reflect.DeepEqual(x.Sandbox, p.Decide(call).Sandbox) {
			t.Errorf("%s: explained in %q", c.parts, x.Sandbox)
		}
	}
}
