package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// policiesDocument is policies.yaml.
type policiesDocument struct {
	Policies []approval.Policy `yaml:"policies"`
}

// policiesHint shows what a policy looks like.
const policiesHint = "a policy is {id: pol_1, description: words, tool: agent__Bash, createdAt: 2026-11-22T10:00:00Z}; no model judges until it is mended"

// readPolicies reads the policies in words of both files. While one of them does not hold, no model judges: it would not know all that
// it has to put before its own opinion.
func (l *layer) readPolicies() {
	for _, name := range []string{approval.PoliciesFile, approval.LocalPoliciesFile} {
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
func parsePolicies(file string, data []byte, have []approval.Policy) ([]approval.Policy, []policy.Problem) {
	var doc policiesDocument
	problems := yamlfile.Decode(file, data, &doc)
	if faulty(problems) {
		return have, problems
	}
	for i, p := range doc.Policies {
		err := p.Check()
		if err == nil && slices.ContainsFunc(have, func(o approval.Policy) bool { return o.ID == p.ID }) {
			err = errors.New("the number is taken")
		}
		if err != nil {
			problems = append(problems, fault(file, yamlfile.Line(data, fmt.Sprintf("$.policies[%d]", i)), "policy "+quoted(p.ID)+": "+err.Error(), policiesHint))
			continue
		}
		have = append(have, p)
	}
	return have, problems
}

// AddPolicy writes a new policy at the end of a project's policies.local.yaml, or of policies.yaml with shared, and returns it. What
// people wrote in there stays as it is. It is an error, and nothing is written, where either file does not hold or the new text would not
// read back as the old one and the policy.
func AddPolicy(dir, description, tool string, shared bool, now time.Time) (approval.Policy, error) {
	if err := os.MkdirAll(filepath.Join(dir, ".mycelium"), 0o700); err != nil {
		return approval.Policy{}, fmt.Errorf("add policy: %w", err)
	}
	lock, err := atomicfile.LockWait(filepath.Join(dir, ".mycelium", "policies.lock"), 5*time.Second)
	if err != nil {
		return approval.Policy{}, fmt.Errorf("add policy: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process gives it back too
	target := approval.LocalPoliciesFile
	if shared {
		target = approval.PoliciesFile
	}
	var all, own []approval.Policy
	var text []byte
	for _, name := range []string{approval.PoliciesFile, approval.LocalPoliciesFile} {
		data, err := readFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return approval.Policy{}, fmt.Errorf("add policy: %s: %s", name, plain(err))
		}
		list, problems := parsePolicies(name, data, nil)
		if faulty(problems) {
			return approval.Policy{}, hinted{fmt.Errorf("add policy: %s does not hold", name), "myc config validate says why; mend it first"}
		}
		all = append(all, list...)
		if name == target {
			own, text = list, data
		}
	}
	p, err := approval.NextPolicy(all, description, tool, now)
	if err != nil {
		return approval.Policy{}, fmt.Errorf("add policy: %w", err)
	}
	text = append(text, policyText(text, p)...)
	if again, problems := parsePolicies(target, text, nil); faulty(problems) || !slices.EqualFunc(again, append(slices.Clone(own), p), samePolicy) {
		return approval.Policy{}, hinted{fmt.Errorf("add policy: it cannot be written at the end of %s", target), "write policies: as a list with one policy a line group, two spaces deep, and as the last key of the file"}
	}
	if err := atomicfile.Write(filepath.Join(dir, target), text, 0o644); err != nil {
		return approval.Policy{}, fmt.Errorf("add policy: %w", err)
	}
	return p, nil
}

// samePolicy compares as a file would.
func samePolicy(a, b approval.Policy) bool {
	return a.ID == b.ID && a.Description == b.Description && a.Tool == b.Tool && a.CreatedAt.Equal(b.CreatedAt)
}

// policyText is a policy as it is added to the end of a file.
func policyText(before []byte, p approval.Policy) []byte {
	var b bytes.Buffer
	if len(before) > 0 && before[len(before)-1] != '\n' {
		b.WriteByte('\n')
	}
	if len(bytes.TrimSpace(before)) == 0 {
		b.WriteString("# Policies in words: a model that judges calls puts them before its own opinion. The rules decide before and after it.\npolicies:\n")
	}
	fmt.Fprintf(&b, "  - id: %s\n    description: %s\n", p.ID, yamlText(p.Description))
	if p.Tool != "" {
		fmt.Fprintf(&b, "    tool: %s\n", yamlText(p.Tool))
	}
	fmt.Fprintf(&b, "    createdAt: %s\n", p.CreatedAt.Format(time.RFC3339))
	return b.Bytes()
}
