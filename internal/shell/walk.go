package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// stmts walks a list of commands. It returns the states in which its last command ends well and badly.
func (r *reader) stmts(list []*syntax.Stmt, st program.State, in program.Input) (ok, fail program.State) {
	ok, fail = st, st
	for _, s := range list {
		ok, fail = r.stmt(s, st, in)
		if r.Errexit {
			fail.Dead = true
		}
		st = program.Join(ok, fail)
	}
	return ok, fail
}

// block walks a list of commands and returns the one state after it.
func (r *reader) block(list []*syntax.Stmt, st program.State, in program.Input) program.State {
	ok, fail := r.stmts(list, st, in)
	return program.Join(ok, fail)
}

// stmt walks one command with its redirections.
func (r *reader) stmt(s *syntax.Stmt, st program.State, in program.Input) (ok, fail program.State) {
	if r.nodes++; r.nodes > maxNodes || r.Exceeded {
		r.Exceed()
		return st, st
	}
	if s.Cmd == nil {
		r.addFiles(r.redirects(s.Redirs, st, &in))
		return st, st
	}
	if c, simple := s.Cmd.(*syntax.CallExpr); simple {
		ok, fail = r.simple(c, s.Redirs, st, in)
	} else {
		ok, fail = redirected(r, s, st, in)
	}
	if mayFail(s.Redirs) {
		fail = program.Join(fail, st)
	}
	if s.Negated {
		ok, fail = fail, ok
	}
	if s.Background || s.Coprocess || s.Disown {
		st = st.With("!", program.Word{Text: written.LastJob})
		return st, st
	}
	return ok, fail
}

// mayFail reports whether a redirection opens a file: where that fails, the command does not run.
func mayFail(list []*syntax.Redirect) bool {
	return slices.ContainsFunc(list, func(d *syntax.Redirect) bool {
		switch d.Op { //nolint:exhaustive // the others open files
		case syntax.DplIn, syntax.DplOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return false
		}
		if len(d.Word.Parts) == 1 {
			if _, ok := d.Word.Parts[0].(*syntax.ProcSubst); ok {
				return false
			}
		}
		return d.Word.Lit() != "/dev/null"
	})
}

// redirected walks a command that is not a simple one, with its redirections.
func redirected(r *reader, s *syntax.Stmt, st program.State, in program.Input) (ok, fail program.State) {
	if len(s.Redirs) == 0 {
		return r.command(s.Cmd, st, in)
	}
	f := r.redirects(s.Redirs, st, &in)
	r.addFiles(f)
	outer := r.Endless
	r.Endless = false
	ok, fail = r.command(s.Cmd, st, in)
	if r.Endless && f.Does&effect.Write != 0 {
		r.Add(policy.Part{}, effect.Unusable)
	}
	r.Endless = r.Endless || outer
	return ok, fail
}

// command walks a command that is not a simple one.
func (r *reader) command(c syntax.Command, st program.State, in program.Input) (ok, fail program.State) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		return r.binary(c, st, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, st, in)
	case *syntax.Subshell:
		outer := r.Errexit
		r.stmts(c.Stmts, st, in)
		r.Errexit = outer
	case *syntax.IfClause:
		end := r.branch(c, st, in)
		return end, end
	case *syntax.WhileClause:
		end := r.while(c, st, in)
		return end, end
	case *syntax.ForClause:
		end := r.loop(c, st, in)
		return end, end
	case *syntax.CaseClause:
		end := r.choice(c, st, in)
		return end, end
	case *syntax.FuncDecl:
		st = r.declare(c, st)
	case *syntax.DeclClause:
		st = r.declaration(c, st)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, st, in)
		}
		r.Add(policy.Part{Program: "time"}, effect.Execute)
	case *syntax.CoprocClause:
		r.stmt(c.Stmt, st, program.Input{})
		st = r.coprocess(c, st)
	case *syntax.TestClause:
		r.inside(c, st)
		comparison(r, c, st)
		fileTests(r, c.X, st)
		st = r.Assign(st, "BASH_REMATCH", program.UnknownWords...)
	case *syntax.ArithmCmd:
		st = r.count(c.X, st)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			st = r.count(x, st)
		}
	default:
		r.Add(unread("a kind of command that is not known"), 0)
	}
	return st, st
}

// coprocess is the state after coproc, which assigns the numbers of its streams and of its process.
func (r *reader) coprocess(c *syntax.CoprocClause, st program.State) program.State {
	name := "COPROC"
	if c.Name != nil {
		name = r.one(c.Name, st).Text
	}
	r.noticeAll(name, program.UnknownWords, true, st)
	return r.Assign(r.Assign(st, name, program.UnknownWords...), name+"_PID", program.UnknownWords...)
}

