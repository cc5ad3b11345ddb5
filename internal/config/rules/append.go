package rules

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
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// underLock runs f while no other process of this program changes the files that people own in a project.
func underLock(dir string, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(state.EditLock(dir)), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.LockWait(state.EditLock(dir), 5*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // the end of the process releases it too
	return f()
}

// Write is [Append] for a rules file of a project, by its path in the project. It reads and writes under the lock: of rules that are
// written at the same time none is lost.
func Write(dir, file, comment, reason string, r policy.Rule) error {
	return underLock(dir, func() error { return Append(filepath.Join(dir, file), comment, reason, r) })
}

// appendItem appends an item to the list at the end of a YAML file, in the indentation of the list. The rest of the file keeps its bytes.
// head begins an empty file. good reports whether the new text reads as the old one and the item; if it never does, appendItem returns nil.
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

// onlyComments reports whether a YAML file has only comments and white space.
func onlyComments(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// Add appends a rule that a person gave as one line (approval.ParseRule) to the project's rules.yaml, with a comment that says who gave it
// and when. It returns the name of the rule: the next free said-N. If the file has a fault or the rule does not compile, Add writes nothing
// and returns an error.
func Add(dir string, r policy.Rule, by string, now time.Time) (name string, err error) {
	err = underLock(dir, func() error {
		path := filepath.Join(dir, source.RulesFile)
		file, err := source.Read(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %s", source.RulesFile, source.Reason(err))
		}
		var doc document
		_ = yamlfile.Decode(source.RulesFile, file, &doc) // Append reports faults
		for n := 1; r.Name == "" || slices.ContainsFunc(doc.Rules, func(o policy.Rule) bool { return o.Name == r.Name }); n++ {
			r.Name = fmt.Sprintf("said-%d", n)
		}
		if _, problems := policy.New(policy.Source{Rules: []policy.Rule{r}}); source.Faulty(problems) {
			return fmt.Errorf("the rule does not compile: %s", problems[0].Message)
		}
		by = text.OneLine(by)
		reason := r.Reason
		if reason == "" {
			reason = "Said by " + by + "."
		}
		return Append(path, fmt.Sprintf("Added by %s on %s.", by, now.Format(time.DateOnly)), reason, r)
	})
	if err != nil {
		return "", fmt.Errorf("add rule: %w", err)
	}
	return r.Name, nil
}

// fieldLines writes match and args of a rule.
func fieldLines(r policy.Rule) (lines []string) {
	for _, part := range []struct {
		key    string
		fields map[string]policy.Values
	}{{"match", r.Match}, {"args", r.Args}} {
		if len(part.fields) > 0 {
			lines = append(lines, part.key+":")
		}
		for _, field := range slices.Sorted(maps.Keys(part.fields)) {
			var values []string
			for _, v := range part.fields[field] {
				switch {
				case v.Literal != nil:
					values = append(values, "{literal: "+quote(*v.Literal)+"}")
				case v.Glob != nil:
					values = append(values, "{glob: "+quote(*v.Glob)+"}")
				case v.Regex != nil:
					values = append(values, "{regex: "+quote(*v.Regex)+"}")
				}
			}
			lines = append(lines, "  "+quote(field)+": ["+strings.Join(values, ", ")+"]")
		}
	}
	return lines
}
