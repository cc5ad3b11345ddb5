package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// isBuiltin reports whether the shell itself does it, wherever PATH leads.
func isBuiltin(name string) bool {
	switch name {
	case "cd", "echo", "printf", "test", "[", "true", "false", ":", "pwd", "export", "unset", "set", "read", "exit", "return", "shift", "eval", "exec", "source", ".",
		"trap", "wait", "type", "command", "builtin", "local", "declare", "pushd", "popd", "kill", "jobs", "break", "continue", "umask", "ulimit", "shopt":
		return true
	}
	return false
}

// isHarmless reports whether no option of the program does anything.
func isHarmless(name string) bool {
	switch name {
	case "echo", "printf", "test", "[", "true", "false", ":", "expr", "seq", "basename", "dirname", "sleep", "export", "kill", "exit", "return", "tr", "cd", "pushd", "unset", "shift", "wait":
		return true
	}
	return false
}

// changeDir is cd and pushd.
func changeDir(c *call) {
	to := text{s: c.r.o.Home, unknown: c.r.o.Home == ""}
	if vals, ok := c.st.lookup("HOME"); ok && len(vals) == 1 {
		to = vals[0]
	}
	if len(c.operands) > 0 {
		to = c.operands[0]
	}
	if to.s == "-" && !to.unknown {
		to = text{unknown: true}
		if vals, ok := c.st.lookup("OLDPWD"); ok && len(vals) == 1 {
			to = vals[0]
		}
	}
	if len(c.operands) > 0 && c.operands[0].s == "-" && to.unknown {
		c.ok = c.st.at(nil, true)
		return
	}
	before := c.st
	old := text{unknown: true}
	if len(before.dirs) == 1 && !before.lost {
		old = known(before.dirs[0])
	}
	if vals, ok := before.lookup("CDPATH"); ok && len(vals) > 0 {
		to.unknown = true
	}
	if to.unknown || to.glob {
		c.unclear("the folder that it goes to is not known")
		c.ok = before.at(nil, true).with("OLDPWD", old)
	} else if to.s != "" {
		if len(c.operands) > 0 {
			c.file(policy.Read, to)
		}
		c.enter(to)
		c.ok = c.st.with("OLDPWD", old)
		if c.has("P") {
			c.ok.lost = true
		}
	}
	c.fail = before
}

func popDir(c *call) {
	c.ok = c.st.at(nil, true)
	if vals, ok := c.st.lookup("OLDPWD"); ok && len(vals) == 1 && !vals[0].unknown {
		c.ok = c.st.at([]string{vals[0].s}, false)
	}
}

// leave is exit and return: nothing comes after it.
func leave(c *call) { c.ok.dead, c.fail.dead = true, true }

// setOptions is set: -e matters, and arguments become $1 …
func setOptions(c *call, args []text) {
	if len(args) == 0 {
		c.does |= doesSecrets // it shows every variable
	}
	for i, a := range args {
		if a.unknown {
			c.unclear("an option of set is not known")
			break
		}
		if a.s == "--" || !strings.HasPrefix(a.s, "-") && !strings.HasPrefix(a.s, "+") && (i == 0 || args[i-1].s != "-o" && args[i-1].s != "+o") {
			rest := args[i:]
			if a.s == "--" {
				rest = args[i+1:]
			}
			c.ok = positional(c.ok, rest)
			c.fail = c.ok
			break
		}
		if a.s[0] == '-' && strings.Contains(a.s, "e") && !strings.HasPrefix(a.s, "--") || a.s == "errexit" && args[i-1].s == "-o" {
			c.r.errexit = true
		}
		if a.s[0] == '+' {
			c.r.errexit = false
		}
	}
	c.finish()
}

func positional(st state, args []text) state {
	st = st.with("@", args...).with("*", args...)
	for n := 1; n <= 9; n++ {
		if n <= len(args) {
			st = st.with(digits[n], args[n-1])
		} else {
			st = st.with(digits[n], text{})
		}
	}
	return st
}

func shiftArgs(c *call) {
	vals, ok := c.st.lookup("@")
	switch {
	case !ok:
	case len(c.operands) > 0 || len(vals) == 0 || vals[0].unknown:
		c.ok = c.st
		for _, d := range digits[1:] {
			c.ok = c.ok.with(d, unknownVals...)
		}
		c.ok = c.ok.with("@", unknownVals...).with("*", unknownVals...)
	default:
		c.ok = positional(c.st, vals[1:])
	}
	c.fail = c.ok
}

