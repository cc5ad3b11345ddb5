package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds the value of a variable.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Flags != nil || p.NestedParam != nil {
		b.unknown(quoted)
		return
	}
	b.r.insideParam(p, b.st)
	if p.Length {
		b.add("0")
		return
	}
	vals, ok := b.value(p.Param.Value)
	if !ok && secretName(p.Param.Value) {
		b.cur.by |= doesSecrets
	}
	switch {
	case p.Excl || p.Names != 0 || p.Slice != nil || p.Repl != nil || len(p.Modifiers) > 0:
		b.unknown(quoted)
		return
	case p.Index != nil && !isAll(p.Index):
		if len(vals) != 1 || vals[0].unknown {
			b.unknown(quoted)
			return
		}
	}
	if p.Exp != nil {
		vals = b.operated(p.Exp, vals, ok)
	} else if !ok {
		vals = unknownVals
	}
	if p.Index == nil && p.Param.Value != "@" && p.Param.Value != "*" && len(vals) > 1 {
		vals = vals[:1] // of an array its first element
	}
	b.values(vals, quoted)
}

// values adds values, split where the shell would split them.
func (b *builder) values(vals []text, quoted bool) {
	for i, v := range vals {
		if i > 0 {
			if b.whole {
				b.add(" ")
			} else {
				b.end()
			}
		}
		if quoted || b.whole || !strings.ContainsAny(v.s, " \t\n") {
			b.some = b.some || quoted
			b.add(v.s)
			b.cur.glob = b.cur.glob || v.glob && !quoted || !quoted && strings.ContainsAny(v.s, "*?[")
			if v.unknown {
				if v.maybe != "" && b.cur.maybe == "" {
					b.cur.maybe = b.cur.s + v.maybe
				}
				b.unknown(quoted)
			}
			continue
		}
		b.split(v)
	}
}

// split adds the words of an unquoted value.
func (b *builder) split(v text) {
	words := strings.Fields(v.s)
	if strings.ContainsAny(v.s[:1], " \t\n") {
		b.end()
	}
	for i, w := range words {
		if i > 0 {
			b.end()
		}
		b.add(w)
		b.cur.glob = b.cur.glob || strings.ContainsAny(w, "*?[")
	}
	if v.unknown {
		b.unknown(false)
	} else if strings.ContainsAny(v.s[len(v.s)-1:], " \t\n") {
		b.end()
	}
}

// value is the value of a variable; ok is false if nobody here knows it.
func (b *builder) value(name string) ([]text, bool) {
	switch name {
	case "?", "#", "!", "$", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "COLUMNS", "LINES":
		return []text{{s: "0"}}, true
	case "-", "_":
		return nil, false
	case "PWD":
		if len(b.st.dirs) == 1 && !b.st.lost {
			return []text{{s: b.st.dirs[0]}}, true
		}
		return nil, false
	}
	vals, ok := b.st.lookup(name)
	if !ok && name == "HOME" && b.r.o.Home != "" {
		return []text{{s: b.r.o.Home}}, true
	}
	if ok && b.r.ifs && !allPlain(vals) {
		return unknownVals, true // how values are split is not what it usually is
	}
	return vals, ok
}

// secretName reports whether a variable is named like a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "CREDENTIAL", "PRIVATE_KEY", "ACCESS_KEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func allPlain(vals []text) bool {
	for _, v := range vals {
		if strings.ContainsAny(v.s, " \t\n:,;/=") {
			return false
		}
	}
	return true
}

// operated is ${X:-d}, ${X%.md} and the like.
func (b *builder) operated(e *syntax.Expansion, vals []text, ok bool) []text {
	var arg text
	if e.Word != nil {
		arg = b.r.one(e.Word, b.st)
	}
	set := ok && len(vals) > 0 && !vals[0].unknown
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		switch {
		case set && vals[0].s != "":
			return vals
		case ok && len(vals) > 0 && !vals[0].unknown: // set to nothing
			return []text{arg}
		}
		return []text{{unknown: true, maybe: arg.s}}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if ok {
			return vals
		}
		return unknownVals
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if set && vals[0].s != "" {
			return []text{arg}
		}
		return unknownVals
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return trimmed(e, arg, vals, ok)
	case syntax.OtherParamOps:
		if arg.s == "P" || arg.unknown {
			b.r.add(unread("a text is expanded as a prompt, which runs what stands in it"), 0)
		}
		return unknownVals
	default:
		return unknownVals
	}
}

// trimmed removes a beginning or an end that a pattern matches, from values that are known and no patterns themselves.
func trimmed(e *syntax.Expansion, arg text, vals []text, ok bool) []text {
	if !ok || arg.unknown {
		return unknownVals
	}
	const most = 100_000 // steps: names are short
	out := make([]text, 0, len(vals))
	for _, v := range vals {
		if v.unknown || len(v.s)*len(v.s)*(len(arg.s)+1) > most {
			return unknownVals
		}
		var found bool
		v.s, found = trim(v.s, arg.s, e.Op)
		if !found && v.glob {
			return unknownVals
		}
		out = append(out, v)
	}
	return out
}

func trim(s, pattern string, op syntax.ParExpOperator) (string, bool) {
	best, found := s, false
	for i := 0; i <= len(s); i++ {
		part, rest := s[:i], s[i:]
		if op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix {
			part, rest = rest, part
		}
		if !matchGlob(pattern, part, true) {
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

// matchGlob matches a text with a pattern of * and ?; a bracket matches any character. slash: they match "/" too. The work is at
// most the product of the two lengths.
func matchGlob(p, s string, slash bool) bool {
	i, j := 0, 0
	star, mark := -1, 0 // where the last star stood, and how far it reached
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n := matchOne(p[i:], s[j], slash); n > 0 {
			i += n
			j++
			continue
		}
		if star < 0 || s[mark] == '/' && !slash {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// matchOne matches one character and returns how much of the pattern that took; 0: it does not match.
func matchOne(p string, c byte, slash bool) int {
	switch {
	case p == "":
		return 0
	case p[0] == '?' && (c != '/' || slash):
		return 1
	case p[0] == '[':
		if end := strings.IndexByte(p[1:], ']'); end > 0 && (c != '/' || slash) {
			return end + 2
		}
	case p[0] == '\\' && len(p) > 1:
		if p[1] == c {
			return 2
		}
		return 0
	}
	if p[0] == c {
		return 1
	}
	return 0
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
