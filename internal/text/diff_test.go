package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\nb", "a\nb", ""},
		{"both empty", "", "", ""},
		{"new", "", "a\nb", "+ a\n+ b\n"},
		{"gone", "a\n", "", "- a\n"},
		{"changed", "a\nb\nc", "a\nx\nc", "  a\n- b\n+ x\n  c\n"},
		{"hidden", "a\n", "a\u202e\x1b[2J\n", "- a\n+ a\\u202e\\x1b[2J\n"},
		{"marks in the text", "-- x\n@@ -1 +1 @@\n", "++ x\n@@ -1 +1 @@\n", "- -- x\n+ ++ x\n  @@ -1 +1 @@\n"},
		{"line feed at the end", "a", "a\n", "- a\n  (no line feed at the end)\n+ a\n"},
		{"far", numbers(1, 30), numbers(1, 14) + "x\n" + numbers(16, 30),
			"  … 11 unchanged\n  12\n  13\n  14\n- 15\n+ x\n  16\n  17\n  18\n  … 12 unchanged\n"},
		{"inserted first", numbers(1, 10), "x\n" + numbers(1, 10), "+ x\n  1\n  2\n  3\n  … 7 unchanged\n"},
		{"Japanese", "設計\n実装\n", "設計書\n実装\n", "- 設計\n+ 設計書\n  実装\n"},
	} {
		if d := cmp.Diff(c.want, Diff(c.before, c.after)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestDiffHolds(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "", "- a", "@@ -1,1 +1,1 @@", "--- ", "日本\u200b"})
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), "\n")
		return s + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) { checkDiff(t, text.Draw(t, "before"), text.Draw(t, "after")) })
}

// checkDiff: each text can be read from the difference, line by line, and nothing in it is hidden.
func checkDiff(t fataler, before, after string) {
	d := Diff(before, after)
	if HasHidden(d) || d == "" && wholeLines(before) != wholeLines(after) {
		t.Fatalf("%q to %q: %q", before, after, d)
	}
	if d == "" {
		return
	}
	for mark, want := range map[string]string{"- ": before, "+ ": after} {
		lines := strings.Split(strings.TrimSuffix(Visible(wholeLines(want)), "\n"), "\n")
		if want == "" {
			lines = nil
		}
		at := 0
		for line := range strings.Lines(d) {
			line = strings.TrimSuffix(line, "\n")
			var n int
			switch _, err := fmt.Sscanf(line, "  … %d unchanged", &n); {
			case err == nil:
				at += n
			case line == "  (no line feed at the end)":
			case line[:2] != mark && line[:2] != "  ":
			case at >= len(lines) || lines[at] != line[2:]:
				t.Fatalf("%q to %q: line %d of %q is not in\n%s", before, after, at+1, want, d)
			default:
				at++
			}
		}
		if at != len(lines) {
			t.Fatalf("%q to %q: %d of %d lines in\n%s", before, after, at, len(lines), d)
		}
	}
}
