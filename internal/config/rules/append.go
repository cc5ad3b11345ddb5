package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

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

// Add appends a rule that a person gave as one line (approval.ParseRule) to rules.yaml in each of the folders, with a comment that says
// who gave it and when. It returns the name of the rule: the next said-N that is free in all of them. If a file has a fault or the rule
// does not compile, Add returns an error; what it has written before stays.
func Add(folders []string, r policy.Rule, by string, now time.Time) (name string, err error) {
	var have []policy.Rule
	for _, dir := range folders {
		file, err := source.Read(filepath.Join(dir, source.RulesFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("add rule: %s: %s", source.RulesFile, source.Reason(err))
		}
		var doc document
		_ = yamlfile.Decode(source.RulesFile, file, &doc) // Append reports faults
		have = append(have, doc.Rules...)
	}
	for n := 1; r.Name == "" || slices.ContainsFunc(have, func(o policy.Rule) bool { return o.Name == r.Name }); n++ {
		r.Name = fmt.Sprintf("said-%d", n)
	}
	if _, problems := policy.New(policy.Source{Rules: []policy.Rule{r}, Boxes: box.Alone(r.Sandbox)}); source.Faulty(problems) {
		return "", fmt.Errorf("add rule: the rule does not compile: %s", problems[0].Message)
	}
	by = text.OneLine(by)
	reason := r.Reason
	if reason == "" {
		reason = "Said by " + by + "."
	}
	err = Append(folders, source.RulesFile, fmt.Sprintf("Added by %s on %s.", by, now.Format(time.DateOnly)), reason, r)
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
