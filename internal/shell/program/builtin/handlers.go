package builtin

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// changeDir handles cd and pushd.
func changeDir(c *program.Call) {
	moved(c)
	to := program.Word{Text: c.Walk.Home, Unknown: c.Walk.Home == ""}
	if vals, ok := c.State.Lookup("HOME"); ok && len(vals) == 1 {
		to = vals[0]
	}
	if len(c.Operands) > 0 {
		to = c.Operands[0]
	}
	if to.Text == "-" && !to.Unknown {
		to = program.Word{Unknown: true}
		if vals, ok := c.State.Lookup("OLDPWD"); ok && len(vals) == 1 {
			to = vals[0]
		}
	}
	if len(c.Operands) > 0 && c.Operands[0].Text == "-" && to.Unknown {
		c.OK = c.State.At(nil, true)
		return
	}
	before := c.State
	old := program.Word{Unknown: true}
	if len(before.Dirs) == 1 && !before.Lost {
		old = program.Known(before.Dirs[0])
	}
	if to.Unknown || to.MayBeEmpty || to.Pattern && !to.Folders() {
		c.Unclear("the folder that it goes to is not known")
		c.OK = before.At(nil, true).With("OLDPWD", old)
	} else if to.Text != "" {
		if len(c.Operands) > 0 {
			c.File(policy.Read, to)
		}
		c.Enter(to)
		c.OK = c.State.With("OLDPWD", old)
		if c.Has("P") {
			c.OK.Lost = true
		}
	}
	c.Fail = before
}

// history handles history: a file is read into the list of commands, or the list is written to it.
func history(c *program.Call) {
	if c.HasAny("p", "s") {
		return
	}
	for _, w := range c.Operands {
		c.File(policy.Read, w)
		if c.HasAny("a", "w") {
			c.File(policy.Write, w)
		}
	}
}

// popDir handles popd.
func popDir(c *program.Call) {
	moved(c)
	c.OK = c.State.At(nil, true)
	if vals, ok := c.State.Lookup("OLDPWD"); ok && len(vals) == 1 && !vals[0].Unknown {
		c.OK = c.State.At([]string{vals[0].Text}, false)
	}
}

// leave handles exit and return: the shell does not reach the commands after them.
func leave(c *program.Call) {
	if c.Part.Program == "return" {
		if c.Walk.Level == 0 {
			return // bash goes on
		}
		c.Walk.Returned = append(c.Walk.Returned, c.State)
	}
	c.OK.Dead, c.Fail.Dead = true, true
}

// leaveTurn handles break and continue.
func leaveTurn(c *program.Call) { c.Walk.Broken = append(c.Walk.Broken, c.State) }

// setOptions handles set: -e stops the shell after a failure, options change what words mean, and arguments become $1, $2 …
func setOptions(c *program.Call, args []program.Word) {
	if len(args) == 0 {
		c.Does |= effect.Secrets // set without arguments prints every variable
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Unknown || a.Vanishes:
			c.Unclear("an option of set is not known")
			c.Finish()
			return
		case a.Text == "--":
			setArguments(c, args[i+1:])
			return
		case a.Text == "-" && i+1 == len(args):
		case a.Text == "-":
			setArguments(c, args[i+1:])
			return
		case a.Text == "" || a.Text[0] != '-' && a.Text[0] != '+':
			setArguments(c, args[i:])
			return
		}
		for j := 1; j < len(a.Text); j++ {
			option := a.Text[j : j+1]
			if option == "o" {
				if i++; i == len(args) { // it only lists
					break
				}
				if option = args[i].Text; args[i].Unknown {
					option = args[i].Raw
				}
			}
			setOption(c, option, a.Text[0] == '-')
		}
	}
	c.Finish()
}

// setOption handles an option of set, which is a letter or a name.
func setOption(c *program.Call, option string, on bool) {
	if program.Named("e|errexit", option) {
		c.Walk.Errexit = on
	}
	if option != "" && !program.HarmlessOption(option) {
		c.Unclear("the option " + option + " of set changes what later commands mean")
	}
}

// setArguments gives $1, $2 … their values.
func setArguments(c *program.Call, args []program.Word) {
	c.OK = c.OK.WithArguments(args)
	c.Fail = c.OK
	c.Finish()
}

// shiftArguments handles shift.
func shiftArguments(c *program.Call) {
	vals, ok := c.State.Lookup("@")
	switch {
	case !ok:
	case len(c.Operands) > 0 || len(vals) == 0 || vals[0].Unknown:
		c.OK = c.State
		for _, d := range program.Digits[1:] {
			c.OK = c.OK.With(d, program.UnknownWords...)
		}
		c.OK = c.OK.With("@", program.UnknownWords...).With("*", program.UnknownWords...)
	default:
		c.OK = c.State.WithArguments(vals[1:])
	}
	c.Fail = c.OK
}

