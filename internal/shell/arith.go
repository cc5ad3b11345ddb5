package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Where the shell evaluates a number, a text like a[$(command)] runs the command: in (( )), in an index, in [[ x -eq y ]], in test -v, and
// wherever a builtin takes the name of a variable. The text may come from a variable that was assigned before or after (in a loop, in a
// function), so that the reader only remembers whether there is such a text and such a place.

// arms reports whether a text runs a command where it is evaluated as a number or as the name of a variable.
func arms(s string) bool {
	i := strings.IndexByte(s, '[')
	if i < 0 {
		return false
	}
	s = s[i:]
	return strings.Contains(s, "$(") || strings.IndexByte(s, '`') >= 0 || strings.Contains(s, "${ ") || strings.Contains(s, "${|")
}

// arm remembers the texts among values that run commands where they are evaluated.
func (r *reader) arm(vals ...text) {
	for i := range vals {
		r.armed = r.armed || arms(vals[i].s)
	}
}

// arithm walks an expression: the commands in it, and the words and variables that are evaluated.
func (r *reader) arithm(x syntax.ArithmExpr, st state) {
	if x == nil {
		return
	}
	r.inside(x, st)
	r.evaluates(x, st)
}

// evaluates notes the words below a node that are evaluated as numbers.
func (r *reader) evaluates(n syntax.Node, st state) {
	r.counts = true
	syntax.Walk(n, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		if w.Lit() == "PATH" {
			r.path = true // it may be assigned here
		}
		t, _ := r.quiet(func(q *reader) text { return q.one(w, st) })
		r.arm(t)
		return false
	})
}

// comparison notes a test of [[ that evaluates what it compares.
func (r *reader) comparison(c *syntax.TestClause, st state) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			if n.Op == syntax.TsEql || n.Op == syntax.TsNeq || n.Op == syntax.TsLeq || n.Op == syntax.TsGeq || n.Op == syntax.TsLss || n.Op == syntax.TsGtr {
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

// evaluatesNames looks at the arguments of the builtins that take names of variables, or numbers.
func (c *call) evaluatesNames() {
	switch c.part.Program {
	case "test", "[", "let", "printf", "unset", "read", "wait", "mapfile", "readarray", "declare", "typeset", "local", "export", "readonly", "getopts":
		for _, w := range c.words[1:] {
			if arms(w.s) {
				c.unclear("a name that is evaluated runs a command")
			}
		}
		c.r.counts = c.r.counts || c.part.Program == "let" || c.part.Program == "test" || c.part.Program == "["
	}
}
