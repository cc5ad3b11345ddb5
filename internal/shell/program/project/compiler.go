package project

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
)

// compile handles gcc, clang and their like. Their options are too many to be named one by one where they only say which code is made:
// families of those are told by their first letter. Every other one stands in the row. An option of which the row does not say what its value
// is makes the command unclear.
func compile(c *program.Call, args []program.Word) {
	to := handOn(args)
	c.Operands = readOptions(c, to.driver)
	c.Spread()
	preprocess(c, to.preprocessor)
	frontEnd(c, to.front)
	if v, ok := c.Value("fuse-ld"); ok && !strings.Contains(v.Text, "/") { // one of the compiler's own linkers
		c.Part.Paths = without(c.Part.Paths, v.Text)
	}
	inside(c, "as", to.assembler)
	if len(to.linker) > 0 {
		c.RunBeside(append([]program.Word{program.Known("ld")}, to.linker...), c.State, program.Input{})
	}
	c.Finish()
}

// handed are the words of a compiler's command line, by the program that gets them.
type handed struct{ driver, preprocessor, front, assembler, linker []program.Word }

// handOn tells the words apart: those behind commas in one word, and those behind an option of their own.
func handOn(args []program.Word) (to handed) {
	to.driver = make([]program.Word, 0, len(args))
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, _, attached := strings.Cut(w.Text, "=")
		list := &to.driver
		switch {
		case strings.HasPrefix(w.Text, "-Wp,"):
			list = &to.preprocessor
		case strings.HasPrefix(w.Text, "-Wa,"):
			list = &to.assembler
		case strings.HasPrefix(w.Text, "-Wl,"):
			list = &to.linker
		case program.Named("-Xpreprocessor", name):
			list = &to.preprocessor
		case program.Named("-Xclang|-Xfrontend", name):
			list = &to.front
		case program.Named("-Xassembler|-for-assembler|--for-assembler", name):
			list = &to.assembler
		case program.Named("-Xlinker|-for-linker|--for-linker", name):
			list = &to.linker
		}
		switch {
		case list == &to.driver:
			*list = append(*list, w)
			if role, named := takesWord(w.Text); named && role != 0 && i+1 < len(args) { // its value may look like an option
				i++
				*list = append(*list, args[i])
			}
		case w.Text[:min(2, len(w.Text))] == "-W":
			for one := range strings.SplitSeq(w.Text[len("-Wp,"):], ",") {
				*list = append(*list, program.Word{Text: one, Unknown: w.Unknown, Pattern: w.Pattern})
			}
		case attached:
			*list = append(*list, w.Tail(len(name)+1))
		case i+1 < len(args):
			i++
			*list = append(*list, args[i])
		}
	}
	return to
}

// takesWord finds a separate option of C compilers whose value is the next word, whatever that looks like.
func takesWord(option string) (role byte, named bool) {
	if len(option) < 2 || option[0] != '-' {
		return 0, false
	}
	role, named = compilerRow.Names(strings.TrimLeft(option, "-"))
	return role, named && role != '?' && (role < 'A' || role > 'Z')
}

// compilerRow has the options of C compilers.
var compilerRow = program.Row{Options: compilerOptions, Plain: plainGcc}

// readOptions reads options of a compiler, and returns the operands.
func readOptions(c *program.Call, words []program.Word) (operands []program.Word) {
	named := make([]program.Word, 0, len(words))
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, valued := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		role, known := compilerRow.Names(name)
		switch {
		case len(w.Text) < 2 || w.Text[0] != '-' || strings.HasPrefix(w.Text, "--"):
			named = append(named, w)
		case known && valued && len(name) == 1: // -o=x writes the file "=x"
			c.Role(role, w.Tail(2))
		case known && role == '?' && !isKeyword(value) && !isText(name):
			c.Role('g', w.Tail(len(w.Text)-len(value)))
			c.Unclear("what the option " + w.Text + " does is not known")
		case known:
			named = append(named, w)
			if _, separate := takesWord(w.Text); separate && role != 0 && !valued && i+1 < len(words) {
				i++
				named = append(named, words[i])
			}
		case joined(c, w):
		case !ofFamily(c, w):
			if _, value, ok := strings.Cut(w.Text, "="); ok {
				c.Role('g', w.Tail(len(w.Text)-len(value)))
			}
			c.Unclear("what the option " + w.Text + " does is not known")
		}
	}
	c.Scan(named)
	return c.Operands
}

// isText reports whether an option of C compilers has a value that may look like a path, and is none: what a path begins with, which functions are
// meant, what a number is made from, a name of the language Go.
func isText(name string) bool {
	switch name {
	case "fcoverage-compilation-dir", "fdebug-compilation-dir", "ffile-compilation-dir", "fprofile-exclude-files", "fprofile-filter-files",
		"finstrument-functions-exclude-file-list", "finstrument-functions-exclude-function-list", "frandom-seed", "fgo-pkgpath", "fgo-prefix",
		"fgo-relative-import-path", "print-file-name", "print-prog-name":
		return true
	}
	return false
}

// joinable are options of C compilers whose value may follow without a blank. The row has the roles of the values.
var joinable = [...]string{"include-pch", "include", "imacros", "isystem", "iquote", "idirafter", "isysroot", "iwithprefixbefore", "iwithprefix",
	"iprefix", "imultilib", "MF", "MJ", "MT", "MQ", "I", "L", "F", "l", "D", "U", "B", "J", "o", "x", "T", "z", "u", "A", "G"}

