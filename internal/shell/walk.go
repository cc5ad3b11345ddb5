package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
)

// input is what a command reads from its standard input.
type input struct {
	stmt  *syntax.Stmt // the command before a pipe; nil: none
	src   string       // of stmt
	st    state        // in which stmt runs
	does  effects      // what the command before does
	doc   *text        // a here-document or a here-string
	file  *text        // a file
	roots []text       // the folders and files from which the command before lists names
}

// stmts walks a list. It returns the states in which its last command ends well and badly.
func (r *reader) stmts(list []*syntax.Stmt, st state, in input) (ok, fail state) {
	ok, fail = st, st
	for _, s := range list {
		ok, fail = r.stmt(s, st, in)
		if r.errexit {
			fail.dead = true
		}
		st = join(ok, fail)
	}
	return ok, fail
}

// block is stmts where only the one state after it matters.
func (r *reader) block(list []*syntax.Stmt, st state, in input) state {
	ok, fail := r.stmts(list, st, in)
	return join(ok, fail)
}

// stmt walks one command with its redirections.
func (r *reader) stmt(s *syntax.Stmt, st state, in input) (ok, fail state) {
	if r.nodes++; r.nodes > maxNodes || r.over {
		r.tooMuch()
		return st, st
	}
	if s.Cmd == nil {
		r.redirected(s, st, &in)
		return st, st
	}
	if c, simple := s.Cmd.(*syntax.CallExpr); simple {
		ok, fail = r.simple(c, s.Redirs, st, in)
	} else {
		if len(s.Redirs) > 0 {
			r.redirected(s, st, &in)
		}
		ok, fail = r.command(s.Cmd, st, in)
	}
	if s.Negated {
		ok, fail = fail, ok
	}
	if s.Background || s.Coprocess || s.Disown {
		return st, st
	}
	return ok, fail
}

// command walks what is no simple command.
func (r *reader) command(c syntax.Command, st state, in input) (ok, fail state) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		return r.binary(c, st, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, st, in)
	case *syntax.Subshell:
		outer := r.errexit
		r.stmts(c.Stmts, st, in)
		r.errexit = outer
	case *syntax.IfClause:
		end := r.branch(c, st, in)
		return end, end
	case *syntax.WhileClause:
		st = r.forget(c, st)
		st = r.block(c.Cond, st, in)
		end := join(st, r.block(c.Do, st, in))
		return end, end
	case *syntax.ForClause:
		end := r.loop(c, st, in)
		return end, end
	case *syntax.CaseClause:
		end := r.choice(c, st, in)
		return end, end
	case *syntax.FuncDecl:
		r.declare(c)
	case *syntax.DeclClause:
		st = r.declaration(c, st)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, st, in)
		}
		r.add(policy.Part{Program: "time"}, doesExecute)
	case *syntax.CoprocClause:
		r.stmt(c.Stmt, st, input{})
	case *syntax.TestClause:
		r.inside(c, st)
		r.comparison(c, st)
		r.fileTests(c.X, st)
	case *syntax.ArithmCmd:
		r.arithm(c.X, st)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			r.arithm(x, st)
		}
	default:
		r.add(unread("a kind of command that is not known"), 0)
	}
	return st, st
}

// binary walks && || | and |&. What is to the right of a pipe reads from the left, and both are shells of their own.
func (r *reader) binary(c *syntax.BinaryCmd, st state, in input) (ok, fail state) {
	switch c.Op {
	case syntax.AndStmt:
		ok, fail = r.stmt(c.X, st, in)
		ok2, fail2 := r.stmt(c.Y, ok, in)
		if ok.dead {
			return ok, fail
		}
		return ok2, join(fail, fail2)
	case syntax.OrStmt:
		ok, fail = r.stmt(c.X, st, in)
		ok2, fail2 := r.stmt(c.Y, fail, in)
		if fail.dead {
			return ok, fail
		}
		return join(ok, ok2), fail2
	default:
		outer, first := r.does, len(r.parts)
		r.does = 0
		r.stmt(c.X, st, in)
		next := input{stmt: c.X, src: r.src, st: st, does: r.does}
		next.roots = r.listed(first)
		r.does |= outer
		r.stmt(c.Y, st, next)
		return st, st
	}
}

func (r *reader) branch(c *syntax.IfClause, st state, in input) state {
	if !c.ThenPos.IsValid() { // else
		return r.block(c.Then, st, in)
	}
	ok, fail := r.stmts(c.Cond, st, in)
	if r.errexit {
		fail = join(ok, fail) // a condition may fail
		fail.dead = false
	}
	end := r.block(c.Then, ok, in)
	if c.Else != nil {
		return join(end, r.branch(c.Else, fail, in))
	}
	return join(end, fail)
}

// loop walks the body of a for loop once for each of its words, if they are few and known.
func (r *reader) loop(c *syntax.ForClause, st state, in input) state {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if l, is := c.Loop.(*syntax.CStyleLoop); is {
			for _, x := range [...]syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
				r.arithm(x, st)
			}
		}
		st = r.forget(c, st)
		return join(st, r.block(c.Do, st, in))
	}
	items := r.fields(words.Items, st)
	if !words.InPos.IsValid() {
		items = unknownVals
		if args, ok := st.lookup("@"); ok {
			items = args
		}
	}
	if len(items) > maxTurns || c.Select {
		items = unknownVals
		st = r.forget(c, st)
	}
	end := st
	for _, item := range items {
		r.notice(words.Name.Value, item, end)
		end = join(end, r.block(c.Do, r.set(end, words.Name.Value, item), in))
	}
	return end
}

