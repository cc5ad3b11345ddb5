package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// addFiles makes a part of redirections that belong to no simple command.
func (r *reader) addFiles(f *program.Files) {
	if f == nil || len(f.Paths)+len(f.Hosts)+len(f.Unclear) == 0 {
		return
	}
	if len(f.Unclear) > 0 {
		f.Does |= effect.Unclear
	}
	r.Add(policy.Part{Paths: f.Paths, Hosts: f.Hosts, Unclear: f.Unclear}, f.Does)
}

// addExpanded makes a part of the folders in which the shell looks for the names of patterns that belong to no simple command.
func addExpanded(r *reader, words []program.Word, st program.State) {
	c := program.Call{Shell: r, Walk: &r.Walk, State: st}
	program.Expansions(&c, words)
	r.addFiles(&program.Files{Paths: c.Part.Paths, Unclear: c.Part.Unclear, Does: c.Does})
}

// redirects reads redirections: which files they open, and what comes to standard input, which it sets in in.
func (r *reader) redirects(list []*syntax.Redirect, st program.State, in *program.Input) *program.Files {
	if len(list) == 0 {
		return nil
	}
	f := &program.Files{}
	for _, d := range list {
		var other program.Input
		in := in
		if name, ok := descriptor(d); ok {
			r.notice(name, program.Known("0"), st)
			r.PathChanged = r.PathChanged || name == "PATH"
			r.IFSChanged = r.IFSChanged || name == "IFS"
		}
		if d.N != nil && d.N.Value != "0" { // it is not standard input
			in = &other
		}
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			doc := r.document(d, st)
			*in = program.Input{Document: &doc}
		case syntax.WordHdoc:
			doc := r.one(d.Word, st)
			*in = program.Input{Document: &doc}
		case syntax.DplIn, syntax.DplOut:
			w := r.one(d.Word, st)
			if strings.Trim(w.Text, "0123456789-") != "" || w.Unknown { // >&file
				r.Open(f, policy.Write, w, st)
			}
			if d.Op == syntax.DplIn && w.Text != "0" {
				*in = program.Input{} // what the other stream has is not known
			}
		default:
			first := len(r.Parts)
			words := r.expand(nil, d.Word, st)
			if len(words) > 1 { // bash takes no name that becomes several, and dash does not split it
				whole, _ := r.quiet(func(q *reader) program.Word { return q.one(d.Word, st) })
				words = append(words, whole)
			}
			for _, w := range words {
				switch d.Op {
				case syntax.RdrIn:
					file := w
					*in = program.Input{File: &file, Names: streamed(r, d.Word, st, first)}
					r.Open(f, policy.Read, w, st)
				case syntax.RdrInOut:
					file := w
					*in = program.Input{File: &file}
					r.Open(f, policy.Read, w, st)
					r.Open(f, policy.Write, w, st)
				default:
					r.Open(f, policy.Write, w, st)
				}
			}
		}
	}
	return f
}

// document returns the text of a here-document.
func (r *reader) document(d *syntax.Redirect, st program.State) program.Word {
	if d.Hdoc == nil {
		return program.Word{}
	}
	quoted := false
	for _, p := range d.Word.Parts {
		lit, ok := p.(*syntax.Lit)
		quoted = quoted || !ok || strings.IndexByte(lit.Value, '\\') >= 0
	}
	if quoted {
		return program.Known(d.Hdoc.Lit())
	}
	b := builder{r: r, st: st, whole: true}
	b.parts(d.Hdoc.Parts, true)
	return b.cur
}
