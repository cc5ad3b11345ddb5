package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/program/table"
)

// simple walks a simple command: its assignments, words and redirections.
func (r *reader) simple(c *syntax.CallExpr, redirs []*syntax.Redirect, st program.State, in program.Input) (ok, fail program.State) {
	outer := r.Endless
	r.Endless = false
	f := r.redirects(redirs, st, &in)
	words := r.fields(c.Args, st)
	in.Endless = in.Endless || r.Endless // <(yes)
	r.Endless = false
	defer func() { r.Endless = r.Endless || outer }()
	if len(words) == 0 {
		before := st
		for _, a := range c.Assigns {
			st = r.assign(a, st)
		}
		if len(c.Args) > 0 { // its only word was "$X", and that is empty
			st = before
		}
		r.addFiles(f)
		return st, st
	}
	x := r.spare
	if x == nil {
		x = new(program.Call)
	}
	r.spare = nil
	*x = program.Call{Shell: r, Walk: &r.Walk, State: st, Input: in, Words: words, Files: f, OK: st, Fail: st}
	x.Env = prefix(r, c.Assigns, st)
	for _, v := range x.Env {
		x.Variable(v.Name, v.Value)
	}
	meet(r, x)
	if x.Files != nil {
		r.addFiles(x.Files)
	}
	r.spare = x
	if len(x.Env) > 0 {
		return prefixed(x, x.OK, st), prefixed(x, x.Fail, st)
	}
	return x.OK, x.Fail
}

// prefix returns the assignments before a command. Shells make them in order; where it matters, the value is not known.
func prefix(r *reader, list []*syntax.Assign, st program.State) (env []program.Assignment) {
	inOrder := st
	for i, a := range list {
		if a.Name == nil {
			continue
		}
		if a.Index != nil {
			r.arithm(a.Index, st)
		}
		val := program.Word{Unknown: true}
		if vals := assigned(r, a, inOrder); len(vals) == 1 && a.Array == nil && a.Index == nil && !a.Append {
			val = vals[0]
		}
		if i > 0 && a.Value != nil {
			before, _ := r.quiet(func(q *reader) program.Word { return q.one(a.Value, st) })
			if before.Text != val.Text || before.Unknown {
				val.Unknown = true
			}
		}
		env = append(env, program.Assignment{Name: a.Name.Value, Value: val})
		if i+1 < len(list) {
			inOrder = inOrder.With(a.Name.Value, val)
		}
	}
	return env
}

// Run finds out what the first word of a call names, a function or a program, and walks that.
func (r *reader) Run(c *program.Call) {
	if r.nodes++; r.nodes > maxNodes || r.Exceeded {
		r.Exceed()
		return
	}
	if !r.deeper() {
		return
	}
	defer func() { r.depth-- }()
	first, args := c.Words[0], c.Words[1:]
	// What begins with a hyphen behind time is an option where time is a program and no word of the shell.
	if first.Unknown || first.Pattern || first.Text == "" || first.Text[0] == '-' {
		c.Unclear("which program runs is not known")
		c.Does |= effect.Execute
		c.Guess(args)
		c.Finish()
		return
	}
	isPath := strings.IndexByte(first.Text, '/') >= 0
	c.Part.Program = path.Base(first.Text)
	c.Does |= effect.Execute
	row := table.Find(c.Part.Program)
	if isPath && !program.SystemFolder(path.Dir(first.Text)) {
		c.File(policy.Execute, first)
		if !toolFolder(path.Dir(first.Text)) && !program.Named(program.Launchers, c.Part.Program) && (row == nil || !row.Ours && !row.Agent) {
			c.Does |= effect.ProjectCode
			program.Targets(c, args)
			c.Guess(args)
			program.Namesake(c, row, args)
			c.Finish()
			return
		}
	}
	if r.PathChanged && !isBuiltin(c.Part.Program) {
		c.Unclear("PATH was changed: which program runs is not known")
	}
	r.evaluatesNames(c)
	if row == nil && len(args) == 1 && !args[0].Unknown && program.Named("--version|--help", args[0].Text) && table.Public(c.Part.Program) {
		c.Finish()
		return
	}
	if row == nil {
		c.Does |= effect.Unknown
		c.Guess(args)
		c.Finish()
		return
	}
	c.Apply(row, args)
}

// meet walks a command that the shell itself meets. Its first word may be a function; only here it can be one: what a program runs is a
// program.
func meet(r *reader, c *program.Call) {
	if len(r.funcs) == 0 || c.Words[0].Unknown || c.Words[0].Pattern {
		r.Run(c)
		return
	}
	index, certain, some := c.State.Function(c.Words[0].Text)
	if !some {
		r.Run(c)
		return
	}
	certain = certain && !isSpecial(c.Words[0].Text)
	ok, fail := r.function(c, index, certain)
	addExpanded(r, c.Words[1:], c.State)
	if r.Endless && c.Files != nil && c.Files.Does&effect.Write != 0 {
		c.Files.Does |= effect.Unusable
	}
	if !certain {
		r.Run(c)
		ok, fail = program.Join(ok, c.OK), program.Join(fail, c.Fail)
	}
	c.OK, c.Fail = ok, fail
}

// function walks the function that the first word of a call names. If it is not certain which of that name it is, each of them is walked.
func (r *reader) function(c *program.Call, index int, certain bool) (ok, fail program.State) {
	ok = program.State{Dead: true}
	fail = ok
	for i := 0; i < len(r.funcs); i++ {
		if r.funcs[i].name == c.Words[0].Text && (i == index || !certain) {
			o, f := r.invoke(i, c.Inside().WithArguments(c.Words[1:]), c.Input)
			ok, fail = program.Join(ok, o.ArgumentsOf(c.State)), program.Join(fail, f.ArgumentsOf(c.State))
		}
	}
	return ok, fail
}

// isSpecial reports whether a builtin is a special one: sh prefers it to a function of that name, and keeps what is assigned before it.
func isSpecial(name string) bool {
	switch name {
	case "break", ":", "continue", ".", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "times", "trap", "unset",
		"source":
		return true
	}
	return false
}

// isBuiltin reports whether the shell itself does what the name says, wherever PATH leads.
func isBuiltin(name string) bool {
	switch name {
	case "cd", "echo", "printf", "test", "[", "true", "false", ":", "pwd", "export", "unset", "set", "read", "exit", "return", "shift",
		"eval", "exec", "source", ".", "trap", "wait", "type", "command", "builtin", "local", "declare", "pushd", "popd", "kill", "jobs",
		"break", "continue", "umask", "ulimit", "shopt":
		return true
	}
	return false
}

// toolFolder reports whether a package manager installed the programs in a folder for a project: they are what their names say.
func toolFolder(dir string) bool {
	for _, end := range [...]string{"node_modules/.bin", "venv/bin", "/.cargo/bin", "vendor/bin"} {
		if strings.HasSuffix(dir, end) {
			return true
		}
	}
	return false
}
