package names

import (
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// known is a project with two servers, one of which was never started.
func known() Known {
	return Known{
		Roles: []string{"developer", "guest"}, Called: []string{"Guest"}, Skills: []string{"common", "reader"},
		Catalog: []policy.Definition{{Item: policy.Item{Server: "files", Name: "read_file"}},
			{Item: policy.Item{Server: "files", Name: "delete_file"}}},
		Held: []policy.Item{{Server: "files", Name: "held"}}, Pending: []string{"late"},
		Args: func(it policy.Item) []string {
			if it.Name == "read_file" {
				return []string{"path"}
			}
			return nil
		},
	}
}

func plain(s string) policy.Values { return policy.Values{{Literal: &s, Plain: true}} }

// What a rule names and what does not exist is an error with the nearest known name; what may come to exist is a warning.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule policy.Rule
		want []string // beginning with ! for an error and ? for a warning; without any, nothing is wrong
	}{
		{policy.Rule{Tool: policy.Names{"Bash", "agent__Read", "files__*", "*", "files__held", "Guest*"},
			Role: policy.Names{"Guest", "guest", "d*"}}, nil},
		{policy.Rule{Tool: policy.Names{"Bsh"}}, []string{"!no tool is named Bsh|did you mean Bash?"}},
		{policy.Rule{Tool: policy.Names{"Quux"}}, []string{"?no agent that is known here has a tool Quux|known are"}},
		{policy.Rule{Tool: policy.Names{"files__raed_file"}},
			[]string{"!no tool is named files__raed_file|did you mean files__read_file?"}},
		{policy.Rule{Tool: policy.Names{"files__delte_*"}}, []string{"!no tool is named files__delte_*|"}},
		{policy.Rule{Skill: policy.Names{"late.refunds"}}, []string{"?the server late serves no skill"}},
		{policy.Rule{Tool: policy.Names{"late__anything"}}, []string{"?late__anything waits for the catalog of the server late|"}},
		{policy.Rule{Tool: policy.Names{"flies__read_file"}}, []string{"!no server flies is configured|did you mean files?"}},
		{policy.Rule{Tool: policy.Names{"other__*"}}, []string{"!no server other is configured|servers are files, late"}},
		{policy.Rule{Tool: policy.Names{"other__*", "Bash"}}, []string{"?no server other is configured|"}},
		{policy.Rule{Tool: policy.Names{"files__raed_file", "Bash"}}, []string{"!no tool is named files__raed_file|"}},
		{policy.Rule{Tool: policy.Names{"Bash"}, Role: policy.Names{"gust"}, Skill: policy.Names{"comon"}},
			[]string{"!there is no role \"gust\"|did you mean guest?", "!there is no skill \"comon\"|did you mean common?"}},
		{policy.Rule{Tool: policy.Names{"Bash"}, Match: map[string]policy.Values{"effect": plain("force-push"), "path": plain("*.txt")}},
			[]string{"!no call has the effect \"force-push\"|did you mean force_push?",
				"!path: a string is a literal|write {glob: \"*.txt\"}"}},
		{policy.Rule{Tool: policy.Names{"Bash"}, Args: map[string]policy.Values{"command": plain("./deploy*")}},
			[]string{"!args.command: a string is a literal|write {glob: \"./deploy*\"}"}},
		{policy.Rule{Tool: policy.Names{"files__read_file"}, Args: map[string]policy.Values{"pth": plain("x"), "path": plain("y")}},
			[]string{"!args.pth: files__read_file has no argument \"pth\"|did you mean path?"}},
		{policy.Rule{Tool: policy.Names{"files__delete_file"}, Args: map[string]policy.Values{"pth": plain("x")}}, nil},
		{policy.Rule{Tool: policy.Names{"files__raed_file"}, File: "~/.config/mycelium/rules.yaml"},
			[]string{"?no tool is named files__raed_file|"}},
	} {
		c.rule.Name = "r"
		same(t, Check([]policy.Rule{c.rule}, nil, nil, known()), "rule r: ", c.want)
	}
	literal := "rm *"
	explicit := policy.Rule{Name: "r", Tool: policy.Names{"Bash"}, Args: map[string]policy.Values{"command": {{Literal: &literal}}}}
	same(t, Check([]policy.Rule{explicit}, nil, nil, known()), "rule r: ", nil)
}

// What a role lists and denies has to exist, and the problem says where it stands.
func TestRoles(t *testing.T) {
	t.Parallel()
	r := Role{Role: policy.Role{ID: "guest", AllowedSkills: []string{"common", "raeder", "*"},
		Deny: []string{"files__delte_*", "files__delete_*", "docs__file:///x"}},
		Place: func(key string) (string, int) { return "roles/guest.yaml", len(key) }}
	got := Check(nil, []Role{r}, nil, known())
	same(t, got, "role guest: ", []string{`!allowedSkills: there is no skill "raeder"|did you mean reader?`,
		"!deny: no tool is named files__delte_*, so it hides nothing|"})
	if got[0].File != "roles/guest.yaml" || got[0].Line != len("allowedSkills[1]") {
		t.Errorf("the problem stands at %s:%d", got[0].File, got[0].Line)
	}
}

// What mycelium.yaml names has to exist; in the user's own file, which is for other projects too, it is a warning.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		setting Setting
		want    []string
	}{
		{Setting{Kind: "role", Name: "guest"}, nil},
		{Setting{Kind: "role", Name: "Guest"}, nil},
		{Setting{Kind: "role", Name: policy.EveryRole}, nil},
		{Setting{Kind: "role", Name: "developr"}, []string{`!there is no role "developr"|did you mean developer?`}},
		{Setting{Kind: "role", Name: "qa"}, []string{`!there is no role "qa"|known roles: developer, guest`}},
		{Setting{Kind: "skill", Name: "raeder"}, []string{`!there is no skill "raeder"|did you mean reader?`}},
		{Setting{Kind: "skill", Name: "late.refunds"}, []string{"?the server late serves no skill"}},
		{Setting{Kind: "tool", Name: "files__raed_file"}, []string{"!no tool is named files__raed_file|did you mean files__read_file?"}},
		{Setting{Kind: "role", Name: "qa", File: "~/.config/mycelium/mycelium.yaml"}, []string{`?there is no role "qa"|`}},
	} {
		c.setting.Key = "key"
		same(t, Check(nil, nil, []Setting{c.setting}, known()), "key: ", c.want)
	}
}

func same(t *testing.T, got []policy.Problem, what string, want []string) {
	t.Helper()
	for i, p := range got {
		mark := "!"
		if p.Warning {
			mark = "?"
		}
		message, hint, _ := strings.Cut(append(want, make([]string, len(got))...)[i], "|")
		if message == "" || !strings.HasPrefix(mark+strings.TrimPrefix(p.Message, what), message) || !strings.HasPrefix(p.Hint, hint) {
			t.Errorf("problem %d is %s%s (%s), want %s", i, mark, p.Message, p.Hint, message)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d problems, want %d: %v", len(got), len(want), got)
	}
}
