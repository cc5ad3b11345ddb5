package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mycelium/internal/agent/ink"
)

// maxInline bounds a line whose emphasis and links are looked for, in bytes. A longer one is drawn as it is written.
const maxInline = 16 << 10

// inline reads emphasis, code and links of one line.
func inline(s string, style ink.Style) ink.Line {
	if len(s) > maxInline {
		return ink.Text(style, s)
	}
	return spans(s, style, 0)
}

// spans reads the spans of a text. Emphasis that is nested deeper than four is drawn as it is written.
func spans(s string, style ink.Style, depth int) (out ink.Line) {
	plain := 0 // where the text that has not been taken yet begins
	take := func(at int) {
		if at > plain {
			out = append(out, ink.Span{Style: style, Text: s[plain:at]})
		}
	}
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!~|<>", s[i+1]) >= 0 {
			take(i)
			plain = i + 1
			i += 2
			continue
		}
		n, inner := spanAt(s, i, style, depth)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		take(i)
		out = append(out, inner...)
		i += n
		plain = i
	}
	take(len(s))
	return out
}

// spanAt reads the span that begins at i: code, emphasis or a link. n is its length in bytes; 0: none begins there.
func spanAt(s string, i int, style ink.Style, depth int) (n int, l ink.Line) {
	rest := s[i:]
	switch {
	case rest[0] == '`':
		return code(rest, style)
	case depth >= 4:
		return 0, nil
	case strings.HasPrefix(rest, "!["):
		n, l = link(rest[1:], style, depth)
		return n + min(n, 1), l
	case rest[0] == '[':
		return link(rest, style, depth)
	case rest[0] == '<':
		if end := strings.IndexAny(rest, "> "); end > 0 && rest[end] == '>' && strings.Contains(rest[:end], "://") {
			return end + 1, ink.Text(style.With(ink.Underline), rest[1:end])
		}
	}
	for _, m := range []struct {
		mark  string
		style ink.Style
	}{{"**", ink.Bold}, {"__", ink.Bold}, {"~~", ink.Strike}, {"*", ink.Italic}, {"_", ink.Italic}} {
		if !strings.HasPrefix(rest, m.mark) {
			continue
		}
		if end := closing(s, i, m.mark); end > 0 {
			return end - i + len(m.mark), spans(s[i+len(m.mark):end], style.With(m.style), depth+1)
		}
		return 0, nil
	}
	return 0, nil
}

// code reads code between backquotes.
func code(rest string, style ink.Style) (int, ink.Line) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	mark := rest[:n]
	for at := n; at < len(rest); {
		end := strings.Index(rest[at:], mark)
		if end < 0 {
			break
		}
		end += at
		after := end + n
		if (end == 0 || rest[end-1] != '`') && (after == len(rest) || rest[after] != '`') {
			said := rest[n:end]
			if len(said) > 2 && said[0] == ' ' && said[len(said)-1] == ' ' {
				said = said[1 : len(said)-1]
			}
			return after, ink.Text(style.With(ink.Cyan), said)
		}
		at = after
	}
	return 0, nil
}

// closing returns where emphasis that begins at i ends; 0: nowhere. A mark opens before a character that is no space, and closes behind
// one; an underscore inside a word is a letter.
func closing(s string, i int, mark string) int {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	from := i + len(mark)
	first, _ := utf8.DecodeRuneInString(s[from:])
	if from >= len(s) || unicode.IsSpace(first) || mark[0] == '_' && word(before) {
		return 0
	}
	for at := from; at < len(s); {
		found := strings.Index(s[at:], mark)
		if found < 0 {
			return 0
		}
		end := at + found
		after := end + len(mark)
		for len(mark) == 2 && after < len(s) && s[after] == mark[0] { // the inner emphasis ends first
			end, after = end+1, after+1
		}
		last, _ := utf8.DecodeLastRuneInString(s[:end])
		next, _ := utf8.DecodeRuneInString(s[after:])
		double := len(mark) == 1 && (after < len(s) && s[after] == mark[0] || s[end-1] == mark[0])
		if end > from && !unicode.IsSpace(last) && last != '\\' && !double && (mark[0] != '_' || !word(next)) {
			return end
		}
		at = after
	}
	return 0
}

// link reads [text](address). The address follows the text, unless it is the same.
func link(rest string, style ink.Style, depth int) (int, ink.Line) {
	end := strings.Index(rest, "](")
	if end < 0 {
		return 0, nil
	}
	words, after := rest[1:end], rest[end+2:]
	stop := strings.IndexByte(after, ')')
	if stop < 0 || strings.ContainsAny(words, "\n") {
		return 0, nil
	}
	address, _, _ := strings.Cut(after[:stop], " ") // a title may follow
	l := spans(words, style.With(ink.Underline), depth+1)
	if address != words && address != "" {
		l = append(l, ink.Span{Style: style.With(ink.Faint), Text: " (" + address + ")"})
	}
	return end + 2 + stop + 1, l
}
