package shell

import (
	"path"
	"strings"

	"mycelium/internal/policy"
)

// git looks at the options before the subcommand: -c sets what git runs.
func git(c *call) {
	if c.program.name == "cargo" {
		if c.has("config") {
			c.unclear("settings of cargo change what runs")
		}
		return
	}
	for _, o := range c.found {
		switch o.name {
		case "git-dir":
			c.gitSettings(o.val)
		case "c", "config-env":
			key, val, _ := strings.Cut(o.val.s, "=")
			if o.name == "config-env" {
				c.unclear("a setting of git is not known")
				continue
			}
			c.gitSetting(key, text{s: val, unknown: o.val.unknown})
		case "exec-path":
			if o.has {
				c.unclear("git runs programs of another folder")
			}
		}
	}
	c.gitFolders()
}

// gitFolders are the folders in which git may find a repository that is not the project's own. Its settings are commands that git runs, and
// a bare one, which git takes any folder for that looks like it, has them where every editor writes.
func (c *call) gitFolders() {
	for _, d := range c.st.dirs {
		for n := 0; d != c.r.o.Dir && d != "/" && d != "/tmp" && d != "." && n < maxDepth; n++ {
			c.gitSettings(known(d))
			d = path.Dir(d)
		}
	}
}

// gitSettings are the settings in a folder of git: what they name is executed.
func (c *call) gitSettings(dir text) {
	if dir.unknown || dir.s == "" {
		return
	}
	if to := strings.TrimSuffix(dir.s, "/"); to != ".git" && to != c.r.o.Dir+"/.git" {
		c.file(policy.Execute, text{s: to + "/config"})
	}
}

// gitSetting judges a setting: some are command lines, some name code or other addresses.
func (c *call) gitSetting(key string, val text) {
	k := strings.ToLower(key)
	section, _, _ := strings.Cut(k, ".")
	last := k[strings.LastIndexByte(k, '.')+1:]
	switch {
	case val.unknown && k == "":
		c.unclear("a setting of git is not known")
	case section == "alias":
		if cmd, ok := strings.CutPrefix(val.s, "!"); ok || val.unknown {
			c.nested(text{s: cmd + c.aliasArgs(k), unknown: val.unknown})
		} else {
			c.nested(text{s: "git " + val.s + c.aliasArgs(k)})
		}
	case k == "core.pager" || k == "core.editor" || k == "core.sshcommand" || k == "sequence.editor" || section == "pager" || k == "core.askpass" || k == "diff.external" ||
		last == "textconv" || section == "diff" && last == "command" || section == "merge" && last == "driver" || section == "filter" && (last == "clean" || last == "smudge" || last == "process") ||
		last == "cmd" || last == "program" || section == "credential" && last == "helper" || k == "core.gitproxy" || last == "uploadpack" || last == "receivepack" || section == "uploadpack":
		if section == "pager" && (val.s == "false" || val.s == "true") || section == "credential" && !strings.HasPrefix(val.s, "!") && !strings.Contains(val.s, "/") {
			return
		}
		c.nested(text{s: strings.TrimPrefix(val.s, "!"), unknown: val.unknown})
	case k == "core.fsmonitor" && (val.s == "true" || val.s == "false"):
	case k == "core.hookspath" || k == "core.fsmonitor" || section == "include" || section == "includeif" || k == "init.templatedir" || section == "protocol" ||
		section == "url" || last == "vcs" || k == "core.worktree" || k == "core.gitdir" || k == "core.attributesfile" ||
		last == "proxy" || section == "remote" && (last == "url" || last == "pushurl"):
		c.unclear("the setting " + key + " changes which code git runs or where it works")
	}
}

// aliasArgs are the arguments that the alias of a setting is called with, as they are added to its text.
func (c *call) aliasArgs(key string) string {
	if len(c.operands) == 0 || "alias."+strings.ToLower(c.operands[0].s) != key {
		return ""
	}
	var b strings.Builder
	for _, t := range c.operands[1:] {
		if t.unknown {
			b.WriteString(" " + t.raw)
		} else {
			b.WriteString(" '" + strings.ReplaceAll(t.s, "'", `'\''`) + "'")
		}
	}
	return b.String()
}

