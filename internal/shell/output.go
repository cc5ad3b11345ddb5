package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/shell/program"
)

// output returns what echo, printf, pwd or cat of a here-document writes. ok is false if that is not known, or for another command. The
// caller walks the parts of the command.
func (r *reader) output(s *syntax.Stmt, st program.State) (text program.Word, ok bool) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 || r.Exceeded {
		return program.Word{}, false
	}
	if len(s.Redirs) == 1 && len(c.Args) == 1 && c.Args[0].Lit() == "cat" {
		if d := s.Redirs[0]; d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc {
			return r.quiet(func(q *reader) program.Word { return q.document(d, st) })
		}
	}
	name := c.Args[0].Lit()
	if len(s.Redirs) > 0 || name != "echo" && name != "printf" && name != "pwd" || len(r.funcs) > 0 {
		return program.Word{}, false
	}
	return r.quiet(func(q *reader) program.Word { return written(name, q.fields(c.Args[1:], st), st) })
}

// quiet expands a word without adding parts: they were added before, or will be. known is false if the word is not known.
func (r *reader) quiet(f func(*reader) program.Word) (w program.Word, known bool) {
	q := *r
	q.Parts = q.Parts[:len(q.Parts):len(q.Parts)]
	w = f(&q)
	r.nodes, r.Exceeded = q.nodes, q.Exceeded
	return w, !w.Unknown
}

// written returns what echo, printf or pwd writes.
func written(name string, args []program.Word, st program.State) program.Word {
	if name == "pwd" {
		return program.Word{Text: firstOf(st.Dirs), Unknown: st.Lost || len(st.Dirs) != 1}
	}
	for len(args) > 0 && name == "echo" && program.Named("-n|-e|-E", args[0].Text) {
		if args[0].Text == "-e" {
			name = "printf" // escapes have a meaning
		}
		args = args[1:]
	}
	var b strings.Builder
	for i, a := range args {
		if a.Unknown || a.Pattern || name == "printf" && strings.ContainsAny(a.Text, "\\%") {
			if name == "printf" && i == 0 && simpleFormat(a.Text) {
				continue
			}
			return program.Word{Unknown: true}
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.Text)
	}
	return program.Word{Text: b.String()}
}

// simpleFormat reports whether a format of printf writes its arguments, and nothing else.
func simpleFormat(s string) bool {
	return s == "%s" || s == "%s\\n" || s == "%s "
}

// firstOf returns the first element, or an empty text.
func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
