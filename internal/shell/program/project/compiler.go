package project

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
)

// joined are the options of C compilers whose value may follow without a blank, and the role of the value.
var joined = [...]struct {
	prefix string
	role   byte
}{{"-MF", 'w'}, {"-MJ", 'w'}, {"-B", 'e'}, {"-dumpdir", 'w'}, {"-o", 'w'}}

// compile handles gcc and clang, which have thousands of options in a few families: the words of those are read apart.
func compile(c *program.Call, args []program.Word) {
	named := make([]program.Word, 0, len(args))
	for i, w := range args {
		switch {
		case i > 0 && program.Named(separateC, args[i-1].Text) || !ofFamily(w.Text):
			named = append(named, w)
		case !family(c, w):
			c.Unclear("what the option " + w.Text + " does is not known")
		}
	}
	c.Scan(named)
	c.Spread()
	compileC(c)
	c.Finish()
}

// separateC are options of C compilers whose value is the next word, also if that looks like an option.
const separateC = "-o|-include|-imacros|-Xlinker|-Xclang|-Xpreprocessor|-Xassembler|-MT|-MQ|-MF"

// ofFamily reports whether a word is an option with its value attached to one letter, or one of a family: -Wall, -fPIC, -march=native.
func ofFamily(w string) bool {
	if len(w) < 3 || w[0] != '-' || strings.IndexByte("WfmOgDUILloB", w[1]) < 0 && !attached(w) {
		return false
	}
	name, _, _ := strings.Cut(w, "=")
	return !program.Named("-fplugin|-fpass-plugin|-fuse-ld|-load|-Ofast|-language|-output|-mllvm", name)
}

// attached reports whether a word is an option with a file attached.
func attached(w string) bool {
	return strings.HasPrefix(w, "-MF") || strings.HasPrefix(w, "-MJ")
}

// family reports whether an option of a family is harmless. A file that one names may be read or written, and one runs a program.
func family(c *program.Call, word program.Word) bool {
	w := word.Text
	name, _, valued := strings.Cut(w, "=")
	switch {
	case strings.IndexByte("DUILloBM", w[1]) >= 0, strings.HasPrefix(w, "-Wl,"), strings.HasPrefix(w, "-Wp,"), strings.HasPrefix(w, "-Wa,"),
		strings.HasSuffix(name, "-prefix-map"):
		return true // see compileC
	case !valued:
		return !strings.ContainsAny(w, "/|")
	}
	value := word.Tail(len(name) + 1)
	if program.Named("-fprofile-use|-fsanitize-blacklist|-fsanitize-ignorelist|-fprofile-instr-use", name) {
		c.Role('r', value)
		return true
	}
	c.Role('g', value)
	return !strings.ContainsAny(value.Text, "/|")
}

// compileC handles gcc and clang: what goes to the linker, and options with their values attached.
func compileC(c *program.Call) {
	linker := append([]program.Word{program.Known("ld")}, handed(c, "-Wl,", "-Xlinker")...)
	preprocess(c, append(handed(c, "-Wp,", "-Xpreprocessor"), handed(c, "", "-Xclang")...))
	assemble(c, handed(c, "-Wa,", "-Xassembler"))
	for _, w := range c.Words[1:] {
		if strings.HasPrefix(w.Text, "-Wl,") || strings.HasPrefix(w.Text, "-Wp,") {
			continue
		}
		if program.Named("-fplugin-arg|-openmp|-objc|-output", w.Text) || strings.HasPrefix(w.Text, "-o=") {
			continue
		}
		for _, j := range joined {
			if len(w.Text) > len(j.prefix) && strings.HasPrefix(w.Text, j.prefix) {
				c.Role(j.role, w.Tail(len(j.prefix)))
			}
		}
	}
	if v, ok := c.Value("fuse-ld"); ok && !strings.Contains(v.Text, "/") { // one of the compiler's own linkers
		c.Part.Paths = without(c.Part.Paths, v.Text)
	}
	if len(linker) > 1 {
		c.RunBeside(linker, c.State, program.Input{})
	}
}

// handed returns the words that a compiler hands on: those behind commas in one word, and those behind an option of their own.
func handed(c *program.Call, joined, single string) (words []program.Word) {
	for i, w := range c.Words[1:] {
		if rest, ok := strings.CutPrefix(w.Text, joined); ok && joined != "" {
			for one := range strings.SplitSeq(rest, ",") {
				words = append(words, program.Word{Text: one, Unknown: w.Unknown, Pattern: w.Pattern})
			}
		} else if w.Text == single && i+2 < len(c.Words) {
			words = append(words, c.Words[i+2])
		}
	}
	return words
}

// preprocess takes the options that go to the preprocessor, where -MD names its file, and to the compiler proper of clang.
func preprocess(c *program.Call, words []program.Word) {
	for i, w := range words {
		if i+1 == len(words) {
			return
		}
		switch w.Text {
		case "-MD", "-MMD", "-MF", "-o", "-dependency-file":
			c.Role('w', words[i+1])
		case "-include", "-imacros", "-include-pch":
			c.Role('r', words[i+1])
		case "-load":
			c.Role('x', words[i+1])
		}
	}
}

