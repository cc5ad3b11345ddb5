package policy

import (
	"strings"
	"testing"
)

// TestRoleCeilings: onlyTools hides everything else, control tools too, also from an heir; ask waits for a person about effects
// and about tools of which nobody knows what they do.
func TestRoleCeilings(t *testing.T) {
	item := func(s string) Item {
		server, name, _ := strings.Cut(s, "__")
		return Item{Server: server, Name: name}
	}
	p, problems := New(Source{Dir: "/p",
		Catalog: []Definition{{Item: item("files__read_file"), Annotations: Annotations{"readOnlyHint": true}},
			{Item: item("files__write_file")},
			{Item: item("db__query"), Annotations: Annotations{"readOnlyHint": true}}, {Item: item("db__run")},
			{Item: item("mycelium-router__get_context")}},
		Roles: []Role{{ID: "narrow", ToolIDs: []string{"files__*", "agent__Bash"}, OnlyTools: []string{"files__read_file"}},
			{ID: "heir", Inherits: "narrow", ToolIDs: []string{"files__*"}},
			{ID: "careful", ToolIDs: []string{"files__*", "db__*", "agent__Bash"}, Ask: []string{"write", "execute"}},
			{ID: "odd", ToolIDs: []string{"db__*"}, Ask: []string{"wriet"}}},
		Rules: []Rule{{Name: "all", Action: "allow", Tool: Names{"*"}}}})
	if len(problems) != 1 || !strings.Contains(problems[0].Message, `there is no effect "wriet"`) {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		role, tool string
		want       Decision
	}{
		{"narrow", "files__read_file", Decision{Effect: Allow, Rule: "all"}},
		{"narrow", "files__write_file", Decision{Unknown: true}},
		{"narrow", "agent__Bash", Decision{Unknown: true}},
		{"narrow", "mycelium-router__get_context", Decision{Unknown: true}},
		{"heir", "mycelium-router__get_context", Decision{Unknown: true}},
		{"heir", "files__read_file", Decision{Effect: Allow, Rule: "all"}},
		{"careful", "files__read_file", Decision{Effect: Allow, Rule: "all"}},
		{"careful", "db__query", Decision{Effect: Allow, Rule: "all"}},
		{"careful", "mycelium-router__get_context", Decision{Effect: Allow, Rule: "all"}},
		{"careful", "files__write_file", Decision{Effect: Ask, Rule: "role:careful"}},
		{"careful", "db__run", Decision{Effect: Ask, Rule: "role:careful:tools"}},
		{"odd", "db__query", Decision{Unknown: true}},
	} {
		it := item(c.tool)
		notes, _ := p.Hints(it)
		args := Args{}
		if it.Server == "files" {
			args["path"] = "a"
		}
		call := Call{Scope: Scope{Principal: Principal{ID: "t", Role: c.role}}, Item: it, Args: args, Facts: ArgFacts(it, notes, args, "/p")}
		d := p.Decide(call)
		if d.Effect != c.want.Effect || d.Unknown != c.want.Unknown || c.want.Rule != "" && d.Rule != c.want.Rule {
			t.Errorf("%s %s: %+v, want %+v", c.role, c.tool, d, c.want)
		}
	}
}
