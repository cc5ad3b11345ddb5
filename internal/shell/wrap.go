package shell

import (
	"strings"
)

// inPlace is a wrapper that runs its operands and changes nothing that matters: nohup, timeout, nice.
func inPlace(c *call, args []text) {
	c.scan(c.program, args)
	rest := c.operands
	if c.program.name == "ionice" && (c.has("p") || c.has("P") || c.has("u")) {
		c.does |= doesProcess
		c.finish()
		return
	}
	switch c.program.name {
	case "timeout":
		rest = rest[min(1, len(rest)):]
	case "chrt", "taskset", "flock":
		rest = rest[min(1, len(rest)):]
	}
	if c.program.name == "flock" {
		if v, ok := c.value("c"); ok {
			c.pass()
			c.line(v, nil)
			c.close()
			return
		}
	}
	c.again(rest)
}

// commandBuiltin is command and builtin: -v only asks.
func commandBuiltin(c *call, args []text) {
	c.scan(c.program, args)
	if c.has("v") || c.has("V") {
		c.finish()
		return
	}
	c.again(c.operands)
}

// replace is exec: without a command it only redirects.
func replace(c *call, args []text) {
	c.scan(c.program, args)
	if len(c.operands) == 0 {
		c.finish()
		return
	}
	c.again(c.operands)
	c.ok.dead = true
}

// environment is env: assignments, then a command.
func environment(c *call, args []text) {
	n := splitEnd(args)
	c.scan(c.program, args[:n])
	c.operands = append(c.operands[:len(c.operands):len(c.operands)], args[n:]...)
	if v, ok := c.value("C"); ok {
		c.enter(v)
	}
	if v, ok := c.value("u"); ok && meaningOf(v.s) == ourVariable {
		c.does |= doesOperator
	}
	rest := c.operands
	if v, ok := c.value("S"); ok {
		words, known := splitWords(v, c.r.o.Home)
		if !known {
			c.unclear("what env -S is given is not known")
		}
		rest = append(words, rest...)
		if len(rest) > 0 && strings.HasPrefix(rest[0].s, "-") {
			c.unclear("options of env within -S")
		}
	}
	for len(rest) > 0 {
		name, val, ok := strings.Cut(rest[0].s, "=")
		if !ok || name == "" {
			break
		}
		v := variable{name, text{s: val, unknown: rest[0].unknown}}
		c.variable(v.name, v.val)
		c.env = append(c.env[:len(c.env):len(c.env)], v)
		rest = rest[1:]
	}
	if len(rest) == 0 {
		c.does |= doesSecrets // it shows the whole environment
		c.finish()
		return
	}
	c.again(rest)
}

// splitEnd is how many arguments of env are its own when there is -S: what follows its value belongs to the command in it. Without -S it
// is all of them.
func splitEnd(args []text) int {
	for i := 0; i < len(args); i++ {
		s := args[i].s
		name, isLong := strings.CutPrefix(s, "--")
		word, _, attached := strings.Cut(name, "=")
		switch {
		case len(s) < 2 || s[0] != '-' || s == "--":
			return len(args)
		case isLong && shortens(word, "split-string"):
			if !attached {
				i++
			}
			return min(i+1, len(args))
		case isLong:
			if !attached && (shortens(word, "unset") || shortens(word, "chdir")) {
				i++
			}
		default:
			at := strings.IndexAny(s, "SuCP")
			if at < 0 {
				continue
			}
			if at == len(s)-1 {
				i++
			}
			if s[at] == 'S' {
				return min(i+1, len(args))
			}
		}
	}
	return len(args)
}

// shortens reports whether a word is an option or the beginning of it.
func shortens(word, option string) bool { return strings.HasPrefix(option, word) }

// splitWords splits the value of env -S, roughly as a shell would.
func splitWords(t text, home string) ([]text, bool) {
	if t.unknown || strings.ContainsAny(t.s, "\\$#'\"") {
		return []text{{unknown: true}}, false
	}
	var words []text
	for w := range strings.FieldsSeq(t.s) {
		if strings.HasPrefix(w, "~/") || w == "~" {
			w = home + w[1:] // it stays as it is there, but whoever writes it means the folder
		}
		words = append(words, known(w))
	}
	return words, true
}

// privileged is sudo and doas: a part of its own, and more rights for what it runs.
func privileged(c *call, args []text) {
	c.scan(c.program, args)
	rest := c.operands
	if v, ok := c.value("D"); ok {
		c.enter(v)
	}
	for len(rest) > 0 && strings.Contains(rest[0].s, "=") && !strings.Contains(rest[0].s, "/") {
		name, val, _ := strings.Cut(rest[0].s, "=")
		v := variable{name, text{s: val, unknown: rest[0].unknown}}
		c.variable(v.name, v.val)
		c.env = append(c.env[:len(c.env):len(c.env)], v)
		rest = rest[1:]
	}
	c.apart(doesPrivilege, func() {
		if len(rest) > 0 {
			inner := call{r: c.r, st: c.st, in: c.in, words: rest, env: c.env, ok: c.st, fail: c.st}
			inner.run()
		}
	})
}

// apart makes the part of a wrapper that is one in its own right, and then what it runs, with an effect that passes on.
func (c *call) apart(also effects, run func()) {
	outer := c.r.also
	c.does |= also
	c.finish()
	c.r.also |= also
	run()
	c.r.also = outer
}