// forget is the state in which a loop begins: what it assigns may have been assigned by the turn before, and the working directory
// may be another.
func (r *reader) forget(loop syntax.Node, st state) state {
	syntax.Walk(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				st = r.set(st, n.Name.Value, unknownVals...)
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			switch n.Args[0].Lit() {
			case "cd", "pushd", "popd":
				st.lost = true
			case "read", "getopts", "mapfile", "readarray", "printf":
				for _, a := range n.Args[1:] {
					if syntax.ValidName(a.Lit()) {
						st = r.set(st, a.Lit(), unknownVals...)
					}
				}
			}
		case *syntax.Subshell, *syntax.CmdSubst:
			return false // nothing of it outlives it
		}
		return true
	})
	return st
}

func (r *reader) choice(c *syntax.CaseClause, st state, in input) state {
	r.one(c.Word, st)
	end := st
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			r.one(p, st)
		}
		end = join(end, r.block(item.Stmts, st, in))
	}
	return end
}

func (r *reader) declare(c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	for _, n := range names {
		r.funcs = append(r.funcs, function{name: n.Value, body: c.Body, src: r.src})
	}
}

// inside walks the commands in the words of a node that is no command itself: tests, arithmetic.
func (r *reader) inside(n syntax.Node, st state) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.inner(n.Stmts, st)
			return false
		case *syntax.ProcSubst:
			r.inner(n.Stmts, st)
			return false
		}
		return true
	})
}

// insideParam walks the commands in ${X[$(…)]} and its like. Its default word is expanded elsewhere.
func (r *reader) insideParam(p *syntax.ParamExp, st state) {
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

// inner walks commands whose state is lost afterwards and returns what they do.
func (r *reader) inner(list []*syntax.Stmt, st state) effects {
	outer, errexit := r.does, r.errexit
	r.does = 0
	if r.depth++; r.depth > maxDepth {
		r.tooMuch()
	} else {
		r.stmts(list, st, input{})
	}
	r.depth--
	does := r.does
	r.does, r.errexit = outer|does, errexit
	return does
}

// output is what a command writes, where its text alone tells: echo, printf, pwd and cat of a here-document. Its parts are walked
// by the caller.
func (r *reader) output(s *syntax.Stmt, st state) (text, bool) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 || r.over {
		return text{}, false
	}
	if len(s.Redirs) == 1 && len(c.Args) == 1 && c.Args[0].Lit() == "cat" && (s.Redirs[0].Op == syntax.Hdoc || s.Redirs[0].Op == syntax.DashHdoc) {
		return r.quiet(func(q *reader) text { return q.document(s.Redirs[0], st) })
	}
	name := c.Args[0].Lit()
	if len(s.Redirs) > 0 || name != "echo" && name != "printf" && name != "pwd" || len(r.funcs) > 0 {
		return text{}, false
	}
	return r.quiet(func(q *reader) text { return written(name, q.fields(c.Args[1:], st), st) })
}

// quiet expands something without adding its parts a second time.
func (r *reader) quiet(f func(*reader) text) (text, bool) {
	q := *r
	q.parts = q.parts[:len(q.parts):len(q.parts)]
	t := f(&q)
	r.nodes, r.over = q.nodes, q.over
	return t, !t.unknown
}

// written is what echo, printf or pwd writes.
func written(name string, args []text, st state) text {
	if name == "pwd" {
		return text{s: firstOf(st.dirs), unknown: st.lost || len(st.dirs) != 1}
	}
	for len(args) > 0 && name == "echo" && len(args[0].s) == 2 && args[0].s[0] == '-' && strings.IndexByte("neE", args[0].s[1]) >= 0 {
		if args[0].s == "-e" {
			name = "printf" // escapes have a meaning
		}
		args = args[1:]
	}
	var b strings.Builder
	for i, a := range args {
		if a.unknown || a.glob || name == "printf" && strings.ContainsAny(a.s, "\\%") {
			if name == "printf" && i == 0 && simpleFormat(a.s) {
				continue
			}
			return text{unknown: true}
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.s)
	}
	return text{s: b.String()}
}

// simpleFormat reports whether a format of printf writes its arguments, and nothing else.
func simpleFormat(s string) bool {
	return s == "%s" || s == "%s\\n" || s == "%s "
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// fileTests makes a part of the files that [[ looks at.
func (r *reader) fileTests(x syntax.TestExpr, st state) {
	f := &files{}
	syntax.Walk(x, func(n syntax.Node) bool {
		if u, ok := n.(*syntax.UnaryTest); ok && u.Op < syntax.TsEmpStr && u.Op != syntax.TsNot {
			if w, ok := u.X.(*syntax.Word); ok {
				if t, known := r.quiet(func(q *reader) text { return q.one(w, st) }); known {
					r.open(f, policy.Read, t, st)
				}
			}
		}
		return true
	})
	r.addFiles(f)
}