// gitPush: what is forced, deleted, and where it goes.
func gitPush(c *call) {
	c.does |= doesPush | doesNetwork
	if c.has("n") {
		c.does &^= doesPush
	}
	refs := c.operands
	if len(refs) > 0 && !c.has("repo") && !refs[0].bare && (!refs[0].unknown || refs[0].raw != "") { // $X may be several words, and so may the input of xargs
		refs = refs[1:]
	}
	c.gitForce(refs)
	for i, t := range c.operands {
		if i == 0 && !c.has("repo") {
			c.repository(t)
			continue
		}
		if t.unknown {
			c.unclear("what is pushed is not known")
		}
	}
	c.file(policy.Read, known("."))
}

// repository is a remote: its name, an address, host:path or a path.
func (c *call) repository(t text) {
	c.does |= doesNetwork
	switch at := strings.IndexByte(t.s, ':'); {
	case t.unknown:
		c.unclear("which repository is meant is not known")
	case strings.HasPrefix(t.s, "ext::") || strings.HasPrefix(t.s, "fd::"):
		c.nested(known(t.s[at+2:]))
	case c.address(t):
	case at > 0 && !strings.Contains(t.s[:at], "/"):
		c.host(t)
	case strings.Contains(t.s, "/") || t.s == "." || t.s == "..":
		c.role('b', t)
	}
}

// gitReset loses work with --hard and its like.
func gitReset(c *call) {
	if c.has("hard") || c.has("merge") || c.has("keep") {
		c.does |= doesHistory
	}
	if (c.has("hard") || c.said("hard", 1)) && len(c.operands) > 0 && ofRemote(c.operands[0].s) {
		c.does |= doesResetRemote | doesHistory
	}
	for _, t := range c.operands {
		if commit(t.s) && !c.has("p") && t.s != "HEAD" {
			c.does |= doesHistory // the branch goes to another commit
		}
	}
	c.does |= doesWrite
}

// commit reports whether a word looks like the name of a commit rather than a file.
func commit(s string) bool {
	return strings.HasPrefix(s, "HEAD~") || strings.HasPrefix(s, "HEAD^") || strings.HasPrefix(s, "HEAD@") || strings.HasPrefix(s, "@{") || strings.HasPrefix(s, "@~") || strings.HasPrefix(s, "@^") ||
		strings.HasPrefix(s, "origin/") || strings.HasPrefix(s, "upstream/") || len(s) >= 7 && strings.Trim(s, "0123456789abcdef") == ""
}

// gitCheckout is checkout, switch and restore: what is not committed may be lost.
func gitCheckout(c *call) {
	c.does |= doesWrite
	switch c.program.name {
	case "restore":
		if !c.has("S") || c.has("W") {
			c.does |= doesHistory
		}
		return
	case "switch":
		if c.has("f") || c.has("C") || c.has("discard-changes") {
			c.does |= doesHistory
		}
		return
	}
	dashes := false
	for _, w := range c.words {
		dashes = dashes || w.s == "--"
	}
	if c.has("f") || c.has("B") || c.has("ours") || c.has("theirs") || dashes && len(c.operands) > 0 {
		c.does |= doesHistory
	}
	for i, t := range c.operands {
		if t.unknown {
			c.unclear("what is checked out is not known")
		}
		if t.s == "." || t.glob || i > 0 && !c.has("b") && !c.has("t") || i == 0 && fileName(t.s) {
			c.does |= doesHistory
		}
		if strings.HasPrefix(t.s, "/") || strings.HasPrefix(t.s, ".") || dashes || i > 0 && !c.has("b") {
			c.role('w', t)
		}
	}
}

