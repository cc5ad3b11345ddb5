package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"mycelium/internal/approval/judge"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// policiesDocument is policies.yaml.
type policiesDocument struct {
	Policies []judge.Policy `yaml:"policies"`
}

// policiesHint shows what a policy looks like.
const policiesHint = "a policy is {id: pol_1, description: words, tool: agent__Bash, createdAt: 2026-11-22T10:00:00Z}; no model judges " +
	"until it is mended"

// readPolicies reads the policies in words of both files. While one of them does not hold, no model judges: it would not know all that
// it has to put before its own opinion.
func (l *layer) readPolicies() {
	for _, name := range []string{judge.PoliciesFile, judge.LocalPoliciesFile} {
		data, ok, bad := l.read(filepath.Join(l.dir, name))
		file := l.shown(filepath.Join(l.dir, name))
		if ok {
			policies, problems := parsePolicies(file, data, l.policies)
			bad = l.report(problems)
			l.policies = policies
		}
		if bad && l.unjudged == "" {
			l.unjudged = file + " does not hold"
		}
	}
}

// parsePolicies reads one file; the result begins with what others hold already, whose numbers are taken.
func parsePolicies(file string, data []byte, have []judge.Policy) ([]judge.Policy, []policy.Problem) {
	var doc policiesDocument
	problems := yamlfile.Decode(file, data, &doc)
	if source.Faulty(problems) {
		return have, problems
	}
	for i, p := range doc.Policies {
		err := p.Check()
		if err == nil && slices.ContainsFunc(have, func(o judge.Policy) bool { return o.ID == p.ID }) {
			err = errors.New("the number is taken")
		}
		if err != nil {
			problems = append(problems, source.Fault(file, yamlfile.Line(data, fmt.Sprintf("$.policies[%d]", i)),
				"policy "+strconv.Quote(p.ID)+": "+err.Error(), policiesHint))
			continue
		}
		have = append(have, p)
	}
	return have, problems
}

// AddPolicy writes a new policy at the end of a project's policies.local.yaml, or of policies.yaml with shared, and returns it. What
// people wrote in there stays as it is. It is an error, and nothing is written, where either file does not hold or the new text would not
// read back as the old one and the policy.
func AddPolicy(dir, description, tool string, shared bool, now time.Time) (p judge.Policy, err error) {
	target := judge.LocalPoliciesFile
	if shared {
		target = judge.PoliciesFile
	}
	err = underLock(dir, func() error {
		var all, own []judge.Policy
		var file []byte
		for _, name := range []string{judge.PoliciesFile, judge.LocalPoliciesFile} {
			data, err := source.Read(filepath.Join(dir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %s", name, source.Reason(err))
			}
			list, problems := parsePolicies(name, data, nil)
			if source.Faulty(problems) {
				return text.Hinted(fmt.Errorf("%s does not hold", name), "myc config validate says why; mend it first")
			}
			all = append(all, list...)
			if name == target {
				own, file = list, data
			}
		}
		if p, err = judge.NextPolicy(all, description, tool, now); err != nil {
			return err
		}
		file = appendItem(file, policiesHead, policyLines(p), func(b []byte) bool {
			again, problems := parsePolicies(target, b, nil)
			return !source.Faulty(problems) && slices.EqualFunc(again, append(slices.Clone(own), p), samePolicy)
		})
		if file == nil {
			return text.Hinted(fmt.Errorf("it cannot be written at the end of %s", target),
				"write policies: as a list, one key a line, and as the last key of the file")
		}
		return atomicfile.Write(filepath.Join(dir, target), file, 0o644)
	})
	if err != nil {
		return judge.Policy{}, fmt.Errorf("add policy: %w", err)
	}
	return p, nil
}

// samePolicy compares as a file would.
func samePolicy(a, b judge.Policy) bool {
	return a.ID == b.ID && a.Description == b.Description && a.Tool == b.Tool && a.CreatedAt.Equal(b.CreatedAt)
}

// policiesHead is how a file of policies begins.
const policiesHead = "# Policies in words: a model that judges calls puts them before its own opinion. The rules decide before and " +
	"after it.\npolicies:\n"

// policyLines is a policy as it is written.
func policyLines(p judge.Policy) []string {
	lines := []string{"- id: " + p.ID, "  description: " + yamlfile.Text(p.Description)}
	if p.Tool != "" {
		lines = append(lines, "  tool: "+yamlfile.Text(p.Tool))
	}
	return append(lines, "  createdAt: "+p.CreatedAt.Format(time.RFC3339))
}
