package wrapper

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// shell is sh, bash and their like: it runs a script, a text after -c, or what comes to standard input.
func shell(c *program.Call, args []program.Word) {
	o, rest := shellOptions(c, args)
	if o.interactive && !o.command {
		c.Does |= effect.InlineCode
	}
	switch {
	case o.command && len(rest) > 0:
		ok, fail := c.OK, c.Fail
		if len(rest) > 1 {
			c.State = c.State.With("0", rest[1]).Export("0")
		}
		c.RunText(rest[0], rest[min(2, len(rest)):])
		c.OK, c.Fail = ok, fail // it was a shell of its own
	case len(rest) > 0 && o.check:
		c.File(policy.Read, rest[0])
		c.Finish()
	case len(rest) > 0 && !o.stdin && !o.command:
		c.RunFile(rest[0])
		if name := path.Base(rest[0].Text); program.Named(program.Launchers, name) {
			c.RunBeside(append([]program.Word{program.Known(name)}, rest[1:]...), c.State, program.Input{})
		}
		c.Guess(rest[1:])
		c.Finish()
	default:
		shellInput(c, rest)
	}
}

// options are those of a shell that matter.
type options struct {
	command     bool // -c: the first operand is a command line
	stdin       bool // -s
	interactive bool // -i
	check       bool // -n: it only parses
}

// shellOptions reads the options of a shell. It returns the operands behind them.
func shellOptions(c *program.Call, args []program.Word) (o options, rest []program.Word) {
	for i := 0; i < len(args); i++ {
		t := args[i]
		switch {
		case t.Text == "-" || t.Text == "--":
			return o, args[i+1:]
		case len(t.Text) < 2, t.Text[0] != '-' && t.Text[0] != '+':
			return o, args[i:]
		case strings.HasPrefix(t.Text, "--"):
			i += longOption(c, t, args[i+1:])
			continue
		case c.Part.Program == "fish" && program.Named("-C|-d|-D|-o", t.Text):
			if i++; i < len(args) {
				fishOption(c, t.Text, args[i])
			}
			continue
		}
		o.command = o.command || t.Text[0] == '-' && strings.Contains(t.Text, "c")
		o.stdin = o.stdin || strings.Contains(t.Text, "s")
		o.interactive = o.interactive || strings.Contains(t.Text, "i")
		o.check = o.check || t.Text == "-n"
		for j := range len(t.Text) - 1 {
			option := t.Text[j+1 : j+2]
			if takes := option == "o" || option == "O" && c.Part.Program == "bash"; takes {
				if i++; i == len(args) {
					return o, nil
				}
				if option == "o" && !args[i].Unknown {
					option = args[i].Text
				}
			}
			letter(c, option)
		}
	}
	return o, nil
}

// letter takes an option of a shell: a letter, or the name behind -o.
func letter(c *program.Call, option string) {
	switch {
	case program.Named("fish|csh|tcsh", c.Part.Program), program.Named("c|s|i|l|D", option), option == "f" && c.Part.Program == "zsh":
	case !program.HarmlessOption(option):
		c.Unclear("the option " + option + " of a shell changes what its commands mean")
	}
}

// fishOption takes the value of an option of fish that no other shell has.
func fishOption(c *program.Call, option string, value program.Word) {
	switch option {
	case "-C":
		c.RunNested(value)
		c.Does |= effect.InlineCode
	case "-o":
		c.Role('w', value)
	}
}

// longOptions are those of bash and zsh after which their commands mean the same.
const longOptions = "--login|--noprofile|--norc|--no-rcs|--no-globalrcs|--noediting|--restricted|--verbose|--version|--help|" +
	"--dump-strings|--dump-po-strings|--rcfile|--init-file"

// longOption reads a long option of a shell. It returns how many of the following words belong to it.
func longOption(c *program.Call, t program.Word, next []program.Word) int {
	name, _, attached := strings.Cut(t.Text, "=")
	if !program.Named("fish|csh|tcsh", c.Part.Program) && !program.Named(longOptions, name) {
		c.Unclear("the option " + name + " of a shell changes what its commands mean")
	}
	switch {
	case program.Named("--command|--init-command", name): // of fish
		c.Does |= effect.InlineCode
		return 0
	case !program.Named("--rcfile|--init-file|--emulate|--features|--debug", name) || attached || len(next) == 0:
		return 0
	case program.Named("--rcfile|--init-file", name):
		c.Role('x', next[0])
	}
	return 1
}

// shellInput runs what comes to standard input as a script with arguments.
func shellInput(c *program.Call, args []program.Word) {
	text, ok := program.Word{}, false
	switch {
	case c.Input.Document != nil:
		text, ok = *c.Input.Document, !c.Input.Document.Unknown
	case c.Input.Output != nil:
		text, ok = c.Input.Output()
	}
	if !ok {
		c.RunInput()
		c.Finish()
		return
	}
	before := len(c.Walk.Parts)
	c.Shell.Script(text.Text, program.Child(c, path.Base(c.Words[0].Text) == "bash").WithArguments(args), program.Input{})
	if len(c.Walk.Parts) > before {
		c.Does &^= effect.Execute
	}
	c.FinishIfAny()
}
