package markdown

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"mycelium/internal/agent/ink"
	"mycelium/internal/text"
)

// drawnText is a text as it is drawn, without styles and without spaces at the ends of lines.
func drawnText(src string, width int) string {
	var b strings.Builder
	for _, l := range Render(src, width) {
		b.WriteString(strings.TrimRight(l.Raw(), " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"headings", "# One\ntext\n## Two ##\n####### seven", "One\ntext\n\nTwo\n####### seven"},
		{"emphasis", "a **b** *c* __d__ _e_ ~~f~~ `g*h*` snake_case_name 2 * 3 * 4 \\*i\\* **open",
			"a b c d e f g*h* snake_case_name 2 * 3 * 4 *i* **open"},
		{"links", "[docs](https://x.example/a \"t\") <https://y.example> ![pic](p.png) [same](same) [x]",
			"docs (https://x.example/a) https://y.example pic (p.png) same [x]"},
		{"lists", "- a\n- b\n  - c\n\n    more\n10. ten\n- [x] done\n- [ ] open\n-\nend",
			"• a\n• b\n  • c\n\n    more\n10. ten\n☑ done\n☐ open\n•\nend"},
		{"code", "```go\nfunc main() {\n\tx := `*a*`\n}\n```\nafter\n~~~\n```\nopen",
			"│ go\n│ func main() {\n│     x := `*a*`\n│ }\nafter\n│ ```\n│ open"},
		{"code in a list", "1. one:\n   ```\n   a\n     b\n   ```\n2. two", "1. one:\n   │ a\n   │   b\n2. two"},
		{"quotes", "> a\n> > b\n>\n> - c\nd", "▏ a\n▏ ▏ b\n\n▏ • c\nd"},
		{"rules", "a\n\n---\nb", "a\n\n" + strings.Repeat("─", 40) + "\nb"},
		{"table", "| File | Lines |\n|:-----|------:|\n| a.go | 12 |\n| 日本語.md | 3 |\n| x\\|y |\nend",
			"File       Lines\n─────────  ─────\na.go          12\n日本語.md      3\nx|y\nend"},
		{"no table", "a | b\nc | d", "a | b\nc | d"},
		{"hidden", "a\x1b[31mb\u202e", `a\x1b[31mb\u202e`},
		{"blank lines", "\n\na\n\n\n\nb\n\n", "a\n\nb"},
	} {
		if got := drawnText(c.src, 80); strings.TrimLeft(got, "\n") != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

// TestWrap: Japanese breaks between its characters but not before a full stop, a table wraps in its cells, and code is cut.
func TestWrap(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"これは長い文です。次の文", "これは長い\n文です。次\nの文"},
		{"one two three", "one two\nthree"},
		{"- one two three", "• one two\n  three"},
		{"```\n0123456789ab\n```", "│ 01234567\n│ 89ab"},
		{"a|b\n-|-\nx|one two", "a  b\n─  ───────\nx  one two"},
		{"a|b\n-|-\nx|one two three", "a  b\n─  ───────\nx  one two\n   three"},
	} {
		if got := drawnText(c.src, 10); got != c.want {
			t.Errorf("%q:\n%s\nwant:\n%s", c.src, got, c.want)
		}
	}
}

func TestStyles(t *testing.T) {
	got := ""
	for _, l := range Render("# H\n**b *i***\n```diff\n+new\n-old\n```", 40) {
		got += l.String() + "\n"
	}
	for _, want := range []string{"\x1b[1;4mH", "\x1b[1mb ", "\x1b[1;3mi", "\x1b[32m+new", "\x1b[31m-old"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestSplit: what is finished while a text streams is drawn as it is drawn at the end.
func TestSplit(t *testing.T) {
	blocks := []string{"a paragraph\nof two lines", "# heading", "- a\n- b\n\n  more of b", "1. one\n2. two",
		"```go\nx\n\ny\n```", "> quote\n> more",
		"a|b\n-|-\n1|2", "---", "日本語の文。"}
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(blocks), 1, 8).Draw(t, "blocks"), "\n\n") + "\n"
		whole, streamed, rest := drawnText(src, 30), []string{}, ""
		for src != "" {
			n := rapid.IntRange(1, len(src)).Draw(t, "piece")
			rest, src = rest+src[:n], src[n:]
			var done string
			if done, rest = Split(rest); done != "" {
				streamed = append(streamed, drawnText(done, 30))
			}
		}
		if rest != "" {
			streamed = append(streamed, drawnText(rest, 30))
		}
		if got := strings.Join(streamed, "\n\n"); got != whole {
			t.Fatalf("streamed:\n%s\nwhole:\n%s", got, whole)
		}
	})
	if done, _ := Split("one\n\ntwo\n\nthree"); done != "one\n\ntwo\n\n" {
		t.Errorf("finished: %q", done)
	}
}

// FuzzRender: whatever is written, each line fits into the width, and has no control character.
func FuzzRender(f *testing.F) {
	for _, s := range []string{"# a\n- b\n  > c\n```\nd", "|a|b|\n|-|:-:|\n|1|2|", "**a `b` [c](d)", "10) x\n    - [x] y",
		"\x1b[2J\u202e\xff", "日本語 _あ_"} {
		f.Add(s, uint8(20))
	}
	f.Fuzz(func(t *testing.T, src string, w uint8) {
		width := 3 + int(w)%100
		for _, l := range Render(src, width) {
			raw := l.Raw()
			if strings.ContainsFunc(raw, unicode.IsControl) || text.HasHidden(raw) {
				t.Fatalf("%q", raw)
			}
			if l.Width() > width {
				t.Fatalf("%d cells of %d: %q", l.Width(), width, raw)
			}
		}
		done, rest := Split(src)
		if done+rest != src {
			t.Fatal("Split loses something")
		}
		_ = ink.Clean(src)
	})
}
