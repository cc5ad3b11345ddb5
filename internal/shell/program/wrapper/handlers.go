package wrapper

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// behindFirst handles a wrapper whose first operand is its own: timeout 5 COMMAND, taskset MASK COMMAND.
func behindFirst(c *program.Call, args []program.Word) {
	c.Scan(args)
	c.RunProcess(c.Operands[min(1, len(c.Operands)):])
}

// ionice changes processes that run already with -p, -P and -u.
func ionice(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.HasAny("p", "P", "u") {
		c.Does |= effect.Process
		c.Finish()
		return
	}
	c.RunProcess(c.Operands)
}

// flock runs the command line of -c, or the operands after the file.
func flock(c *program.Call, args []program.Word) {
	c.Scan(args)
	if len(c.Operands) > 0 {
		lock(c, c.Operands[0])
	}
	if v, ok := c.Value("c"); ok {
		c.RunText(v, nil)
		return
	}
	if len(c.Operands) == 3 && program.Named("-c|--command", c.Operands[1].Text) {
		c.RunText(c.Operands[2], nil)
		return
	}
	c.RunProcess(c.Operands[min(1, len(c.Operands)):])
}

// lock opens the file, or the folder, that flock locks. It makes the file if there is none. A number is a file that is open.
func lock(c *program.Call, file program.Word) {
	if !file.Unknown && strings.Trim(file.Text, "0123456789") == "" {
		return
	}
	c.File(policy.Read, file)
	if file.Text != "." && !strings.HasSuffix(file.Text, "/") {
		c.File(policy.Write, file)
	}
}

// env takes assignments, and then a command.
func env(c *program.Call, args []program.Word) {
	n := splitEnd(args)
	c.Scan(args[:n])
	c.Operands = append(c.Operands[:len(c.Operands):len(c.Operands)], args[n:]...)
	if c.Has("a") {
		c.Unclear(program.AnotherName)
	}
	if v, ok := c.Value("C"); ok {
		c.Enter(v)
	}
	if v, ok := c.Value("u"); ok && program.IsOurVariable(v.Text) {
		c.Does |= effect.Operator
	}
	if c.Has("i") {
		c.ForgetEnvironment()
	}
	for _, o := range c.Options {
		if o.Name == "u" { // an exported function is a variable, too
			c.ForgetVariable(o.Value)
		}
	}
	rest := c.Operands
	if len(rest) > 0 && rest[0].Text == "-" && !rest[0].Unknown { // as -i
		c.ForgetEnvironment()
		rest = rest[1:]
	}
	if v, ok := c.Value("S"); ok {
		words, known := splitWords(v, c.Walk.Home)
		if !known {
			c.Unclear("what env -S is given is not known")
		}
		rest = append(words, rest...)
		if len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
			c.Unclear("options of env within -S")
		}
	}
	for len(rest) > 0 && strings.Index(rest[0].Text, "=") > 0 {
		assign(c, rest[0])
		rest = rest[1:]
	}
	if len(rest) == 0 {
		c.Does |= effect.Secrets // env without a command prints the whole environment
		c.Finish()
		return
	}
	c.RunProcess(rest)
}

// abbreviates reports whether a word is the beginning of a long option, as GNU programs take it.
func abbreviates(word, option string) bool { return strings.HasPrefix(option, word) }

// splitEnd returns how many arguments belong to env itself. With -S, the arguments after its value belong to the command in it. Without
// -S, all belong to env.
func splitEnd(args []program.Word) int {
	for i := 0; i < len(args); i++ {
		s := args[i].Text
		name, isLong := strings.CutPrefix(s, "--")
		word, _, attached := strings.Cut(name, "=")
		switch {
		case len(s) < 2 || s[0] != '-' || s == "--":
			return len(args)
		case isLong && abbreviates(word, "split-string"):
			if !attached {
				i++
			}
			return min(i+1, len(args))
		case isLong:
			if !attached && (abbreviates(word, "unset") || abbreviates(word, "chdir")) {
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

// splitWords splits the value of env -S, roughly as a shell would.
func splitWords(t program.Word, home string) ([]program.Word, bool) {
	if t.Unknown || strings.ContainsAny(t.Text, "\\$#'\"") {
		return []program.Word{{Unknown: true}}, false
	}
	var words []program.Word
	for w := range strings.FieldsSeq(t.Text) {
		if strings.HasPrefix(w, "~/") || w == "~" {
			w = home + w[1:] // env does not expand it, but the author means the folder
		}
		words = append(words, program.Known(w))
	}
	return words, true
}

// sudo makes a part of its own, and gives more rights to the command that it runs.
func sudo(c *program.Call, args []program.Word) {
	c.Scan(args)
	rest := c.Operands
	c.ForgetEnvironment()
	if v, ok := c.Value("D"); ok {
		c.Enter(v)
	}
	for len(rest) > 0 && strings.Contains(rest[0].Text, "=") && !strings.Contains(rest[0].Text, "/") {
		assign(c, rest[0])
		rest = rest[1:]
	}
	c.RunWith(effect.Privilege, func() { c.RunBeside(rest, c.State, c.Input) })
}

// assign takes an assignment among the arguments of env or sudo.
func assign(c *program.Call, w program.Word) {
	name, val, _ := strings.Cut(w.Text, "=")
	v := program.Assignment{Name: name, Value: program.Word{Text: val, Raw: w.Raw, Unknown: w.Unknown}}
	c.Variable(v.Name, v.Value)
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], v)
}

// su runs a command as another user with -c.
func su(c *program.Call, args []program.Word) {
	c.Scan(args)
	line, ok := c.Value("c")
	c.RunWith(effect.Privilege, func() {
		if ok {
			inner := program.Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Input: c.Input, Words: c.Words}
			inner.RunText(line, nil)
		}
	})
}

// watch runs its operands as one command line.
func watch(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.Has("x") {
		c.RunProcess(c.Operands)
		return
	}
	c.RunWords(c.Operands)
}

// script runs the command of -c and writes its output to a file.
func script(c *program.Call, args []program.Word) {
	c.Scan(args)
	v, ok := c.Value("c")
	c.Spread()
	if !ok && len(c.Operands) > 1 { // BSD: script FILE COMMAND …
		c.Finish()
		c.RunProcess(c.Operands[1:])
		return
	}
	c.Finish()
	if ok {
		c.RunText(v, nil)
	}
}
