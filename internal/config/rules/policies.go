package rules

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

// policiesDocument is a file of policies in words.
type policiesDocument struct {
	Policies []judge.Policy `yaml:"policies"`
}

// policiesHint shows the form of a policy.
const policiesHint = "a policy is {id: pol_1, description: words, tool: agent__Bash, createdAt: 2026-11-22T10:00:00Z}; no model judges " +
	"until it is corrected"

// ParsePolicies reads a file of policies and appends them to have. Ids of policies in have are taken.
func ParsePolicies(file string, data []byte, have []judge.Policy) ([]judge.Policy, []policy.Problem) {
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

// AddPolicy appends a new policy to policies.local.yaml in each of the folders, or with shared to policies.yaml, and returns it. Its id
// is free in all of them. The rest of a file keeps its bytes. If a file has a fault, or the new text would not read back as the old one and
// the policy, AddPolicy returns an error; what it has written before stays.
func AddPolicy(folders []string, description, tool string, shared bool, now time.Time) (judge.Policy, error) {
	target := judge.LocalPoliciesFile
	if shared {
		target = judge.PoliciesFile
	}
	var all []judge.Policy
	for _, dir := range folders {
		for _, name := range []string{judge.PoliciesFile, judge.LocalPoliciesFile} {
			list, _, err := readPolicies(dir, name)
			if err != nil {
				return judge.Policy{}, fmt.Errorf("add policy: %w", err)
			}
			all = append(all, list...)
		}
	}
	p, err := judge.NextPolicy(all, description, tool, now)
	for _, dir := range folders {
		if err == nil {
			err = appendPolicy(dir, target, p)
		}
	}
	if err != nil {
		return judge.Policy{}, fmt.Errorf("add policy: %w", err)
	}
	return p, nil
}

// readPolicies reads a file of policies, which need not exist.
func readPolicies(dir, name string) (list []judge.Policy, data []byte, err error) {
	data, err = source.Read(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: %s", name, source.Reason(err))
	}
	list, problems := ParsePolicies(name, data, nil)
	if source.Faulty(problems) {
		return nil, nil, text.Hinted(fmt.Errorf("%s has a fault", name), "myc config validate says why; mend it first")
	}
	return list, data, nil
}

// appendPolicy writes a policy at the end of a file.
func appendPolicy(dir, name string, p judge.Policy) error {
	own, file, err := readPolicies(dir, name)
	if err != nil {
		return err
	}
	file = appendItem(file, policiesHead, policyLines(p), func(b []byte) bool {
		again, problems := ParsePolicies(name, b, nil)
		return !source.Faulty(problems) && slices.EqualFunc(again, append(slices.Clone(own), p), samePolicy)
	})
	if file == nil {
		return text.Hinted(fmt.Errorf("it cannot be written at the end of %s", name),
			"write policies: as a list, one key a line, and as the last key of the file")
	}
	return atomicfile.Write(filepath.Join(dir, name), file, 0o644)
}

// samePolicy compares what a file keeps of a policy.
func samePolicy(a, b judge.Policy) bool {
	return a.ID == b.ID && a.Description == b.Description && a.Tool == b.Tool && a.CreatedAt.Equal(b.CreatedAt)
}

// policiesHead begins a file of policies.
const policiesHead = "# Policies in words: a model that judges calls puts them before its own opinion. The rules decide before and " +
	"after it.\npolicies:\n"

// policyLines writes a policy as an item of a list.
func policyLines(p judge.Policy) []string {
	lines := []string{"- id: " + p.ID, "  description: " + yamlfile.Text(p.Description)}
	if p.Tool != "" {
		lines = append(lines, "  tool: "+yamlfile.Text(p.Tool))
	}
	return append(lines, "  createdAt: "+p.CreatedAt.Format(time.RFC3339))
}
