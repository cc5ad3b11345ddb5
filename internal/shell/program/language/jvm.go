package language

import (
	"slices"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// java has options with the value attached to the name, and options with a colon before the value. What stands behind the program belongs
// to it.
func java(c *program.Call, args []program.Word) {
	var rest []program.Word
	if i := slices.IndexFunc(args, func(w program.Word) bool { return program.Named("-jar|-m|--module", w.Text) }); i >= 0 && i+2 < len(args) {
		args, rest = args[:i+2], args[i+2:]
	}
	c.Scan(slices.DeleteFunc(slices.Clone(args), func(w program.Word) bool { return javaOption(c, w) }))
	c.Operands = append(c.Operands, rest...)
	for _, o := range c.Options {
		if program.Named("cp|p", o.Name) {
			program.Path(c, 'x', o.Value)
		}
	}
	if c.HasAny("jar", "m") {
		c.Does |= effect.ProjectCode
		c.Guess(c.Operands)
		c.Finish()
		return
	}
	runScanned(c)
}

// javaOption handles an option whose value is attached, and reports whether the word is one.
func javaOption(c *program.Call, w program.Word) bool {
	name, rest, colon := strings.Cut(w.Text, ":")
	at := len(w.Text) - len(rest)
	switch {
	case strings.HasPrefix(w.Text, "-D"):
		c.MaybePath(w.Tail(2))
	case program.Named("-Xm|-Xs|-Xn", w.Text[:min(3, len(w.Text))]) && !colon && w.Text != "-Xmixed":
		return strings.Trim(w.Text[3:], "snxkmgtKMGT0123456789") == "" // a size
	case !colon:
		return false
	case name == "-Xloggc":
		c.Role('w', w.Tail(at))
	case name == "-Xlog":
		for part := range strings.SplitSeq(rest, ":") {
			part = strings.TrimPrefix(part, "file=")
			c.Role('w', program.Word{Text: strings.Trim(part, `"`), Unknown: w.Unknown})
		}
	case program.Named("-javaagent|-agentpath|-agentlib", name):
		file, how, _ := strings.Cut(rest, "=")
		c.Role('x', program.Word{Text: file, Unknown: w.Unknown})
		if strings.Contains(how, "server=y") {
			c.Does |= effect.Listen
		}
	case name == "-XX":
		machineOption(c, rest, w.Unknown)
	case strings.HasPrefix(name, "-Xbootclasspath") || name == "-Xshare" && strings.Contains(rest, "/"):
		c.Role('x', w.Tail(at))
	default:
		return program.Named("-ea|-da|-enableassertions|-disableassertions|-verbose|-Xshare|-XshowSettings|-Xcheck|-Xverify", name)
	}
	return true
}

// machineOption handles -XX, an option of the machine: some run a command line, some name files with more options or with code, and others
// files that are written.
func machineOption(c *program.Call, option string, unknown bool) {
	name, text, valued := strings.Cut(option, "=")
	value := program.Word{Text: text, Unknown: unknown}
	switch {
	case strings.HasPrefix(name, "On"): // OnError, OnOutOfMemoryError
		c.RunNested(value)
	case program.ContainsAny(name, "Flags", "VMOptions", "SharedArchive", "AOT", "CompileCommandFile", "CompilerDirectivesFile"):
		c.Role('x', value)
	case strings.HasPrefix(name, "StartFlightRecording") || unknown:
		c.Unclear("an option of the machine may write files")
	case valued && (strings.Contains(text, "/") || strings.HasSuffix(name, "File") || strings.HasSuffix(name, "Path")):
		c.Role('w', value)
	}
}

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

// asClang handles zig cc, which is clang.
func asClang(c *program.Call, args []program.Word) { c.Apply(c.Shell.Find("clang"), args) }

// compileSwift handles swiftc. Options for the linker stand behind -Xlinker, one at a time.
func compileSwift(c *program.Call, args []program.Word) {
	linker := []program.Word{program.Known("ld")}
	var named []program.Word
	for i := 0; i < len(args); i++ {
		w := args[i]
		role, joined := c.Row.Names(w.Text[:min(2, len(w.Text))][min(1, len(w.Text)):])
		_, known := c.Row.Names(strings.TrimLeft(strings.SplitN(w.Text, "=", 2)[0], "-"))
		switch {
		case w.Text == "-Xlinker" && i+1 < len(args):
			i++
			linker = append(linker, args[i])
		case len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && !known && joined && strings.IndexByte("IFLlDj", w.Text[1]) >= 0:
			c.Role(role, w.Tail(2))
		default:
			named = append(named, w)
		}
	}
	c.Scan(named)
	c.Spread()
	if len(linker) > 1 {
		c.RunBeside(linker, c.State, program.Input{})
	}
	c.Finish()
}

// link handles the linker, which has options with the value attached to one letter.
func link(c *program.Call, args []program.Word) {
	c.Scan(slices.DeleteFunc(slices.Clone(args), func(w program.Word) bool {
		if len(w.Text) > 2 && w.Text[:2] == "-L" {
			c.Role('r', w.Tail(2))
		}
		return len(w.Text) > 2 && w.Text[0] == '-' && strings.IndexByte("LlzOu", w.Text[1]) >= 0
	}))
	c.Spread()
	c.Finish()
}
