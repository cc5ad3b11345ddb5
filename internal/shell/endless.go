package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// turns judges a loop that nothing ends, whose parts begin at first: what it writes has no end either.
func turns(r *reader, c *syntax.WhileClause, first int) {
	if !always(c) || pauses(c) {
		return
	}
	r.Endless = true
	for _, p := range r.Parts[first:] {
		for _, at := range p.Paths {
			if at.Access == policy.Write {
				r.Add(policy.Part{}, effect.Unusable)
				return
			}
		}
	}
}

// always reports whether the condition of a loop holds at every turn.
func always(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	switch call.Args[0].Lit() {
	case ":", "true":
		return !c.Until
	case "false":
		return c.Until
	}
	return false
}

// pauses reports whether a command of a loop ends it, or takes time: who waits for something writes little.
func pauses(c *syntax.WhileClause) bool {
	some := false
	syntax.Walk(c, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			switch call.Args[0].Lit() {
			case "break", "exit", "return", "sleep", "read", "wait", "timeout", "inotifywait":
				some = true
			}
		}
		return !some
	})
	return some
}