// binary walks && || | and |&. The command to the right of a pipe reads from the left one, and both run in shells of their own; in zsh the
// right one may assign variables.
func (r *reader) binary(c *syntax.BinaryCmd, st program.State, in program.Input) (ok, fail program.State) {
	switch c.Op {
	case syntax.AndStmt:
		ok, fail = r.stmt(c.X, st, in)
		ok2, fail2 := r.stmt(c.Y, ok, in)
		if ok.Dead {
			ok2.Dead = true
			return ok2, fail
		}
		return ok2, program.Join(fail, fail2)
	case syntax.OrStmt:
		ok, fail = r.stmt(c.X, st, in)
		ok2, fail2 := r.stmt(c.Y, fail, in)
		if fail.Dead {
			fail2.Dead = true
			return ok, fail2
		}
		return program.Join(ok, ok2), fail2
	default:
		outer, first, flows := r.Does, len(r.Parts), r.Endless
		r.Does, r.Endless = 0, false
		r.stmt(c.X, st, in)
		in = r.piped(c.X, st, first, outer)
		r.Endless = false
		ok, fail = r.stmt(c.Y, st, in)
		r.Endless = r.Endless || flows
		st = st.OrVariablesOf(program.Join(ok, fail))
		return st, st
	}
}

// piped returns the input of a command behind a pipe. The parts of the command before the pipe begin at first; outer are the effects of the
// parts before those.
func (r *reader) piped(before *syntax.Stmt, st program.State, first int, outer effect.Set) program.Input {
	src := r.src
	in := program.Input{Endless: r.Endless, Does: r.Does, Names: lines(r, before, st, first), Output: func() (program.Word, bool) {
		now := r.src
		r.src = src
		w, ok := r.output(before, st)
		r.src = now
		return w, ok
	}}
	r.Does |= outer
	return in
}

// branch walks if, elif and else.
func (r *reader) branch(c *syntax.IfClause, st program.State, in program.Input) program.State {
	if !c.ThenPos.IsValid() { // else
		return r.block(c.Then, st, in)
	}
	ok, fail := r.stmts(c.Cond, st, in)
	if r.Errexit {
		fail = program.Join(ok, fail) // a condition may fail
		fail.Dead = false
	}
	end := r.block(c.Then, ok, in)
	if c.Else != nil {
		return program.Join(end, r.branch(c.Else, fail, in))
	}
	return program.Join(end, fail)
}

// loop walks the body of a for loop once for each of its words, if they are few and known.
func (r *reader) loop(c *syntax.ForClause, st program.State, in program.Input) program.State {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if l, is := c.Loop.(*syntax.CStyleLoop); is {
			st = r.count(l.Init, st)
			r.arithm(l.Cond, st)
			r.arithm(l.Post, st)
		}
		return r.settled(r.forget(c, st), func(st program.State) program.State { return r.turn(c.Do, st, st, in) })
	}
	items := r.fields(words.Items, st)
	addExpanded(r, items, st)
	if !words.InPos.IsValid() {
		items = program.UnknownWords
		if args, ok := st.Lookup("@"); ok {
			items = args
		}
	}
	if len(items) > maxTurns || c.Select {
		items = program.UnknownWords
		st = r.forget(c, st)
	}
	end := st
	for _, item := range items {
		item.MayBeEmpty = false // there is a turn for each that is listed
		r.notice(words.Name.Value, item, end)
		one := func(st program.State) program.State {
			return r.turn(c.Do, st, r.Assign(st, words.Name.Value, item), in)
		}
		if item.Unknown || item.Pattern {
			end = r.settled(end, one) // it may be any number of turns
		} else {
			end = one(end)
		}
	}
	return end
}

// while walks while and until.
func (r *reader) while(c *syntax.WhileClause, st program.State, in program.Input) program.State {
	first := len(r.Parts)
	end := r.settled(r.forget(c, st), func(st program.State) program.State {
		ok, fail := r.stmts(c.Cond, st, in)
		if r.Errexit {
			fail = program.Join(ok, fail) // a condition may fail
			fail.Dead = false
		}
		begin := ok
		if c.Until {
			begin = fail
		}
		return r.turn(c.Do, program.Join(ok, fail), begin, in)
	})
	turns(r, c, first)
	return end
}

// maxWalks bounds how often the body of a loop is walked until nothing of the state in which a turn begins changes any more.
const maxWalks = 4

// settled walks a turn of a loop, and again if it changes what was known when it began: forget sees what is written in the loop, and not
// that shift, or a command that a variable names, assigns something. In the last walk nothing is known.
func (r *reader) settled(st program.State, turn func(program.State) program.State) program.State {
	for range maxWalks {
		end := turn(st)
		if !program.Changes(st, end) {
			return end
		}
		st = program.Join(st, end)
	}
	st = st.Doubt()
	st.Lost = true
	return turn(st)
}

// turn walks one turn of a loop, which begins in st. It returns the state after it, with those in which break and continue left it, and
// with the state before, because there may be no turn.
func (r *reader) turn(do []*syntax.Stmt, before, st program.State, in program.Input) program.State {
	first := len(r.Broken)
	end := program.Join(before, r.block(do, st, in))
	for _, s := range r.Broken[first:] { // they stay in the list: break 2 leaves the loop around, too
		end = program.Join(end, s)
	}
	return end
}

