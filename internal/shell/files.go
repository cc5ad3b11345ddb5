package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// awk may run commands and write files from its program.
func awk(c *call) {
	var program text
	if v, ok := c.value("e"); ok {
		program = v
	} else if !c.has("f") && !c.has("E") && len(c.operands) > 0 {
		program = c.operands[0]
	}
	switch {
	case program.unknown:
		c.does |= doesInlineCode
		c.unclear("the program of awk is not known")
	case strings.Contains(program.s, "system") || strings.Contains(program.s, "getline") || strings.Contains(program.s, "@") ||
		strings.Contains(strings.ReplaceAll(program.s, "||", ""), "|"):
		c.does |= doesInlineCode
	case awkWrites(program.s):
		c.does |= doesWrite | doesInlineCode
	}
}

// awkWrites reports whether a print of an awk program may go to a file.
func awkWrites(s string) bool {
	for {
		i := strings.Index(s, "print")
		if i < 0 {
			return false
		}
		s = s[i+len("print"):]
		end := strings.IndexAny(s, ";}\n")
		if end < 0 {
			end = len(s)
		}
		if strings.Contains(s[:end], ">") {
			return true
		}
	}
}

// tar packs and unpacks. Its first operand may be a bundle of options without a hyphen.
func tar(c *call) {
	mode := byte(0)
	for _, m := range [...]string{"c", "x", "t", "r", "u", "A", "delete"} {
		if c.has(m) {
			mode = m[0]
			break
		}
	}
	files := c.operands
	if mode == 0 && len(files) > 0 && strings.Trim(files[0].s, "cxtruAzjJvfpkmhaOwWCTPn") == "" {
		old := files[0].s
		files = files[1:]
		if i := strings.IndexAny(old, "cxtruA"); i >= 0 {
			mode = old[i]
		}
		if strings.ContainsAny(old, "PCT") {
			c.unclear("where the archive is unpacked is not known")
		}
		if strings.Contains(old, "f") && len(files) > 0 {
			c.archive(files[0], mode)
			files = files[1:]
		}
	} else if v, ok := c.value("f"); ok {
		c.part.Paths = nil // which access it is only the mode tells
		c.archive(v, mode)
	}
	for i := 0; i+1 < len(files); i++ { // tar xzf a.tgz -C dir, where -C follows the old bundle
		if files[i].s == "-C" {
			c.enter(files[i+1])
		}
	}
	switch mode {
	case 'x':
		if !c.has("O") && !c.has("to-command") {
			c.unpacks()
		}
		if c.has("P") {
			c.unclear("absolute names are unpacked where they lead")
		}
	case 't':
	case 'c', 'r', 'u', 'A':
		for _, f := range files {
			c.file(policy.Read, f)
			if c.has("remove-files") {
				c.file(policy.Delete, f)
			}
		}
	default:
		c.unclear("what tar does is not known")
		c.guess(files)
	}
	if c.has("T") {
		c.unclear("which files the list names is not known")
	}
	if v, ok := c.value("checkpoint-action"); ok {
		if cmd, is := strings.CutPrefix(v.s, "exec="); is || v.unknown {
			c.nested(text{s: cmd, unknown: v.unknown})
		}
	}
}

// archive is the file that tar works on; host:file is on another machine.
func (c *call) archive(t text, mode byte) {
	if i := strings.IndexByte(t.s, ':'); i > 0 && !strings.Contains(t.s[:i], "/") {
		c.host(t)
		return
	}
	switch mode {
	case 'x', 't':
		c.role('r', t)
	case 'c':
		c.role('w', t)
	default:
		if t.s != "-" {
			c.role('b', t)
		}
	}
}

// rsync and scp: host:path is on another machine.
func rsync(c *call) {
	n := len(c.operands)
	for i, t := range c.operands {
		at := strings.IndexByte(t.s, ':')
		switch {
		case at > 0 && !strings.Contains(t.s[:at], "/"):
			c.host(t)
			if i == n-1 && n > 1 {
				c.does |= doesUpload
			}
		case c.address(t):
			if i == n-1 && n > 1 {
				c.does |= doesUpload
			}
		case i == n-1 && n > 1:
			c.file(policy.Write, t)
			c.folder(t)
			if c.has("delete") || c.has("del") {
				c.file(policy.Delete, t)
			}
		default:
			c.file(policy.Read, t)
			if c.has("remove-source-files") {
				c.file(policy.Delete, t)
			}
		}
	}
	for _, o := range c.found {
		if o.name == "o" {
			c.sshOption(o.val)
		}
	}
}

