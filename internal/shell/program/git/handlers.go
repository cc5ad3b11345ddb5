package git

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// repository handles the word for a remote: its name, an address, host:path or a path.
func repository(c *program.Call, t program.Word) {
	c.Does |= effect.Network
	switch at := strings.IndexByte(t.Text, ':'); {
	case t.Unknown:
		c.Unclear("which repository is meant is not known")
	case strings.HasPrefix(t.Text, "ext::") || strings.HasPrefix(t.Text, "fd::"):
		c.RunNested(program.Known(t.Text[at+2:]))
	case c.Address(t):
	case at > 0 && !strings.Contains(t.Text[:at], "/"):
		c.Host(t)
	case strings.Contains(t.Text, "/") || t.Text == "." || t.Text == "..":
		c.Role('b', t)
	}
}

// lost is what takes away work that no commit holds, or the last reference to a commit.
const lost = effect.History | effect.LostWork

// reset loses work with --hard and the like.
func reset(c *program.Call) {
	if c.HasAny("hard", "merge", "keep") {
		c.Does |= lost
	}
	if c.Said("hard", 1) && len(c.Operands) > 0 && ofRemote(c.Operands[0].Text) {
		c.Does |= effect.ResetRemote | effect.History
	}
	for _, t := range c.Operands {
		if isCommit(t.Text) && !c.Has("p") && t.Text != "HEAD" {
			c.Does |= effect.History // the branch goes to another commit
		}
	}
	if c.HasAny("hard", "merge", "keep") {
		brings(c, policy.TreeOf, "HEAD")
		put(c)
	} else {
		brings(c, policy.TreeHead, "")
	}
	c.Does |= effect.Write
}

