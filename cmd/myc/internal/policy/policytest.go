package policy

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/rules"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/policy/policytest"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// policyTest runs the examples in the project's rule files or in the named rule files, and txtar corpora. The files in a corpus
// (skills/*.yaml, roles/*.yaml, rules.yaml, catalog) decide its cases. If it has only cases, the project's policy does.
func (a *app) policyTest(files []string) error {
	a.OnDisk = true
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	a.SayUntrusted(v)
	failed := 0
	var broken []string
	var why map[string][]string
	if len(files) == 0 {
		files = slices.Clone(v.Project.File.Policy.Rules)
		for i, f := range files {
			if !filepath.IsAbs(f) {
				files[i] = filepath.Join(v.Project.Dir, f)
			}
		}
		broken, why = brokenRules(v, files)
	}
	for _, file := range broken {
		failed += a.failed(file, why[file])
	}
	for _, file := range files {
		var n int
		var wrong []string
		if filepath.Ext(file) == ".txtar" {
			n, wrong, err = testCorpus(v, file)
		} else {
			n, wrong, err = testRules(v, file)
		}
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			fmt.Fprintf(a.Out, "ok   %s (%d)\n", file, n)
			continue
		}
		failed += a.failed(file, wrong)
	}
	if failed > 0 {
		return fmt.Errorf("policy test: %s", text.Count(failed, "problem"))
	}
	return nil
}

// rulesFile is the part of a rules file that its examples need.
type rulesFile struct {
	Version  int            `yaml:"version"`
	Defaults map[string]any `yaml:"defaults"`
	Rules    []policy.Rule  `yaml:"rules"`
}

// testRules compiles a rules file with the project's skills and roles. Compiling runs the examples of the rules.
func testRules(v *project.View, file string) (n int, wrong []string, err error) {
	data, err := base.ReadFile(file)
	if err != nil {
		return 0, nil, err
	}
	doc, problems := rules.Parse(filepath.Base(file), data)
	if doc == nil {
		return 0, faults(problems), nil
	}
	for _, r := range doc.Rules {
		n += len(r.Examples.Match) + len(r.Examples.NotMatch)
	}
	pol, unclear := policy.New(policy.Source{
		Catalog: v.Catalog.Definitions, Grants: v.Skills.Grants(), Roles: v.Project.Roles, Rules: doc.Rules, Dir: v.Project.Dir,
		Home: v.Project.Home,
	})
	problems = slices.Concat(problems, unclear, policytest.Examples(pol, config.ReadCommand), v.NamesIn(doc.Rules))
	return n, faults(problems), nil
}

func faults(problems []policy.Problem) []string {
	var out []string
	for _, p := range problems {
		if !p.Warning {
			out = append(out, project.ProblemText(p))
		}
	}
	return out
}

// testCorpus decides the cases of an archive.
func testCorpus(v *project.View, file string) (n int, wrong []string, err error) {
	data, err := base.ReadFile(file)
	if err != nil {
		return 0, nil, err
	}
	archive := txtar.Parse(data)
	pol := v.Policy
	var cases []policytest.Case
	src := policy.Source{Dir: "/p", Home: "/home/dev"}
	own := false
	for _, f := range archive.Files {
		if f.Name == "cases" {
			if cases, err = policytest.ParseCases(f.Data); err != nil {
				return 0, nil, failure.New(failure.Config, fmt.Errorf("policy test: %s: %w", file, err), "")
			}
			continue
		}
		own = true
		if err := addToSource(&src, file, f); err != nil {
			return 0, nil, err
		}
	}
	if len(cases) == 0 {
		return 0, nil, failure.New(failure.Config, fmt.Errorf("policy test: %s has no cases", file),
			"a case is a line such as: guest files__read_file {\"path\":\"a\"} -> allow")
	}
	if own {
		var problems []policy.Problem
		pol, problems = policy.New(src)
		problems = append(problems, policytest.Examples(pol, config.ReadCommand)...)
		wrong = faults(problems)
	}
	for i := range cases {
		if _, err := cases[i].Check(pol); err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d of cases: %v", cases[i].Line, err))
		}
	}
	return len(cases), wrong, nil
}

// addToSource adds one file of an archive to the source of a policy.
func addToSource(src *policy.Source, archive string, f txtar.File) error {
	name := archive + "/" + f.Name
	var problems []policy.Problem
	switch dir := path.Dir(f.Name); {
	case dir == "skills":
		var g policy.Grant
		problems = yamlfile.Decode(name, f.Data, &g)
		src.Grants = append(src.Grants, g)
	case dir == "roles":
		var r policy.Role
		problems = yamlfile.Decode(name, f.Data, &r)
		src.Roles = append(src.Roles, r)
	case f.Name == "rules.yaml":
		var doc rulesFile
		problems = yamlfile.Decode(name, f.Data, &doc)
		src.Rules = append(src.Rules, doc.Rules...)
	case f.Name == "catalog":
		for line := range strings.Lines(string(f.Data)) {
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			it, err := policy.ParseTool(words[0])
			if err != nil {
				return failure.New(failure.Config, fmt.Errorf("policy test: %s: %w", name, err), "")
			}
			d := policy.Definition{Item: it, Annotations: map[string]bool{}}
			for _, w := range words[1:] {
				hint, no := strings.CutPrefix(w, "!")
				d.Annotations[hint] = !no
			}
			src.Catalog = append(src.Catalog, d)
		}
	default:
		return failure.New(failure.Config, fmt.Errorf("policy test: %s: unknown part of a corpus", name),
			"parts are skills/*.yaml, roles/*.yaml, rules.yaml, catalog and cases")
	}
	if wrong := faults(problems); len(wrong) > 0 {
		return failure.New(failure.Config, fmt.Errorf("policy test: %s", wrong[0]), "")
	}
	return nil
}
