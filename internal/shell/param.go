package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/credential"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// param adds the value of a variable: $X, ${X:-d} and the like.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Flags != nil || p.NestedParam != nil {
		b.unknown(quoted)
		return
	}
	b.quoted = quoted
	b.inside(p)
	if p.Length {
		b.add("0")
		return
	}
	b.assigns(p)
	vals, ok := b.value(p.Param.Value)
	if !ok && credential.Variable(p.Param.Value) {
		b.cur.From |= effect.Secrets
	}
	switch {
	case p.Excl || p.Names != 0 || p.Slice != nil || p.Repl != nil || len(p.Modifiers) > 0:
		b.operand(p, quoted)
		return
	case p.Index != nil && !isAll(p.Index):
		if len(vals) != 1 || vals[0].Unknown {
			b.operand(p, quoted)
			return
		}
	}
	switch {
	case !ok && isTemporary(p):
		vals = []program.Word{program.Known("/tmp")}
	case p.Exp != nil:
		vals = b.operated(p.Exp, vals, ok)
	case !ok:
		vals = program.UnknownWords
	}
	if p.Index == nil && p.Param.Value != "@" && p.Param.Value != "*" && len(vals) > 1 {
		if vals = vals[:1]; vals[0].Pattern && vals[0].Expanded { // of an array its first element, here one of several names
			vals = program.UnknownWords
		}
	}
	list := p.Param.Value == "@" || p.Param.Value == "*" || p.Index != nil && isAll(p.Index)
	names := list && slices.ContainsFunc(vals, func(v program.Word) bool { return v.Pattern && v.Expanded }) // several, perhaps
	if names && b.cur.Text != "" {
		vals = program.UnknownWords // only the first has the text before it
	}
	switch star := isStar(p); {
	case star && (quoted || b.whole):
		b.some = b.some || quoted
		vals = b.joined(vals)
	case b.whole && names:
		vals = program.UnknownWords
	case b.whole && b.r.IFSChanged && len(vals) > 1:
		vals = program.UnknownWords // shells do not agree what stands between the values
	}
	b.values(vals, quoted)
	b.several = names
}

