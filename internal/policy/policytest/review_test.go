package policytest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
)

func lit(s string) policy.Value { return policy.Value{Literal: &s} }

func TestReview(t *testing.T) {
	glob := func(s string) policy.Value { return policy.Value{Glob: &s} }
	regex := func(s string) policy.Value { return policy.Value{Regex: &s} }
	old := func(s string) policy.Value { return policy.Value{Regex: &s, Legacy: true} }
	match := func(key string, vs ...policy.Value) map[string]policy.Values {
		return map[string]policy.Values{key: vs}
	}
	for name, c := range map[string]struct {
		rules []policy.Rule
		want  []string // kind and the beginning of the message, of all remarks
	}{
		"a deny before an allow": {[]policy.Rule{
			{Name: "all", Action: "deny", Tool: policy.Names{"s__*"}, Match: match("path", glob("**"), glob("x"))},
			{Name: "one", Action: "allow", Tool: policy.Names{"s__read"}, Match: match("path", glob("x"))},
		}, []string{"shadowed rule one: it never decides: all (line 0) matches every call"}},
		"an ask before an allow": {[]policy.Rule{
			{Name: "asks", Action: "ask", Tool: policy.Names{"s__read"}},
			{Name: "one", Action: "allow", Tool: policy.Names{"s__read"}, Role: policy.Names{"dev"}},
		}, []string{"shadowed rule one: it never decides: asks"}},
		"a twin": {[]policy.Rule{
			{Name: "a", Action: "deny", Tool: policy.Names{"s__read"}, When: `role == "dev"`, Match: match("path", lit("x"))},
			{Name: "b", Action: "deny", Tool: policy.Names{"s__read"}, When: `role == "dev"`, Match: match("path", lit("x"))},
		}, []string{"shadowed rule b"}},
		"a narrower one first": {[]policy.Rule{
			{Name: "a", Action: "deny", Tool: policy.Names{"s__read"}, Match: match("path", lit("x"))},
			{Name: "b", Action: "deny", Tool: policy.Names{"s__read"}, Match: match("path", lit("x"), lit("y"))},
			{Name: "c", Action: "deny", Tool: policy.Names{"s__*"}, Role: policy.Names{"dev"}, Match: match("path", lit("z"))},
			{Name: "d", Action: "deny", Tool: policy.Names{"s__read"}, Match: match("path", lit("z"))},
		}, nil},
		"a condition of its own": {[]policy.Rule{
			{Name: "a", Action: "deny", Tool: policy.Names{"s__read"}, When: `role != "dev"`, Match: match("path", lit("x"))},
			{Name: "b", Action: "deny", Tool: policy.Names{"s__read"}, Match: match("path", lit("x"))},
		}, nil},
		"nobody has it": {[]policy.Rule{
			{Name: "a", Action: "deny", Tool: policy.Names{"s__reed"}},
			{Name: "b", Action: "deny", Tool: policy.Names{"s__secret"}},
			{Name: "c", Action: "ask", Tool: policy.Names{"s__read"}, Role: policy.Names{"guest"}},
			{Name: "d", Action: "ask", Tool: policy.Names{"s__read"}, Role: policy.Names{"gest"}, Skill: policy.Names{"reeder"}},
			{Name: "e", Action: "ask", Tool: policy.Names{"Wrte"}},
		}, []string{
			"unreachable rule a: no tool of any server is named s__reed", "ungranted rule b: no skill that is open to a role grants s__secret",
			"ungranted rule c: no role of the rule sees s__read", "ungranted rule d: no role of the rule sees s__read",
			`unreachable rule d: no skill and no role file names the role "gest"`, `unreachable rule d: there is no skill "reeder"`,
			"ungranted rule e: no skill that is open to a role grants Wrte",
		}},
		"an effect that no call has": {[]policy.Rule{
			{Name: "a", Action: "deny", Tool: policy.Names{"Bash"}, Match: match("effect", lit("force-push"))},
			{Name: "b", Action: "deny", Tool: policy.Names{"Bash"}, Match: match("effect", lit("force_push"), glob("x*"))},
		}, []string{`unreachable rule a: no call has the effect "force-push"`}},
		"several tools that nobody has": {[]policy.Rule{
			{Name: "a", Action: "ask", Tool: policy.Names{"Write", "Task"}},
			{Name: "b", Action: "allow", Tool: policy.Names{"Read", "Write", "Task"}, Match: match("path", glob("src/**"))},
		}, []string{"ungranted rule a: no skill that is open to a role grants Write, Task",
			"unreachable rule b: no skill that is open to a role grants Write, Task"}},
		"a deny that names more than there is": {[]policy.Rule{{Name: "a", Action: "deny", Tool: policy.Names{"Edit", "NotebookEdit"}}}, nil},
		"every tool": {[]policy.Rule{{Name: "a", Action: "allow", Tool: policy.Names{"*"}, Match: match("path", glob("x"))},
			{Name: "b", Action: "deny", Tool: policy.Names{"*"}, Match: match("path", glob("y"))}},
			[]string{"wide rule a: it allows *"}},
		"nothing is asked any more": {[]policy.Rule{
			{Name: "a", Action: "allow", Tool: policy.Names{"Bash"}}, {Name: "b", Action: "allow", Tool: policy.Names{"Read"}}, {Name: "c",
				Action: "allow", Tool: policy.Names{"Edit"}, Match: match("path", glob("src/**"))},
		}, []string{"wide rule a: every call of agent__Bash is allowed"}},
		"globs": {[]policy.Rule{
			{Name: "a", Action: "allow", Tool: policy.Names{"Edit"}, Match: match("path", glob("**/*.md"), glob("~/x/**"), glob("../x"),
				glob("/etc/*"), glob("src/../../x"))},
			{Name: "b", Action: "allow", Tool: policy.Names{"Edit"}, Match: match("path", glob("src/**"), glob("/p/src/**"), glob("/tmp/**"))},
			{Name: "c", Action: "allow", Tool: policy.Names{"Edit"}, Match: map[string]policy.Values{"path": {glob("**")}, "effect": {lit("read")}}},
		}, []string{`wide rule a: the glob "**/*.md"`, `wide rule a: the glob "~/x/**"`, `wide rule a: the glob "../x"`,
			`wide rule a: the glob "/etc/*"`, `wide rule a: the glob "src/../../x"`}},
		"regular expressions": {[]policy.Rule{
			{Name: "a", Action: "allow", Tool: policy.Names{"Bash"}, Args: match("command", regex("npm test.*"))},
			{Name: "b", Action: "allow", Tool: policy.Names{"Edit"}, Match: match("path", regex(".*/x"))},
			{Name: "c", Action: "allow", Tool: policy.Names{"WebFetch"}, Match: match("host", regex(`.*\.example\.com`))},
			{Name: "d", Action: "allow", Tool: policy.Names{"WebFetch"}, Match: match("host", regex(`example\.com.*`))},
			{Name: "e", Action: "deny", Tool: policy.Names{"Bash"}, Match: match("command", old("rm"))},
			{Name: "f", Action: "deny", Tool: policy.Names{"Bash"}, Match: match("command", old("^rm$"))},
		}, []string{`wide rule a: the regular expression "npm test.*"`, `wide rule b`, `wide rule d`,
			`wide rule e: its regular expression is not anchored`}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := policy.New(policy.Source{
				Catalog: []policy.Definition{{Item: policy.Item{Server: "s", Name: "read"}}, {Item: policy.Item{Server: "s", Name: "secret"}}},
				Grants: []policy.Grant{{Name: "own", AllowedRoles: []string{"dev"}, AllowedTools: []string{"s__read", "agent__Bash", "agent__Read",
					"agent__Edit", "agent__WebFetch"}}, {Name: "none", AllowedRoles: []string{"guest"}}},
				Rules: c.rules, Dir: "/p", Home: "/h",
			})
			got := Review(p)
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

// shadowParts are what calls of the next test do.
var shadowParts = []policy.Part{
	{}, {Unclear: []string{"?"}},
	{Unclear: []string{"?"}, Paths: []policy.Path{{Access: policy.Read, Raw: "a", Clean: "/p/a", Resolved: "/p/a"}}},
	{Paths: []policy.Path{{Access: policy.Read, Raw: "a", Clean: "/p/a", Resolved: "/p/a"}}},
	{Paths: []policy.Path{{Access: policy.Read, Raw: "a", Clean: "/p/a", Resolved: "/p/a"}, {Access: policy.Write, Raw: "b", Clean: "/p/b",
		Resolved: "/p/b"}}},
	{Paths: []policy.Path{{Access: policy.Write, Raw: "z", Clean: "/p/z", Resolved: "/p/z"}}},
}

// A rule that is said to be shadowed decides nothing: without it every call is decided as with it.
func TestLawShadowedRulesDecideNothing(t *testing.T) {
	texts := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		var rules []policy.Rule
		for i := range rapid.IntRange(2, 6).Draw(t, "rules") {
			r := policy.Rule{Name: string(rune('p' + i)), Action: rapid.SampledFrom([]string{"deny", "ask", "allow"}).Draw(t, "action"),
				Tool: policy.Names{rapid.SampledFrom([]string{"s__x", "s__*", "*"}).Draw(t, "tool")}}
			if role := rapid.SampledFrom([]string{"", "dev", "d*"}).Draw(t, "role"); role != "" {
				r.Role = policy.Names{role}
			}
			for _, v := range rapid.SliceOfN(rapid.SampledFrom(texts), 0, 3).Draw(t, "values") {
				r.Args = map[string]policy.Values{"k": append(r.Args["k"], policy.Value{Literal: &v})}
			}
			keys := rapid.SampledFrom([]string{"read", "write", "path", "effect"})
			for _, key := range rapid.SliceOfDistinct(keys, rapid.ID[string]).Draw(t, "match") {
				if r.Match == nil {
					r.Match = map[string]policy.Values{}
				}
				r.Match[key] = map[bool]policy.Values{true: {lit("unclear"), lit("read")}, false: {lit("a"), lit("b")}}[key == "effect"]
			}
			r.When = rapid.SampledFrom([]string{"", "", `args.k.x == 1`}).Draw(t, "when")
			rules = append(rules, r)
		}
		source := func(rules []policy.Rule) *policy.Policy {
			p, _ := policy.New(policy.Source{Catalog: []policy.Definition{{Item: policy.Item{Server: "s", Name: "x"}}},
				Grants: []policy.Grant{{Name: "own", AllowedRoles: []string{"dev"}, AllowedTools: []string{"s__x"}}}, Rules: rules, Dir: "/p"})
			return p
		}
		p := source(rules)
		for _, m := range Review(p) {
			if m.Kind != Shadowed {
				continue
			}
			var rest []policy.Rule
			for _, r := range rules {
				if r.Name != m.Rule {
					rest = append(rest, r)
				}
			}
			without := source(rest)
			for _, k := range []any{"", "z", "a", "b", "c", map[string]any{"x": int64(1)}} {
				for _, part := range shadowParts {
					c := policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "i", Role: "dev"}, Skills: []string{"own"}},
						Item: policy.Item{Server: "s", Name: "x"}, Args: policy.Args{"k": k}, Facts: policy.Facts{Parts: []policy.Part{part}}}
					if a, b := p.Decide(c), without.Decide(c); a.Effect != b.Effect || a.Unknown != b.Unknown {
						t.Fatalf("%s was said to decide nothing, but %q with %+v is %v with it and %v without", m.Rule, k, part, a, b)
					}
				}
			}
		}
	})
}
