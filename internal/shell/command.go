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
	for _, a := range c.Assigns {
		if a.Name == nil {
			continue
		}
		val := program.Word{Unknown: a.Append || a.Array != nil || a.Index != nil}
		if a.Value != nil {
			v := r.one(a.Value, st)
			v.Unknown = v.Unknown || val.Unknown
			val = v
		}
		x.Env = append(x.Env, program.Assignment{Name: a.Name.Value, Value: val})
	}
	for _, v := range x.Env {
		x.Variable(v.Name, v.Value)
	}
	r.Run(x)
	if x.Files != nil {
		r.addFiles(x.Files)
	}
	r.spare = x
	return x.OK, x.Fail
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
	if first.Unknown || first.Pattern || first.Text == "" {
		c.Unclear("which program runs is not known")
		c.Does |= effect.Execute
		c.Guess(args)
		c.Finish()
		return
	}
	isPath := strings.IndexByte(first.Text, '/') >= 0
	if !isPath && r.function(c) {
		return
	}
	c.Part.Program = path.Base(first.Text)
	c.Does |= effect.Execute
	row := table.Find(c.Part.Program)
	if isPath && !systemFolder(path.Dir(first.Text)) {
		c.File(policy.Execute, first)
		if !toolFolder(path.Dir(first.Text)) && (row == nil || !row.Ours && !row.Agent) {
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
	if row == nil {
		c.Does |= effect.Unknown
		c.Guess(args)
		c.Finish()
		return
	}
	c.Apply(row, args)
}

// function walks the functions that the first word of a call names, and reports whether there is one. The command may declare several of
// that name, and what came before may decide which of them is called.
func (r *reader) function(c *program.Call) bool {
	some := false
	ok := program.State{Dead: true}
	fail := ok
	for i := 0; i < len(r.funcs); i++ {
		if r.funcs[i].name == c.Words[0].Text {
			some = true
			o, f := r.invoke(i, c.Inside().WithArguments(c.Words[1:]), c.Input)
			ok, fail = program.Join(ok, o.ArgumentsOf(c.State)), program.Join(fail, f.ArgumentsOf(c.State))
		}
	}
	if some {
		addExpanded(r, c.Words[1:], c.State)
		if r.Endless && c.Files != nil && c.Files.Does&effect.Write != 0 {
			c.Files.Does |= effect.Unusable
		}
		c.OK, c.Fail = ok, fail
	}
	return some
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

// systemFolder reports whether a folder is one in which the system has programs.
func systemFolder(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/local/go/bin",
		"/snap/bin":
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
