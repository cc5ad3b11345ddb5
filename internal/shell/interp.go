package shell

import (
	"strings"

	"mycelium/internal/policy"
)

// shellProgram is sh, bash and their like: a script, a text after -c, or what comes to standard input.
func shellProgram(c *call, args []text) {
	line, stdin, asks, checks := false, false, false, false
	i := 0
	for ; i < len(args); i++ {
		t := args[i]
		if t.unknown && t.s == "" && !t.stream {
			break
		}
		if len(t.s) < 2 || t.s[0] != '-' && t.s[0] != '+' {
			if t.s == "-" {
				i++
			}
			break
		}
		if strings.HasPrefix(t.s, "--") {
			if t.s == "--" {
				i++
				break
			}
			if (t.s == "--rcfile" || t.s == "--init-file") && i+1 < len(args) {
				i++
				c.role('x', args[i])
			}
			continue
		}
		line = line || t.s[0] == '-' && strings.Contains(t.s, "c")
		stdin = stdin || strings.Contains(t.s, "s")
		asks = asks || strings.Contains(t.s, "i")
		checks = checks || t.s == "-n"
		if strings.HasSuffix(t.s, "o") || strings.HasSuffix(t.s, "O") {
			i++
		}
	}
	rest := args[min(i, len(args)):]
	if asks && !line {
		c.does |= doesInlineCode
	}
	switch {
	case line && len(rest) > 0:
		c.pass()
		outer := c.r.funcs
		ok, fail := c.ok, c.fail
		if len(rest) > 1 {
			c.st = c.st.with("0", rest[1])
		}
		c.line(rest[0], append([]text{}, rest[min(2, len(rest)):]...))
		c.ok, c.fail = ok, fail // it was a shell of its own
		if len(c.r.funcs) == len(outer) {
			c.r.funcs = outer
		}
		c.close()
	case len(rest) > 0 && checks:
		c.file(policy.Read, rest[0])
		c.finish()
	case len(rest) > 0 && !stdin && !line:
		c.runFile(rest[0])
		c.guess(rest[1:])
		c.finish()
	default:
		c.shellInput()
	}
}

// shellInput runs what comes to standard input as a script.
func (c *call) shellInput() {
	t, ok := text{}, false
	switch {
	case c.in.doc != nil:
		t, ok = *c.in.doc, !c.in.doc.unknown
	case c.in.stmt != nil:
		t, ok = c.piped()
	}
	if !ok {
		c.fromInput()
		c.finish()
		return
	}
	before := len(c.r.parts)
	st := c.st
	for _, v := range c.env {
		st = c.r.set(st, v.name, v.val)
	}
	c.r.script(t.s, st, input{})
	if len(c.r.parts) > before {
		c.pass()
	}
	c.close()
}

// fromInput is code that comes to standard input.
func (c *call) fromInput() {
	switch {
	case c.in.doc != nil:
		c.does |= doesInlineCode
		if c.in.doc.by&doesNetwork != 0 {
			c.does |= doesRemoteCode
		}
	case c.in.stmt != nil:
		c.streamed(c.in.does)
	case c.in.file != nil:
		c.role('x', *c.in.file)
		c.does |= doesInlineCode
	default:
		c.does |= doesInlineCode
		c.unclear("it asks for what it runs")
	}
}

// interpreter is node, ruby, perl, php and their like, whose rows say which options are code.
func interpreter(c *call, args []text) {
	c.scan(c.program, args)
	code := c.does&doesInlineCode != 0
	if c.program.name == "tsx" && len(c.operands) > 1 && c.operands[0].s == "watch" {
		c.operands = c.operands[1:]
	}
	switch {
	case code:
		c.guess(c.operands)
	case len(c.operands) > 0:
		c.runFile(c.operands[0])
		c.targets(c.operands[1:])
		c.guess(c.operands[1:])
	case c.has("jar") || c.has("test"):
		c.does |= doesProjectCode
	case c.has("v") || c.has("version") || c.has("h") || c.has("l"):
	default:
		c.fromInput()
	}
	for _, o := range c.found {
		if strings.HasPrefix(o.val.s, "data:") {
			c.does |= doesInlineCode
		}
	}
	if c.has("inspect") {
		c.does |= doesListen
	}
	c.finish()
}

// python has options that end its options: -c CODE and -m MODULE.
func python(c *call, args []text) {
	for i := 0; i < len(args); i++ {
		s := args[i].s
		switch {
		case args[i].unknown && !args[i].stream && s == "":
			c.unclear("an argument of python is not known")
			c.finish()
			return
		case len(s) < 2 || s[0] != '-':
			if s == "-" {
				c.fromInput()
			} else {
				c.runFile(args[i])
			}
			c.targets(args[i+1:])
			c.guess(args[i+1:])
			c.finish()
			return
		case strings.HasPrefix(s, "--"):
		case strings.ContainsAny(s[1:], "cm"):
			at := strings.IndexAny(s[1:], "cm") + 1
			if s[at] == 'c' {
				c.does |= doesInlineCode
				c.guess(args[min(i+2, len(args)):])
				c.finish()
				return
			}
			rest := args[i+1:]
			if at+1 < len(s) {
				rest = append([]text{args[i].from(at + 1)}, rest...)
			}
			c.module(rest)
			return
		case s == "-i":
			c.does |= doesInlineCode
		case s == "-W" || s == "-X" || s == "-Q":
			i++
		}
	}
	if len(args) == 0 || args[0].s != "--version" && args[0].s != "-V" && args[0].s != "--help" && args[0].s != "-h" {
		c.fromInput()
	}
	c.finish()
}

// module is python -m: modules that are programs too are those programs.
func (c *call) module(words []text) {
	if len(words) == 0 || words[0].unknown {
		c.unclear("which module runs is not known")
		c.finish()
		return
	}
	name := words[0].s
	for i := range pythonModules {
		if named(pythonModules[i].name, name) {
			c.known(&pythonModules[i], words[1:])
			return
		}
	}
	if p := find(name); p != nil {
		c.known(p, words[1:])
		return
	}
	c.does |= doesProjectCode | doesUnknown
	c.guess(words[1:])
	c.finish()
}

// projectCode is a program that is built from the project, or whose arguments are the project's own: they may be paths.
func projectCode(c *call, args []text) {
	c.does |= doesProjectCode | doesWrite
	c.scripts(args)
	c.targets(args)
	c.works("rw")
	c.guess(args)
	c.settings(args)
	c.finish()
}

// settings takes the files that options name from which a build or a test takes code: --config x, --rootdir=x.
func (c *call) settings(args []text) {
	for i, t := range args {
		name, val, attached := strings.Cut(t.s, "=")
		if !named("-c|--config|--config-file|--rootdir|--confcutdir|--settings|--setupFiles|--globalSetup|--require|-r|--import|--script-shell|--init-script|-I|--settings-file|-s|--shell", name) {
			continue
		}
		v := t
		switch {
		case attached:
			v = t.from(len(name) + 1)
		case i+1 < len(args):
			v, val = args[i+1], args[i+1].s
		}
		switch {
		case strings.HasPrefix(val, "{"):
			c.does |= doesInlineCode
		case name == "--shell":
			c.unclear("another shell runs the tasks")
		case strings.HasPrefix(val, "/") || strings.HasPrefix(val, ".."):
			c.file(policy.Execute, v)
		}
	}
}
