// Package shell reads a shell command and says what it would do: which programs run with which arguments, which paths are read,
// written, deleted or executed, which hosts are reached, and what was not understood. It is pure: it looks at the text and at nothing
// else; the gate resolves links afterwards.
//
// The command is parsed as bash, else as POSIX shell, and its whole tree is walked. There is one part for each simple command, in
// the order in which the shell meets them, and one for each redirection that belongs to no simple command. Wrappers (env, timeout,
// xargs, bash -c …) are no part: what they run is. Those that change rights or places (sudo, ssh, docker exec) are both. What
// programs do with their arguments stands in package program and below it; a program that no row describes runs, and its operands that
// look like paths are read and written.
package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/program/table"
)

// Options are what a command is read with.
type Options struct {
	Dir  string // the working directory, absolute; empty if it is not known
	Home string // the user's home folder, for ~ and $HOME; empty if it is not known
}

// Bounds of the work on one command, besides those of package program. A command that exceeds one of them is unclear as a whole.
const (
	MaxLength = 10_000 // bytes of a command; a command of this length is not read
	maxNodes  = 5_000  // statements, with loops unrolled and functions inlined
	maxTurns  = 10     // turns of a loop that are walked
)

// Facts says what a bash or sh command would do: one part for each simple command in it, and at least one.
func Facts(command string, o Options) policy.Facts {
	f := policy.Facts{Dir: o.Dir}
	if len(command) >= MaxLength {
		f.Parts = []policy.Part{unread("it is too long to be read")}
		return f
	}
	r := reader{}
	r.Dir, r.Home, r.Parts = o.Dir, o.Home, make([]policy.Part, 0, 2)
	st := program.State{Lost: o.Dir == ""}
	if !st.Lost {
		st.Dirs = []string{o.Dir}
	}
	ok, fail := r.Script(command, st, program.Input{})
	r.uncalled(st.FunctionsOf(program.Join(ok, fail)))
	r.MarkWrittenHere()
	r.ForgetBranch()
	if r.Armed && r.Evaluates {
		r.Parts = append(r.Parts, unread("a text that is evaluated as a number runs a command"))
	}
	if r.TrapChanged {
		r.Parts = append(r.Parts, unread("what a trap uses changes after the trap was set"))
	}
	if splitsSpaces(r.Parts) {
		r.Parts = append(r.Parts, unread("the shell splits the names of files at spaces, and the command makes a name with a space"))
	}
	if r.Exceeded {
		r.Parts = append(r.Parts, unread("it does too much to be read whole"))
	}
	if len(r.Parts) == 0 { // only assignments and comments
		r.Parts = append(r.Parts, policy.Part{Effects: effect.Execute.Names()})
	}
	f.Parts = r.Parts
	return f
}

// splitsSpaces reports whether a name with a space that the command makes may be among names that the shell splits.
func splitsSpaces(parts []policy.Part) bool {
	splits, makes := false, false
	for i := range parts {
		for _, p := range parts[i].Paths {
			splits = splits || p.Split
			makes = makes || p.Access == policy.Write && strings.ContainsAny(p.Clean, " \t\n")
		}
	}
	return splits && makes
}

// unread returns the part that stands for something that was not read.
func unread(why string) policy.Part {
	return policy.Part{Effects: (effect.Execute | effect.Unclear).Names(), Unclear: []string{why}}
}

// reader walks one command. It is the program.Shell of the calls in it.
type reader struct {
	program.Walk
	src    string // the text whose tree is walked
	nodes  int
	depth  int
	funcs  []function
	locals []string      // the variables that the innermost of them made local
	spare  *program.Call // a call that is done, for the next simple command
}

// function is a function that the command declares.
type function struct {
	name   string
	body   *syntax.Stmt
	src    string
	called bool
}

// source returns a node as it was written.
func (r *reader) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(r.src) {
		return ""
	}
	return r.src[from:to]
}

// deeper begins a command inside a command, which ends with r.depth--. It reports false if the bound is met.
func (r *reader) deeper() bool {
	if r.depth++; r.depth > program.MaxDepth || r.Exceeded {
		r.depth--
		r.Exceed()
		return false
	}
	return true
}

// Script walks the text of a command that runs in the given state. It returns the states in which it ends well and badly.
func (r *reader) Script(text string, st program.State, in program.Input) (ok, fail program.State) {
	if !r.deeper() {
		return st, st
	}
	defer func() { r.depth-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	}
	if err != nil {
		r.Add(unread("it cannot be parsed"), 0)
		return st, st
	}
	texts, numbers := assignedHere(file)
	for _, name := range append(texts, numbers...) {
		if vals, ok := st.Lookup(name); ok && (!slices.Contains(numbers, name) || !program.IsNumber(vals)) {
			st = st.With(name, program.UnknownWords...) // the text is evaluated by a command that knows the variable already
		}
	}
	r.Changed, r.Numbers = append(r.Changed, texts...), append(r.Numbers, numbers...)
	outer := r.src
	r.src = text
	ok, fail = r.stmts(file.Stmts, st, in)
	r.src = outer
	return ok, fail
}

// Find returns the row of a program.
func (r *reader) Find(name string) *program.Row { return table.Find(name) }

// uncalled walks the functions that no command called: the command that calls one may not have been understood.
func (r *reader) uncalled(st program.State) {
	for i := 0; i < len(r.funcs); i++ {
		if !r.funcs[i].called {
			r.invoke(i, st.At(st.Dirs, true), program.Input{})
		}
	}
}

// invoke walks the body of a function. st holds its arguments.
func (r *reader) invoke(i int, st program.State, in program.Input) (ok, fail program.State) {
	f := &r.funcs[i]
	f.called = true
	if !r.deeper() {
		return st, st
	}
	outer, first, locals := r.src, len(r.Returned), r.locals
	r.src, r.locals = f.src, nil
	r.Level++
	if r.InTrap {
		r.Traps = append(r.Traps, r.source(f.body))
	}
	ok, fail = r.stmt(f.body, st, in)
	r.src = outer
	r.depth--
	for _, s := range r.Returned[first:] {
		ok, fail = program.Join(ok, s), program.Join(fail, s)
	}
	r.Returned = r.Returned[:first]
	ok, fail = returned(ok, st, r.locals, r.Level), returned(fail, st, r.locals, r.Level)
	r.Level--
	r.locals = locals
	ok.Dead, fail.Dead = false, false // return ends only the function
	return ok, fail
}
