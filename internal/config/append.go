package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// underLock runs f while nobody else of us changes the files that people own in a project.
func underLock(dir string, f func() error) error {
	if err := os.MkdirAll(filepath.Join(dir, ".mycelium"), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.LockWait(filepath.Join(dir, ".mycelium", "edit.lock"), 5*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process gives it back too
	return f()
}

// appendItem adds an item to the list at the end of a YAML file, at the indentation that the list has: what people wrote stays byte for
// byte. head is how an empty file begins; good says whether a text reads as the old one and the item. nil: it cannot be added like that.
func appendItem(text []byte, head string, item []string, good func([]byte) bool) []byte {
	for _, indent := range []string{"  ", "", "    "} {
		b := bytes.NewBuffer(slices.Clone(text))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			b.WriteByte('\n')
		}
		if onlyComments(text) {
			b.WriteString(head)
		}
		for _, line := range item {
			b.WriteString(indent + line + "\n")
		}
		if good(b.Bytes()) {
			return b.Bytes()
		}
	}
	return nil
}

// onlyComments reports whether a YAML file says nothing.
func onlyComments(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// AddRule writes a rule at the end of a project's rules.yaml, with a comment that says who gave it and when, and returns its name: said-N,
// the next that is free. The rule has its action, tool, and at most one pattern each in match and args (approval.ParseRule). It is an error,
// and nothing is written, where the file does not hold, the rule does not compile, or the new text would not read as the old one and
// the rule.
func AddRule(dir string, r policy.Rule, by string, now time.Time) (name string, err error) {
	err = underLock(dir, func() error {
		path := filepath.Join(dir, RulesFile)
		text, err := readFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %s", RulesFile, plain(err))
		}
		have, ok := rulesIn(text)
		if !ok {
			return hinted{fmt.Errorf("%s does not hold", RulesFile), "myc config validate says why; mend it first"}
		}
		for n := 1; r.Name == "" || slices.ContainsFunc(have, func(o policy.Rule) bool { return o.Name == r.Name }); n++ {
			r.Name = fmt.Sprintf("said-%d", n)
		}
		if _, problems := policy.New(policy.Source{Rules: []policy.Rule{r}}); faulty(problems) {
			return fmt.Errorf("the rule does not compile: %s", problems[0].Message)
		}
		text = appendItem(text, "version: 1\nrules:\n", ruleLines(r, by, now), func(b []byte) bool {
			again, ok := rulesIn(b)
			return ok && len(again) == len(have)+1 && again[len(have)].Name == r.Name && again[len(have)].Action == r.Action && slices.Equal(again[len(have)].Tool, r.Tool)
		})
		if text == nil {
			return hinted{fmt.Errorf("it cannot be written at the end of %s", RulesFile), "write rules: as a list, one key a line, and as the last key of the file"}
		}
		return atomicfile.Write(path, text, 0o644)
	})
	if err != nil {
		return "", fmt.Errorf("add rule: %w", err)
	}
	return r.Name, nil
}

// rulesIn reads the rules of a file; false: it does not hold.
func rulesIn(text []byte) ([]policy.Rule, bool) {
	var doc rulesDocument
	return doc.Rules, !faulty(yamlfile.Decode(RulesFile, text, &doc))
}

// ruleLines is a rule as it is written.
func ruleLines(r policy.Rule, by string, now time.Time) []string {
	by = strings.Join(strings.FieldsFunc(by, func(c rune) bool {
		return c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 || c == 0xfeff
	}), " ")
	lines := []string{
		"# " + strings.TrimSpace(fmt.Sprintf("added %s by %s", now.Format("2006-01-02 15:04"), by)),
		"- name: " + yamlText(r.Name), "  action: " + r.Action, "  tool: " + yamlText(strings.Join(r.Tool, "|")),
	}
	for _, part := range []struct {
		key    string
		fields map[string]policy.Values
	}{{"match", r.Match}, {"args", r.Args}} {
		if len(part.fields) == 0 {
			continue
		}
		lines = append(lines, "  "+part.key+":")
		for _, field := range slices.Sorted(maps.Keys(part.fields)) {
			var values []string
			for _, v := range part.fields[field] {
				switch {
				case v.Literal != nil:
					values = append(values, "{literal: "+yamlText(*v.Literal)+"}")
				case v.Glob != nil:
					values = append(values, "{glob: "+yamlText(*v.Glob)+"}")
				case v.Regex != nil:
					values = append(values, "{regex: "+yamlText(*v.Regex)+"}")
				}
			}
			lines = append(lines, "    "+yamlText(field)+": ["+strings.Join(values, ", ")+"]")
		}
	}
	if r.Reason != "" {
		lines = append(lines, "  reason: "+yamlText(r.Reason))
	}
	return lines
}
