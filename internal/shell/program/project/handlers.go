package project

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
	"mycelium/internal/shell/written"
)

// makeTargets handles make: the file with the targets, and the options that only print them.
func makeTargets(c *program.Call) {
	if c.Has("n") {
		c.Does |= effect.Read
	}
	if _, ok := c.Value("f"); !ok {
		for _, name := range [...]string{"Makefile", "makefile", "GNUmakefile"} {
			c.File(policy.Execute, program.Known(name))
		}
	}
	c.WorkHere("rw")
	if !c.Has("n") {
		program.Targets(c, c.Operands)
	}
	if v, ok := c.Value("f"); ok && (v.Text == "-" || strings.HasPrefix(v.Text, "/dev/")) {
		c.RunInput()
	}
	for _, v := range c.Env {
		if program.IsPlainVariable(v.Name) && program.ContainsAny(v.Value.Text, shellSigns...) {
			c.Unclear("the value of a variable of make may run")
		}
	}
	for _, t := range c.Operands {
		name, val, ok := strings.Cut(t.Text, "=")
		switch {
		case ok && (program.Named(makeCommands, name) || strings.Contains(name, ".")):
			c.RunNested(program.Word{Text: val, Unknown: t.Unknown})
		case ok && program.ContainsAny(val, shellSigns...):
			c.Unclear("the value of a variable of make may run")
		case t.Unknown || strings.Contains(t.Text, "$(") || strings.Contains(t.Text, "${"):
			c.Unclear("an argument of make is not known")
		case !ok:
			c.File(policy.Execute, program.Word{Text: t.Text + ".sh"}) // make copies it, if no other rule makes the target
		case ok:
			c.MaybePath(t.Tail(len(name) + 1))
		}
	}
}

// makeCommands are variables of make whose values are command lines in its own rules. So are those with a dot: LINK.c.
const makeCommands = "SHELL|CC|CXX|MAKE|AR|AS|CPP|FC|LD|LEX|YACC|RM|TEX|PC|CO|GET|LINT|M2C|TANGLE|WEAVE"

// shellSigns have a meaning for a shell, which a recipe with the value runs.
var shellSigns = []string{";", "|", "&", "`", "$(", ">", "<", "\n", "#"}

// namesModule reports whether a word is the path of a package by the name of its module, which begins with the name of a machine.
func namesModule(t program.Word) bool {
	first, _, _ := strings.Cut(t.Text, "/")
	return strings.Contains(strings.Trim(first, "."), ".") && !strings.HasSuffix(t.Text, ".go") && strings.Contains(t.Text, "/")
}

// goBuild handles go build and similar commands.
func goBuild(c *program.Call) {
	linkerOptions(c)
	mod, _ := c.Value("mod")
	for _, t := range c.Operands {
		if namesModule(t) && (mod.Text == "mod" || mod.Unknown) { // go.mod need not declare it
			c.Does |= effect.Install | effect.Network
		}
		if strings.Contains(t.Text, "@") {
			c.Does |= effect.Network | effect.Upload
		}
	}
}

// goTest handles go test: what stands behind -args belongs to the test.
func goTest(c *program.Call, args []program.Word) {
	if i := slices.IndexFunc(args, func(w program.Word) bool { return w.Text == "-args" || w.Text == "--args" }); i >= 0 {
		c.Guess(args[i+1:])
		args = args[:i]
	}
	c.Scan(args)
	c.Spread()
	goBuild(c)
	c.Finish()
}

// linkerOptions looks at the options that go to the compiler, the assembler and the linker of Go.
func linkerOptions(c *program.Call) {
	for _, o := range c.Options {
		if o.Value.Filled != "" {
			o.Value.Text = strings.ReplaceAll(o.Value.Filled, "="+written.AReference, "="+written.AThing)
			o.Value.Unknown = false
		}
		if program.Named("ldflags|gcflags|asmflags|gccgoflags", o.Name) && (o.Value.Unknown || !plainToolOptions(o.Value.Text)) {
			c.Unclear("options of the compiler or the linker may write files or run another program")
		}
	}
}

