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
	name := c.Args[0].Lit()
	if _, _, some := st.Function(name); some {
		return program.Word{}, false
	}
	if len(s.Redirs) == 1 && len(c.Args) == 1 && name == "cat" {
		if d := s.Redirs[0]; d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc {
			return r.quiet(func(q *reader) program.Word { return q.document(d, st) })
		}
	}
	if len(s.Redirs) > 0 || name != "echo" && name != "printf" && name != "pwd" {
		return program.Word{}, false
	}
	return r.quiet(func(q *reader) program.Word { return writtenBy(name, q.fields(c.Args[1:], st), st) })
}

// quiet expands a word without adding parts: they were added before, or will be. known is false if the word is not known.
func (r *reader) quiet(f func(*reader) program.Word) (w program.Word, known bool) {
	q := *r
	q.Parts = q.Parts[:len(q.Parts):len(q.Parts)]
	w = f(&q)
	r.nodes, r.Exceeded = q.nodes, q.Exceeded
	return w, !w.Unknown
}

// writtenBy returns what echo, printf or pwd writes.
func writtenBy(name string, args []program.Word, st program.State) program.Word {
	for _, a := range args {
		if a.Unknown || a.Pattern {
			return program.Word{Unknown: true}
		}
	}
	switch name {
	case "pwd":
		return program.Word{Text: firstOf(st.Dirs), Unknown: st.Lost || len(st.Dirs) != 1}
	case "printf":
		return formatted(args)
	}
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		args = args[1:]
	}
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.Text)
	}
	// Some shells resolve escapes, others only with -e.
	return program.Word{Text: b.String(), Unknown: strings.IndexByte(b.String(), '\\') >= 0}
}

// formatted returns what printf writes with the formats that are common.
func formatted(args []program.Word) program.Word {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0].Text, "-") {
		return program.Word{Unknown: true}
	}
	var after string
	switch format := args[0].Text; format {
	case "%s":
	case "%s\\n":
		after = "\n"
	case "%s ":
		after = " "
	default:
		return program.Word{Text: format, Unknown: strings.ContainsAny(format, "\\%")}
	}
	var b strings.Builder
	for _, a := range args[1:] {
		b.WriteString(a.Text + after)
	}
	return program.Word{Text: b.String()}
}

// firstOf returns the first element, or an empty text.
func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
