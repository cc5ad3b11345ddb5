package schemas

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"mycelium/internal/config/scaffold"
	"mycelium/internal/config/shipped"
	"mycelium/internal/yamlfile"
)

// TestEveryKeyIsSaid: a schema describes each key.
func TestEveryKeyIsSaid(t *testing.T) {
	for _, name := range Names() {
		b, err := Of(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Defs map[string]struct {
				Properties map[string]map[string]any `json:"properties"`
			} `json:"$defs"`
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		n := 0
		for part, is := range doc.Defs {
			for key, p := range is.Properties {
				if n++; p["description"] == nil {
					t.Errorf("%s: nothing is said of %s.%s", name, part, key)
				}
			}
		}
		if n < 10 {
			t.Errorf("%s has only %d keys", name, n)
		}
	}
	if _, err := Of("rule"); err == nil {
		t.Error("there is a schema of nothing")
	}
}

// checker checks texts against the schemas.
type checker map[string]*jsonschema.Resolved

func newChecker(t *testing.T) checker {
	t.Helper()
	c := checker{}
	for _, name := range Names() {
		b, err := Of(name)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		if c[name], err = s.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return c
}

// check returns why a text is not valid.
func (c checker) check(t *testing.T, name, text string) error {
	t.Helper()
	var v any
	if problems := yamlfile.Decode("x.yaml", []byte(text), &v); len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	b, err := json.Marshal(v) // as an editor has it: numbers, and no types of Go
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if v == nil {
		v = map[string]any{}
	}
	return c[name].Validate(v)
}

// TestFilesOfTheProgram: the files that init writes, and the roles and skills of the program, are valid.
func TestFilesOfTheProgram(t *testing.T) {
	c := newChecker(t)
	for _, minimal := range []bool{false, true} {
		dir := t.TempDir()
		done, err := scaffold.Init(dir, scaffold.Options{Minimal: minimal})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range done.Written {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			kind := strings.TrimSuffix(name, ".yaml")
			if err := c.check(t, kind, string(b)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !strings.Contains(string(b), "# yaml-language-server: $schema=.mycelium/schema/"+kind+".json\n") {
				t.Errorf("%s does not name its schema", name)
			}
		}
	}
	roles, skills := 0, 0
	for kind, fsys := range map[string]fs.FS{"role": shipped.Own().Roles, "skill": shipped.Own().Skills} {
		err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(fsys, path)
			switch {
			case err != nil:
				return err
			case kind == "role" && path != "index.yaml":
				roles++
			case kind == "skill" && d.Name() == "SKILL.yaml":
				skills++
			case kind == "skill" && d.Name() == "SKILL.md":
				_, rest, _ := strings.Cut(string(data), "---\n")
				head, _, _ := strings.Cut(rest, "\n---")
				data, skills = []byte(head), skills+1
			default:
				return nil
			}
			if err := c.check(t, kind, string(data)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if roles == 0 || skills == 0 {
		t.Errorf("%d roles and %d skills were checked", roles, skills)
	}
}

// block is an example in a page of the manual.
var block = regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```$")

// TestExamplesOfTheManual: each example of a file in the manual is valid.
func TestExamplesOfTheManual(t *testing.T) {
	c := newChecker(t)
	checked := map[string]int{}
	err := filepath.WalkDir("../../../docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || strings.Contains(path, "/decisions/") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range block.FindAllStringSubmatch(string(b), -1) {
			if strings.HasPrefix(m[1], "policies:") || strings.Contains(m[1], "scrape_configs:") { // the judge's file, and one of Prometheus
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(m[1]), "- {name:") || strings.HasPrefix(strings.TrimSpace(m[1]), "- name:") {
				m[1] = "rules:\n" + m[1] // a part of a file
			}
			var why []string
			valid := slices.ContainsFunc(Names(), func(name string) bool {
				err := c.check(t, name, m[1])
				if err == nil {
					checked[name]++
					return true
				}
				why = append(why, name+": "+err.Error())
				return false
			})
			if !valid {
				t.Errorf("%s:\n%s\n%s", path, m[1], strings.Join(why, "\n"))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mycelium", "rules", "role", "skill"} {
		if checked[name] == 0 {
			t.Errorf("no example of %s was found: %v", name, checked)
		}
	}
}

// TestFaults: the schemas refuse unknown keys and values of a wrong kind.
func TestFaults(t *testing.T) {
	c := newChecker(t)
	for _, f := range []struct{ name, text string }{
		{"mycelium", "sesion: {}\n"}, {"mycelium", "session: {promotion: perhaps}\n"}, {"mycelium", "session: {defaultRole: [a]}\n"},
		{"mycelium", "mcpServers: {a: {comand: x}}\n"}, {"mycelium", "limits: {guest: {perHour: 0}}\n"}, {"mycelium", "server: {maxBody: large}\n"},
		{"rules", "rules: [{name: a, action: deny, tol: Bash}]\n"}, {"rules", "rules: {a: b}\n"}, {"role", "id: a\nskills: [x]\n"},
		{"skill", "name: a\nallowed: [x]\n"}, {"plan", "- id: a\n  depends: [b]\n"}, {"plan", "feature: []\n"},
	} {
		if err := c.check(t, f.name, f.text); err == nil {
			t.Errorf("%s: this is valid:\n%s", f.name, f.text)
		}
	}
	for _, good := range []struct{ name, text string }{
		{"mycelium", "mcpServers: {a: {command: x, timeout: 500, bare: true}}\nlimits: {guest: {perHour: 3, tools: {x__y: {perDay: 1}}}}\n"},
		{"plan", "- {id: a, description: d, depends_on: [b], estimate: 1h30m, validation: {verifyCommand: go test}}\n"},
		{"mycelium", "mcpServers:\nsession: {promotion: }\n"}, {"plan", "features: [{description: d}]\n"}, {"skill", "name: a\ndescription: d\nallowed-tools: Bash Read\nlicense: MIT\n"},
		{"rules", "rules: [{name: a, action: deny, tool: Bash|Edit, match: {path: {glob: x}}, sandbox: {profile: p, hosts: [h]}}]\n"},
	} {
		if err := c.check(t, good.name, good.text); err != nil {
			t.Errorf("%s: %v\n%s", good.name, err, good.text)
		}
	}
}

// TestWrite: the schemas are written where the files name them.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	folder, err := Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		want, err := Of(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(folder, name+".json")); err != nil || string(got) != string(want)+"\n" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
