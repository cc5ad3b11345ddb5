package language

import (
	"strings"

	"mycelium/internal/shell/program"
)

// Interpreters whose options are whole words behind one hyphen, with some that are letters.

// onJava handles scala, groovy and kotlin: the options of Java before their own have values.
func onJava(c *program.Call, args []program.Word) {
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		name, _, attached := strings.Cut(strings.TrimLeft(args[0].Text, "-"), "=")
		switch {
		case !program.Named("cp|classpath|class-path|toolcp|howtorun|d|c|encoding|configscript|i|I|sourcepath", name):
			if !strings.HasPrefix(name, "J") && !strings.HasPrefix(name, "D") && !program.Named("nc|feature|deprecation|save|usejavacp|v", name) {
				interpret(c, args)
				return
			}
		case attached:
			c.Role('x', args[0].Tail(strings.IndexByte(args[0].Text, '=')+1))
		case len(args) > 1:
			for one := range strings.SplitSeq(args[1].Text, ":") {
				c.Role('x', program.Word{Text: one, Unknown: args[1].Unknown})
			}
			args = args[1:]
		}
		args = args[1:]
	}
	interpret(c, args)
}

// powerShell handles pwsh: its options are words in any case, which may be shortened.
func powerShell(c *program.Call, args []program.Word) {
	for i := 0; i < len(args); i++ {
		name, isOption := strings.CutPrefix(strings.ToLower(args[i].Text), "-")
		name = strings.TrimPrefix(name, "-")
		switch {
		case args[i].Unknown:
			c.Unclear("an argument of the shell is not known")
		case !isOption || name == "":
			c.RunFile(args[i])
			c.Guess(args[i+1:])
			c.Finish()
			return
		case program.Named("f|fi|fil|file", name):
			continue
		case strings.HasPrefix(name, "c") || strings.HasPrefix(name, "e") && !strings.HasPrefix(name, "ex") && name != "ep":
			c.RunInput()
			c.Finish()
			return
		case program.Named("ex|ep|executionpolicy|inputformat|in|outputformat|of|o|version|windowstyle|w|workingdirectory|wd|settingsfile", name):
			i++
		case program.Named("v|h|help|?", name):
			c.Finish()
			return
		}
	}
	c.RunInput()
	c.Finish()
}
