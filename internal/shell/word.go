package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/shell/program"
)

// fields returns what the words become when the shell expands them.
func (r *reader) fields(words []*syntax.Word, st program.State) []program.Word {
	list := make([]program.Word, 0, len(words))
	for _, w := range words {
		if s, ok := plain(w); ok {
			list = append(list, program.Word{Text: s, Raw: s})
			continue
		}
		list = r.expand(list, w, st)
	}
	return list
}

// plain returns the value of a word that is one literal without a special character. Nearly all words are.
func plain(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || lit.Value == "" || lit.Value[0] == '~' || strings.ContainsAny(lit.Value, "\\*?[{") || strings.Contains(lit.Value, "=~") {
		return "", false
	}
	return lit.Value, true
}

// one returns the value of a word that the shell does not split: in an assignment, a redirection or a here-document.
func (r *reader) one(w *syntax.Word, st program.State) program.Word { return r.value(w, st, false) }

// value is [reader.one] for a value that an assignment may have. With colons set, ~ stands for the home folder behind each colon too.
func (r *reader) value(w *syntax.Word, st program.State, colons bool) program.Word {
	if w == nil {
		return program.Word{}
	}
	b := builder{r: r, st: st, whole: true, colons: colons}
	b.parts(w.Parts, false)
	b.cur.Raw = r.source(w)
	return b.cur
}

// expand appends what one word becomes.
func (r *reader) expand(list []program.Word, w *syntax.Word, st program.State) []program.Word {
	raw := r.source(w)
	words := []*syntax.Word{w}
	if hasBrace(w) {
		// A copy is split: the command may come here again (a loop, a function), and syntax.Walk panics on a word that was split.
		split := &syntax.Word{Parts: w.Parts}
		if syntax.SplitBraces(split) {
			words = r.braces(split)
			if st.POSIX() { // dash takes the braces as they are
				words = append(words, w)
			}
		}
	}
	for _, w := range words {
		b := builder{r: r, st: st, list: list, raw: raw}
		b.parts(w.Parts, false)
		b.end()
		list = b.list
		if len(list) > program.MaxWords*10 {
			r.Exceed()
			break
		}
	}
	return list
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// braces returns the words that a word with braces stands for. A pattern stands for the words of a sequence.
func (r *reader) braces(w *syntax.Word) []*syntax.Word {
	ways := []*syntax.Word{{}}
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for _, way := range ways {
				way.Parts = append(way.Parts, p)
			}
			continue
		}
		var elems []*syntax.Word
		if b.Sequence {
			elems = []*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{Value: sequence(b)}}}}
		} else {
			for _, e := range b.Elems {
				elems = append(elems, r.braces(e)...)
			}
		}
		if len(ways)*len(elems) > program.MaxWords {
			r.Exceed()
			return ways
		}
		var next []*syntax.Word
		for _, way := range ways {
			for _, e := range elems {
				parts := slices.Concat(way.Parts, e.Parts)
				next = append(next, &syntax.Word{Parts: parts})
			}
		}
		ways = next
	}
	return ways
}

// sequence returns a pattern for {1..5} and {a..e}. For other characters it returns "$", which lit takes as unknown.
func sequence(b *syntax.BraceExp) string {
	numbers, longest := true, 0
	for _, e := range b.Elems {
		s := e.Lit()
		numbers, longest = numbers && strings.Trim(s, "0123456789-") == "", max(longest, len(s))
		for i := range len(s) {
			c := s[i] | 0x20
			if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' {
				return "$"
			}
		}
	}
	if !numbers || longest > program.MaxDepth {
		return "*"
	}
	counts := []string{"[-0-9]"}
	for n := 1; n < longest; n++ {
		counts = append(counts, "[-0-9]"+strings.Repeat("[0-9]", n))
	}
	return "{" + strings.Join(counts, ",") + "}"
}

// builder makes words from the parts of one.
type builder struct {
	r     *reader
	st    program.State
	list  []program.Word
	cur   program.Word
	raw   string
	some  bool // the word exists, even if empty
	whole bool // it is not split

	several bool // the last piece is a list of names, so that what follows belongs to the last of them alone
	quoted  bool // the expansion that is read stands between double quotes
	colons  bool // it is a value that is assigned: ~ may stand behind a colon
}

// end ends the current word.
func (b *builder) end() {
	if b.some || b.cur.Text != "" || b.cur.Unknown {
		b.cur.Raw = b.raw
		b.cur.Expanded = b.cur.Pattern
		b.cur.Vanishes = b.cur.MayBeEmpty && !b.some
		b.list = append(b.list, b.cur)
	}
	b.cur, b.some, b.several = program.Word{}, false, false
}

// add appends a known piece. Behind an unknown piece, it does not count.
func (b *builder) add(s string) {
	if (b.cur.MayBeEmpty || b.several) && s != "" && !b.cur.Unknown {
		b.unknown(true)
	}
	if !b.cur.Unknown {
		b.cur.Text += s
	}
	if b.cur.Default != "" {
		b.cur.Default += s
	}
	if b.cur.Filled != "" {
		b.cur.Filled += s
	}
}

// unknown appends an unknown piece.
func (b *builder) unknown(quoted bool) {
	b.cur.Unknown, b.cur.Filled = true, ""
	if !quoted {
		b.cur.Unquoted = true
	}
}

