// Package text prepares text for people's eyes: hidden characters are shown, long texts are truncated, a wrong word is
// answered with the nearest known one, two texts are compared, and an error carries a hint. It is pure.
package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says why a character cannot be seen, or is not what it seems to be. The zero Kind is a character that shows itself.
type Kind uint8

// The kinds of characters.
const (
	Shown      Kind = iota
	Control         // a control character other than line feed and tab
	Bidi            // changes the order in which the characters around it are drawn
	Direction       // marks a direction; ordinary in right-to-left text
	LineBreak       // breaks a line, although most programs do not treat it as a line feed
	Space           // a space that is neither U+0020 nor the ideographic space, which Japanese is written with
	ZeroWidth       // has no width
	Joiner          // joins or separates the letters around it; ordinary in emoji and in scripts whose letters join
	Selector        // selects a variant of the character before it
	Filler          // an invisible letter or symbol
	Tag             // invisible copies of ASCII, which models read
	Private         // has a meaning only by private agreement
	Format          // any other format character
	Unassigned      // no character of the version of Unicode that this program knows
)

// span is a range of characters of one kind.
type span struct {
	first, last rune
	kind        Kind
}

// compare says whether the span lies before r (-1), has r in it (0), or lies behind r.
func (s span) compare(r rune) int {
	switch {
	case s.last < r:
		return -1
	case s.first > r:
		return 1
	}
	return 0
}

// hidden is the only table of characters that are shown by their number. What it does not list is judged by its general category.
// The ranges are sorted and do not overlap.
var hidden = []span{
	{0x00ad, 0x00ad, ZeroWidth}, // soft hyphen
	{0x034f, 0x034f, ZeroWidth}, // combining grapheme joiner
	{0x061c, 0x061c, Direction}, // Arabic letter mark
	{0x115f, 0x1160, Filler},    // Hangul fillers
	{0x17b4, 0x17b5, Filler},    // Khmer inherent vowels
	{0x180b, 0x180d, Selector},  // Mongolian
	{0x180e, 0x180e, ZeroWidth}, // Mongolian vowel separator
	{0x180f, 0x180f, Selector},  // Mongolian
	{0x200b, 0x200b, ZeroWidth}, // zero width space
	{0x200c, 0x200d, Joiner},    // zero width non-joiner and joiner
	{0x200e, 0x200f, Direction}, // left-to-right and right-to-left mark
	{0x2028, 0x2029, LineBreak}, // line and paragraph separator
	{0x202a, 0x202e, Bidi},      // embeddings and overrides
	{0x2060, 0x2065, ZeroWidth}, // word joiner, invisible operators
	{0x2066, 0x206f, Bidi},      // isolates and deprecated controls
	{0x2800, 0x2800, Filler},    // blank Braille pattern
	{0x3164, 0x3164, Filler},    // Hangul filler
	{0xe000, 0xf8ff, Private},
	{0xfe00, 0xfe0f, Selector},
	{0xfeff, 0xfeff, ZeroWidth}, // byte order mark
	{0xffa0, 0xffa0, Filler},    // half width Hangul filler
	{0xfff9, 0xfffb, ZeroWidth}, // interlinear annotation
	{0x1d173, 0x1d17a, ZeroWidth},
	{0xe0000, 0xe007f, Tag},
	{0xe0100, 0xe01ef, Selector},
	{0xf0000, 0x10ffff, Private},
}

// KindOf says why r is hidden, or returns Shown.
func KindOf(r rune) Kind {
	if r >= ' ' && r < 0x7f || r == '\n' || r == '\t' {
		return Shown
	}
	if i, ok := slices.BinarySearchFunc(hidden, r, span.compare); ok {
		return hidden[i].kind
	}
	switch {
	case unicode.IsControl(r):
		return Control
	case unicode.Is(unicode.Cf, r):
		return Format
	case unicode.Is(unicode.Zs, r):
		if r == '\u3000' {
			return Shown
		}
		return Space
	case !unicode.IsGraphic(r):
		return Unassigned
	}
	return Shown
}

// IsHidden reports whether [Visible] writes r as its number.
func IsHidden(r rune) bool { return KindOf(r) != Shown }

// HasHidden reports whether s has a hidden character or a byte that is not UTF-8.
func HasHidden(s string) bool {
	for i, r := range s {
		if IsHidden(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return true
		}
	}
	return false
}

// Visible writes every hidden character, and every byte that is not UTF-8, as its number in Go's syntax (\x1b, \u202e,
// \U000e0041). Line feeds and tabs stay. Combining marks stay, and so do the parts of an emoji, except for the joiners and
// selectors between them.
func Visible(s string) string {
	if !HasHidden(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !IsHidden(r):
			b.WriteString(s[i : i+n])
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// What stands in a line for a line feed or tab: its name in Go's syntax, or a space.
var (
	escaped = strings.NewReplacer("\n", `\n`, "\t", `\t`)
	spaced  = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")
)

// OneLine is [Visible] for one line: a line feed becomes \n and a tab \t.
func OneLine(s string) string { return escaped.Replace(Visible(s)) }

// Flatten is [Visible] for one line of prose: a line feed or tab becomes a space.
func Flatten(s string) string { return Visible(spaced.Replace(s)) }