// printf writes to a variable with -v.
func printf(c *program.Call) {
	if v, ok := c.Value("v"); ok {
		if v.Unknown {
			c.Unclear(unknownVariable)
		}
		c.Touch(v.Text)
		c.State = c.Walk.Assign(c.State, variableOf(v.Text), program.UnknownWords...)
	}
	c.OK, c.Fail = c.State, c.State
}

// read gives its operands a line of its input. One operand may get the names that a find before the pipe writes.
func read(c *program.Call) {
	if v, ok := c.Value("a"); ok {
		c.Touch(v.Text + "[")
		c.State = c.Walk.Assign(c.State, variableOf(v.Text), program.UnknownWords...)
	}
	if name, ok := written.OneOf(c.Input.Names); ok && len(c.Operands) == 1 && wholeLines(c) {
		if c.Operands[0].Unknown {
			c.Unclear(unknownVariable)
		}
		c.Touch(c.Operands[0].Text)
		name.Expanded = name.Pattern
		c.OK = c.Walk.Assign(c.State, c.Operands[0].Text, name)
		c.Fail = c.Walk.Assign(c.State, c.Operands[0].Text, program.UnknownWords...) // there was no line
		return
	}
	forgetNames(c)
}

// unknownVariable is why an assignment is unclear.
const unknownVariable = "which variable is meant is not known"

// wholeLines reports whether read takes a line, or what ends with a zero byte, and not a part of it.
func wholeLines(c *program.Call) bool {
	end, ok := c.Value("d")
	return !c.HasAny("a", "n", "N") && (!ok || end.Text == "" && !end.Unknown)
}

// mapFile handles mapfile: the variable becomes a list of the lines.
func mapFile(c *program.Call) {
	if c.Has("C") {
		c.Unclear("it runs a command with each of its lines")
	}
	for _, o := range c.Operands {
		c.Touch(o.Text + "[")
	}
	forgetNames(c)
	if len(c.Operands) != 1 || len(c.Input.Names) == 0 || c.HasAny("C", "O", "d", "u") || program.IsOurVariable(c.Operands[0].Text) {
		return
	}
	names := slices.Clone(c.Input.Names)
	for i := range names {
		names[i].Expanded, names[i].MayBeEmpty = names[i].Pattern, true
	}
	c.State = c.Walk.Assign(c.State, variableOf(c.Operands[0].Text), names...)
	c.OK, c.Fail = c.State, c.State
}

// forgetNames handles read, mapfile, getopts and unset: the values of the variables become unknown.
func forgetNames(c *program.Call) {
	names := c.Operands
	if v, ok := c.Value("a"); ok {
		names = append(names[:len(names):len(names)], v)
	}
	for _, o := range append(names, program.Known("REPLY"), program.Known("MAPFILE"), program.Known("OPTARG"), program.Known("OPTIND")) {
		if o.Unknown {
			c.Unclear(unknownVariable)
		}
		if c.Part.Program != "unset" {
			c.Touch(o.Text)
		} else {
			if program.IsOurVariable(o.Text) {
				c.Does |= effect.Operator
			}
			forgetFunction(c, o.Text)
			c.State = c.State.DoubtExport(o.Text)
		}
		c.State = c.Walk.Assign(c.State, variableOf(o.Text), program.UnknownWords...)
	}
	c.OK, c.Fail = c.State, c.State
}

// forgetFunction handles unset of a name that may be a function.
func forgetFunction(c *program.Call, name string) {
	if _, _, some := c.State.Function(name); !some {
		return
	}
	c.State = c.State.DoubtFunction(name)
	if len(c.Walk.Traps) > 0 {
		c.Unclear("what a trap calls may change")
	}
}

// variableOf returns the variable of an element: a of a[0].
func variableOf(element string) string {
	name, _, _ := strings.Cut(element, "[")
	return name
}

