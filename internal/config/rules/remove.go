package rules

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"mycelium/internal/approval/judge"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/source"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// ErrNoPolicy reports a policy in words that no file has.
var ErrNoPolicy = errors.New("no file has it")

// RemovePolicies takes policies out of policies.yaml and policies.local.yaml in each of the folders. The other lines of a file keep their
// bytes. If one of the ids is in no file, or a file would not read back as the rest, it returns an error; what it has written before stays.
func RemovePolicies(folders []string, ids []string) error {
	for _, dir := range folders {
		found := map[string]bool{}
		for _, name := range []string{judge.PoliciesFile, judge.LocalPoliciesFile} {
			list, data, err := readPolicies(dir, name)
			if err != nil {
				return fmt.Errorf("remove policy: %w", err)
			}
			rest := without(name, data, list, ids, found)
			if rest == nil {
				return text.Hinted(fmt.Errorf("remove policy: it cannot be cut out of %s", name), "remove it with an editor")
			}
			if bytes.Equal(rest, data) {
				continue
			}
			if err := atomicfile.Write(filepath.Join(dir, name), rest, 0o644); err != nil {
				return fmt.Errorf("remove policy: %w", err)
			}
		}
		for _, id := range ids {
			if !found[id] {
				return text.Hinted(fmt.Errorf("remove policy %s: %w", id, ErrNoPolicy), "myc policy words list shows all")
			}
		}
	}
	return nil
}

// without returns a file without some of its policies, and notes which it had. It returns nil if the result would not read as the rest.
func without(name string, data []byte, list []judge.Policy, ids []string, found map[string]bool) []byte {
	lines := slices.Collect(bytes.Lines(data))
	rest := append([]byte{}, data...)
	var keep []judge.Policy
	for i := len(list) - 1; i >= 0; i-- { // from the end, so that the lines before keep their numbers
		if !slices.Contains(ids, list[i].ID) {
			keep = append([]judge.Policy{list[i]}, keep...)
			continue
		}
		found[list[i].ID] = true
		from, to := yamlfile.Line(data, fmt.Sprintf("$.policies[%d]", i))-1, len(lines)
		if i+1 < len(list) {
			to = yamlfile.Line(data, fmt.Sprintf("$.policies[%d]", i+1)) - 1
		}
		if from < 0 || to <= from || to > len(lines) {
			return nil
		}
		rest = slices.Concat(bytes.Join(lines[:from], nil), rest[len(bytes.Join(lines[:to], nil)):])
	}
	again, problems := ParsePolicies(name, rest, nil)
	if source.Faulty(problems) || !slices.EqualFunc(again, keep, samePolicy) {
		return nil
	}
	return rest
}