// joined handles an option with its value attached to its name, and reports whether the word is one.
func joined(c *program.Call, w program.Word) bool {
	for _, name := range joinable {
		if value, ok := strings.CutPrefix(w.Text[1:], name); ok && value != "" {
			role, _ := compilerRow.Names(name)
			if !w.Unknown || strings.IndexByte("IL", name[0]) < 0 { // folders that the system's own programs say
				c.Role(role, w.Tail(1+len(name)))
			}
			return true
		}
	}
	return false
}

// ofFamily reports whether a word is an option of a family that only says how code is made or what is said about it: -Wall, -fPIC,
// -march=native, -O2, -g3. A family has no values that are files; those of -f that are, and all others of -f with a value, are in the row.
func ofFamily(c *program.Call, w program.Word) bool {
	name, value, valued := strings.Cut(w.Text, "=")
	switch {
	case w.Unknown, strings.IndexByte("WfmOgRp", w.Text[1]) < 0, !isKeyword(name):
		return false
	case strings.HasSuffix(name, "-prefix-map"):
		return true
	case strings.HasPrefix(name, "-fdump-"), strings.HasPrefix(name, "-fopt-info"):
		if valued && !program.Named("stdout|stderr", value) {
			c.Role('w', w.Tail(len(name)+1))
		}
		return true
	case strings.HasPrefix(name, "-fplugin-arg-"), strings.HasPrefix(name, "-fdisable-"), strings.HasPrefix(name, "-fenable-"):
		c.Role('g', w.Tail(min(len(name)+1, len(w.Text))))
		return true
	case valued && w.Text[1] == 'f':
		return false
	}
	return isKeyword(value)
}

// isKeyword reports whether a text is a word or a number of a compiler's own, and cannot be the name of a file: armv8.2-a, 64, c++20.
func isKeyword(s string) bool {
	for i := range len(s) {
		ch := s[i]
		letter := ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z'
		digit := ch >= '0' && ch <= '9'
		if !letter && !digit && strings.IndexByte("+-_,:=%", ch) < 0 && (ch != '.' || i+1 >= len(s) || s[i+1] < '0' || s[i+1] > '9') {
			return false
		}
	}
	return true
}

// preprocess takes the options that go to the preprocessor, where -MD names its file. It writes its second operand.
func preprocess(c *program.Call, words []program.Word) {
	var rest []program.Word
	for i := 0; i < len(words); i++ {
		if program.Named("-MD|-MMD", words[i].Text) && i+1 < len(words) && !strings.HasPrefix(words[i+1].Text, "-") {
			i++
			c.Role('w', words[i])
			continue
		}
		rest = append(rest, words[i])
	}
	nested(c, rest, 'w')
}

// frontEnd takes the options that go to the compiler proper of clang or swiftc, which has hundreds of its own.
func frontEnd(c *program.Call, words []program.Word) {
	var rest []program.Word
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case program.Named("-ast-dump|-ast-list|-ast-print|-ast-view|-fsyntax-only|-verify|-disable-O0-optnone|-disable-llvm-passes|"+
			"-disable-llvm-verifier|-emit-llvm|-emit-obj|-print-stats|-dump-tokens|-dump-raw-tokens|-Eonly|-no-opaque-pointers|"+
			"-opaque-pointers", w.Text):
		case program.Named("-dependency-file|-split-dwarf-output|-diagnostic-log-file|-header-include-file|-stats-file", w.Text) && i+1 < len(words):
			i++
			c.Role('w', words[i])
		case program.Named("-load", w.Text) && i+1 < len(words):
			i++
			c.Role('x', words[i])
		default:
			rest = append(rest, w)
		}
	}
	nested(c, rest, 'w')
}

// nested reads options of a compiler behind one that hands them on. role is that of a word that is no option.
func nested(c *program.Call, words []program.Word, role byte) {
	if len(words) == 0 {
		return
	}
	other := program.Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Words: c.Words, Row: c.Row}
	for _, w := range readOptions(&other, words) {
		other.Role(role, w)
	}
	takeFrom(c, &other)
}

// inside reads words as those of another program that runs as a part of this one.
func inside(c *program.Call, name string, words []program.Word) {
	if len(words) == 0 {
		return
	}
	other := program.Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Words: c.Words, Row: c.Shell.Find(name)}
	assembleWords(&other, words)
	takeFrom(c, &other)
}

// takeFrom takes over the facts of a call that is part of this one.
func takeFrom(c, other *program.Call) {
	c.Part.Paths = append(c.Part.Paths, other.Part.Paths...)
	for _, why := range other.Part.Unclear {
		c.Unclear(why)
	}
	c.Does |= other.Does
}

// assemble handles as.
func assemble(c *program.Call, args []program.Word) {
	assembleWords(c, args)
	c.Finish()
}

// assembleWords reads the words of as. The listing of -a goes into a file behind the last of its letters.
func assembleWords(c *program.Call, args []program.Word) {
	var named []program.Word
	for _, w := range args {
		name, value, valued := strings.Cut(w.Text, "=")
		_, known := c.Row.Names(strings.TrimLeft(name, "-"))
		letters, listing := strings.CutPrefix(name, "-a")
		switch {
		case listing && strings.Trim(letters, "cdghilmns") == "":
			if valued {
				c.Role('w', w.Tail(len(name)+1))
			}
		case !known && len(w.Text) > 2 && w.Text[0] == '-' && strings.IndexByte("mgQ", w.Text[1]) >= 0 && isKeyword(value) && isKeyword(name):
		case !known && len(w.Text) > 2 && program.Named("-I|-o", w.Text[:2]):
			role, _ := c.Row.Names(w.Text[1:2])
			c.Role(role, w.Tail(2))
		default:
			named = append(named, w)
		}
	}
	c.Scan(named)
	c.Spread()
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
