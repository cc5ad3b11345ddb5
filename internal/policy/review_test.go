package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReview(t *testing.T) {
	lit := func(s string) Value { return Value{Literal: &s} }
	glob := func(s string) Value { return Value{Glob: &s} }
	regex := func(s string) Value { return Value{Regex: &s} }
	old := func(s string) Value { return Value{Regex: &s, Legacy: true} }
	match := func(key string, vs ...Value) map[string]Values { return map[string]Values{key: vs} }
	for name, c := range map[string]struct {
		rules []Rule
		want  []string // kind and the beginning of the message, of all remarks
	}{
		"a deny before an allow": {[]Rule{
			{Name: "all", Action: "deny", Tool: Names{"s__*"}, Match: match("path", glob("**"), glob("x"))},
			{Name: "one", Action: "allow", Tool: Names{"s__read"}, Match: match("path", glob("x"))},
		}, []string{"shadowed rule one: it never decides: all (line 0) matches every call"}},
		"an ask before an allow": {[]Rule{
			{Name: "asks", Action: "ask", Tool: Names{"s__read"}},
			{Name: "one", Action: "allow", Tool: Names{"s__read"}, Role: Names{"dev"}},
		}, []string{"shadowed rule one: it never decides: asks"}},
		"a twin": {[]Rule{
			{Name: "a", Action: "deny", Tool: Names{"s__read"}, When: `role == "dev"`, Match: match("path", lit("x"))},
			{Name: "b", Action: "deny", Tool: Names{"s__read"}, When: `role == "dev"`, Match: match("path", lit("x"))},
		}, []string{"shadowed rule b"}},
		"a narrower one first": {[]Rule{
			{Name: "a", Action: "deny", Tool: Names{"s__read"}, Match: match("path", lit("x"))},
			{Name: "b", Action: "deny", Tool: Names{"s__read"}, Match: match("path", lit("x"), lit("y"))},
			{Name: "c", Action: "deny", Tool: Names{"s__*"}, Role: Names{"dev"}, Match: match("path", lit("z"))},
			{Name: "d", Action: "deny", Tool: Names{"s__read"}, Match: match("path", lit("z"))},
		}, nil},
		"a condition of its own": {[]Rule{
			{Name: "a", Action: "deny", Tool: Names{"s__read"}, When: `role != "dev"`, Match: match("path", lit("x"))},
			{Name: "b", Action: "deny", Tool: Names{"s__read"}, Match: match("path", lit("x"))},
		}, nil},
		"nobody has it": {[]Rule{
			{Name: "a", Action: "deny", Tool: Names{"s__reed"}},
			{Name: "b", Action: "deny", Tool: Names{"s__secret"}},
			{Name: "c", Action: "ask", Tool: Names{"s__read"}, Role: Names{"guest"}},
			{Name: "d", Action: "ask", Tool: Names{"s__read"}, Role: Names{"gest"}, Skill: Names{"reeder"}},
			{Name: "e", Action: "ask", Tool: Names{"Wrte"}},
		}, []string{
			"unreachable rule a: no tool of any server is named s__reed", "unreachable rule b: no skill that is open to a role grants s__secret",
			"unreachable rule c: none of its roles sees s__read", `unreachable rule d: no skill and no role file names the role "gest"`, `unreachable rule d: there is no skill "reeder"`,
			"unreachable rule d: none of its roles sees s__read", "unreachable rule e: no skill that is open to a role grants Wrte",
		}},
		"a deny that names more than there is": {[]Rule{{Name: "a", Action: "deny", Tool: Names{"Edit", "NotebookEdit"}}}, nil},
		"every tool": {[]Rule{{Name: "a", Action: "allow", Tool: Names{"*"}, Match: match("path", glob("x"))}, {Name: "b", Action: "deny", Tool: Names{"*"}, Match: match("path", glob("y"))}},
			[]string{"wide rule a: it allows *"}},
		"nothing is asked any more": {[]Rule{
			{Name: "a", Action: "allow", Tool: Names{"Bash"}}, {Name: "b", Action: "allow", Tool: Names{"Read"}}, {Name: "c", Action: "allow", Tool: Names{"Edit"}, Match: match("path", glob("src/**"))},
		}, []string{"wide rule a: every call of agent__Bash is allowed"}},
		"globs": {[]Rule{
			{Name: "a", Action: "allow", Tool: Names{"Edit"}, Match: match("path", glob("**/*.md"), glob("~/x/**"), glob("../x"), glob("/etc/*"), glob("src/../../x"))},
			{Name: "b", Action: "allow", Tool: Names{"Edit"}, Match: match("path", glob("src/**"), glob("/p/src/**"), glob("/tmp/**"))},
			{Name: "c", Action: "allow", Tool: Names{"Edit"}, Match: map[string]Values{"path": {glob("**")}, "effect": {lit("read")}}},
		}, []string{`wide rule a: the glob "**/*.md"`, `wide rule a: the glob "~/x/**"`, `wide rule a: the glob "../x"`, `wide rule a: the glob "/etc/*"`, `wide rule a: the glob "src/../../x"`}},
		"regular expressions": {[]Rule{
			{Name: "a", Action: "allow", Tool: Names{"Bash"}, Args: match("command", regex("npm test.*"))},
			{Name: "b", Action: "allow", Tool: Names{"Edit"}, Match: match("path", regex(".*/x"))},
			{Name: "c", Action: "allow", Tool: Names{"WebFetch"}, Match: match("host", regex(`.*\.example\.com`))},
			{Name: "d", Action: "allow", Tool: Names{"WebFetch"}, Match: match("host", regex(`example\.com.*`))},
			{Name: "e", Action: "deny", Tool: Names{"Bash"}, Match: match("command", old("rm"))},
			{Name: "f", Action: "deny", Tool: Names{"Bash"}, Match: match("command", old("^rm$"))},
		}, []string{`wide rule a: the regular expression "npm test.*"`, `wide rule b`, `wide rule d`, `wide rule e: its regular expression is not anchored`}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := New(Source{
				Catalog: []Definition{{Item: Item{Server: "s", Name: "read"}}, {Item: Item{Server: "s", Name: "secret"}}},
				Grants:  []Grant{{Name: "own", AllowedRoles: []string{"dev"}, AllowedTools: []string{"s__read", "agent__Bash", "agent__Read", "agent__Edit", "agent__WebFetch"}}, {Name: "none", AllowedRoles: []string{"guest"}}},
				Rules:   c.rules, Dir: "/p", Home: "/h",
			})
			got := p.Review()
			for i, r := range got {
				if s := string(r.Kind) + " " + r.Message; i >= len(c.want) || !strings.HasPrefix(s, c.want[i]) {
					t.Errorf("remark %d: %s", i, s)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%d remarks, want %d", len(got), len(c.want))
			}
		})
	}
}

