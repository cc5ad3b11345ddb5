package globs

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// nobody is the character that stands for the text of a star in a name that is nobody's. No file name has it.
const nobody = `\x00`

// translator writes a glob as a regular expression.
type translator struct {
	in    string
	aimed bool

	starsMeet bool // a choice begins or ends with a star

	out   strings.Builder
	at    int
	depth int  // open braces
	vague bool // the name at hand is Broad
}

func (t *translator) regex() string {
	for _, at := range [...]string{"{*", ",*", "*,", "*}"} {
		t.starsMeet = t.starsMeet || strings.Contains(t.in, at)
	}
	for t.at < len(t.in) {
		t.next()
	}
	for ; t.depth > 0; t.depth-- {
		t.out.WriteByte(')')
	}
	return t.out.String()
}

// next translates one element.
func (t *translator) next() {
	rest := t.in[t.at:]
	begins := t.at == 0 || strings.IndexByte("/{,", t.in[t.at-1]) >= 0
	if begins && (t.at == 0 || t.in[t.at-1] == '/') {
		name, _, _ := strings.Cut(rest, "/")
		t.vague = t.aimed && Broad(name)
	}
	switch c := rest[0]; {
	case c == '/' && deepEnd(rest[1:]): // "a/**" matches "a"
		if rest == "/**/" {
			t.at++
		}
		t.write(3, t.pick(`(?:/.*)?`, `(?:/`+nobody+`)*`))
	case strings.HasPrefix(rest, "**/") && begins && len(rest) > 3: // "**/b" matches "b"
		t.write(3, t.pick(`(?:.*/)?`, `(?:`+nobody+`/)*`))
		t.vague = false
	case strings.HasPrefix(rest, "**/"):
		t.write(3, t.pick(`.*/?`, nobody+`/?`))
	case strings.HasPrefix(rest, "**"):
		t.write(2, t.pick(`.*`, nobody))
	case c == '*' && t.starsMeet && (t.depth > 0 || strings.HasPrefix(rest[1:], "{") || t.at > 0 && t.in[t.at-1] == '}'):
		t.wild(1, `.*`) // beside a brace there may be a second star
	case c == '*':
		t.wild(1, `[^/]*`)
	case c == '?':
		t.wild(1, `[^/]`)
	case c == '[':
		t.class(rest)
	case c == '{' && strings.IndexByte(rest, '}') > 0:
		t.depth++
		t.write(1, `(?:`)
	case c == '}' && t.depth > 0:
		t.depth--
		t.write(1, `)`)
	case c == ',' && t.depth > 0:
		t.write(1, `|`)
	default:
		if c == '\\' && len(rest) > 1 {
			t.at++
			rest = rest[1:]
		}
		_, n := utf8.DecodeRuneInString(rest)
		t.write(n, regexp.QuoteMeta(rest[:n]))
	}
}

// deepEnd reports whether a text is "**" and then the end of the glob or of a choice.
func deepEnd(s string) bool {
	return s == "**/" || strings.HasPrefix(s, "**") && (len(s) == 2 || s[2] == ',' || s[2] == '}')
}

func (t *translator) write(n int, s string) {
	t.at += n
	t.out.WriteString(s)
}

func (t *translator) pick(all, aimed string) string {
	if t.aimed {
		return aimed
	}
	return all
}

func (t *translator) wild(n int, s string) {
	if t.vague {
		s = nobody
	}
	t.write(n, s)
}

// class translates [abc], [a-z] and their negations. What is no class is a literal bracket.
func (t *translator) class(s string) {
	end, plain := classEnd(s)
	if end < 0 {
		t.write(1, `\[`)
		return
	}
	inside := s[1:end]
	if strings.IndexByte(inside, '/') >= 0 { // a bracket to some programs, text to others
		t.write(len(s), `.*`)
		return
	}
	if inside[0] == '!' || inside[0] == '^' {
		inside = "^" + quoteClass(inside[1:])
	} else {
		inside = quoteClass(inside)
	}
	expr := "[" + inside + "]"
	if _, err := regexp.Compile(expr); err != nil || !plain {
		expr = `.`
	}
	t.wild(end+1, expr)
}

func quoteClass(s string) string {
	return strings.NewReplacer(`[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(s)
}

// classEnd returns where the bracket at the beginning of a text ends, or -1. plain says that it only lists characters and ranges.
func classEnd(s string) (end int, plain bool) {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	plain = true
	for first := i; i < len(s); i++ {
		switch {
		case s[i] == ']' && i > first:
			return i, plain
		case s[i] == '\\':
			i, plain = i+1, false
		case s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0:
			plain = false
			if n := strings.Index(s[i:], s[i+1:i+2]+"]"); n > 0 {
				i += n + 1
			}
		}
	}
	return -1, false
}
