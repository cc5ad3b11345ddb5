package box

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
)

// TestNarrower: no sandbox is the widest, and the order of the two does not matter.
func TestNarrower(t *testing.T) {
	for _, tc := range []struct {
		a, b, want string
		ok         bool
	}{
		{"", "", "", true},
		{"", "project", "project", true},
		{"strict", "", "strict", true},
		{"strict", "permissive", "strict", true},
		{"standard", "permissive", "standard", true},
		{"standard", "standard", "standard", true},
		{"project", "project", "project", true},
		{"project", "standard", "standard", false},
		{"permissive", "project", "permissive", false},
	} {
		for _, pair := range [][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			if got, ok := Shipped().Narrower(pair[0], pair[1]); got != tc.want || ok != tc.ok {
				t.Errorf("Narrower(%q, %q) = %q, %t; want %q, %t", pair[0], pair[1], got, ok, tc.want, tc.ok)
			}
		}
	}
}

// TestForms: a box is read from a name or a map, and written as the shorter of the two.
func TestForms(t *testing.T) {
	for _, tc := range []struct {
		yaml, json string
		want       Box
	}{
		{"project", `"project"`, Of("project")},
		{"{profile: strict}", `"strict"`, Of("strict")},
		{"{profile: project, hosts: [b.example, a.example], read: [/data]}",
			`{"profile":"project","read":["/data"],"hosts":["b.example","a.example"]}`,
			Box{Profile: "project", Read: []string{"/data"}, Hosts: []string{"b.example", "a.example"}}},
		{"{profile: project, registries: [npm, go], packages: ['npm:left-pad']}",
			`{"profile":"project","registries":["npm","go"],"packages":["npm:left-pad"]}`,
			Box{Profile: "project", Registries: []string{"npm", "go"}, Packages: []string{"npm:left-pad"}}},
	} {
		var got, back Box
		if err := yaml.UnmarshalWithOptions([]byte(tc.yaml), &got, yaml.Strict()); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %v, %v", tc.yaml, got, err)
		}
		data, err := json.Marshal(got)
		if err != nil || string(data) != tc.json {
			t.Errorf("%s is written as %s, %v", tc.yaml, data, err)
		}
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, got) {
			t.Errorf("%s is read as %v, %v", data, back, err)
		}
	}
	for _, bad := range []string{"[project]", "{profile: project, host: [a.example]}", "{profile: [project]}"} {
		var b Box
		if err := yaml.UnmarshalWithOptions([]byte(bad), &b, yaml.Strict()); err == nil {
			t.Errorf("%s is %v", bad, b)
		}
	}
	for _, bad := range []string{`{"profile":"project","more":1}`, `7`} {
		var b Box
		if err := json.Unmarshal([]byte(bad), &b); err == nil {
			t.Errorf("%s is %v", bad, b)
		}
	}
	if s := (Box{Profile: "project", Read: []string{"/data"}, Hosts: []string{"a", "b"}}).String(); s != "project with hosts a b; read /data" {
		t.Errorf("for people it is %q", s)
	}
}

// TestJoined: the whole call has what is granted to any part, and people are asked if a part that runs code was not granted it.
func TestJoined(t *testing.T) {
	type part struct {
		box  Box
		code bool
	}
	npm := Box{Profile: "project", Hosts: []string{"npm.example"}}
	registries := Box{Profile: "project", Registries: []string{"npm"}, Packages: []string{"npm:left-pad"}}
	for _, tc := range []struct {
		parts []part
		want  string
		ask   bool
	}{
		{nil, "", false},
		{[]part{{npm, true}}, "project with hosts npm.example", false},
		{[]part{{npm, true}, {Of("project"), false}}, "project with hosts npm.example", false},
		{[]part{{npm, true}, {Box{}, true}}, "project with hosts npm.example", false},
		{[]part{{npm, true}, {Of("project"), true}}, "project with hosts npm.example", true},
		{[]part{{npm, true}, {npm, true}, {Of("strict"), false}}, "strict with hosts npm.example", true}, // project and strict
		{[]part{{Of("standard"), true}, {Box{Profile: "strict", Read: []string{"/d"}}, false}}, "strict with read /d", true},
		{[]part{{Of("standard"), true}, {Of("strict"), true}}, "strict", false},
		{[]part{{registries, true}, {Of("project"), false}}, "project with registries npm; packages npm:left-pad", false},
		{[]part{{registries, true}, {Of("project"), true}}, "project with registries npm; packages npm:left-pad", true},
	} {
		for _, reverse := range []bool{false, true} {
			if reverse {
				slices.Reverse(tc.parts)
			}
			var j Joined
			for _, p := range tc.parts {
				j.Add(Shipped(), p.box, p.code)
			}
			j.End(Shipped())
			if got, ask := j.Box(); got.String() != tc.want || (ask != "") != tc.ask {
				t.Errorf("%v: %q, asks %q; want %q, %t", tc.parts, got, ask, tc.want, tc.ask)
			}
		}
	}
}

// TestPrincipals: a call has no more than what each of its principals allows.
func TestPrincipals(t *testing.T) {
	a := Box{Profile: "standard", Hosts: []string{"a", "b"}, Read: []string{"/r"}}
	b := Box{Profile: "strict", Hosts: []string{"b", "c"}}
	for _, pair := range [][2]Box{{a, b}, {b, a}} {
		if got, ask := Shipped().And(pair[0], pair[1]); got.String() != "strict with hosts b" || ask != "" {
			t.Errorf("both allow %q, asks %q", got, ask)
		}
		if got, _ := Shipped().And(pair[0], Box{}); !reflect.DeepEqual(got, pair[0]) {
			t.Errorf("with one that needs no sandbox it is %q", got)
		}
	}
}

// TestCheck: what a rule cannot mean is refused, with the reason.
func TestCheck(t *testing.T) {
	own := append(Shipped(), Known{Name: "models"})
	for _, tc := range []struct {
		box    Box
		denies bool
		want   string
	}{
		{Box{}, true, ""},
		{Of("models"), false, ""},
		{Of("model"), false, "no profile \"model\"; write one of strict, standard, permissive, project, models"},
		{Of("models"), true, "a call that is denied does not run"},
		{Box{Hosts: []string{"a"}}, false, "no policy.wall"},
		{Box{Profile: "permissive", Hosts: []string{"a"}}, false, "has the network of the machine"},
		{Box{Profile: "permissive", Read: []string{"/a"}}, false, ""},
		{Box{Profile: "permissive", Registries: []string{"npm"}}, false, "has the network of the machine"},
	} {
		err := own.Check(tc.box, tc.denies)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %q", tc.box, err, tc.want)
		}
	}
	if err := Alone(Of("models")).Check(Of("models"), false); err != nil {
		t.Errorf("a rule by itself: %v", err)
	}
}
