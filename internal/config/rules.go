package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"mycelium/internal/approval/judge"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/yamlfile"
)

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
	f, problems := rules.Parse(file, data)
	if l.report(problems) {
		l.breakAll(file)
	}
	if f == nil {
		return
	}
	l.fallback.MCP = rules.Stricter(l.fallback.MCP, f.Fallback.MCP)
	l.fallback.Agent = rules.Stricter(l.fallback.Agent, f.Fallback.Agent)
	l.takeBounds(file, f)
	l.rules = append(l.rules, f.Rules...)
	l.ruleFiles = append(l.ruleFiles, file)
}

// readPolicies reads the policies in words of both files. While one of them has a fault, no model judges, because it would not know every
// policy that it must follow.
func (l *layer) readPolicies() {
	for _, name := range []string{judge.PoliciesFile, judge.LocalPoliciesFile} {
		data, ok, bad := l.read(filepath.Join(l.dir, name))
		file := l.shown(filepath.Join(l.dir, name))
		if ok {
			policies, problems := rules.ParsePolicies(file, data, l.policies)
			bad = l.report(problems)
			l.policies = policies
		}
		if bad && l.unjudged == "" {
			l.unjudged = file + " has a fault"
		}
	}
}
