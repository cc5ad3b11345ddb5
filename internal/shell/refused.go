package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// The base constraints of package policy refuse some effects to everybody. This file finds out where a command has them.

// refused are the effects that a base constraint refuses, whatever rules say.
func refused() (set effects) {
	for _, e := range policy.Effects() {
		for i, name := range effectNames {
			if e.Refused && name == e.Name {
				set |= effects(1) << i
			}
		}
	}
	return set
}

// byName adds the refused effects that the program of this name would have. It is for a program of the project: what it does is not known, but
// under the name of git it is taken for git.
func (c *call) byName(p *program, args []text) {
	if p == nil || p.raw != 0 {
		return
	}
	aside := reader{o: c.r.o, nodes: c.r.nodes, depth: c.r.depth}
	inner := call{r: &aside, st: c.st, words: c.words, part: policy.Part{Program: c.part.Program}}
	inner.known(p, args)
	c.does |= aside.does & refused()
	for i := range aside.parts {
		c.part.Branches = append(c.part.Branches, aside.parts[i].Branches...)
	}
}

// said reports whether a long option is given, also shortened to as few as least letters.
func (c *call) said(name string, least int) bool {
	for _, w := range c.words {
		if w.s == "--" {
			return false
		}
		word, ok := strings.CutPrefix(w.s, "--")
		if word, _, _ = strings.Cut(word, "="); ok && len(word) >= least && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// opensToAll reports whether a mode of chmod gives everybody every right.
func opensToAll(mode string) bool {
	if mode != "" && strings.Trim(mode, "01234567") == "" {
		return len(mode) >= 3 && strings.HasSuffix(mode, "777")
	}
	for clause := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		if i < 0 {
			continue
		}
		who, rights := clause[:i], clause[i+1:]
		all := who == "" || strings.Contains(who, "a") || strings.Contains(who, "u") && strings.Contains(who, "g") && strings.Contains(who, "o")
		if all && strings.Contains(rights, "r") && strings.Contains(rights, "w") && strings.ContainsAny(rights, "xX") {
			return true
		}
	}
	return false
}

// isRoot reports whether an owner as chown takes it is root.
func isRoot(owner string) bool {
	owner, _, _ = strings.Cut(owner, ":")
	return named("root|0|+0", strings.TrimSuffix(owner, ".")) || strings.HasPrefix(owner, "root.")
}

// ofRemote reports whether the name of a commit is that of another repository's branch.
func ofRemote(commit string) bool {
	return commit == "origin" || strings.HasPrefix(commit, "origin/") || strings.HasPrefix(commit, "refs/remotes/") || strings.HasPrefix(commit, "remotes/") ||
		named("@{u}|@{upstream}|FETCH_HEAD", commit)
}

// The names of branches that no branch has: the branch that is checked out, and any branch.
const (
	currentBranch = "HEAD"
	anyBranch     = "*"
)

// replaces adds branches of another repository that the command replaces or deletes.
func (c *call) replaces(branches ...string) {
	c.does |= doesForcePush
	for _, b := range branches {
		if !contains(c.part.Branches, b) {
			c.part.Branches = append(c.part.Branches, b)
		}
	}
}

// gitForce finds out which branches a push replaces or deletes. refs are what is pushed, as written.
func (c *call) gitForce(refs []text) {
	deletes := c.has("d") || c.has("D") || c.said("delete", 1)
	forced := deletes || c.has("f") || c.said("force", 2) || c.has("force-with-lease") || c.has("force-if-includes")
	if c.has("mirror") || c.has("prune") {
		c.replaces(anyBranch)
	}
	settled := c.pushSettings(forced)
	for i, t := range refs {
		switch {
		case t.unknown:
			if forced || strings.HasPrefix(t.s, "+") || t.s == "" {
				c.replaces(anyBranch)
			}
		case i > 0 && refs[i-1].s == "tag":
			if forced {
				c.replaces("refs/tags/" + t.s)
			}
		default:
			c.gitRef(t.s, forced, settled)
		}
	}
	if len(refs) > 0 || !forced {
		return
	}
	switch plain := c.program.name == "push" && !c.has("all") && !c.has("branches") && settled; {
	case plain && c.has("tags"):
		c.replaces("refs/tags/*")
	case plain:
		c.replaces(c.checkedOut())
	default:
		c.replaces(anyBranch)
	}
}

// gitRef judges [+][SOURCE][:DESTINATION]. Without a destination it is the source, unless settings say otherwise.
func (c *call) gitRef(ref string, forced, settled bool) {
	ref, plus := strings.CutPrefix(ref, "+")
	from, to, pair := strings.Cut(ref, ":")
	switch {
	case !forced && !plus && (!pair || from != "" || to == ""):
	case pair && to == "": // ":" is each branch that both have
		c.replaces(anyBranch)
	case pair:
		c.replaces(to)
	case !settled:
		c.replaces(anyBranch)
	case from == "HEAD" || from == "@":
		c.replaces(c.checkedOut())
	default:
		c.replaces(from)
	}
}

// checkedOut is the branch that is checked out, as long as the repository is that of the project.
func (c *call) checkedOut() string {
	for _, v := range c.env {
		if strings.HasPrefix(v.name, "GIT_") {
			return anyBranch
		}
	}
	for b := c.st.vars; b != nil; b = b.next {
		if strings.HasPrefix(b.name, "GIT_") { // it may be exported
			return anyBranch
		}
	}
	if !c.inProject() || c.has("git-dir") || c.has("work-tree") {
		return anyBranch
	}
	return currentBranch
}

// pushSettings reports whether a push goes where its words say. Settings on the command line may send it elsewhere, and force it.
func (c *call) pushSettings(forced bool) bool {
	settled := true
	for _, o := range c.found {
		key, val, _ := strings.Cut(o.val.s, "=")
		key = strings.ToLower(key)
		switch {
		case o.name == "config-env":
			c.replaces(anyBranch)
		case o.name != "c":
		case key == "push.default":
			settled = settled && !o.val.unknown && named("simple|current|nothing", val)
		case strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".push"):
			settled = false
			if o.val.unknown || strings.HasPrefix(val, "+") || strings.HasPrefix(val, ":") {
				c.replaces(anyBranch)
			}
		case strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".mirror") && !named("false|no|off|0", val):
			c.replaces(anyBranch)
		}
	}
	for _, v := range c.env {
		if strings.HasPrefix(v.name, "GIT_CONFIG") {
			c.replaces(anyBranch)
		}
	}
	return settled
}

