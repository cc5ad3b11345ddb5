package text_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOneTruthEach finds what another package would do for itself that this package does for all.
func TestOneTruthEach(t *testing.T) {
	for _, c := range []struct {
		what    string
		pattern *regexp.Regexp
		also    []string // who may, for a reason of its own
	}{
		{"a table of hidden characters", regexp.MustCompile(`(?i)0x(200b|202[ae]|2066|e0000|e0001)\b|\\u(200b|202[ae]|2066)`), nil},
		{"a class of hidden characters", regexp.MustCompile(`unicode\.(Cf|Co|Zl|Zp|Bidi_Control|Variation_Selector)\b`), []string{
			"internal/policy/paths/paths.go",      // HFS+ ignores these characters
			"internal/policy/pattern.go",          // what no pattern may have
			"internal/policy/globs/expression.go", // as in paths.go
		}},
		{"an edit distance", regexp.MustCompile(`(?i)levenshtein|func (edit)?distance\(|damerau`), nil},
		{"a hint in an error's text", regexp.MustCompile(`\(hint: `), nil},
		{"a plural in parentheses", regexp.MustCompile(`%[dsv] [^"\n]*[a-z]\(s\)`), nil},
		{"a longest common subsequence", regexp.MustCompile(`(?i)common subsequence|func (line)?diff\(`), nil},
	} {
		root := filepath.Join("..", "..")
		for _, top := range []string{"internal", "cmd", "bench"} {
			err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
					return err
				}
				rel, _ := filepath.Rel(root, p)
				if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, "internal/text/") || slices.Contains(c.also, rel) {
					return nil
				}
				b, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				if m := c.pattern.Find(b); m != nil {
					t.Errorf("%s has %s (%q): internal/text is the place for it", rel, c.what, m)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
