package project

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/program"
)

// joined are the options of C compilers whose value may follow without a blank, and the role of the value.
var joined = [...]struct {
	prefix string
	role   byte
}{{"-MF", 'w'}, {"-MJ", 'w'}, {"-B", 'x'}, {"-dumpdir", 'w'}, {"-o", 'w'}, {"@", 'x'}}

// compileC handles gcc and clang: what goes to the linker, and options with their values attached.
func compileC(c *program.Call) {
	linker := []program.Word{program.Known("ld")}
	for i, w := range c.Words[1:] {
		if rest, ok := strings.CutPrefix(w.Text, "-Wl,"); ok {
			for one := range strings.SplitSeq(rest, ",") {
				linker = append(linker, program.Word{Text: one, Unknown: w.Unknown, Pattern: w.Pattern})
			}
			continue
		}
		if w.Text == "-Xlinker" && i+2 < len(c.Words) {
			linker = append(linker, c.Words[i+2])
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

// without returns the paths other than the one that was written as a text.
func without(paths []policy.Path, raw string) (rest []policy.Path) {
	for _, p := range paths {
		if p.Raw != raw {
			rest = append(rest, p)
		}
	}
	return rest
}

// compileRust handles rustc: another linker runs, or it gets options, and --emit names files.
func compileRust(c *program.Call) {
	for _, o := range c.Options {
		key, val, _ := strings.Cut(o.Value.Text, "=")
		value := program.Word{Text: val, Unknown: o.Value.Unknown}
		switch {
		case o.Name == "emit":
			for one := range strings.SplitSeq(o.Value.Text, ",") {
				if _, file, ok := strings.Cut(one, "="); ok {
					c.Role('w', program.Known(file))
				}
			}
		case o.Name != "codegen":
		case key == "linker":
			c.RunNested(value)
		case key == "link-arg" || key == "link-args":
			words := []program.Word{program.Known("ld")}
			for f := range strings.FieldsSeq(strings.ReplaceAll(strings.TrimPrefix(val, "-Wl,"), ",", " ")) {
				words = append(words, program.Known(f))
			}
			c.RunBeside(words, c.State, program.Input{})
		}
	}
}
