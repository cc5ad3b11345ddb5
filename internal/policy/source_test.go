package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// itemOf reads server__name, or resource:server__uri and prompt:server__name. A name without a server is an agent's own tool.
func itemOf(s string) Item {
	kind := Tool
	if rest, ok := strings.CutPrefix(s, "prompt:"); ok {
		kind, s = Prompt, rest
	} else if rest, ok := strings.CutPrefix(s, "resource:"); ok {
		kind, s = Resource, rest
	}
	server, name, found := strings.Cut(s, separator)
	if !found {
		server, name = AgentServer, s
	}
	return Item{Kind: kind, Server: server, Name: name}
}

func catalog(names ...string) []Definition {
	var list []Definition
	for _, n := range names {
		list = append(list, Definition{Item: itemOf(n)})
	}
	return list
}

func visible(p *Policy, role string, skills []string) []string {
	list := []string{}
	for _, it := range p.Items(Scope{Principal: Principal{Role: role}, Skills: skills}, Tool) {
		list = append(list, it.String())
	}
	return list
}

// TestTwoDeclarations: the user's and the project's declarations of one name bound each other.
func TestTwoDeclarations(t *testing.T) {
	p, problems := New(Source{
		Catalog: catalog("a__x", "a__y", "a__z", "b__x"),
		Grants: []Grant{
			{Name: "s", AllowedRoles: []string{"dev", "guest"}, AllowedTools: []string{"a__*"}, Grants: Grants{Memory: "all"}},
			{Name: "s", AllowedRoles: []string{"dev", "admin"}, AllowedTools: []string{"a__x", "a__y", "b__x"},
				Grants: Grants{Memory: "team", MemoryTeamRoles: []string{"guest"}}},
			{Name: "t", AllowedRoles: []string{"dev"}, AllowedTools: []string{"b__x"}},
			{Name: "t", AllowedRoles: []string{"dev"}, AllowedTools: []string{"broken"}},
		},
		Roles: []Role{{ID: "dev", AllowedSkills: []string{"*"}}, {ID: "dev", Deny: []string{"a__y"}}},
	})
	if len(problems) != 1 {
		t.Fatal(problems)
	}
	for role, want := range map[string][]string{"dev": {"a__x"}, "guest": {}, "admin": {}} {
		if diff := cmp.Diff(want, visible(p, role, []string{"s", "t"})); diff != "" {
			t.Errorf("%s: %s", role, diff)
		}
	}
	if v, _ := p.Role("dev"); v.Memory != "team" || len(v.MemoryTeams) != 0 {
		t.Errorf("memory %s %v", v.Memory, v.MemoryTeams)
	}
}

func TestTwoRolesBoundEachOther(t *testing.T) {
	p, _ := New(Source{
		Catalog: catalog("a__x", "a__y", "a__z", "a__deny"),
		Grants: []Grant{{Name: "one", AllowedRoles: []string{"dev", "base"}, AllowedTools: []string{"a__z", "a__deny"}},
			{Name: "base", AllowedRoles: []string{"base"}, AllowedTools: []string{"a__y"}}},
		Roles: []Role{
			{ID: "base", Deny: []string{"a__deny"}},
			{ID: "dev", ToolIDs: []string{"a__x", "a__y"}, AllowedSkills: []string{"one"}},
			{ID: "dev", ToolIDs: []string{"a__x", "a__z"}, Inherits: "base"},
		},
	})
	// toolIds of both: a__x; the second file inherits, the first does not: no skill of base, but its deny; the toolIds of the
	// file that inherits bound the whole, so a__z stays.
	if diff := cmp.Diff([]string{"a__x", "a__z"}, visible(p, "dev", []string{"one", "base"})); diff != "" {
		t.Error(diff)
	}
}

func TestCatalogClaims(t *testing.T) {
	p, problems := New(Source{
		Catalog: append(catalog("a__x", "a__x", "b__y", "agent__Bash", "prompt:b__y"), Definition{Item: Item{Server: "b__x", Name: "y"}},
			Definition{Item: Item{Server: "b", Name: "z\u200b"}}),
		Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"*"}, AllowedPrompts: []string{"*"},
			AllowedResources: []string{"*"}}},
	})
	if len(problems) != 4 {
		t.Error(problems)
	}
	if diff := cmp.Diff([]string{"b__y"}, visible(p, "dev", []string{"s"})); diff != "" {
		t.Error(diff)
	}
	s := Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}
	want := []Item{{Kind: Prompt, Server: "b", Name: "y"}, {Kind: Prompt, Server: SkillsServer, Name: "s"}}
	if diff := cmp.Diff(want, p.Items(s, Prompt)); diff != "" {
		t.Error(diff)
	}
	if p.Visible(s, Item{Server: "b__x", Name: "y"}) || len(p.Items(s, Resource)) != 0 ||
		!p.Visible(s, Item{Kind: Resource, Server: "b", Name: "file:///x"}) {
		t.Error("resources or confusable names")
	}
}

