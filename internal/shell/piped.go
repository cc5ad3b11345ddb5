package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// piece appends what a pipeline writes whose parts begin at first: names of files, a number, the name of a thing, or an unknown piece.
func (b *builder) piece(s *syntax.Stmt, first int, quoted bool) {
	if !isPipeline(s) {
		b.unknown(quoted)
		return
	}
	if names := b.r.Listed(first); len(names) > 0 {
		b.listed(names, quoted)
		return
	}
	if _, set := b.st.Lookup("TMPDIR"); !set {
		if w, ok := written.Temporary(&b.r.Walk, first); ok {
			b.values([]program.Word{w}, quoted)
			return
		}
	}
	switch written.By(&b.r.Walk, first) {
	case written.Number:
		b.add("0") // a number names no path outside
		b.some = true
	case written.Thing:
		b.thing(written.AThing, quoted)
	case written.Reference:
		b.thing(written.AReference, quoted)
	default:
		b.unknown(quoted)
	}
}

// listed appends the names of files that a command lists.
func (b *builder) listed(names []program.Word, quoted bool) {
	if b.whole {
		one, ok := written.OneOf(names)
		if !ok {
			b.unknown(quoted)
			return
		}
		names = []program.Word{one}
	}
	each := make([]program.Word, len(names))
	for i, n := range names {
		n.MayBeEmpty, n.Split = true, n.Pattern && !quoted && !b.whole
		n.Expanded = n.Pattern // between quotes, too, and in a variable, it stands for names
		n.Unknown = n.Unknown || !quoted && !b.whole && strings.ContainsAny(n.Text, " \t\n")
		each[i] = n
	}
	some := b.some
	for i, n := range each {
		if i > 0 {
			b.end()
			some = false
		}
		b.values([]program.Word{n}, true)
		b.some = some && !quoted || quoted && len(each) == 1 // several stand for the one word, which then has no place of its own
	}
}

// thing appends the name of a thing, which is not known.
func (b *builder) thing(name string, quoted bool) {
	if b.cur.Unknown && b.cur.Filled == "" {
		b.unknown(quoted)
		return
	}
	if b.cur.Filled == "" {
		b.cur.Filled = b.cur.Text
	}
	b.cur.Filled += name
	b.cur.Unknown = true
	if !quoted {
		b.cur.Unquoted = true
	}
}

// isPipeline reports whether a command is one program, or some between pipes, so that all that it writes comes from them: no part of it
// has an input of its own, writes errors among its names, or is run with other variables.
func isPipeline(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return false
	}
	for _, d := range s.Redirs {
		if d.Op != syntax.RdrOut || d.N == nil || d.N.Value != "2" || d.Word.Lit() != "/dev/null" {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Assigns) == 0
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && isPipeline(c.X) && isPipeline(c.Y)
	}
	return false
}

// lines returns the words that a pipeline writes whose parts begin at first: names of files, numbers, or names of things. It returns nil if
// nothing is known of them.
func lines(r *reader, s *syntax.Stmt, st program.State, first int) []program.Word {
	if !isPipeline(s) {
		return nil
	}
	if names := r.Listed(first); len(names) > 0 {
		return names
	}
	if names := printed(r, s, st); names != nil {
		return names
	}
	switch written.By(&r.Walk, first) {
	case written.Number:
		return []program.Word{program.Known("0")}
	case written.Thing:
		return []program.Word{{Unknown: true, Unquoted: true, Filled: written.AThing}}
	default:
		return nil
	}
}

// streamed returns the words that come from <(…), whose parts begin at first.
func streamed(r *reader, w *syntax.Word, st program.State, first int) []program.Word {
	if len(w.Parts) != 1 {
		return nil
	}
	p, ok := w.Parts[0].(*syntax.ProcSubst)
	if !ok || p.Op != syntax.CmdIn || len(p.Stmts) != 1 {
		return nil
	}
	return lines(r, p.Stmts[0], st, first)
}

// printed returns the words that printf '%s\n' writes, if some are patterns: of known words the text is known.
func printed(r *reader, s *syntax.Stmt, st program.State) []program.Word {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 3 || c.Args[0].Lit() != "printf" {
		return nil
	}
	if _, _, some := st.Function("printf"); some {
		return nil
	}
	var words []program.Word
	r.quiet(func(q *reader) program.Word {
		words = q.fields(c.Args[1:], st)
		return program.Word{}
	})
	if len(words) < 2 || words[0].Unknown || !program.Named(`%s\n|%s\0`, words[0].Text) {
		return nil
	}
	for _, w := range words[1:] {
		if w.Unknown || strings.ContainsAny(w.Text, " \t\n") || strings.HasPrefix(w.Text, "-") {
			return nil
		}
	}
	return words[1:]
}