// exportNames handles export, declare, local and readonly where the parser does not treat them as declarations: after command or builtin.
func exportNames(c *program.Call) {
	st := c.State
	for _, o := range c.Operands {
		name, val, ok := strings.Cut(o.Text, "=")
		if !ok {
			continue
		}
		v := program.Word{Text: val, Unknown: o.Unknown}
		if strings.ContainsAny(name, "[+") {
			name, v = variableOf(strings.TrimSuffix(name, "+")), program.Word{Unknown: true}
			c.Element(name, v)
		} else {
			c.Variable(name, v)
		}
		if c.Has("n") {
			c.Unclear(unknownVariable)
		}
		if c.HasAny("n", "l", "u", "c", "i") || c.Part.Program != "export" && c.Part.Program != "readonly" { // it may be local
			v = program.Word{Unknown: true}
		}
		st = c.Walk.Assign(st, name, v)
		if c.Part.Program == "export" && !c.Has("n") {
			st = st.Export(name)
		}
	}
	c.OK, c.Fail = st, st
}

// trap runs its first operand as a command.
func trap(c *program.Call) {
	if len(c.Operands) > 1 && c.Operands[0].Text != "-" && c.Operands[0].Text != "" {
		setTrap(c, c.Operands[0])
		atEnd := !slices.ContainsFunc(c.Operands[1:], func(o program.Word) bool { return !program.Named("EXIT|0", o.Text) })
		if !atEnd && program.ContainsAny(c.Operands[0].Text, "=", "cd ", "pushd", "set ", "read", "eval", "declare", "source", ". ",
			"unset", "()", "function") {
			c.Unclear("a trap changes what later commands mean")
		}
	}
}

// setTrap walks what a trap runs, and records it: variables and the working directory may change before it runs.
func setTrap(c *program.Call, text program.Word) {
	first := len(c.Walk.Parts)
	c.Walk.InTrap = true
	c.RunNested(text)
	c.Walk.InTrap = false
	c.Walk.Traps = append(c.Walk.Traps, text.Text)
	for _, part := range c.Walk.Parts[first:] {
		c.Walk.TrapHere = c.Walk.TrapHere || part.Program == "cd" ||
			slices.ContainsFunc(part.Paths, func(p policy.Path) bool { return strings.IndexAny(p.Raw, "/~") != 0 })
	}
}

// moved handles a change of the working directory: a trap may work in the new one.
func moved(c *program.Call) {
	if c.Walk.TrapHere {
		c.Unclear("a trap works in the folder that is the working directory then")
	}
}

// place handles hash: with -p it says where a program is.
func place(c *program.Call) {
	if c.Has("p") {
		c.Unclear("which program a name means changes")
	}
}

// alias changes what later words mean.
func alias(c *program.Call) {
	for _, o := range c.Operands {
		if strings.Contains(o.Text, "=") || o.Unknown {
			c.Unclear("an alias changes what later words mean")
		}
	}
}

// eval runs its arguments as a command line.
func eval(c *program.Call, args []program.Word) {
	c.RunWords(args)
}

// source runs a script in this shell.
func source(c *program.Call, args []program.Word) {
	c.Scan(args)
	if len(c.Operands) == 0 {
		c.Finish()
		return
	}
	c.RunFile(c.Operands[0])
	c.OK = c.State.Doubt() // the file may set any variable
	c.Walk.TrapChanged = c.Walk.TrapChanged || slices.ContainsFunc(c.Walk.Traps, func(text string) bool { return strings.Contains(text, "$") })
	c.Fail = c.OK
	c.Finish()
}

// command handles command and builtin. With -v it only prints what the name means.
func command(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.HasAny("v", "V") {
		c.Finish()
		return
	}
	c.RunInPlace(c.Operands)
}

// exec replaces the shell with a command. Without a command it only redirects.
func exec(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.Has("a") {
		c.Unclear(program.AnotherName)
	}
	if len(c.Operands) == 0 {
		c.Finish()
		return
	}
	if c.Has("c") {
		c.ForgetEnvironment()
	}
	c.RunInPlace(c.Operands)
	c.OK.Dead = true
}

// umask may let others write the files created later.
func umask(c *program.Call) {
	if len(c.Operands) == 0 {
		return
	}
	mask := c.Operands[0]
	last := byte('2')
	if mask.Text != "" && !mask.Unknown {
		last = mask.Text[len(mask.Text)-1]
	}
	if mask.Unknown || last < '0' || last > '7' || (last-'0')&2 == 0 {
		c.Does |= effect.Privilege
	}
}

// test handles test and [: a test of a file reads it.
func test(c *program.Call, args []program.Word) {
	for i, t := range args {
		if fileTest(t.Text) && i+1 < len(args) {
			if next := args[i+1]; !next.Unknown {
				c.Role('l', next)
			}
		}
	}
	c.Finish()
}

// fileTest reports whether an operator of test looks at a file.
func fileTest(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("abcdefghkprstuwxGLNOS", s[1]) >= 0
}
