package git

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
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
		short := len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-'
		if short && strings.ContainsAny(w.Text, "ua") || w.Text == "--all" || strings.HasPrefix(w.Text, "--incl") {
			all = "all"
		}
		if short && strings.Contains(w.Text, "a") || w.Text == "--all" {
			wholeTree(c) // git show prints it
		}
	}
	bringsOne(c, policy.TreePut, program.Known(all))
}

// sparse handles sparse-checkout: it takes files away and brings them back.
func sparse(c *program.Call) { bringsOne(c, policy.TreeTracked, program.Known("")) }

// bisect checks out one revision after another.
func bisect(c *program.Call) { bringsOne(c, policy.TreeHistory, program.Known("")) }

// addWorktree handles worktree add: the second operand is the revision. Without one, git takes the branch that has the name of the folder.
func addWorktree(c *program.Call) {
	if c.Has("B") {
		c.Does |= effect.History
	}
	switch len(c.Operands) {
	case 0:
	case 1:
		w := c.Operands[0]
		w.Text = path.Base(w.Text)
		bringsOne(c, policy.TreeNamed, w)
	default:
		bringsOne(c, policy.TreeOf, c.Operands[1])
	}
}

// add handles add: what git takes in, it shows whoever asks. Files that it knows already are no news.
func add(c *program.Call) {
	if c.HasAny("u", "n") {
		return
	}
	if c.Has("f") {
		addIgnored(c)
		return
	}
	for _, t := range c.Operands {
		c.Part.Trees = append(c.Part.Trees, strings.TrimSpace(policy.TreeAdd+" "+t.Text))
	}
	if len(c.Operands) == 0 {
		c.Part.Trees = append(c.Part.Trees, policy.TreeAdd+" :/") // the whole tree, wherever git runs
	}
}

// addIgnored handles add -f: all that lies in a folder is read. A pattern of git's own matches names in every folder.
func addIgnored(c *program.Call) {
	if len(c.Operands) == 0 {
		wholeTree(c)
	}
	for _, t := range c.Operands {
		switch {
		case t.Unknown: // the role of the operand says so
		case strings.HasPrefix(t.Text, ":"):
			wholeTree(c)
		case globs.Has(t.Text) && !t.Pattern:
			c.File(policy.Read, program.Word{Text: "**/" + t.Text, Pattern: true})
		default:
			program.Everything(c, t)
		}
	}
}

// wholeTree reads all that lies in the working tree, whose top may lie above the folder in which git runs.
func wholeTree(c *program.Call) {
	program.Everything(c, program.Known("."))
	if c.Walk.Dir != "" {
		program.Everything(c, program.Known(c.Walk.Dir))
	}
}

// modules handles what brings the files of submodules.
func modules(c *program.Call) {
	bringsOne(c, policy.TreeModules, program.Known(""))
	if c.Has("remote") { // others than the project declares
		program.Fetch(c, program.Known("."))
	}
	if c.Has("f") {
		c.Does |= lost
	}
}

// eachModule handles submodule foreach: the words are a command line.
func eachModule(c *program.Call, args []program.Word) {
	c.Scan(args)
	c.RunWords(c.Operands)
}

// reflog handles reflog without a subcommand, which is reflog show.
func reflog(c *program.Call, words []program.Word) {
	shown := program.Row{Name: "show", Plain: plainGitLog, Options: optionsGitLog, Here: "r", Handle: history}
	c.Apply(&shown, words)
}

// history handles the subcommands beside log that take its options.
func history(c *program.Call) {
	if c.HasAny("ext-diff", "textconv") {
		c.Unclear(configured)
	}
	readPaths(c)
}

// large handles lfs pull and lfs checkout.
func large(c *program.Call) { bringsOne(c, policy.TreeLarge, program.Known("")) }

// stashAlone handles stash without a subcommand, which is stash push.
func stashAlone(c *program.Call) {
	if len(c.Operands) == 0 {
		put(c)
		c.Does |= effect.Read | effect.Write
	}
}

// moveFiles handles git mv, which moves links as they are.
func moveFiles(c *program.Call) {
	if n := len(c.Operands); n > 1 {
		program.Move(c, c.Operands[n-1], c.Operands[:n-1])
	}
}