// parts appends the parts of a word.
func (b *builder) parts(parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.lit(p.Value, i == 0 && !quoted && b.cur.Text == "" && !b.cur.Unknown, quoted)
		case *syntax.SglQuoted:
			b.some = true
			switch {
			case p.Dollar && (quoted || b.st.POSIX()): // dash takes the dollar as it is, and so do some shells between double quotes
				b.unknown(true)
			case quoted: // in the word of an operator
				b.add(b.r.source(p))
			case p.Dollar:
				b.add(ansi(p.Value))
			default:
				b.add(p.Value)
			}
		case *syntax.DblQuoted:
			b.some = b.some || len(p.Parts) == 0 || !listOf(p.Parts)
			if p.Dollar && b.st.POSIX() {
				b.unknown(true)
			}
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			b.param(p, quoted)
		case *syntax.CmdSubst:
			b.subst(p, quoted)
		case *syntax.ArithmExp:
			b.r.arithm(p.X, b.st)
			b.add("0") // a number names no path outside
		case *syntax.ProcSubst:
			b.cur.From |= b.r.inner(p.Stmts, b.st)
			b.cur.Stream = true
			b.add("/dev/fd/63")
		case *syntax.ExtGlob:
			b.add(extended(p))
			b.cur.Pattern = true
		default:
			b.unknown(quoted)
		}
	}
}

// extended returns the glob for @(a|b) and its kin. {,?}* is any text, also where the shell would look for a name.
func extended(g *syntax.ExtGlob) string {
	choice := "{" + strings.ReplaceAll(g.Pattern.Value, "|", ",") + "}"
	switch {
	case g.Op == syntax.GlobExcept:
		return "*"
	case strings.ContainsAny(g.Pattern.Value, "({,"):
		return "{,?}*"
	case g.Op == syntax.GlobOne:
		return choice
	case g.Op == syntax.GlobZeroOrOne:
		return "{," + choice[1:]
	default: // once or more, or never
		return "{," + choice[1:] + "*"
	}
}

// listOf reports whether a quoted text is "$@" or the like, which may become no word.
func listOf(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && !isStar(p) && (p.Param.Value == "@" || p.Index != nil && isAll(p.Index))
}

// isAll reports whether an index is @ or *, which stands for all elements.
func isAll(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// lit appends literal text: it removes the backslashes, replaces the tilde and records patterns.
func (b *builder) lit(s string, first, quoted bool) {
	if first && s != "" && s[0] == '~' {
		s = b.tilde(s)
	}
	if quoted {
		if strings.IndexByte(s, '\\') >= 0 {
			s = unescape(s, "$`\"\\\n")
		}
		b.add(s)
		return
	}
	if s == "$" && first { // see sequence
		b.unknown(true)
		return
	}
	if first && !b.whole {
		if i := strings.Index(s, "=~"); i > 0 && syntax.ValidName(s[:i]) { // as bash does
			b.add(s[:i+1])
			b.colons = true
			if s = b.tilde(s[i+1:]); b.st.POSIX() { // dash leaves it
				b.unknown(true)
			}
		}
	}
	if b.colons {
		for i := strings.Index(s, ":~"); i >= 0; i = strings.Index(s, ":~") {
			b.bare(s[:i+1])
			if i > 0 && s[i-1] == '\\' { // the colon is quoted, if the backslash is not
				b.unknown(true)
			}
			s = b.tilde(s[i+1:])
		}
	}
	b.bare(s)
}

// bare appends text that is not quoted.
func (b *builder) bare(s string) {
	if strings.ContainsAny(s, "*?[") && activeGlob(s) {
		b.cur.Pattern = true
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = unescape(s, "")
	}
	b.add(s)
}

// activeGlob reports whether a pattern character stands without a backslash.
func activeGlob(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(s[i:], ']') > 1 {
				return true
			}
		}
	}
	return false
}

// unescape removes the backslashes: all of them, or those before the given characters.
func unescape(s, only string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || only != "" && strings.IndexByte(only, s[i+1]) < 0 {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// tilde appends the home folder that ~ or ~user stands for, or an unknown piece. It returns the rest of the text.
func (b *builder) tilde(s string) string {
	name, rest := s[1:], ""
	if i := strings.IndexAny(name, "/:"); i >= 0 && (name[i] == '/' || b.colons) {
		name, rest = name[:i], name[i:]
	}
	switch {
	case name == "" && b.st.Doubted && b.home() != "": // HOME may have been set
		b.cur.Default = b.home()
		b.unknown(true)
	case name == "" && b.home() != "":
		b.add(b.home())
	case name == "root":
		b.add("/root")
	case name == "+" && len(b.st.Dirs) == 1 && !b.st.Lost:
		b.add(b.st.Dirs[0])
	case name != "" && strings.Trim(name, "0123456789") == "": // of the stack of folders
		b.unknown(true)
	case name != "" && name != "-" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "":
		b.add("/home/" + name)
	default:
		b.unknown(true)
	}
	return rest
}

// home returns the home folder; empty if it is not known.
func (b *builder) home() string {
	if vals, ok := b.st.Lookup("HOME"); ok {
		if len(vals) == 1 && !vals[0].Unknown {
			return vals[0].Text
		}
		return ""
	}
	return b.r.Home
}

// subst appends what a command writes, or an unknown piece.
func (b *builder) subst(p *syntax.CmdSubst, quoted bool) {
	first := len(b.r.Parts)
	b.cur.From |= b.r.inner(p.Stmts, b.st)
	if len(p.Stmts) != 1 {
		b.unknown(quoted)
		return
	}
	if t, ok := b.r.output(p.Stmts[0], b.st); ok {
		t.Text = strings.TrimRight(t.Text, "\n")
		b.values([]program.Word{t}, quoted)
		return
	}
	b.piece(p.Stmts[0], first, quoted)
}