// A rule that is said to be shadowed decides nothing: without it every call is decided as with it.
func TestLawShadowedRulesDecideNothing(t *testing.T) {
	texts := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		var rules []Rule
		for i := range rapid.IntRange(2, 6).Draw(t, "rules") {
			r := Rule{Name: string(rune('p' + i)), Action: rapid.SampledFrom([]string{"deny", "ask", "allow"}).Draw(t, "action"), Tool: Names{rapid.SampledFrom([]string{"s__x", "s__*", "*"}).Draw(t, "tool")}}
			if role := rapid.SampledFrom([]string{"", "dev", "d*"}).Draw(t, "role"); role != "" {
				r.Role = Names{role}
			}
			for _, v := range rapid.SliceOfN(rapid.SampledFrom(texts), 0, 3).Draw(t, "values") {
				r.Args = map[string]Values{"k": append(r.Args["k"], Value{Literal: &v})}
			}
			rules = append(rules, r)
		}
		source := func(rules []Rule) *Policy {
			p, _ := New(Source{Catalog: []Definition{{Item: Item{Server: "s", Name: "x"}}}, Grants: []Grant{{Name: "own", AllowedRoles: []string{"dev"}, AllowedTools: []string{"s__x"}}}, Rules: rules, Dir: "/p"})
			return p
		}
		p := source(rules)
		for _, m := range p.Review() {
			if m.Kind != Shadowed {
				continue
			}
			var rest []Rule
			for _, r := range rules {
				if r.Name != m.Rule {
					rest = append(rest, r)
				}
			}
			without := source(rest)
			for _, k := range append([]string{"", "z"}, texts...) {
				c := Call{Scope: Scope{Principal: Principal{ID: "i", Role: "dev"}, Skills: []string{"own"}}, Item: Item{Server: "s", Name: "x"}, Args: Args{"k": k}}
				if a, b := p.Decide(c), without.Decide(c); a.Effect != b.Effect || a.Unknown != b.Unknown {
					t.Fatalf("%s was said to decide nothing, but %q is %v with it and %v without", m.Rule, k, a, b)
				}
			}
		}
	})
}
