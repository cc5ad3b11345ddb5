package profiles

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
)

// TestBoxesOfRules: rules know the shipped profiles as package sandbox has them, and one's own by what they allow.
func TestBoxesOfRules(t *testing.T) {
	if got := (Section{}).Boxes(); !reflect.DeepEqual(got, box.Shipped()) {
		t.Errorf("the sandbox has %+v, and rules know %+v", got, box.Shipped())
	}
	all := read(t, `profiles: {npm: {base: project, hosts: [registry.npmjs.org]}, more: {base: project, hosts: ["*.npmjs.org"]},
  docs: {hosts: [docs.example]}, small: {processes: 2}}`).Boxes()
	for _, tc := range []struct {
		a, b, want string
		ok         bool
	}{
		{"npm", "more", "npm", true},
		{"npm", "project", "project", true},
		{"docs", "standard", "standard", true},
		{"small", "standard", "small", true},
		{"docs", "permissive", "docs", true},
		{"docs", "small", "small", true},
		{"docs", "strict", "strict", true},
		{"npm", "docs", "docs", false}, // one writes the project
	} {
		for _, pair := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			if got, ok := all.Narrower(pair[0], pair[1]); got != tc.want || ok != tc.ok {
				t.Errorf("of %v the narrower one is %q, %t; want %q, %t", pair, got, ok, tc.want, tc.ok)
			}
		}
	}
}

// TestCheckRules: what is wrong with the sandbox of a rule is told by its owner's files.
func TestCheckRules(t *testing.T) {
	project, user := read(t, "profiles: {ours: {}, masked: {masks: {T: [a.example]}}}\nregistries: {corp: {like: npm, hosts: [a.example]}}"), read(t, "profiles: {mine: {}}")
	for _, tc := range []struct {
		box   box.Box
		whose Owner
		want  string
	}{
		{box.Of("strict"), OfUser, ""},
		{box.Of("ours"), OfProject, ""},
		{box.Of("mine"), OfUser, ""},
		{box.Of("mine"), OfProject, "in your own mycelium.yaml only"},
		{box.Of("ours"), OfUser, "one of this project"},
		{box.Of("none"), OfProject, ""}, // the policy says it
		{box.Of("masked"), OfProject, "gets no secret"},
		{box.Box{Profile: "ours", Hosts: []string{"a.example"}, Read: []string{"~/data"}, Write: []string{"out"}}, OfProject, ""},
		{box.Box{Profile: "ours", Registries: []string{"npm", "corp"}, Packages: []string{"npm:left-pad"}}, OfProject, ""},
		{box.Box{Profile: "strict", Registries: []string{"corp"}}, OfUser, "there is no registry \"corp\""},
		{box.Box{Profile: "ours", Packages: []string{"left-pad"}}, OfProject, "write the registry and the name"},
		{box.Box{Profile: "ours", Hosts: []string{"a example"}}, OfProject, "is not the name of a host"},
		{box.Box{Profile: "ours", Read: []string{"~/.ssh"}}, OfProject, "may not open ~/.ssh"},
		{box.Box{Profile: "ours", Write: []string{"rules.yaml"}}, OfProject, "may not change"},
	} {
		rules := []policy.Rule{{Sandbox: tc.box}}
		own, other := project, user
		if tc.whose == OfUser {
			own, other = user, project
		}
		CheckRules(rules, own, other, tc.whose)
		if got := rules[0].Fault; (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%v: %q, want %q", tc.box, got, tc.want)
		}
	}
}

// TestWalls: a profile is read back as it was written, and nothing else is a profile.
func TestWalls(t *testing.T) {
	p := read(t, `profiles: {p: {base: project, hosts: [a.example], masks: {T: [b.example]}, read: [docs],
  registries: [npm, corp], packages: ["npm:left-pad"]}}
registries: {corp: {like: npm, hosts: [npm.corp.example/api]}}`).All()[4]
	if got := registry.Names(p.Registries); !slices.Equal(got, []string{"npm", "corp"}) {
		t.Errorf("npm opens %v", got)
	}
	if got, err := ReadWalls(Walls(p)); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "{}", "x"} {
		if p, err := ReadWalls(bad); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
	if _, ok := sandbox.Find(p.Name); ok {
		t.Error("the profile is a shipped one")
	}
}