// dd has operands of its own form.
func dd(c *call) {
	for _, t := range c.operands {
		switch {
		case strings.HasPrefix(t.s, "if="):
			c.role('r', t.from(3))
		case strings.HasPrefix(t.s, "of="):
			to := t.from(3)
			c.role('w', to)
			if strings.HasPrefix(to.s, "/dev/") && !device(to.s) || to.unknown {
				c.does |= doesDestructive
			}
		case t.unknown:
			c.unclear("an argument of dd is not known")
		}
	}
}

// chmod: setuid and setgid bits, and rights for everybody.
func chmod(c *call) {
	if c.program.name == "chmod" && len(c.operands) > 0 && opensToAll(c.operands[0].s) {
		c.does |= doesOpenRights
	}
	mode := text{}
	if v, ok := c.value("m"); ok {
		mode = v
	} else if c.program.name == "chmod" && len(c.operands) > 0 && !c.has("reference") {
		mode = c.operands[0]
	}
	switch s := mode.s; {
	case mode.unknown || c.has("reference") && c.program.name == "chmod":
		c.unclear("which rights are given is not known")
	case s != "" && s[0] >= '0' && s[0] <= '7':
		octal := strings.TrimLeft(s, "0")
		if len(octal) > 3 || strings.HasSuffix(octal, "777") || strings.HasSuffix(octal, "666") {
			c.does |= doesPrivilege
		}
	default:
		for part := range strings.SplitSeq(s, ",") {
			who, what, _ := strings.Cut(strings.NewReplacer("=", "+").Replace(part), "+")
			if strings.Contains(what, "s") || strings.Contains(what, "w") && (strings.Contains(who, "o") || strings.Contains(who, "a")) {
				c.does |= doesPrivilege
			}
		}
	}
}

// chown gives a file to somebody else, which takes root's rights where it is not the user's own already.
func chown(c *call) {
	if len(c.operands) > 0 || c.has("reference") {
		c.does |= doesPrivilege
	}
	if len(c.operands) > 0 && c.part.Program != "chgrp" && isRoot(c.operands[0].s) {
		c.does |= doesGiveRoot
	}
}

// umask: what is made from then on may be written by others.
func umask(c *call) {
	if len(c.operands) == 0 {
		return
	}
	mask := c.operands[0]
	last := byte('2')
	if mask.s != "" && !mask.unknown {
		last = mask.s[len(mask.s)-1]
	}
	if mask.unknown || last < '0' || last > '7' || (last-'0')&2 == 0 {
		c.does |= doesPrivilege
	}
}

// editor is an editor that a person would use: what happens in it is not known.
func editor(c *call) {
	if c.program.name == "grep" {
		if c.has("O") {
			c.does |= doesInlineCode
		}
		c.outside()
		return
	}
	if c.has("e") || c.has("E") {
		c.does |= doesInlineCode
	}
	for _, t := range c.operands {
		if strings.HasPrefix(t.s, "+") && len(t.s) > 1 && (t.s[1] < '0' || t.s[1] > '9') {
			c.does |= doesInlineCode
		}
	}
}

// outside reads the operands that lead out of the working directory.
func (c *call) outside() {
	for _, t := range c.operands {
		if t.unknown && t.s == "" {
			c.unclear("an argument is not known")
		}
		if strings.HasPrefix(t.s, "/") || strings.HasPrefix(t.s, "..") && !strings.HasPrefix(t.s, "...") || strings.Contains(t.s, "/../") {
			c.role('r', t)
		}
	}
}

// patterns are programs that look into the working directory where no folder is named, and git's that read any file.
func patterns(c *call) {
	switch c.program.name {
	case "grep":
		if (c.has("r") || c.has("R")) && len(c.part.Paths) == 0 {
			c.role('r', known("."))
		}
	case "rg", "fd":
		v, ok := c.value("x")
		if !ok {
			v, ok = c.value("X")
		}
		if ok && c.program.name == "fd" {
			rest := append([]text{v}, c.after("-x", "--exec", "-X", "--exec-batch")...)
			c.runFound(rest)
		}
	default:
		if c.has("ext-diff") || c.has("textconv") {
			c.unclear("a program of the settings shows the difference")
		}
		for _, t := range c.operands {
			if _, file, ok := strings.Cut(t.s, ":"); ok && file != "" && !strings.HasPrefix(t.s, ":") {
				c.role('r', text{s: file, unknown: t.unknown})
			}
		}
		if c.has("i") {
			for _, t := range c.operands {
				c.role('r', t)
			}
		}
		c.outside()
		if c.has("o") || c.program.name == "format-patch" {
			c.does |= doesWrite
		}
	}
}

