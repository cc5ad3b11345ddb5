// Package shell reads a shell command and says what it would do: which programs run with which arguments, which paths are read,
// written, deleted or executed, which hosts are reached, and what was not understood. It is pure: it looks at the text and at nothing
// else; the gate resolves links afterwards.
//
// The command is parsed as bash, else as POSIX shell, and its whole tree is walked. There is one part for each simple command, in
// the order in which the shell meets them, and one for each redirection that belongs to no simple command. Wrappers (env, timeout,
// xargs, bash -c …) are no part: what they run is. Those that change rights or places (sudo, ssh, docker exec) are both. What
// programs do with their arguments stands in the table of programs; what is not in it runs, and its operands that look like paths
// are read and written.
package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
)

// Options are what a command is read with.
type Options struct {
	Dir  string // working directory, absolute
	Home string // the user's home folder, for ~ and $HOME; empty: not known
}

// Bounds of the work on one command. What goes past them is unclear as a whole.
const (
	MaxLength = 10_000 // bytes of a command: this many and more are not read
	maxParts  = 200    // parts of a command
	maxNodes  = 5_000  // statements, loops unrolled and functions inlined
	maxDepth  = 20     // of commands in commands: bash -c, eval, $( ), functions
	maxTurns  = 10     // turns of a loop that are walked
)

// Facts says what a bash or sh command would do: one part for each simple command in it, and at least one.
func Facts(command string, o Options) policy.Facts {
	f := policy.Facts{Dir: o.Dir}
	if len(command) >= MaxLength {
		f.Parts = []policy.Part{unread("it is too long to be read")}
		return f
	}
	r := reader{o: o}
	st := state{lost: o.Dir == ""}
	if !st.lost {
		st.dirs = []string{o.Dir}
	}
	r.parts = make([]policy.Part, 0, 2)
	r.script(command, st, input{})
	r.rest(st)
	r.writtenHere()
	r.branches()
	if r.armed && r.counts {
		r.parts = append(r.parts, unread("a text that is evaluated as a number runs a command"))
	}
	if r.over {
		r.parts = append(r.parts, unread("it does too much to be read whole"))
	}
	if len(r.parts) == 0 { // only assignments and comments
		r.parts = append(r.parts, policy.Part{Effects: doesExecute.words()})
	}
	f.Parts = r.parts
	return f
}

// unread is the part that stands for what was not read.
func unread(why string) policy.Part {
	return policy.Part{Effects: (doesExecute | doesUnclear).words(), Unclear: []string{why}}
}

// reader walks one command.
type reader struct {
	o        Options
	src      string // what is being walked
	parts    []policy.Part
	does     effects // of all parts since somebody set it to nothing
	also     effects // that the wrappers around add to every part: privilege, container …
	away     bool    // on another machine or in a container: the paths are not ours
	nodes    int
	depth    int
	assigned int
	over     bool // a bound was met
	errexit  bool // set -e: after a failure nothing runs
	ifs      bool // IFS was changed
	path     bool // PATH was changed: which program a name means is not known
	moved    bool // another branch may be checked out than before
	armed    bool // there is a text that runs a command where it is evaluated: see arith.go
	counts   bool // … and a place that evaluates
	funcs    []function
	hits     []text // what the last find finds
	links    []link
	trees    []tree
}

// function is a function that the command declares.
type function struct {
	name   string
	body   *syntax.Stmt
	src    string
	called bool
}

func (r *reader) tooMuch() { r.over = true }

// source is a node as it was written.
func (r *reader) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(r.src) {
		return ""
	}
	return r.src[from:to]
}

// script walks the text of a command that runs in the given state. It returns the states in which it ends well and badly.
func (r *reader) script(text string, st state, in input) (ok, fail state) {
	if r.depth++; r.depth > maxDepth || r.over {
		r.depth--
		r.tooMuch()
		return st, st
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	}
	if err != nil {
		r.depth--
		r.add(unread("it cannot be parsed"), 0)
		return st, st
	}
	outer := r.src
	r.src = text
	ok, fail = r.stmts(file.Stmts, st, in)
	r.src = outer
	r.depth--
	return ok, fail
}

// add puts a part at the end.
func (r *reader) add(p policy.Part, does effects) {
	if len(r.parts) >= maxParts {
		r.tooMuch()
		return
	}
	r.moved = r.moved || does == 0 // it was not read
	if does != 0 {
		does |= r.also
		p.Effects = does.words()
	}
	r.does |= does
	r.parts = append(r.parts, p)
}

// rest walks the functions that nobody called: what calls them may not have been understood.
func (r *reader) rest(st state) {
	for i := 0; i < len(r.funcs); i++ {
		if !r.funcs[i].called {
			r.invoke(i, nil, st.at(st.dirs, true), input{})
		}
	}
}

// invoke walks the body of a function with its arguments.
func (r *reader) invoke(i int, args []text, st state, in input) (ok, fail state) {
	f := &r.funcs[i]
	f.called = true
	if r.depth++; r.depth > maxDepth || r.over {
		r.depth--
		r.tooMuch()
		return st, st
	}
	inner := st
	if args != nil {
		inner = inner.with("@", args...).with("*", args...)
		for n := 1; n <= 9; n++ {
			if n <= len(args) {
				inner = inner.with(digits[n], args[n-1])
			} else {
				inner = inner.with(digits[n], text{})
			}
		}
	}
	outer := r.src
	r.src = f.src
	ok, fail = r.stmt(f.body, inner, in)
	r.src = outer
	r.depth--
	for _, s := range [...]*state{&ok, &fail} {
		s.dead = false // return ends the function only
	}
	return ok, fail
}

var digits = [...]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
