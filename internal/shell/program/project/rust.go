package project

import (
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// cargoSettings looks at the options before the subcommand.
func cargoSettings(c *program.Call) {
	if c.Has("config") {
		c.Unclear("settings of cargo change what runs")
	}
}

// cargoSource looks for options that change what cargo runs, or which registry it asks.
func cargoSource(c *program.Call) {
	cargoSettings(c)
	if v, ok := c.Value("manifest-path"); ok && (strings.HasPrefix(v.Text, "/") || strings.HasPrefix(v.Text, "..")) {
		c.Role('x', v) // its build script may run
	}
	if v, ok := c.Value("target"); ok && strings.HasSuffix(v.Text, ".json") {
		c.Role('x', v) // it may name the linker
	}
	if c.HasAny("registry", "index") {
		c.Unclear("another registry is asked")
	}
}

// cargoBuild is RunProject for cargo, whose options are named.
func cargoBuild(c *program.Call, args []program.Word) {
	c.Scan(args)
	cargoSource(c)
	program.RunProject(c, args)
}

// cargoCompiler handles cargo rustc, rustdoc and clippy: the words behind -- go to the compiler.
func cargoCompiler(c *program.Call, args []program.Word) {
	inner(c, args, "rustc", compileRust)
	cargoBuild(c, args)
}

// cargoFormat handles cargo fmt: the words behind -- go to rustfmt.
func cargoFormat(c *program.Call, args []program.Word) {
	inner(c, args, "rustfmt", func(*program.Call) {})
	c.Scan(args)
	cargoSource(c)
	c.WorkHere("rw")
	c.Finish()
}

// inner reads the words behind -- as those of another program.
func inner(c *program.Call, args []program.Word, name string, handle func(*program.Call)) {
	for i, w := range args {
		if w.Text == "--" {
			other := program.Call{Shell: c.Shell, Walk: c.Walk, State: c.State, Words: c.Words, Row: c.Shell.Find(name)}
			other.Scan(args[i+1:])
			other.Spread()
			handle(&other)
			c.Part.Paths = append(c.Part.Paths, other.Part.Paths...)
			c.Part.Unclear = append(c.Part.Unclear, other.Part.Unclear...)
			c.Does |= other.Does
			return
		}
	}
}

// cargoWatch handles cargo watch: it runs subcommands of cargo, command lines, and the operands.
func cargoWatch(c *program.Call) {
	for _, o := range c.Options {
		if o.Name == "x" {
			c.RunNested(program.Word{Text: "cargo " + o.Value.Text, Unknown: o.Value.Unknown})
		}
	}
	c.RunBeside(c.Operands, c.State, program.Input{})
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
		case o.Name == "print" && val != "":
			c.Role('w', value)
		case o.Name == "extern": // a macro in it runs in the compiler
			if val != "" {
				c.Role('x', value)
			}
		case o.Name == "L":
			if val == "" {
				value = o.Value
			}
			c.Role('e', value)
		case o.Name == "Z":
			unstable(c, key, value)
		case o.Name != "codegen":
		case key == "linker" || key == "ar":
			c.RunNested(value)
		case key == "link-arg" || key == "link-args":
			linkArguments(c, val)
		case program.Named("incremental|profile-generate|remark-dir", key) && val != "":
			c.Role('w', value)
		case key == "profile-use":
			c.Role('r', value)
		case key == "llvm-args":
			if program.ContainsAny(val, "/", "file", "output", "path", "dir", "load", "plugin", "remarks", "dump") {
				c.Unclear("an option of the optimizer may write files or load code")
			}
		case o.Value.Unknown || !program.Named(codegen, key):
			c.Unclear("what the option -C " + key + " does is not known")
		}
	}
}

// codegen are the options of rustc -C whose values are no files. Source: rustc 1.9x -C help.
const codegen = "code-model|codegen-units|collapse-macro-debuginfo|control-flow-guard|debug-assertions|debuginfo|default-linker-libraries|" +
	"dlltool|embed-bitcode|extra-filename|force-frame-pointers|force-unwind-tables|inline-threshold|instrument-coverage|" +
	"link-dead-code|link-self-contained|linker-flavor|linker-plugin-lto|lto|metadata|no-prepopulate-passes|no-redzone|no-stack-check|" +
	"no-vectorize-loops|no-vectorize-slp|opt-level|overflow-checks|panic|passes|prefer-dynamic|profile-generate|profile-use|" +
	"relocation-model|relro-level|remark|rpath|save-temps|soft-float|split-debuginfo|strip|symbol-mangling-version|target-cpu|" +
	"target-feature|ar|incremental|remark-dir"

// linkArguments gives options to the compiler of C that links.
func linkArguments(c *program.Call, options string) {
	words := []program.Word{program.Known("cc")}
	for f := range strings.FieldsSeq(options) {
		words = append(words, program.Known(f))
	}
	c.RunBeside(words, c.State, program.Input{})
}

// unstable takes an option of a compiler that is not released: one loads a library, others name files.
func unstable(c *program.Call, key string, value program.Word) {
	switch {
	case program.Named("codegen-backend|llvm-plugins", key):
		c.Role('x', value)
	case strings.Contains(value.Text, "/") || value.Unknown:
		c.File(policy.Write, value)
	}
}

// cargoOwner handles cargo owner: it changes who owns a package and lists who does, also both at once.
func cargoOwner(c *program.Call) {
	if c.HasAny("a", "r") || !c.Has("l") {
		c.Does |= effect.Publish
	}
}