// isStar reports whether an expansion is $* or ${a[*]}, which between quotes is one word.
func isStar(p *syntax.ParamExp) bool {
	if p.Index == nil {
		return p.Param.Value == "*"
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "*"
}

// joined returns the one value that "$*" has: between the words stands the first character of IFS.
func (b *builder) joined(vals []program.Word) []program.Word {
	between := " "
	if b.r.IFSChanged {
		ifs, _ := b.st.Lookup("IFS")
		if len(ifs) != 1 || ifs[0].Unknown {
			between = ""
			if len(vals) != 1 {
				return program.UnknownWords
			}
		} else {
			between = ifs[0].Text[:min(1, len(ifs[0].Text))]
		}
	}
	if slices.ContainsFunc(vals, func(v program.Word) bool { return v.Pattern && v.Expanded }) {
		return program.UnknownWords // it may be several names
	}
	if len(vals) == 1 {
		return vals
	}
	var one program.Word
	for i, v := range vals {
		if v.Unknown || v.MayBeEmpty || len(v.Except) > 0 {
			return program.UnknownWords
		}
		if i > 0 {
			one.Text += between
		}
		one.Text += v.Text
		one.Pattern, one.Expanded, one.From = one.Pattern || v.Pattern, one.Expanded || v.Expanded, one.From|v.From
	}
	return []program.Word{one}
}

// assigns makes a part of ${x=value} and ${x:=value} where x means something.
func (b *builder) assigns(p *syntax.ParamExp) {
	name := p.Param.Value
	if p.Exp == nil || p.Exp.Op != syntax.AssignUnset && p.Exp.Op != syntax.AssignUnsetOrNull || program.IsPlainVariable(name) {
		return
	}
	val, _ := b.r.quiet(func(q *reader) program.Word { return q.one(p.Exp.Word, b.st) })
	b.r.noticeAll(name, []program.Word{val}, p.Index != nil, b.st)
	b.r.IFSChanged = b.r.IFSChanged || name == "IFS"
	b.r.PathChanged = b.r.PathChanged || name == "PATH"
}

// isTemporary reports whether an expansion is ${TMPDIR:-/tmp}. It is taken for /tmp wherever the folder is: who gives it another place is
// asked about that.
func isTemporary(p *syntax.ParamExp) bool {
	return p.Exp != nil && p.Param.Value == "TMPDIR" && p.Exp.Op == syntax.DefaultUnsetOrNull &&
		p.Exp.Word != nil && p.Exp.Word.Lit() == "/tmp"
}

// operand walks the word of an operator, where the value is not known whatever the word is.
func (b *builder) operand(p *syntax.ParamExp, quoted bool) {
	if p.Exp != nil {
		b.operated(p.Exp, nil, false)
	}
	b.unknown(quoted)
}

// inside walks the commands in ${X[$(…)]} and the like. operated walks those in a default word.
func (b *builder) inside(p *syntax.ParamExp) {
	r, st := b.r, b.st
	if p.Index != nil {
		r.arithm(p.Index, st)
	}
	if p.Slice != nil {
		r.arithm(p.Slice.Offset, st)
		r.arithm(p.Slice.Length, st)
	}
	if p.Repl != nil {
		r.one(p.Repl.Orig, st)
		r.one(p.Repl.With, st)
	}
}

// values adds values, split where the shell would split them.
func (b *builder) values(vals []program.Word, quoted bool) {
	for i, v := range vals {
		if i > 0 {
			if b.whole {
				b.add(" ")
			} else {
				b.end()
			}
		}
		if !quoted && !b.whole && b.r.IFSChanged && !isPlain(v.Text) {
			v = program.Word{Unknown: true} // where the shell splits the value is not known
		}
		if quoted || b.whole || !strings.ContainsAny(v.Text, " \t\n") {
			b.some = b.some || quoted && !v.MayBeEmpty // "${a[@]}" may be no word
			if v.MayBeEmpty && b.cur.Text != "" && !b.cur.Unknown {
				b.unknown(quoted)
			}
			b.add(v.Text)
			b.cur.MayBeEmpty = b.cur.MayBeEmpty || v.MayBeEmpty
			b.cur.Pattern = b.cur.Pattern || v.Pattern && (!quoted || v.Expanded) || !quoted && strings.ContainsAny(v.Text, "*?[")
			b.cur.Expanded = b.cur.Expanded || v.Expanded
			b.cur.File = b.cur.File || v.File
			b.cur.Split = b.cur.Split || v.Split || v.Pattern && v.Expanded && !quoted && !b.whole
			if v.Filled != "" {
				b.cur.From |= v.From
				b.thing(v.Filled, quoted)
				continue
			}
			if v.Unknown {
				if v.Default != "" && b.cur.Default == "" {
					b.cur.Default = b.cur.Text + v.Default
				}
				b.unknown(quoted)
			}
			continue
		}
		if v.MayBeEmpty {
			b.unknown(quoted)
			continue
		}
		b.split(v)
	}
}

// split adds the words of an unquoted value.
func (b *builder) split(v program.Word) {
	words := strings.Fields(v.Text)
	if strings.ContainsAny(v.Text[:1], " \t\n") {
		b.end()
	}
	for i, w := range words {
		if i > 0 {
			b.end()
		}
		b.add(w)
		b.cur.Pattern = b.cur.Pattern || strings.ContainsAny(w, "*?[")
		b.cur.Split = b.cur.Pattern && (v.Split || v.Pattern && v.Expanded)
	}
	if v.Unknown {
		b.unknown(false)
	} else if strings.ContainsAny(v.Text[len(v.Text)-1:], " \t\n") {
		b.end()
	}
}

// value returns the values of a variable. ok is false if they are not known.
func (b *builder) value(name string) ([]program.Word, bool) {
	switch name {
	case "!":
		if vals, ok := b.st.Lookup(name); ok {
			return vals, true
		}
		return []program.Word{{Text: written.LastJob, MayBeEmpty: true}}, true // empty before the first job
	case "?", "#", "$":
		return []program.Word{{Text: "0"}}, true
	case "-", "_":
		return nil, false
	}
	vals, ok := b.st.Lookup(name)
	if ok {
		return vals, true
	}
	own, ok := b.st.Own(name)
	switch {
	case name == "PWD" && len(b.st.Dirs) == 1 && !b.st.Lost:
		own.Text = b.st.Dirs[0]
	case name == "HOME" && b.r.Home != "":
		own.Text = b.r.Home
	case !ok:
		return nil, false
	}
	if b.st.Doubted || slices.Contains(b.r.Changed, name) {
		return []program.Word{{Unknown: true, Default: own.Text}}, true
	}
	return []program.Word{own}, true
}

// isPlain reports whether a text holds no character at which IFS might split it.
func isPlain(text string) bool { return !strings.ContainsAny(text, " \t\n:,;|/=") }

// operated returns the values of ${X:-d}, ${X%.md} and the like.
func (b *builder) operated(e *syntax.Expansion, vals []program.Word, ok bool) []program.Word {
	var arg program.Word
	if e.Word != nil {
		arg = b.word(e)
	}
	maybe := len(vals) > 0 && vals[0].MayBeEmpty
	set := ok && len(vals) > 0 && !vals[0].Unknown && !maybe
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		switch {
		case maybe && len(vals) == 1 && program.IsNumber(vals) && program.IsNumber([]program.Word{arg}):
			return []program.Word{arg} // a number either way
		case set && (vals[0].Text != "" || e.Op == syntax.DefaultUnset || e.Op == syntax.AssignUnset): // without a colon, an empty value is one
			return vals
		case ok && len(vals) > 0 && !vals[0].Unknown && !maybe: // its value is empty
			return []program.Word{arg}
		}
		return []program.Word{{Unknown: true, Default: arg.Text}}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if ok {
			return vals
		}
		return program.UnknownWords
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if set && (vals[0].Text != "" || e.Op == syntax.AlternateUnset) {
			return []program.Word{arg}
		}
		return program.UnknownWords
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return trimmed(e, arg, vals, ok)
	case syntax.OtherParamOps:
		if arg.Text == "P" || arg.Unknown {
			b.r.Add(unread("a text is expanded as a prompt, which runs what stands in it"), 0)
		}
		return program.UnknownWords
	default:
		return program.UnknownWords
	}
}