// fileName reports whether a word is a file rather than a branch: it ends like one.
func fileName(s string) bool {
	i := strings.LastIndexByte(s, '.')
	if i < 0 || i == len(s)-1 || len(s)-i > 6 {
		return false
	}
	return strings.Trim(s[i+1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// gitBranch deletes, moves and forces branches.
func gitBranch(c *call) {
	switch {
	case c.has("D"), c.has("M"), c.has("C"), c.has("f"), c.has("d"):
		c.does |= doesHistory
	case c.has("m"), c.has("c"), c.has("u"), c.has("unset-upstream"), c.has("edit-description"), len(c.operands) > 0 && !c.has("l"):
		c.does |= doesWrite
	}
}

// gitConfig reads settings, or writes one, which may be a command.
func gitConfig(c *call) {
	ops := c.operands
	if len(ops) > 0 {
		switch ops[0].s {
		case "get", "list":
			c.file(policy.Read, known(".git/config"))
			return
		case "set", "unset", "edit", "rename-section", "remove-section":
			ops = ops[1:]
			if c.operands[0].s != "set" {
				ops = nil
				c.does |= doesWrite
			}
		}
	}
	writes := len(ops) > 1 || c.has("unset") || c.has("unset-all") || c.has("e") || c.has("rename-section") || c.has("remove-section") || c.does&doesWrite != 0
	if c.has("l") || c.has("get") || c.has("get-all") || c.has("get-regexp") || c.has("get-urlmatch") {
		writes = false
	}
	a := policy.Read
	if writes {
		a = policy.Write
	}
	switch {
	case c.has("global"):
		c.file(a, c.home(".gitconfig"))
	case c.has("system"):
		c.file(a, known("/etc/gitconfig"))
	case c.has("f"):
	default:
		c.file(a, known(".git/config"))
	}
	if writes && len(ops) > 1 {
		c.gitSetting(ops[0].s, ops[1])
	}
}

// home is a path in the home folder.
func (c *call) home(name string) text {
	if c.r.o.Home == "" {
		return text{unknown: true}
	}
	return known(c.r.o.Home + "/" + name)
}

// gitRemote changes where the repository pushes to.
func gitRemote(c *call) {
	c.file(policy.Write, known(".git/config"))
	for i, t := range c.operands {
		if i > 0 {
			c.repository(t)
		}
	}
	if !c.has("f") {
		c.does &^= doesNetwork
	}
}

func gitClean(c *call) {
	// With -e, what looks like -n may be its value.
	if dry := c.has("n") && !c.has("e"); !dry && c.has("d") && (c.has("x") || c.has("X")) {
		c.does |= doesCleanIgnored
	}
	if !c.has("n") {
		c.does |= doesHistory
		c.works("w")
	}
}

func gitCommit(c *call) {
	c.does |= doesWrite
	if c.has("amend") {
		c.does |= doesHistory
	}
}

func gitTag(c *call) {
	switch {
	case c.program.name == "init":
		if c.has("separate-git-dir") {
			c.unclear("git's settings come to lie where anybody writes them")
		}
	case c.program.name == "gc":
		if c.has("prune") {
			c.does |= doesHistory
		}
		c.does |= doesWrite
	case c.program.name == "symbolic-ref":
		if len(c.operands) > 1 || c.has("d") {
			c.does |= doesHistory
		}
	case c.has("d"), c.has("f"):
		c.does |= doesHistory
	case len(c.operands) > 0 && !c.has("l"):
		c.does |= doesWrite
	}
}

// gitClone is clone, fetch, pull and ls-remote: which repository, and into which folder.
func gitClone(c *call) {
	for i, t := range c.operands {
		switch {
		case i == 0:
			c.repository(t)
		case c.program.name == "clone":
			c.file(policy.Write, t)
		case strings.HasPrefix(t.s, "+"):
			c.does |= doesHistory
		}
	}
	for _, o := range c.found {
		if o.name == "separate-git-dir" {
			c.unclear("git's settings come to lie where anybody writes them")
		}
		if o.name == "c" {
			key, val, _ := strings.Cut(o.val.s, "=")
			c.gitSetting(key, text{s: val, unknown: o.val.unknown})
		}
	}
	if c.program.name == "pull" && (c.has("f") || c.has("r")) {
		c.does |= doesHistory
	}
}

// gitOther is a subcommand that the table does not know: an alias, or a program of its own.
func gitOther(c *call) {
	c.does |= doesUnknown
	if len(c.words) > 1 {
		c.guess(c.words[1:])
	}
	c.finish()
}
