package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes every character of a text visible: what could hide, reorder or overwrite other characters (controls, escapes, marks of
// direction, zero width, odd spaces, broken bytes) is written as its number. Line feeds and tabs stay; Japanese and the like stays.
func Visible(s string) string {
	if !slyText(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !sly(r):
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

// OneLine is Visible for a place that holds one line: line feeds and tabs are written as they are typed.
func OneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Visible(s))
}

func slyText(s string) bool {
	for i, r := range s {
		if sly(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return true
		}
	}
	return false
}

// sly reports whether a character could make a text look like another one.
func sly(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f:
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case unicode.Is(unicode.Zs, r): // spaces that are not U+0020; the ideographic one is how Japanese is written
		return r != '\u3000'
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800, r == 0x034f, r == 0x17b4, r == 0x17b5: // letters that show nothing
		return true
	}
	return !unicode.IsGraphic(r) // not assigned
}