// plainToolOptions reports whether options of Go's compiler, assembler or linker name no file.
func plainToolOptions(options string) bool {
	for w := range strings.FieldsSeq(options) {
		if i := strings.IndexByte(w, '='); i > 0 && !strings.HasPrefix(w, "-") {
			w = w[i+1:] // all=-N, or the value of -X
		}
		name, _, _ := strings.Cut(strings.TrimLeft(strings.Trim(w, `'"`), "-"), "=")
		if strings.HasPrefix(strings.Trim(w, `'"`), "-") &&
			!program.Named("N|l|m|e|S|B|c|d|s|w|X|v|H|D|race|msan|asan|live|spectre|shared|trimpath|buildid|linkmode|compressdwarf|dwarf|"+
				"smallframes|std|lang|goversion|buildmode|complete|wb|checklinkname|randlayout|funcalign|bindnow|f|g|u", name) {
			return false
		}
	}
	return true
}

// goRun runs files, a folder or a package, which may come from elsewhere.
func goRun(c *program.Call) {
	linkerOptions(c)
	for i, t := range c.Operands {
		switch {
		case t.Unknown:
			c.Unclear("what go run runs is not known")
		case i == 0 && (strings.Contains(t.Text, "@") || namesModule(t)):
			c.Does |= effect.Install | effect.Network
			if v, _ := c.Value("mod"); strings.Contains(t.Text, "@") || v.Text == "mod" || v.Unknown { // go.mod need not declare it
				c.Does |= effect.RemoteCode
			}
			c.Guess(c.Operands[1:])
			return
		case i == 0 || strings.HasSuffix(t.Text, ".go"):
			c.File(policy.Execute, t)
		default:
			c.Guess(c.Operands[i:])
			return
		}
	}
}

// cleanCaches handles go clean.
func cleanCaches(c *program.Call) {
	if c.Has("modcache") {
		c.File(policy.Delete, c.Walk.InHome("go/pkg/mod"))
	}
	if c.HasAny("cache", "fuzzcache") {
		c.File(policy.Delete, c.Walk.InHome(".cache/go-build"))
	}
}

// audit handles npm audit, which may change the declared dependencies.
func audit(c *program.Call) {
	if len(c.Operands) > 0 || c.Has("fix") {
		c.Does |= effect.Deps | effect.ProjectCode
	}
	if c.Has("force") {
		c.Does |= effect.Install
	}
}

// pack puts files into a package: package.json says which, and may name any.
func pack(c *program.Call) {
	if !c.Has("dry-run") {
		program.Everything(c, program.Known("."))
	}
}

// publish with --dry-run only prints what it would do. Some of what others have can be listed.
func publish(c *program.Call) {
	lists := len(c.Words) > 2 && program.Named("dist-tag|dist-tags|owner|access|team|hook|org", c.Words[1].Text) &&
		program.Named("ls|list|get", c.Words[2].Text)
	if lists || c.HasAny("dry-run", "n") {
		c.Does &^= effect.Publish
	}
}

// npmSettings are the settings of npm and the like.
func npmSettings(c *program.Call) { changeSettings(c, false) }

// settings are the settings of pip, where an operand with "=" changes one.
func settings(c *program.Call) { changeSettings(c, true) }

// changeSettings handles the settings of a package manager. Reading them has no effect; a changed one may decide which code runs.
func changeSettings(c *program.Call, assigns bool) {
	sets := c.HasAny("w", "u") || len(c.Operands) > 0 && program.Named("edit|set", c.Operands[0].Text)
	for _, t := range c.Operands {
		sets = sets || t.Text == "set" || strings.Contains(t.Text, "=") || t.Unknown
	}
	for _, t := range c.Operands {
		switch {
		case program.Named("set|delete|rm|edit|clean|purge|unset", t.Text) || assigns && strings.Contains(t.Text, "="):
			c.Does |= effect.Write
		case t.Unknown:
			c.Unclear("a setting is not known")
		}
		if sets && saysWhatRuns(t.Text) {
			c.Unclear("the setting changes which code runs")
		}
	}
	if c.HasAny("w", "u") {
		c.Does |= effect.Write
	}
}

// saysWhatRuns reports whether a setting of a package manager says which code runs or where code is fetched.
func saysWhatRuns(setting string) bool {
	lower := strings.ToLower(setting)
	return setting == "edit" || program.ContainsAny(lower, "script", "registry", "dependencies", "overrides", "resolutions",
		"packagemanager") ||
		program.ContainsAny(setting, "TOOLEXEC", "GOFLAGS", "PROXY", "index-url")
}
