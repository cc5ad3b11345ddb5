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
	sc := scanner{s: s, style: style, depth: depth, open: map[string]bool{}}
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
		n, inner := sc.at(i)
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

// scanner reads the spans of one text.
type scanner struct {
	s     string
	style ink.Style
	depth int
	open  map[string]bool // marks that nothing closes any more: looking for it again would find nothing
}

// emphasis are the marks of emphasis with their styles, the longer ones first.
var emphasis = [...]struct {
	mark  string
	style ink.Style
}{{"**", ink.Bold}, {"__", ink.Bold}, {"~~", ink.Strike}, {"*", ink.Italic}, {"_", ink.Italic}}

// at reads the span that begins at i: code, emphasis or a link. n is its length in bytes; 0: none begins there.
func (sc *scanner) at(i int) (n int, l ink.Line) {
	rest := sc.s[i:]
	switch {
	case rest[0] == '`':
		return sc.code(i)
	case sc.depth >= 4:
		return 0, nil
	case strings.HasPrefix(rest, "!["):
		n, l = sc.link(rest[1:])
		return n + min(n, 1), l
	case rest[0] == '[':
		return sc.link(rest)
	case rest[0] == '<':
		if end := strings.IndexAny(rest, "> "); end > 0 && rest[end] == '>' && strings.Contains(rest[:end], "://") {
			return end + 1, ink.Text(sc.style.With(ink.Underline), rest[1:end])
		}
		return 0, nil
	}
	for _, m := range emphasis {
		if !strings.HasPrefix(rest, m.mark) {
			continue
		}
		if sc.open[m.mark] || !opens(sc.s, i, m.mark) {
			return 0, nil
		}
		if end := closing(sc.s, i, m.mark); end > 0 {
			return end - i + len(m.mark), spans(sc.s[i+len(m.mark):end], sc.style.With(m.style), sc.depth+1)
		}
		sc.open[m.mark] = true
		return 0, nil
	}
	return 0, nil
}

// code reads code between backquotes. Where nothing closes them, they are drawn as they are written.
func (sc *scanner) code(i int) (int, ink.Line) {
	rest := sc.s[i:]
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	mark := rest[:n]
	for at := n; at < len(rest) && !sc.open[mark]; {
		end := strings.Index(rest[at:], mark)
		if end < 0 {
			break
		}
		end += at
		after := end + n
		if rest[end-1] != '`' && (after == len(rest) || rest[after] != '`') {
			said := rest[n:end]
			if len(said) > 2 && said[0] == ' ' && said[len(said)-1] == ' ' {
				said = said[1 : len(said)-1]
			}
			return after, ink.Text(sc.style.With(ink.Cyan), said)
		}
		at = after
	}
	sc.open[mark] = true
	return n, ink.Text(sc.style, mark)
}

// opens reports whether a mark opens emphasis: before a character that is no space. An underscore inside a word is a letter.
func opens(s string, i int, mark string) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	first, n := utf8.DecodeRuneInString(s[i+len(mark):])
	return n > 0 && !unicode.IsSpace(first) && (mark[0] != '_' || !isWord(before))
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// closing returns where emphasis that begins at i ends: at a mark behind a character that is no space; 0: nowhere.
func closing(s string, i int, mark string) int {
	from := i + len(mark)
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
		if end > from && !unicode.IsSpace(last) && last != '\\' && !double && (mark[0] != '_' || !isWord(next)) {
			return end
		}
		at = after
	}
	return 0
}

// link reads [text](address). The address follows the text, unless it is the same.
func (sc *scanner) link(rest string) (int, ink.Line) {
	end := -1
	if !sc.open["["] {
		end = strings.Index(rest, "](")
	}
	stop := -1
	if end > 0 {
		stop = strings.IndexByte(rest[end:], ')')
	}
	if stop < 0 {
		sc.open["["] = true
		return 0, nil
	}
	words, address := rest[1:end], rest[end+2:end+stop]
	address, _, _ = strings.Cut(address, " ") // a title may follow
	l := spans(words, sc.style.With(ink.Underline), sc.depth+1)
	if address != words && address != "" {
		l = append(l, ink.Span{Style: sc.style.With(ink.Faint), Text: " (" + address + ")"})
	}
	return end + stop + 1, l
}