// after are the words behind the value of an option, as fd -x takes them.
func (c *call) after(names ...string) []text {
	for i, w := range c.words {
		for _, n := range names {
			if w.s == n && i+2 <= len(c.words) {
				return c.words[i+2:]
			}
		}
	}
	return nil
}

// runFound runs a command with what fd found.
func (c *call) runFound(words []text) {
	found := []text{{s: "./*", glob: true}}
	inner := call{r: c.r, st: c.st, words: filled(words, "{}", found, true, true), env: c.env}
	inner.run()
}

// signal is kill, and the tools that only change something with an operand of a kind.
func signal(c *call) {
	switch c.program.name {
	case "kill":
		if c.has("l") || c.has("s") && zero(c, "s") || c.has("n") && zero(c, "n") || len(c.words) > 1 && c.words[1].s == "-0" {
			return
		}
		for _, w := range c.words[min(2, len(c.words)):] {
			if strings.HasPrefix(w.s, "-") && len(w.s) > 1 && w.s != "--" {
				c.does |= doesProcess
			}
		}
		for _, t := range c.operands {
			if !strings.HasPrefix(t.s, "%") && t.raw != "$!" && t.raw != `"$!"` {
				c.does |= doesProcess
			}
		}
	case "sysctl":
		for _, t := range c.operands {
			if strings.Contains(t.s, "=") || t.unknown {
				c.does |= doesPrivilege
			}
		}
		if c.has("w") || c.has("p") {
			c.does |= doesPrivilege
		}
	case "date":
		if c.has("s") {
			c.does |= doesPrivilege
		}
	case "hostname":
		if len(c.operands) > 0 {
			c.does |= doesPrivilege
		}
	case "mount":
		if len(c.words) == 1 || c.has("l") {
			c.does &^= doesPrivilege
		}
	case "printenv":
		for _, t := range c.operands {
			if secretName(t.s) || t.unknown {
				c.does |= doesSecrets
			}
		}
		if len(c.operands) == 0 {
			c.does |= doesSecrets
		}
	case "addr|a|address|link|l|route|r|neigh|n|-4|-6":
		for _, t := range c.operands {
			switch t.s {
			case "set", "add", "del", "delete", "flush", "change", "replace", "append":
				c.does |= doesPrivilege
			}
		}
	case "getent":
		if len(c.operands) > 1 && (strings.HasSuffix(c.operands[0].s, "hosts") || strings.HasPrefix(c.operands[0].s, "ahosts")) {
			c.does |= doesNetwork // it asks for the name
		}
	case "ps":
		for _, t := range c.operands { // "e" of BSD shows the environment
			if strings.Contains(t.s, "e") && strings.Trim(t.s, "aAcefhjlrSsTuvwXxZ") == "" {
				c.does |= doesSecrets
			}
		}
		if c.has("E") {
			c.does |= doesSecrets
		}
	case "fuser":
		if c.has("k") {
			c.does |= doesProcess
		}
	}
}

func zero(c *call, name string) bool {
	v, _ := c.value(name)
	return v.s == "0"
}

// makefile is make: the file that says what it runs, and whether it only shows it.
func makefile(c *call) {
	if c.has("n") {
		c.does |= doesRead
	}
	if _, ok := c.value("f"); !ok {
		for _, name := range [...]string{"Makefile", "makefile", "GNUmakefile"} {
			c.file(policy.Execute, known(name))
		}
	}
	c.works("rw")
	if !c.has("n") {
		c.targets(c.operands)
	}
	if v, ok := c.value("f"); ok && (v.s == "-" || strings.HasPrefix(v.s, "/dev/")) {
		c.fromInput()
	}
	for _, t := range c.operands {
		name, val, ok := strings.Cut(t.s, "=")
		switch {
		case ok && (name == "SHELL" || name == ".SHELLFLAGS" || name == "CC" || name == "CXX" || name == "MAKE"):
			c.nested(text{s: val, unknown: t.unknown})
		case t.unknown || strings.Contains(t.s, "$(") || strings.Contains(t.s, "${"):
			c.unclear("an argument of make is not known")
		case ok:
			c.maybePath(t.from(len(name) + 1))
		}
	}
}
