// Package shellwords reads words that mean themselves in a shell. It refuses what a shell would do more with.
package shellwords

import "strings"

// Plain are the characters that mean themselves in a shell.
const Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%,+"

// Next reads a word that means itself: plain characters, and parts in single quotes, with '"'"' for a single quote. Nothing else is
// read: a shell would take it for more than a word.
func Next(line string) (word, rest string, ok bool) {
	var out strings.Builder
	rest = line
	for rest != "" && rest[0] != ' ' {
		switch {
		case rest[0] == '\'':
			text, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return "", "", false
			}
			out.WriteString(text)
			rest = after
		case strings.HasPrefix(rest, `"'"`):
			out.WriteByte('\'')
			rest = rest[3:]
		case strings.IndexByte(Plain, rest[0]) >= 0:
			out.WriteByte(rest[0])
			rest = rest[1:]
		default:
			return "", "", false
		}
	}
	return out.String(), rest, rest != line
}

// Split reads a line of words that mean themselves. ok is false for a line with anything else in it.
func Split(line string) (words []string, ok bool) {
	for rest := line; ; rest = rest[1:] {
		word, after, ok := Next(rest)
		if !ok {
			return nil, false
		}
		words = append(words, word)
		if rest = after; rest == "" {
			return words, true
		}
	}
}
