// Package paths compares paths as text. A folded path has the form that is the same for all names which some file system takes for one.
package paths

import (
	"unicode"
	"unicode/utf8"
)

// EndsWith reports whether text is the last components of a path.
func EndsWith(s []byte, text string) bool {
	n := len(s) - len(text)
	return n >= 0 && string(s[n:]) == text && (n == 0 || s[n-1] == '/')
}

// Relative returns a path without the slashes that it begins with.
func Relative(s []byte) []byte {
	for len(s) > 0 && s[0] == '/' {
		s = s[1:]
	}
	return s
}

// Under reports whether s is the folder or a path below it. An empty folder has nothing below it.
func Under(s []byte, folder string) bool {
	n := len(folder)
	return n > 0 && len(s) >= n && string(s[:n]) == folder && (len(s) == n || s[n] == '/')
}

// Above reports whether the protected path lies below s.
func Above(s []byte, protected string) bool {
	n := len(s)
	for n > 0 && s[n-1] == '/' {
		n--
	}
	return len(protected) > n && protected[:n] == string(s[:n]) && protected[n] == '/'
}

// BelowHome returns the part of a path below the home folder of any user, or nil for a path that is in no home folder.
func BelowHome(s []byte) []byte {
	for _, homes := range [...]string{"/home/", "/users/", "c:/users/", "/mnt/c/users/"} {
		if len(s) > len(homes) && string(s[:len(homes)]) == homes {
			for i := len(homes); i < len(s); i++ {
				if s[i] == '/' {
					return Relative(s[i:])
				}
			}
		}
	}
	if len(s) > 6 && string(s[:6]) == "/root/" {
		return Relative(s[6:])
	}
	return nil
}

// Fold returns a path in the form in which base constraints are compared: in lower case, with "/" for "\", and without the characters that
// a file system may ignore.
func Fold(to []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			return foldRunes(to, s[i:])
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '\\':
			c = '/'
		}
		to = append(to, c)
	}
	return to
}

// FoldString is [Fold] for a text.
func FoldString(s string) string { return string(Fold(nil, s)) }

// FoldAll is [Fold] for several texts.
func FoldAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = FoldString(s)
	}
	return out
}

func foldRunes(to []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '\\':
			r = '/'
		case r == '\u017f': // long s: equal to s on file systems that fold Unicode
			r = 's'
		case r == '\u212a': // the sign for kelvin
			r = 'k'
		case unicode.Is(unicode.Cf, r): // HFS+ ignores these
			continue
		default:
			r = unicode.ToLower(r)
		}
		to = utf8.AppendRune(to, r)
	}
	return to
}