// staysOnBranch reports whether a subcommand of git leaves checked out what is checked out, and leaves git's settings alone.
func staysOnBranch(sub *program) bool {
	switch sub.name {
	case "add|stage", "commit", "push", "fetch", "ls-remote", "grep", "tag", "reset", "merge", "cherry-pick|revert", "clean":
		return true
	}
	return strings.HasPrefix(sub.name, "status|") || strings.HasPrefix(sub.name, "log|")
}

// quiet are the effects of commands that do not check out another branch.
const quiet = doesExecute | doesRead | doesWrite | doesNetwork | doesUpload | doesPush | doesForcePush | doesHistory

// moves reports whether after this command another branch may be checked out, or git's settings may be others.
func (c *call) moves() bool {
	if c.part.Program == "git" {
		return c.program == nil || !staysOnBranch(c.program)
	}
	if c.does&^quiet != 0 {
		return true
	}
	for i := range c.words {
		if strings.HasPrefix(c.words[i].s, "GIT_") { // export GIT_DIR=x
			return true
		}
	}
	for _, p := range c.part.Paths {
		if p.Access != policy.Read && strings.Contains(p.Clean+"/", "/.git") || p.Clean == "" {
			return true
		}
	}
	return false
}

// branches looks at the whole command: where something in it may check out another branch, which one is pushed is not known.
func (r *reader) branches() {
	for i := range r.parts {
		for j, b := range r.parts[i].Branches {
			if b == currentBranch && r.moved {
				r.parts[i].Branches[j] = anyBranch
			}
		}
	}
}