// substitute is su: -c runs a command as another user.
func substitute(c *call, args []text) {
	c.scan(c.program, args)
	line, ok := c.value("c")
	c.apart(doesPrivilege, func() {
		if ok {
			inner := call{r: c.r, st: c.st, in: c.in, words: c.words}
			inner.line(line, nil)
			inner.close()
		}
	})
}

// manyTimes is xargs and parallel: a command with arguments that come from standard input.
func manyTimes(c *call, args []text) {
	c.scan(c.program, args)
	for _, name := range [...]string{"a"} {
		if v, ok := c.value(name); ok {
			c.role('r', v)
		}
	}
	rest := c.operands
	var more []text
	if c.program.name == "parallel" {
		for i, t := range rest {
			if t.s == ":::" || t.s == ":::+" {
				rest, more = rest[:i], rest[i+1:]
				break
			}
			if t.s == "::::" {
				rest, more = rest[:i], unknownVals
				break
			}
		}
	}
	if more == nil {
		more = c.names()
	}
	if len(rest) == 0 {
		if c.program.name == "parallel" {
			c.whole(more)
			return
		}
		rest = []text{known("echo")}
	}
	hole := "{}"
	if v, ok := c.value("I"); ok && v.s != "" {
		hole = v.s
	}
	replaces := c.has("I") || c.has("i")
	words := filled(rest, hole, more, replaces || c.program.name == "parallel", !replaces)
	if c.program.name == "parallel" && len(rest) == 1 {
		c.whole(words)
		return
	}
	c.again(words)
}

// filled puts the arguments where the hole is; where there is none, at the end if they are to be appended.
func filled(rest []text, hole string, more []text, holes, appends bool) []text {
	words := make([]text, 0, len(rest)+len(more))
	some := false
	for _, t := range rest {
		if !holes || !strings.Contains(t.s, hole) {
			words = append(words, t)
			continue
		}
		some = true
		for _, m := range more {
			filled := t
			filled.s = strings.ReplaceAll(t.s, hole, m.s)
			filled.unknown = t.unknown || m.unknown
			filled.glob = t.glob || m.glob
			if m.unknown {
				filled.s, _, _ = strings.Cut(t.s, hole)
			}
			words = append(words, filled)
		}
	}
	if !some && appends {
		words = append(words, more...)
	}
	return words
}

// names are the words that come from standard input, as far as it is known.
func (c *call) names() []text {
	switch {
	case c.in.doc != nil && !c.in.doc.unknown:
		return wordsOf(c.in.doc.s)
	case c.in.stmt != nil:
		if t, ok := c.piped(); ok {
			return wordsOf(t.s)
		}
		if len(c.in.roots) > 0 {
			return c.in.roots
		}
	}
	return []text{{unknown: true, bare: false}}
}

func wordsOf(s string) []text {
	var words []text
	for w := range strings.FieldsSeq(s) {
		words = append(words, known(w))
	}
	if len(words) > maxFields {
		return []text{{unknown: true}}
	}
	return words
}

// piped is the text that the command before the pipe writes, if that is known.
func (c *call) piped() (text, bool) {
	outer := c.r.src
	c.r.src = c.in.src
	t, ok := c.r.output(c.in.stmt, c.in.st)
	c.r.src = outer
	return t, ok
}

// remote is ssh: what it runs runs on another machine.
func remote(c *call, args []text) {
	c.scan(c.program, args)
	if c.has("V") {
		c.finish()
		return
	}
	c.does |= doesNetwork
	rest := c.operands
	if len(rest) > 0 {
		c.host(rest[0])
		rest = rest[1:]
	}
	for i := range c.found {
		if o := &c.found[i]; o.name == "o" {
			c.sshOption(o.val)
		}
	}
	c.elsewhere(rest, func() {
		inner := call{r: c.r, st: c.st, words: c.words, program: c.program}
		inner.whole(rest)
	})
}

// sshOption is -o Key=value; some values are commands.
func (c *call) sshOption(v text) {
	key, val, ok := strings.Cut(v.s, "=")
	if !ok {
		key, val, _ = strings.Cut(v.s, " ")
	}
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "proxycommand", "localcommand", "knownhostscommand":
		c.nested(text{s: val, unknown: v.unknown})
	case "identityfile", "userknownhostsfile", "certificatefile", "controlpath":
		c.role('r', text{s: val, unknown: v.unknown})
	}
}

// elsewhere makes the part of the wrapper, and runs what it runs on another machine or in a container, whose files are not ours.
func (c *call) elsewhere(rest []text, run func()) {
	c.finish()
	if len(rest) == 0 {
		return
	}
	outer := c.r.away
	c.r.away = true
	run()
	c.r.away = outer
}

// repeated is watch: its operands are one command line.
func repeated(c *call, args []text) {
	c.scan(c.program, args)
	if c.has("x") {
		c.again(c.operands)
		return
	}
	c.whole(c.operands)
}

// recorded is script: -c runs a command, and all is written to a file.
func recorded(c *call, args []text) {
	c.scan(c.program, args)
	v, ok := c.value("c")
	c.spread(c.program)
	if !ok && len(c.operands) > 1 { // BSD: script FILE COMMAND …
		c.finish()
		c.again(c.operands[1:])
		return
	}
	c.finish()
	if ok {
		c.line(v, nil)
		c.close()
	}
}
