package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
)

// Where the shell evaluates a number, a text like a[$(command)] runs the command: in (( )), in an index, in [[ x -eq y ]], in test -v, and
// wherever a builtin takes the name of a variable. The text may come from a variable that was assigned before or after (in a loop, in a
// function). The walk therefore only records whether there is such a text and such a place.

// arithm walks an expression: the commands in it, and the words and variables that are evaluated.
func (r *reader) arithm(x syntax.ArithmExpr, st program.State) {
	if x == nil {
		return
	}
	r.inside(x, st)
	r.evaluates(x, st)
}

// evaluates records the words below a node that are evaluated as numbers.
func (r *reader) evaluates(n syntax.Node, st program.State) {
	r.Evaluates = true
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.BinaryArithm, *syntax.UnaryArithm:
			if name, ok := counted(n); ok {
				r.notice(name, program.Known("0"), st)
				r.PathChanged = r.PathChanged || name == "PATH"
				r.IFSChanged = r.IFSChanged || name == "IFS"
			}
		}
		w, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		t, _ := r.quiet(func(q *reader) program.Word { return q.one(w, st) })
		r.Arm(t)
		return false
	})
}

// comparison records the words of [[ that are evaluated because they are compared as numbers.
func comparison(r *reader, c *syntax.TestClause, st program.State) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			switch n.Op { //nolint:exhaustive // the others compare texts or files
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				r.evaluates(n, st)
				return false
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				r.evaluates(n, st)
				return false
			}
		}
		return true
	})
}

// evaluatesNames handles the arguments of the builtins that take names of variables, or numbers.
func (r *reader) evaluatesNames(c *program.Call) {
	switch c.Part.Program {
	case "test", "[", "let":
		r.Evaluates = true
	case "printf", "unset", "read", "wait", "mapfile", "readarray", "declare", "typeset", "local", "export", "readonly", "getopts":
	default:
		return
	}
	for _, w := range c.Words[1:] {
		if program.Arms(w.Text) {
			c.Unclear("a name that is evaluated runs a command")
		}
		if c.Part.Program == "let" && program.ContainsAny(w.Text, "IFS", "PATH") {
			c.Unclear("a number is assigned to a name that has a meaning to the shell")
		}
	}
}

// fileTests makes a part of the files that [[ looks at.
func fileTests(r *reader, x syntax.TestExpr, st program.State) {
	f := &program.Files{}
	syntax.Walk(x, func(n syntax.Node) bool {
		if u, ok := n.(*syntax.UnaryTest); ok && u.Op < syntax.TsEmpStr && u.Op != syntax.TsNot {
			if word, ok := u.X.(*syntax.Word); ok {
				if w, known := r.quiet(func(q *reader) program.Word { return q.one(word, st) }); known {
					from := len(f.Paths)
					r.Open(f, policy.Read, w, st)
					for i := from; i < len(f.Paths); i++ {
						f.Paths[i].Only = policy.Looks
					}
				}
			}
		}
		return true
	})
	r.addFiles(f)
}