// forget returns the state in which a turn of a loop begins: the turn before may have assigned the variables of the loop and changed the
// working directory.
func (r *reader) forget(loop syntax.Node, st program.State) program.State {
	var ends []*syntax.Assign // those before read end with it
	syntax.Walk(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			switch {
			case n.Name == nil && expands(n.Value): // export $name=value
				st = st.Doubt()
			case n.Name != nil && !slices.Contains(ends, n):
				st = r.Assign(st, n.Name.Value, program.UnknownWords...)
			}
		case *syntax.WordIter:
			st = r.Assign(st, n.Name.Value, program.UnknownWords...)
		case *syntax.FuncDecl:
			st = r.declare(n, st)
			for _, name := range append(n.Names, n.Name) {
				if name != nil {
					st = st.DoubtFunction(name.Value)
				}
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == "read" && !slices.ContainsFunc(r.funcs, func(f function) bool { return f.name == "read" }) {
				ends = append(ends, n.Assigns...)
			}
			if len(n.Args) > 0 {
				st = forgetCall(r, n.Args, st)
			}
		case *syntax.Subshell, *syntax.CmdSubst:
			return false // it is a shell of its own
		}
		return true
	})
	return st
}

// forgetCall returns the state before a turn of a loop in which the command may have run already.
func forgetCall(r *reader, args []*syntax.Word, st program.State) program.State {
	first, _ := r.quiet(func(q *reader) program.Word { return q.one(args[0], st) })
	name, _, _ := strings.Cut(first.Text, " ")
	switch name {
	case "cd", "pushd", "popd":
		st.Lost = true
	case "eval":
		st = st.Doubt()
	case "command", "builtin":
		if len(args) > 1 {
			return forgetCall(r, args[1:], st)
		}
	case "unset", "read", "getopts", "mapfile", "readarray", "printf":
		for i, a := range args[1:] {
			text := a.Lit()
			if expands(a) && mayName(name, args[i]) {
				return st.Doubt()
			}
			if _, _, some := st.Function(text); some {
				st = st.DoubtFunction(text)
			}
			if syntax.ValidName(text) {
				st = r.Assign(st, text, program.UnknownWords...)
			}
		}
	}
	for i := range r.funcs {
		if r.funcs[i].name == name && r.deeper() {
			st = r.forget(r.funcs[i].body, st)
			r.depth--
		}
	}
	return st
}

// expands reports whether a word has a value that may be another in each turn of a loop.
func expands(w *syntax.Word) (some bool) {
	if w == nil {
		return false
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			some = true
		}
		return !some
	})
	return some
}

// mayName reports whether the word behind another one may name a variable that a command assigns. Behind an option that takes a text, as in
// read -p, it does not; printf takes a name only at its beginning.
func mayName(command string, before *syntax.Word) bool {
	option := before.Lit()
	switch command {
	case "printf":
		return option == "printf" || strings.HasPrefix(option, "-v")
	case "read":
		return len(option) < 2 || option[0] != '-' || strings.TrimRight(option, "pdnNtiu") == option
	}
	return true
}

// choice walks case.
func (r *reader) choice(c *syntax.CaseClause, st program.State, in program.Input) program.State {
	r.one(c.Word, st)
	end := st
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			r.one(p, st)
		}
		after := r.block(item.Stmts, st, in)
		end = program.Join(end, after)
		if item.Op != syntax.Break { // the commands of a later item may run, too
			st = program.Join(st, after)
		}
	}
	return end
}

// declare records a function. Its body is walked where it is called.
func (r *reader) declare(c *syntax.FuncDecl, st program.State) program.State {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	for _, n := range names {
		r.TrapChanged = r.TrapChanged || len(r.Traps) > 0 && r.TrapNames(n.Value)
		i := slices.IndexFunc(r.funcs, func(f function) bool { return f.body == c.Body && f.name == n.Value })
		if i < 0 {
			i = len(r.funcs)
			r.funcs = append(r.funcs, function{name: n.Value, body: c.Body, src: r.src})
		}
		if st = st.WithFunction(n.Value, i); !isBody(c.Body) {
			st = st.DoubtFunction(n.Value)
		}
	}
	return st
}

// isBody reports whether the body of a function is one as bash reads it. In f() { x; } | y, the pipe is no part of the body for bash, and
// the function is declared in a shell that ends.
func isBody(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown || s.Negated {
		return false
	}
	switch s.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return true
	}
	return false
}

// inside walks the commands in the words of a test or an expression.
func (r *reader) inside(n syntax.Node, st program.State) {
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

// inner walks commands in a shell of their own and returns their effects.
func (r *reader) inner(list []*syntax.Stmt, st program.State) effect.Set {
	outer, errexit := r.Does, r.Errexit
	r.Does = 0
	if r.depth++; r.depth > program.MaxDepth {
		r.Exceed()
	} else {
		r.stmts(list, st, program.Input{})
	}
	r.depth--
	does := r.Does
	r.Does, r.Errexit = outer|does, errexit
	return does
}