// word returns the word of an operator. Between double quotes it is quoted: ' and ~ stand for themselves, but not in a pattern.
func (b *builder) word(e *syntax.Expansion) program.Word {
	switch e.Op { //nolint:exhaustive // the others have a pattern
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.AlternateUnset,
		syntax.AlternateUnsetOrNull:
		if b.quoted {
			in := builder{r: b.r, st: b.st, whole: true, quoted: true}
			in.parts(e.Word.Parts, true)
			in.cur.Raw = b.r.source(e.Word)
			return in.cur
		}
	}
	w := b.r.value(e.Word, b.st, b.colons)
	quotes := func(p syntax.WordPart) bool {
		switch p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		}
		return false
	}
	if !b.quoted && !b.whole && strings.ContainsAny(w.Text, " \t\n*?[") && slices.ContainsFunc(e.Word.Parts, quotes) {
		w = program.Word{Unknown: true, Default: w.Text} // what is quoted is not split
	}
	return w
}

// trimmed removes from each value the beginning or the end that a pattern matches. The values must be known, and no patterns themselves.
func trimmed(e *syntax.Expansion, arg program.Word, vals []program.Word, ok bool) []program.Word {
	if !ok || arg.Unknown || !plainPattern(e.Word, arg.Text) {
		return program.UnknownWords
	}
	const most = 100_000 // steps: names are short
	out := make([]program.Word, 0, len(vals))
	for _, v := range vals {
		if v.Unknown || len(v.Text)*len(v.Text)*(len(arg.Text)+1) > most {
			return program.UnknownWords
		}
		var found bool
		v.Text, found = trim(v.Text, arg.Text, e.Op)
		if !found && v.Pattern {
			return program.UnknownWords
		}
		out = append(out, v)
	}
	return out
}

// plainPattern reports whether * and ? are all that is special in a pattern, and mean that: they are not quoted.
func plainPattern(w *syntax.Word, text string) bool {
	if strings.ContainsAny(text, `[\`) {
		return false
	}
	if w == nil || !strings.ContainsAny(text, "*?") {
		return true
	}
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.Lit:
			return strings.Contains(p.Value, `\`)
		case *syntax.ParamExp:
			return false
		}
		return true
	})
}

// trim removes what a pattern matches from one value, and reports whether it matches.
func trim(s, pattern string, op syntax.ParExpOperator) (string, bool) {
	best, found := s, false
	for i := 0; i <= len(s); i++ {
		part, rest := s[:i], s[i:]
		if op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix {
			part, rest = rest, part
		}
		if !program.MatchPattern(pattern, part, true) {
			continue
		}
		longer := !found || len(rest) < len(best)
		if found && (op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix) {
			longer = len(rest) > len(best)
		}
		if longer {
			best, found = rest, true
		}
	}
	return best, found
}

// ansi resolves the escapes of $'…'.
func ansi(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n', 't', 'r', 'a', 'b', 'e', 'E', 'f', 'v':
			b.WriteByte("\n\t\r\a\b\x1b\x1b\f\v"[strings.IndexByte("ntrabeEfv", c)])
		case 'x':
			i += number(&b, s[i+1:], 16, 2)
		case 'u':
			i += number(&b, s[i+1:], 16, 4)
		case 'U':
			i += number(&b, s[i+1:], 16, 8)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += number(&b, s[i:], 8, 3) - 1
		case 'c':
			if i++; i < len(s) {
				b.WriteByte(s[i] & 0x1f)
			}
		default:
			if strings.IndexByte("\\'\"?", c) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// lower returns an ASCII letter in lower case.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// number writes the character of a numeric escape and returns how many digits it had.
func number(b *strings.Builder, s string, base, most int) int {
	n, v := 0, 0
	for n < len(s) && n < most {
		d := strings.IndexByte("0123456789abcdef", lower(s[n]))
		if d < 0 || d >= base {
			break
		}
		v = v*base + d
		n++
	}
	if n > 0 {
		if most > 3 {
			b.WriteRune(rune(v))
		} else {
			b.WriteByte(byte(v))
		}
	}
	return n
}
