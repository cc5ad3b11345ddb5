package program

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// RunOperands is the handler of a wrapper that runs its operands in its place and changes nothing: nohup, nice.
func RunOperands(c *Call, args []Word) {
	c.Scan(args)
	c.RunProcess(c.Operands)
}

// RunProcess is RunInPlace for a wrapper that is a program: whatever it runs, the shell's own folder and variables stay as they are.
func (c *Call) RunProcess(words []Word) {
	ok, fail := c.OK, c.Fail
	c.RunInPlace(words)
	c.OK, c.Fail = ok, fail
}

// RunInPlace runs the words that a wrapper was given. The wrapper is no part: what it runs is. The wrapper is the shell itself, so what the
// words change stays changed.
func (c *Call) RunInPlace(words []Word) {
	if len(words) == 0 {
		c.Finish()
		return
	}
	inner := Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Input: c.Input, Words: words, Env: c.Env, Files: c.Files}
	inner.OK, inner.Fail = c.OK, c.Fail
	inner.Does = c.Does &^ (effect.Execute | c.Row.Does)
	inner.Part = policy.Part{Paths: c.Part.Paths, Hosts: c.Part.Hosts, Unclear: c.Part.Unclear}
	c.Part, c.Files = policy.Part{}, nil
	c.Shell.Run(&inner)
	c.OK, c.Fail = inner.OK, inner.Fail
	c.Files = inner.Files
}

// AnotherName is why a command is unclear that gives a program another name than its own: a program may do something else under it.
const AnotherName = "the program is told another name than its own"

// RunBeside runs words as a command with parts of its own.
func (c *Call) RunBeside(words []Word, s State, in Input) {
	if len(words) > 0 {
		c.Shell.Run(&Call{Shell: c.Shell, Walk: c.Walk, State: s, Input: in, Words: words, Env: c.Env, OK: s, Fail: s})
	}
}

// RunText runs a text as sh -c does, with parts of its own. The call itself becomes a part only if there is anything to say about it.
// args are the arguments from $1 on.
func (c *Call) RunText(text Word, args []Word) {
	c.Does &^= effect.Execute
	c.run(text, args)
	c.FinishIfAny()
}

// run walks a text as a shell runs it.
func (c *Call) run(text Word, args []Word) {
	if text.Unknown {
		c.Does |= effect.InlineCode
		if text.From&effect.Network != 0 {
			c.Does |= effect.RemoteCode
		}
		c.Unclear("the text that is run as a command is not known")
		return
	}
	if text.Pattern && text.Expanded {
		c.Does |= effect.InlineCode
		c.Unclear("the name of a file becomes part of a command, and a name may be a command too")
	}
	s := c.Inside()
	if !inShell(c) {
		s = Child(c, path.Base(c.Words[0].Text) == "bash").WithArguments(args)
	}
	c.OK, c.Fail = c.Shell.Script(text.Text, s, c.Input)
}

// inShell reports whether the shell itself runs the text that the call was given.
func inShell(c *Call) bool { return Named("eval|trap|mapfile|readarray", c.Words[0].Text) }

// Inside returns the state that the command itself sees: with what was assigned for it.
func (c *Call) Inside() State {
	s := c.State
	for _, v := range c.Env {
		s = c.Walk.Assign(s, v.Name, v.Value)
	}
	return s
}

// RunWords runs words as one command line, as eval and watch do.
func (c *Call) RunWords(words []Word) {
	var line Word
	for i, w := range words {
		if i > 0 {
			line.Text += " "
		}
		line.Text += w.Text
		line.Unknown = line.Unknown || w.Unknown
		line.From |= w.From
		if w.Pattern && w.Expanded {
			line.Pattern, line.Expanded = true, true
		}
	}
	if len(words) == 0 {
		c.Finish()
		return
	}
	c.RunText(line, nil)
}

// RunNested reads a command line that the program will run. Its parts are added before the part of the program.
func (c *Call) RunNested(line Word) {
	inner := Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Words: c.Words, Env: c.Env}
	inner.run(line, nil)
	for _, why := range inner.Part.Unclear {
		c.Unclear(why)
	}
	c.Does |= inner.Does
}

// RunWith makes the part of a wrapper that is one in its own right, and then runs something that inherits an effect from it.
func (c *Call) RunWith(inherited effect.Set, run func()) {
	outer := c.Walk.Inherited
	c.Does |= inherited
	c.Finish()
	c.Walk.Inherited |= inherited
	run()
	c.Walk.Inherited = outer
}

// RunElsewhere makes the part of a wrapper, and then runs words as one command line on another machine or in a container, where paths are
// not ours.
func (c *Call) RunElsewhere(words []Word) {
	c.Finish()
	if len(words) == 0 {
		return
	}
	outer := c.Walk.Elsewhere
	c.Walk.Elsewhere = true
	inner := Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Words: c.Words}
	inner.RunWords(words)
	c.Walk.Elsewhere = outer
}

// Fill puts names in the place of a hole such as {}. If no word has the hole, the names follow at the end if appends is set.
func Fill(words []Word, hole string, names []Word, holes, appends bool) []Word {
	filled := make([]Word, 0, len(words)+len(names))
	some := false
	for _, w := range words {
		if !holes || !strings.Contains(w.Text, hole) {
			filled = append(filled, w)
			continue
		}
		some = true
		for _, name := range names {
			f := w
			f.Text = strings.ReplaceAll(w.Text, hole, name.Text)
			f.Unknown = w.Unknown || name.Unknown
			f.Pattern = w.Pattern || name.Pattern
			f.Expanded = w.Expanded || name.Pattern // a name, also between quotes
			f.Except, f.Split, f.File = name.Except, name.Split, name.File
			if name.Unknown {
				f.Text, _, _ = strings.Cut(w.Text, hole)
			}
			filled = append(filled, f)
		}
	}
	if !some && appends {
		for _, name := range names {
			name.Expanded = name.Expanded || name.Pattern
			filled = append(filled, name)
		}
	}
	return filled
}