func TestBrokenAll(t *testing.T) {
	src := Source{Catalog: catalog("a__x", "mycelium-router__get_context"), Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"},
		AllowedTools: []string{"*"}}}, Broken: Broken{All: "rules.yaml:3: bad"}}
	p, _ := New(src)
	if diff := cmp.Diff([]string{"mycelium-router__get_context"}, visible(p, "dev", []string{"s"})); diff != "" ||
		len(p.OpenSkills("dev")) != 0 {
		t.Error(diff, p.OpenSkills("dev"))
	}
}

func TestZeroPolicyDenies(t *testing.T) {
	p, problems := New(Source{})
	if d := p.Decide(Call{}); len(problems) != 0 || !d.Unknown || d.Effect != Deny {
		t.Error(d, problems)
	}
	if (Decision{}).Effect != Deny || len(p.Roles()) != 0 || p.StartSkills("x") == nil {
		t.Error("a zero value is not the strictest")
	}
	if d := p.Decide(Call{Item: Item{Server: AgentServer, Name: "Bash"}, Scope: Scope{Principal: Principal{Role: "x"}}}); !d.Unknown {
		t.Error(d)
	}
}

// TestParentCircle: a chain of parents that does not end is denied, and nothing hangs.
func TestParentCircle(t *testing.T) {
	p, _ := New(Source{Catalog: catalog("a__x"), Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"*"}}}})
	who := &Principal{Role: "dev"}
	who.Parent = who
	s := Scope{Principal: *who, Skills: []string{"s"}}
	if d := p.Decide(Call{Scope: s, Item: Item{Server: "a", Name: "x"}}); !d.Unknown || len(p.Items(s, Tool)) != 0 {
		t.Error(d)
	}
}

func TestManySkills(t *testing.T) {
	var src Source
	src.Catalog = catalog("a__x", "a__y")
	for i := range 300 {
		name := "s" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		src.Grants = append(src.Grants, Grant{Name: name, AllowedRoles: []string{"dev"}, AllowedTools: []string{[]string{"a__x", "a__y"}[i/299]}})
	}
	p, _ := New(src)
	open := p.OpenSkills("dev")
	if !slices.IsSorted(open) || len(open) != 300 || len(visible(p, "dev", open)) != 2 || len(visible(p, "dev", open[:299])) != 1 {
		t.Error(len(open))
	}
}

// TestDecideAllocatesNothing: a decision without conditions stays off the heap.
func TestDecideAllocatesNothing(t *testing.T) {
	p, _ := New(benchSource())
	for _, tool := range []string{"server14__tool_20", "server10__tool_10", "server49__tool_9", "server49__nothing"} {
		c := benchCall(p, tool)
		if n := testing.AllocsPerRun(100, func() { p.Decide(c) }); n != 0 {
			t.Errorf("%s: %v allocations", tool, n)
		}
	}
}

func TestRefusalsOfAbsentAndHiddenAreAlike(t *testing.T) {
	p, _ := New(Source{Catalog: catalog("a__x"), Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"*"}},
		{Name: "g", AllowedRoles: []string{"guest"}}}})
	s := Scope{Principal: Principal{Role: "guest"}, Skills: []string{"g"}}
	hidden, absent := p.Decide(Call{Scope: s, Item: itemOf("a__x")}), p.Decide(Call{Scope: s, Item: itemOf("a__nothing")})
	if !hidden.Unknown || !absent.Unknown || hidden.Effect != absent.Effect {
		t.Error(hidden, absent)
	}
}

func TestUnknownToolID(t *testing.T) {
	_, problems := New(Source{Catalog: catalog("files__list_directory", "db__query"),
		Roles: []Role{{ID: "r", ToolIDs: []string{"list_directry", "db__qery"}}}})
	if len(problems) != 2 || problems[0].Hint != "it grants nothing" || problems[0].Tool != "list_directry" ||
		problems[1].Hint != "it grants nothing" || problems[1].Tool != "db__qery" {
		t.Errorf("%+v", problems)
	}
}