// isCommit reports whether a word looks like the name of a commit rather than of a file.
func isCommit(s string) bool {
	for _, prefix := range [...]string{"HEAD~", "HEAD^", "HEAD@", "@{", "@~", "@^", "origin/", "upstream/"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return len(s) >= 7 && strings.Trim(s, "0123456789abcdef") == ""
}

// ofRemote reports whether a commit is that of another repository's branch.
func ofRemote(commit string) bool {
	return strings.HasPrefix(commit, "origin/") || strings.HasPrefix(commit, "refs/remotes/") || strings.HasPrefix(commit, "remotes/") ||
		program.Named("origin|@{u}|@{upstream}|FETCH_HEAD", commit)
}

// restore loses what is not committed, unless it only restores the index.
func restore(c *program.Call) {
	if from, ok := c.Value("s"); ok {
		bringsOne(c, policy.TreeOf, from)
	}
	c.Does |= effect.Write
	if !c.Has("S") || c.Has("W") {
		c.Does |= lost
	}
}

// switchBranch loses what is not committed if it is forced.
func switchBranch(c *program.Call) {
	brings(c, policy.TreeOf, "")
	if c.Has("orphan") {
		bringsOne(c, policy.TreeTracked, program.Known(""))
	}
	c.Does |= effect.Write
	switch {
	case c.HasAny("f", "discard-changes"):
		c.Does |= lost
	case c.Has("C"):
		c.Does |= effect.History
	}
}

// checkout loses what is not committed if it is forced or names files.
func checkout(c *program.Call) {
	c.Does |= effect.Write
	dashes := program.ContainsText(c.Words, "--")
	if len(c.Operands) > 0 {
		bringsOne(c, policy.TreeOf, c.Operands[0])
	}
	switch {
	case c.HasAny("f", "ours", "theirs") || dashes && len(c.Operands) > 0:
		c.Does |= lost
	case c.Has("B"):
		c.Does |= effect.History
	}
	for i, t := range c.Operands {
		if t.Unknown {
			c.Unclear("what is checked out is not known")
		}
		if t.Text == "." || t.Pattern || i > 0 && !c.Has("b") && !c.Has("t") || i == 0 && fileName(t.Text) {
			c.Does |= lost
		}
		if strings.HasPrefix(t.Text, "/") || strings.HasPrefix(t.Text, ".") || dashes || i > 0 && !c.Has("b") {
			c.Role('w', t)
		}
	}
}

// fileName reports whether a word ends like the name of a file rather than of a branch.
func fileName(s string) bool {
	i := strings.LastIndexByte(s, '.')
	if i < 0 || i == len(s)-1 || len(s)-i > 6 {
		return false
	}
	return strings.Trim(s[i+1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// branch deletes, moves and forces branches.
func branch(c *program.Call) {
	switch {
	case c.HasAny("D", "M", "C", "f"):
		c.Does |= effect.History
	case c.HasAny("d", "m", "c", "u", "unset-upstream", "edit-description"), len(c.Operands) > 0 && !c.Has("l"):
		c.Does |= effect.Write
	}
}

// remote changes where the repository pushes to.
func remote(c *program.Call) {
	c.File(policy.Write, program.Known(".git/config"))
	for i, t := range c.Operands {
		if i > 0 {
			repository(c, t)
		}
	}
	if !c.Has("f") {
		c.Does &^= effect.Network
	}
}

// clean deletes the files that git does not know.
func clean(c *program.Call) {
	// With -e, what looks like -n may be its value.
	if dry := c.Has("n") && !c.Has("e"); !dry && c.Has("d") && c.HasAny("x", "X") {
		c.Does |= effect.CleanIgnored
	}
	if !c.Has("n") {
		c.Does |= lost
		c.WorkHere("w")
	}
}

// commit loses a commit if it amends it.
func commit(c *program.Call) {
	c.Does |= effect.Write
	if c.Has("amend") {
		c.Does |= effect.History
	}
}

// initialize handles init.
func initialize(c *program.Call) {
	if c.Has("separate-git-dir") {
		c.Unclear(separated)
	}
}

// separated is why --separate-git-dir is unclear.
const separated = "git's settings come to lie where anybody writes them"

// collect handles gc.
func collect(c *program.Call) {
	if c.Has("prune") {
		c.Does |= lost
	}
	c.Does |= effect.Write
}

// symbolicRef changes what a name such as HEAD stands for.
func symbolicRef(c *program.Call) {
	if len(c.Operands) > 1 || c.Has("d") {
		c.Does |= effect.History
	}
}

// tag makes, deletes and forces tags.
func tag(c *program.Call) {
	switch {
	case c.HasAny("d", "f"):
		c.Does |= effect.History
	case len(c.Operands) > 0 && !c.Has("l"):
		c.Does |= effect.Write
	}
}

// clone handles clone: the repository, and the folder that it is cloned into.
func clone(c *program.Call) {
	if n := len(c.Operands); n > 0 {
		at := c.Operands[min(1, n-1)]
		if n == 1 {
			at.Text = strings.TrimSuffix(at.Text[strings.LastIndexAny(at.Text, "/:")+1:], ".git")
		}
		program.Fetch(c, at)
	}
	for i, t := range c.Operands {
		if i == 0 {
			repository(c, t)
		} else {
			c.File(policy.Write, t)
		}
	}
	for _, o := range c.Options {
		switch o.Name {
		case "separate-git-dir":
			c.Unclear(separated)
		case "config":
			key, val, _ := strings.Cut(o.Value.Text, "=")
			setting(c, key, program.Word{Text: val, Unknown: o.Value.Unknown})
		}
	}
}

// fetch handles fetch and ls-remote: the repository, and the refs that are fetched from it.
func fetch(c *program.Call) {
	for i, t := range c.Operands {
		switch {
		case i == 0:
			repository(c, t)
		case strings.HasPrefix(t.Text, "+"):
			c.Does |= effect.History
		case c.HasAny("u", "update-head-ok") && strings.Contains(t.Text, ":"): // into the branch that is checked out
			bringsOne(c, policy.TreeUnknown, t)
		}
	}
}

// pull is a fetch that also changes the branch.
func pull(c *program.Call) {
	bringsOne(c, policy.TreeUnknown, program.Known(""))
	fetch(c)
	if c.HasAny("f", "r") {
		c.Does |= effect.History
	}
}

// configured is why an option is unclear with which git runs a program of its settings.
const configured = "a program of the settings shows the difference"

// show handles log, show, diff and format-patch, which may read any file.
func show(c *program.Call) {
	if c.HasAny("ext-diff", "textconv") {
		c.Unclear(configured)
	}
	readPaths(c)
	// Of two paths, one of which leads out of the repository, diff reads whole folders, as with --no-index.
	outside := c.Has("i") || len(c.Operands) == 2 && program.ContainsText(c.Words, "diff") && slices.ContainsFunc(c.Operands, leadsOut)
	for _, t := range c.Operands {
		if outside {
			c.Role('r', t)
			program.Everything(c, t)
		}
	}
	readOutside(c)
	if c.Has("o") {
		c.Does |= effect.Write
	}
}

// readPaths reads the files among the operands: REVISION:FILE, and what may be the path of a file. Where git takes a pattern, the name is
// read that it is about.
func readPaths(c *program.Call) {
	operandPaths(c, 'r')
	for _, o := range c.Options {
		if o.Name == "L" { // RANGE:FILE, and a range may have a colon
			for i := range len(o.Value.Text) {
				if o.Value.Text[i] == ':' {
					c.Role('r', o.Value.Tail(i+1))
				}
			}
			if o.Value.Unknown {
				c.Unclear("which lines of which file are meant is not known")
			}
		}
	}
}

// namePaths handles what shows the names of files and nothing in them.
func namePaths(c *program.Call) { operandPaths(c, 'l') }

// status handles git status, which shows what is in files only with -v.
func status(c *program.Call) {
	if c.Has("v") {
		readPaths(c)
	} else {
		namePaths(c)
	}
}

// operandPaths gives the role to the files among the operands.
func operandPaths(c *program.Call, role byte) {
	for _, w := range c.Words {
		if strings.HasPrefix(w.Text, "--batch") {
			c.Unclear("the names of what git shows come from standard input")
		}
	}
	for _, t := range c.Operands {
		s := t.Text
		if t.Unknown && strings.Contains(s, ":") {
			c.Unclear("which file of a commit is meant is not known")
		}
		if t.Unknown || s == "" || strings.HasPrefix(s, ":!") || strings.HasPrefix(s, ":^") || strings.HasPrefix(s, ":(exclude") {
			continue
		}
		if _, file, ok := strings.Cut(s, ":"); ok {
			if _, rest, magic := strings.Cut(file, ")"); magic && strings.HasPrefix(file, "(") {
				file = rest
			}
			s = strings.TrimPrefix(file, "/")
		}
		last := s[strings.LastIndexByte(s, '/')+1:]
		if s == "" || strings.HasPrefix(s, "-") || globs.Broad(last) {
			continue
		}
		c.Role(role, program.Word{Text: s, Pattern: globs.Has(s)})
	}
}

// grep opens the files that it finds with -O.
func grep(c *program.Call) {
	if c.Has("O") {
		c.Does |= effect.InlineCode
	}
	readPaths(c)
	if c.HasAny("no-index", "untracked") {
		program.Everything(c, program.Known("."))
	}
	readOutside(c)
}

// readOutside reads the operands that lead out of the working directory.
func readOutside(c *program.Call) {
	for _, t := range c.Operands {
		if t.Unknown && t.Text == "" {
			c.Unclear("an argument is not known")
		}
		if leadsOut(t) {
			c.Role('r', t)
		}
	}
}

// leadsOut reports whether a word may lead out of the working directory.
func leadsOut(t program.Word) bool {
	up := strings.HasPrefix(t.Text, "..") && !strings.HasPrefix(t.Text, "...")
	return strings.HasPrefix(t.Text, "/") || up || strings.Contains(t.Text, "/../")
}

// patched handles apply and am.
func patched(c *program.Call) { c.Unclear("which files it writes stands in what it reads") }

// other handles a subcommand without a row: an alias, or a program of its own.
func other(c *program.Call, _ []program.Word) {
	c.Does |= effect.Unknown
	if len(c.Words) > 1 {
		c.Guess(c.Words[1:])
	}
	c.Finish()
}
