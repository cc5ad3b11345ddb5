package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestTable reads the table as a table: sorted, without overlaps, every range of a kind.
func TestTable(t *testing.T) {
	last := rune(-1)
	for _, s := range hidden {
		if s.first <= last || s.last < s.first || s.kind == Shown {
			t.Errorf("%U to %U (%d) is out of order or shown", s.first, s.last, s.kind)
		}
		last = s.last
	}
}

// TestEveryHiddenCharacter goes through all of Unicode: whatever a property of the standard says is invisible or moves others about
// is hidden, and letters, digits, marks, punctuation and symbols are not.
func TestEveryHiddenCharacter(t *testing.T) {
	must := []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Bidi_Control,
		unicode.Join_Control, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point}
	never := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S}
	also := []rune{0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0}
	isAlso := map[rune]bool{}
	for _, r := range also {
		isAlso[r] = true
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.In(r, must...) || isAlso[r] || !unicode.IsGraphic(r)
		if r == '\n' || r == '\t' || r == ' ' || r == '\u3000' {
			want = false
		}
		if IsHidden(r) != want {
			t.Errorf("%U: hidden is %v", r, !want)
		}
		if IsHidden(r) && unicode.In(r, never...) && !unicode.In(r, must...) && !isAlso[r] {
			t.Errorf("%U: a letter, mark or symbol is hidden", r)
		}
	}
}

func TestKinds(t *testing.T) {
	for kind, runes := range map[Kind][]rune{
		Shown: {'\n', '\t', ' ', 'a', '~', '日', 'ー', '\u3000', '\u3099', '\u0301', 'é', '🎉', '\u20e3', 0x1f1ef, 0x1f3fd, '\uFFFD',
			'\uFFFC'},
		Control:   {0, '\a', '\r', 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f},
		Bidi:      {0x202a, 0x202e, 0x2066, 0x2069, 0x206a, 0x206f},
		Direction: {0x200e, 0x200f, 0x061c},
		LineBreak: {0x2028, 0x2029},
		Space:     {0xa0, 0x1680, 0x2000, 0x200a, 0x202f, 0x205f},
		ZeroWidth: {0xad, 0x034f, 0x180e, 0x200b, 0x2060, 0x2064, 0x2065, 0xfeff, 0xfff9, 0xfffb, 0x1d173, 0x1d17a},
		Joiner:    {0x200c, 0x200d},
		Selector:  {0x180b, 0x180f, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef},
		Filler:    {0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0},
		Tag:       {0xe0000, 0xe0001, 0xe0020, 0xe007f},
		Private:   {0xe000, 0xf8ff, 0xf0000, 0xffffd, 0x100000, 0x10ffff},
		Format:    {0x0600, 0x0605, 0x06dd, 0x08e2, 0x110bd, 0x13430, 0x1bca0},
		Unassigned: {
			0x0378, 0xfff0, 0xfff8, 0xfffe, 0xffff, 0x1ffff, 0xe0080, 0xe01f0, 0xd800,
		},
	} {
		for _, r := range runes {
			if got := KindOf(r); got != kind {
				t.Errorf("%U is of kind %d, want %d", r, got, kind)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n日本語　全角":                "plain\ttext\n日本語　全角",
		"は\u3099 e\u0301 🇯🇵 👋🏽":              "は\u3099 e\u0301 🇯🇵 👋🏽",
		"👨\u200d👩\u200d👧":                    `👨\u200d👩\u200d👧`,
		"❤\ufe0f":                            `❤\ufe0f`,
		"a\x1b[2Kb\rc\x00":                   `a\x1b[2Kb\rc\x00`,
		"\u0085":                             `\u0085`,
		"rm \u202e/ gpj.\u200bx":             `rm \u202e/ gpj.\u200bx`,
		"a\u00a0b\u2028c":                    `a\u00a0b\u2028c`,
		"\xff\xfe":                           `\xff\xfe`,
		"\uFFFD":                             "\uFFFD",
		"\U000e0041":                         `\U000e0041`,
		"\ufeffx\u3164":                      `\ufeffx\u3164`,
		"tag 🎉":                              "tag 🎉",
		"a\u200b日本\u202e\x1b[0m\ufe0f\u3164": `a\u200b日本\u202e\x1b[0m\ufe0f\u3164`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := OneLine("a\nb\tc\r\n"); got != `a\nb\tc\r\n` {
		t.Errorf("one line: %q", got)
	}
	if got := Flatten("a\nb\tc\r\nd\re"); got != `a b c d\re` {
		t.Errorf("flat: %q", got)
	}
}

// TestVisibleHidesNothing: whatever goes in, nothing that hides comes out, and what was plain stays as it is.
func TestVisibleHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkVisible(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))+rapid.String().Draw(t, "text"))
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func checkVisible(t fataler, in string) {
	out := Visible(in)
	if !utf8.ValidString(out) || HasHidden(out) || strings.ContainsFunc(out, IsHidden) {
		t.Fatalf("%q became %q", in, out)
	}
	if Visible(out) != out || !HasHidden(in) && out != in {
		t.Fatalf("%q became %q, and that %q", in, out, Visible(out))
	}
	for _, line := range []string{OneLine(in), Flatten(in)} {
		if strings.ContainsAny(line, "\n\t") || HasHidden(line) {
			t.Fatalf("%q: more than one line, or hidden: %q", in, line)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b\u202e日本\xff", "b\n日本語\n", 3)
	f.Add("\U000e0041👨\u200d👩\u200d👧", "", 1)
	f.Fuzz(func(t *testing.T, a, b string, n int) {
		checkVisible(t, a)
		checkBounds(t, a, n%64)
		checkDiff(t, a, b)
		Nearest(a, []string{b, "known"})
	})
}
