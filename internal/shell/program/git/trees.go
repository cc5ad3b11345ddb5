package git

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// brings records what git puts into the working tree: the revisions among the operands, or the given one if there is none.
func brings(c *program.Call, kind, otherwise string) {
	some := false
	for _, t := range c.Operands {
		if t.Text == "--" {
			break
		}
		bringsOne(c, kind, t)
		some = true
	}
	if !some && otherwise != "" {
		bringsOne(c, kind, program.Known(otherwise))
	}
}

// bringsOne records one revision.
func bringsOne(c *program.Call, kind string, revision program.Word) {
	if revision.Unknown || revision.Pattern {
		kind, revision.Text = policy.TreeUnknown, ""
	}
	if revision.Text == "-" {
		revision.Text = "@{-1}"
	}
	c.Part.Trees = append(c.Part.Trees, strings.TrimSpace(kind+" "+revision.Text))
}

// merge handles merge.
func merge(c *program.Call) {
	if !c.HasAny("abort", "continue") {
		brings(c, policy.TreeMerge, "@{u}")
	}
}

// pick handles cherry-pick and revert.
func pick(c *program.Call) {
	if !c.HasAny("abort", "continue") {
		brings(c, policy.TreePick, "")
	}
}

// rebase handles rebase: the commits of another branch come below one's own.
func rebase(c *program.Call) {
	if c.HasAny("abort", "continue", "skip", "quit", "edit-todo") {
		return
	}
	brings(c, policy.TreeMerge, "@{u}")
	if onto, ok := c.Value("onto"); ok {
		bringsOne(c, policy.TreeMerge, onto)
	}
}

// stash handles the subcommands that put work away and that bring it back.
func stash(c *program.Call) {
	switch {
	case program.ContainsText(c.Words, "pop"), program.ContainsText(c.Words, "apply"), program.ContainsText(c.Words, "branch"):
		at := program.Known("stash@{0}")
		if n := len(c.Operands); n > 0 && !program.ContainsText(c.Words, "branch") || n > 1 {
			at = c.Operands[n-1]
		}
		if strings.Trim(at.Text, "0123456789") == "" {
			at.Text = "stash@{" + at.Text + "}"
		}
		bringsOne(c, policy.TreeStash, at)
	case program.ContainsText(c.Words, "create"), program.ContainsText(c.Words, "store"):
	default:
		put(c)
	}
}

// put handles stash and stash push.
func put(c *program.Call) {
	all := ""
	for _, w := range c.Words {
		if program.Named("-u|-a|--include-untracked|--all", w.Text) || strings.HasPrefix(w.Text, "--incl") {
			all = "all"
		}
	}
	bringsOne(c, policy.TreePut, program.Known(all))
}

// sparse handles sparse-checkout: it takes files away and brings them back.
func sparse(c *program.Call) { bringsOne(c, policy.TreeTracked, program.Known("")) }

// bisect checks out one revision after another.
func bisect(c *program.Call) { bringsOne(c, policy.TreeHistory, program.Known("")) }

// addWorktree handles worktree add: the second operand is the revision.
func addWorktree(c *program.Call) {
	if len(c.Operands) > 1 {
		bringsOne(c, policy.TreeOf, c.Operands[1])
	}
}

// stashAlone handles stash without a subcommand, which is stash push.
func stashAlone(c *program.Call) {
	if len(c.Operands) == 0 {
		put(c)
		c.Does |= effect.Read | effect.Write
	}
}
