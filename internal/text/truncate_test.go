package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		f    func(string, int) string
		in   string
		n    int
		want string
	}{
		{Prefix, "日本語", 9, "日本語"},
		{Prefix, "日本語", 8, "日本"},
		{Prefix, "日本語", 2, ""},
		{Prefix, "abc", -1, ""},
		{Prefix, "\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
		{Truncate, "日本語", 9, "日本語"},
		{Truncate, "日本語", 8, "日…"},
		{Truncate, "日本語", 3, "…"},
		{Truncate, "abcd", 2, "ab"},
		{Truncate, "abcd", 0, ""},
		{TruncateRunes, "日本語", 3, "日本語"},
		{TruncateRunes, "日本語", 2, "日…"},
		{TruncateRunes, "日本語", 1, "…"},
		{TruncateRunes, "日本語", 0, ""},
		{TruncateCells, "日本語", 6, "日本語"},
		{TruncateCells, "日本語", 5, "日本…"},
		{TruncateCells, "日本語", 4, "日…"},
		{TruncateCells, "日本語", 0, ""},
		{TruncateCells, "e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{Cell, "\n  first\u202e\r\nsecond", 40, `first\u202e`},
		{Cell, "設計書.md を読む", 8, "設計書.…"},
	} {
		if got := c.f(c.in, c.n); got != c.want {
			t.Errorf("%q at %d is %q, want %q", c.in, c.n, got, c.want)
		}
	}
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "👋🏽": 2, "ｱ": 1, "…": 1} {
		if got := Width(s); got != want {
			t.Errorf("%q is %d cells wide, want %d", s, got, want)
		}
	}
	for in, want := range map[string]string{"": "", "a": "a", "a\nb": "a", "\n\n a \r\nb": "a", "日本\n語": "日本"} {
		if got := FirstLine(in); got != want {
			t.Errorf("the first line of %q is %q", in, got)
		}
	}
}

func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkBounds(t, rapid.String().Draw(t, "text"), rapid.IntRange(-2, 40).Draw(t, "n"))
	})
}

// checkBounds: what is truncated is no longer than the bound and no character is cut; what fits stays; the beginning stays.
func checkBounds(t fataler, s string, n int) {
	for _, f := range []struct {
		name string
		cut  func(string, int) string
		size func(string) int
		mark string
	}{
		{"Prefix", Prefix, func(s string) int { return len(s) }, ""},
		{"Truncate", Truncate, func(s string) int { return len(s) }, ellipsis},
		{"TruncateRunes", TruncateRunes, utf8.RuneCountInString, ellipsis},
		{"TruncateCells", TruncateCells, Width, ellipsis},
	} {
		got := f.cut(s, n)
		if f.size(got) > max(n, 0) || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%s(%q, %d) is %q", f.name, s, n, got)
		}
		if f.size(s) <= n && got != s || !strings.HasPrefix(s, strings.TrimSuffix(got, f.mark)) {
			t.Fatalf("%s(%q, %d) is %q", f.name, s, n, got)
		}
	}
}
