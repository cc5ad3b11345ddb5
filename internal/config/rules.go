package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// rulesDocument is a rules file as it is written. defaults is ClaudeCube's.
type rulesDocument struct {
	Version  *int          `yaml:"version"`
	Rules    []policy.Rule `yaml:"rules"`
	Defaults *struct {
		Unmatched string   `yaml:"unmatched"`
		MaxBudget *float64 `yaml:"max_budget_per_agent"`
		MaxTurns  *int     `yaml:"max_turns_per_agent"`
	} `yaml:"defaults"`
}

// readRules reads the rules files that policy.rules names, or rules.yaml.
func (l *layer) readRules() {
	names := []string{source.RulesFile}
	listed := l.doc.Policy != nil && l.doc.Policy.Rules != nil
	if listed {
		names = l.doc.Policy.Rules
	}
	seen := map[string]bool{}
	for i, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.dir, path)
		}
		if listed && (name == "" || seen[path]) {
			l.problems = append(l.problems, source.Warning(l.docFile, yamlfile.Line(l.docData, fmt.Sprintf("$.policy.rules[%d]", i)),
				"policy.rules names "+strconv.Quote(name)+" twice or not at all", "remove the entry"))
			continue
		}
		seen[path] = true
		l.readRulesFile(path, listed, i)
	}
	if listed && !slices.Contains(names, source.RulesFile) {
		if _, err := source.Read(filepath.Join(l.dir, source.RulesFile)); err == nil {
			l.problems = append(l.problems, source.Warning(l.shown(filepath.Join(l.dir, source.RulesFile)), 0,
				"is not read: policy.rules in "+l.docFile+" does not name it", "add it there, or remove it"))
		}
	}
}

func (l *layer) readRulesFile(path string, listed bool, index int) {
	file := l.shown(path)
	data, ok, bad := l.read(path)
	if !ok {
		if listed && !bad {
			l.problems = append(l.problems, source.Fault(l.docFile, yamlfile.Line(l.docData, fmt.Sprintf("$.policy.rules[%d]", index)),
				"policy.rules names "+file+", which does not exist", "create it, or correct the path; it is relative to the folder of "+
					source.MainFile))
			l.breakAll(file)
		} else if bad {
			l.breakAll(file)
		}
		return
	}
	var doc rulesDocument
	parsed, problems := yamlfile.Read(file, data)
	if parsed != nil && !source.Faulty(problems) {
		problems = append(problems, parsed.Decode(nil, &doc)...)
	}
	if l.report(problems) {
		l.breakAll(file)
		return
	}
	if doc.Version != nil && *doc.Version != 1 {
		l.problems = append(l.problems, source.Fault(file, yamlfile.Line(data, "$.version"), fmt.Sprintf("version %d is not known", *doc.Version),
			"write version: 1"))
		l.breakAll(file)
		return
	}
	l.takeDefaults(file, data, &doc)
	for i, r := range doc.Rules {
		r.File, r.Line = file, parsed.Line(fmt.Sprintf("$.rules[%d]", i))
		l.rules = append(l.rules, r)
	}
	l.ruleFiles = append(l.ruleFiles, file)
}

// takeDefaults reads ClaudeCube's defaults: unmatched is the fallback, and may only narrow; the two budgets have no meaning here.
func (l *layer) takeDefaults(file string, data []byte, doc *rulesDocument) {
	if doc.Defaults == nil {
		return
	}
	switch u := doc.Defaults.Unmatched; u {
	case "":
	case "deny", "allow", "escalate", "ask":
		effect := u
		if u == "escalate" {
			effect = "ask"
		}
		l.fallback.MCP = stricter(l.fallback.MCP, effect)
		l.fallback.Agent = stricter(l.fallback.Agent, effect)
		l.problems = append(l.problems, source.Warning(file, yamlfile.Line(data, "$.defaults.unmatched"),
			"defaults.unmatched: "+u+" is read as policy.fallback "+effect+", where that is stricter", "write policy.fallback in "+source.MainFile))
	default:
		l.problems = append(l.problems, source.Fault(file, yamlfile.Line(data, "$.defaults.unmatched"), "defaults.unmatched is "+strconv.Quote(u),
			"write deny, ask or allow (escalate is ask)"))
		l.breakAll(file)
	}
	if doc.Defaults.MaxBudget != nil || doc.Defaults.MaxTurns != nil {
		l.problems = append(l.problems, source.Warning(file, yamlfile.Line(data, "$.defaults"),
			"max_budget_per_agent and max_turns_per_agent are not rules and have no effect here", "remove them"))
	}
}

// effects from the strictest to the widest, as people write them.
var effects = []string{"deny", "ask", "allow"}

// stricter is the stricter of two effects; an empty one says nothing.
func stricter(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	case slices.Index(effects, b) < slices.Index(effects, a):
		return b
	default:
		return a
	}
}
