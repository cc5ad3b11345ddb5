package scan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible replaces every character that cannot be seen, or that moves others about, by \u and its number.
func Visible(s string) string {
	if !strings.ContainsFunc(s, invisible) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if invisible(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// invisible reports whether a character leaves no mark of its own.
func invisible(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0xa0:
		return true
	case r < 0x300:
		return r == 0xad
	case isSelector(r), isFiller(r), isPrivate(r), r == 0x34f, r == 0x2028, r == 0x2029:
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zs, r) && r != ' ' && r != 0x3000
}

func isSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180f
}

// isFiller reports whether a letter or symbol is drawn as nothing.
func isFiller(r rune) bool {
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x17b4 || r == 0x17b5
}

func isPrivate(r rune) bool {
	return r >= 0xe000 && r <= 0xf8ff || r >= 0xf0000 && r <= 0x10ffff
}

// shorten cuts a text to n characters.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	i := 0
	for at := range s {
		if i++; i > n {
			return s[:at] + "…"
		}
	}
	return s
}