// assignNames is read, mapfile, getopts and unset: variables get values that nobody knows.
func assignNames(c *call) {
	st := c.st
	if v, ok := c.value("v"); ok {
		st = c.r.set(st, v.s, unknownVals...)
	}
	if v, ok := c.value("a"); ok {
		st = c.r.set(st, v.s, unknownVals...)
	}
	if c.program.name == "printf" {
		c.ok, c.fail = st, st
		return
	}
	for _, o := range c.operands {
		if o.unknown {
			c.unclear("which variable is meant is not known")
		}
		if c.program.name == "read" && len(c.in.roots) == 1 && len(c.operands) == 1 {
			st = c.r.set(st, o.s, c.in.roots[0])
			continue
		}
		if meaningOf(o.s) == ourVariable {
			c.does |= doesOperator
		}
		st = c.r.set(st, o.s, unknownVals...)
	}
	c.ok, c.fail = st, st
}

// exportNames is export and its like where they are not parsed as declarations: after command or builtin.
func exportNames(c *call) {
	st := c.st
	for _, o := range c.operands {
		name, val, ok := strings.Cut(o.s, "=")
		if !ok {
			continue
		}
		v := text{s: val, unknown: o.unknown}
		c.variable(name, v)
		st = c.r.set(st, name, v)
	}
	c.ok, c.fail = st, st
}

// trapSignals is trap: its first operand is a command.
func trapSignals(c *call) {
	if len(c.operands) > 1 && c.operands[0].s != "-" && c.operands[0].s != "" {
		c.nested(c.operands[0])
	}
}

// aliases is alias: what a later word means changes.
func aliases(c *call) {
	for _, o := range c.operands {
		if strings.Contains(o.s, "=") || o.unknown {
			c.unclear("an alias changes what later words mean")
		}
	}
}

// evaluate is eval: its arguments are a command.
func evaluate(c *call, args []text) {
	c.whole(args)
}

// whole runs words as one command line, as eval, ssh and watch do.
func (c *call) whole(args []text) {
	var line text
	for i, a := range args {
		if i > 0 {
			line.s += " "
		}
		line.s += a.s
		line.unknown = line.unknown || a.unknown
		line.by |= a.by
	}
	if len(args) == 0 {
		c.finish()
		return
	}
	c.pass()
	c.line(line, nil)
	c.close()
}

// pass leaves what was found so far to the parts that follow: the call itself is none.
func (c *call) pass() { c.does &^= doesExecute }

// close makes a part of a wrapper only if there is something to say about it.
func (c *call) close() {
	if c.does != 0 || len(c.part.Unclear) > 0 || len(c.part.Paths) > 0 {
		c.does |= doesExecute
		c.finish()
	}
}

// include is source: a script that runs in this shell.
func include(c *call, args []text) {
	c.scan(c.program, args)
	if len(c.operands) == 0 {
		c.finish()
		return
	}
	c.runFile(c.operands[0])
	// What it assigned, and where it went, is not known.
	c.ok = c.ok.at(c.ok.dirs, c.ok.lost)
	c.finish()
}

// runFile executes a script: a file, or what another command writes.
func (c *call) runFile(t text) {
	switch {
	case t.stream || t.unknown && t.by&doesNetwork != 0:
		c.streamed(t.by)
	case t.s == "/dev/stdin" || t.s == "/dev/fd/0" || t.s == "/proc/self/fd/0" || t.s == "-":
		c.fromInput()
	case strings.HasPrefix(t.s, "/dev/fd/") || strings.HasPrefix(t.s, "/proc/self/fd/"):
		c.streamed(0)
	default:
		if strings.Contains(t.s, "node_modules/") && isAgentPackage(t.s) {
			c.does |= doesAgent
		}
		c.does |= doesProjectCode
		c.script(t)
		if t.glob {
			c.unclear("which script runs is not known")
		}
	}
}

// streamed is code that another command writes.
func (c *call) streamed(does effects) {
	if does&doesNetwork != 0 {
		c.does |= doesRemoteCode
	}
	c.does |= doesInlineCode
	c.unclear("the code that runs is what another command writes")
}
