package policytest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mycelium/internal/policy"
)

// corpusConfig is the file config.yaml of a corpus archive.
type corpusConfig struct {
	Strict   bool              `yaml:"strict"`
	Default  []string          `yaml:"default"`
	Fallback policy.Fallback   `yaml:"fallback"`
	Broken   string            `yaml:"broken"`
	Roles    map[string]string `yaml:"brokenRoles"`
}

// readCorpus makes a source of an archive: config.yaml, skills/*.yaml, roles/*.yaml, rules.yaml, and catalog, a name a line
// (prompt:server__name for a prompt) with the hints that are true behind it, or false with a "!".
func readCorpus(t *testing.T, a *txtar.Archive) (policy.Source, map[string][]byte) {
	t.Helper()
	src := policy.Source{Dir: "/p", Home: "/home/dev"}
	files := map[string][]byte{}
	strict := func(data []byte, into any) {
		t.Helper()
		if err := yaml.UnmarshalWithOptions(data, into, yaml.Strict()); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range a.Files {
		files[f.Name] = f.Data
		switch dir := filepath.Dir(f.Name); {
		case f.Name == "config.yaml":
			var c corpusConfig
			strict(f.Data, &c)
			src.Strict, src.Default, src.Fallback, src.Broken = c.Strict, c.Default, c.Fallback, policy.Broken{All: c.Broken, Roles: c.Roles}
		case dir == "skills":
			var g policy.Grant
			strict(f.Data, &g)
			src.Grants = append(src.Grants, g)
		case dir == "roles":
			var r policy.Role
			strict(f.Data, &r)
			src.Roles = append(src.Roles, r)
		case f.Name == "rules.yaml":
			var r struct {
				Rules []policy.Rule `yaml:"rules"`
			}
			strict(f.Data, &r)
			src.Rules = r.Rules
		case f.Name == "catalog":
			for line := range strings.Lines(string(f.Data)) {
				words := strings.Fields(line)
				d := policy.Definition{Item: caseItem(words[0]), Annotations: map[string]bool{}}
				for _, w := range words[1:] {
					name, no := strings.CutPrefix(w, "!")
					d.Annotations[name] = !no
				}
				src.Catalog = append(src.Catalog, d)
			}
		}
	}
	return src, files
}

// TestCorpus runs testdata/*.txtar: each archive is a set of files that people write, and the calls that must come out of it.
// "problems" lists what New must report (a line each, "warning: " before a warning), "roles" what a role comes to.
func TestCorpus(t *testing.T) {
	list, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(list) < 8 {
		t.Fatal(list, err)
	}
	for _, file := range list {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src, files := readCorpus(t, a)
			p, problems := policy.New(src)
			problems = append(problems, Examples(p, nil)...)
			got := ""
			for _, pr := range problems {
				if pr.Warning {
					got += "warning: "
				}
				got += pr.Message + "\n"
			}
			if diff := cmp.Diff(string(files["problems"]), got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if want, ok := files["roles"]; ok {
				if diff := cmp.Diff(string(want), describeRoles(p)); diff != "" {
					t.Errorf("roles (-want +got):\n%s", diff)
				}
			}
			cases, err := ParseCases(files["cases"])
			if err != nil || len(cases) == 0 {
				t.Fatal(len(cases), err)
			}
			for _, c := range cases {
				if x, err := c.Check(p); err != nil {
					t.Errorf("line %d: %v\n%+v", c.Line, err, x.Trace)
				}
			}
		})
	}
}

// describeRoles prints a line for each role: chain, open skills, memory, and the tools that it starts with.
func describeRoles(p *policy.Policy) string {
	var b strings.Builder
	for _, id := range p.Roles() {
		v, _ := p.Role(id)
		s := policy.Scope{Principal: policy.Principal{Role: id}, Skills: p.StartSkills(id)}
		var tools []string
		for _, it := range p.Items(s, policy.Tool) {
			tools = append(tools, it.String())
		}
		memory := v.Memory
		if len(v.MemoryTeams) > 0 {
			memory += "(" + strings.Join(v.MemoryTeams, " ") + ")"
		}
		b.WriteString(strings.Join(v.Chain, "<") + " skills[" + strings.Join(v.Skills, " ") + "] memory " + memory + " tools[" +
			strings.Join(tools, " ") + "]\n")
	}
	return b.String()
}

func TestParseCasesRefuses(t *testing.T) {
	for _, bad := range []string{"guest files__x", "guest -> allow", "guest files__x -> maybe", `guest files__x {"a":1,"a":2} -> allow`,
		`guest "files__x -> allow`, "guest files__x -> allow rule more"} {
		if c, err := ParseCases([]byte(bad)); err == nil {
			t.Errorf("%s: read as %+v", bad, c)
		}
	}
	c, err := ParseCases([]byte("# none\n\nguest/dev,admin+a+b@review<boss \"files__re\\u200bad\" {\"x\":1} -> deny r"))
	if err != nil {
		t.Fatal(err)
	}
	want := Case{Line: 3, Text: c[0].Text, Effect: "deny", Rule: "r", Item: policy.Item{Server: "files", Name: "re\u200bad"},
		Args: policy.Args{"x": int64(1)},
		Scope: policy.Scope{Skills: []string{"a", "b"}, Stage: "review", Principal: policy.Principal{ID: "case", Role: "guest",
			Roles: []string{"guest", "dev", "admin"}, Parent: &policy.Principal{ID: "parent", Role: "boss"}}}}
	if diff := cmp.Diff([]Case{want}, c); diff != "" || slices.Contains(c[0].Scope.Skills, "") {
		t.Error(diff)
	}
}