// assemble takes the options that go to the assembler.
func assemble(c *program.Call, words []program.Word) {
	for i, w := range words {
		_, value, ok := strings.Cut(w.Text, "=")
		switch {
		case strings.HasPrefix(w.Text, "@"):
			c.Role('x', w.Tail(1))
		case ok:
			c.Role('w', w.Tail(len(w.Text)-len(value)))
		case program.Named("-o|--MD", w.Text) && i+1 < len(words):
			c.Role('w', words[i+1])
		}
	}
}

// without returns the paths other than the one that was written as a text.
func without(paths []policy.Path, raw string) (rest []policy.Path) {
	for _, p := range paths {
		if p.Raw != raw {
			rest = append(rest, p)
		}
	}
	return rest
}

// protoc runs a plugin by name, or by a name and a path, and writes into folders that may stand behind options of the plugin.
func protoc(c *program.Call) {
	for _, w := range c.Words[1:] {
		name, value, _ := strings.Cut(w.Text, "=")
		if strings.HasSuffix(name, "_out") {
			c.Role('w', program.Word{Text: value[strings.LastIndexByte(value, ':')+1:], Unknown: w.Unknown})
		}
	}
	for _, o := range c.Options {
		if o.Name == "plugin" {
			c.Role('x', o.Value.Tail(strings.IndexByte(o.Value.Text, '=')+1))
		}
	}
}

// cmake has options whose value is attached to a letter, and -E, behind which nothing is an option of its own.
func cmake(c *program.Call, args []program.Word) {
	tool := len(args) > 1 && args[0].Text == "-E"
	if tool {
		c.Scan(args[:2])
		for _, w := range args[2:] {
			if !strings.HasPrefix(w.Text, "-") || len(w.Text) < 2 {
				c.Operands = append(c.Operands, w)
			}
		}
	} else {
		c.Scan(spaced(args))
		toMake(c, args)
	}
	c.Spread()
	if tool {
		cmakeTool(c, args[1])
	}
	for _, o := range c.Options {
		key, val, ok := strings.Cut(o.Value.Text, "=")
		key, _, _ = strings.Cut(key, ":")
		at := o.Value.Tail(len(o.Value.Text) - len(val))
		switch {
		case o.Name != "D" || !ok:
		case program.ContainsAny(val, "/") && program.ContainsAny(key, "COMPILER", "TOOLCHAIN", "LAUNCHER", "LINKER", "INCLUDE", "PROGRAM",
			"MODULE_PATH", "COMMAND", "EXECUTABLE", "PREFIX_PATH"):
			c.Role('x', at)
		default:
			c.Role('g', at)
		}
	}
	c.Finish()
}

// toMake takes the words behind --, which go to the program that builds.
func toMake(c *program.Call, args []program.Word) {
	i := slices.IndexFunc(args, func(w program.Word) bool { return w.Text == "--" })
	for _, w := range args[i+1:] {
		if name := strings.TrimRight(w.Text, "0123456789"); i >= 0 && (w.Unknown || w.Text[:min(1, len(w.Text))] == "-" &&
			!program.Named("-j|-k|-l|-s|-v|-n|--jobs|--keep-going|--verbose|--silent|--quiet", name)) {
			c.Unclear("what the option " + w.Text + " of the program that builds does is not known")
		}
	}
}

// ctest has an option with a number attached.
func ctest(c *program.Call, args []program.Word) {
	c.Scan(slices.DeleteFunc(slices.Clone(args), func(w program.Word) bool {
		return len(w.Text) > 2 && w.Text[:2] == "-j" && strings.Trim(w.Text[2:], "0123456789") == ""
	}))
	c.Spread()
	c.Finish()
}

// spaced puts a blank between a letter and its value: -Bbuild. What only warns is left out.
func spaced(args []program.Word) (words []program.Word) {
	for _, w := range args {
		switch {
		case w.Text == "--":
			return words
		case len(w.Text) > 2 && w.Text[0] == '-' && strings.IndexByte("SBGDUCPTA", w.Text[1]) >= 0:
			words = append(words, program.Known(w.Text[:2]), w.Tail(2))
		case strings.HasPrefix(w.Text, "-W"), strings.HasPrefix(w.Text, "-j") && strings.Trim(w.Text[2:], "0123456789") == "":
		default:
			words = append(words, w)
		}
	}
	return words
}

// cmakeTool handles cmake -E, which does what programs for files do, and runs other programs.
func cmakeTool(c *program.Call, tool program.Word) {
	if tool.Unknown {
		c.Unclear("which tool of cmake runs is not known")
	}
	rest := c.Words[min(3, len(c.Words)):]
	switch tool.Text {
	case "rm", "remove", "remove_directory":
		for _, w := range c.Operands {
			c.File(policy.Delete, w)
		}
	case "rename":
		for i, w := range c.Operands {
			c.Role([]byte("mw")[min(i, 1)], w)
		}
	case "env":
		c.RunBeside(append([]program.Word{program.Known("env")}, rest...), c.State, program.Input{})
	case "time":
		c.RunBeside(rest, c.State, program.Input{})
	case "chdir":
		if len(rest) > 1 {
			c.Unclear("a program runs in another folder")
		}
	case "capabilities", "cat", "compare_files", "echo", "echo_append", "environment", "md5sum", "sha1sum", "sha256sum", "sha512sum", "sleep",
		"true", "false":
	default:
		for _, w := range c.Operands {
			c.File(policy.Write, w)
		}
	}
}
