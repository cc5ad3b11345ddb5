package project

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Tools that build and check, and do something else with one option or one command.

// runNamed is RunProject for a row that names its options.
func runNamed(c *program.Call, args []program.Word) {
	scanOwn(c, args)
	program.RunProject(c, args)
}

// deno handles deno run and its like: a program may be an address or a package of another machine.
func deno(c *program.Call, args []program.Word) {
	scanOwn(c, args)
	for _, w := range c.Operands[:min(1, len(c.Operands))] {
		if kind, _, _ := strings.Cut(w.Text, ":"); program.Named("npm|jsr|http|https|data|blob", strings.ToLower(kind)) {
			c.Does |= effect.RemoteCode | effect.Network
		}
	}
	program.RunProject(c, args)
}

// scanOwn reads the options of a program that runs the project's code. Code of the project that an option names is read only: such programs
// run what agents write all day. Code from elsewhere is executed.
func scanOwn(c *program.Call, args []program.Word) {
	c.Scan(args)
	for i := range c.Part.Paths {
		if p := &c.Part.Paths[i]; p.Access == policy.Execute && strings.HasPrefix(p.Clean+"/", c.Walk.Dir+"/") && !p.Pattern {
			p.Access = policy.Read
		}
	}
}

// runPytest has options with files behind a colon, and settings that may name code.
func runPytest(c *program.Call, args []program.Word) {
	scanOwn(c, args)
	for _, o := range c.Options {
		switch o.Name {
		case "cov-report":
			if kind, file, ok := strings.Cut(o.Value.Text, ":"); ok && kind != "term" && kind != "term-missing" {
				c.Role('w', program.Word{Text: file, Unknown: o.Value.Unknown})
			}
		case "o":
			if strings.Contains(o.Value.Text, "/") || o.Value.Unknown {
				c.Unclear("the setting may say which code runs, or where it writes")
			}
		case "debug":
			if o.HasValue {
				c.Role('w', o.Value)
			}
		}
	}
	program.RunProject(c, args)
}

// byPath handles eslint and prettier: a formatter or a parser that is named by its path is executed.
func byPath(c *program.Call) {
	for _, o := range c.Options {
		if program.Named("f|parser", o.Name) && strings.Contains(o.Value.Text, "/") && !strings.HasPrefix(o.Value.Text, "@") {
			c.Role('x', o.Value)
		}
	}
}

// webTool handles vite, next, ng, webpack and turbo: they may listen to everybody, and some have commands about an account.
func webTool(c *program.Call, args []program.Word) {
	for i, w := range args {
		name, value, attached := strings.Cut(w.Text, "=")
		switch {
		case i == 0 && program.Named("login|logout|link|unlink", name) && c.Part.Program == "turbo":
			c.Does |= effect.Secrets | effect.Network
		case i == 0 && program.Named("telemetry|analytics", name) && len(args) > 1 && args[1].Text != "disable" && args[1].Text != "status":
			c.Does |= effect.Upload | effect.Network
		case program.Named("--host|--hostname|-H", name):
			if !attached && i+1 < len(args) {
				value = args[i+1].Text
			}
			if !program.Named("localhost|127.0.0.1|::1", value) {
				c.Does |= effect.Listen
			}
		}
	}
	scanOwn(c, args)
	for _, w := range c.Operands { // vite and next run the settings that lie there
		if program.Named("vite|next", c.Part.Program) && (strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "..")) {
			c.Role('e', w)
		}
	}
	program.RunProject(c, args)
}

// xcodebuild may ask Apple for certificates in the name of the user.
func xcodebuild(c *program.Call, args []program.Word) {
	if program.ContainsText(args, "-allowProvisioningUpdates") {
		c.Does |= effect.Secrets | effect.Network
	}
	program.RunProject(c, args)
}

// javac has options in families, with the value behind a colon.
func javac(c *program.Call, args []program.Word) {
	c.Scan(slices.DeleteFunc(slices.Clone(args), func(w program.Word) bool {
		name, _, colon := strings.Cut(w.Text, ":")
		return strings.HasPrefix(w.Text, "-A") || strings.HasPrefix(w.Text, "-J") || strings.HasPrefix(w.Text, "-Xdoclint/") ||
			colon && program.Named("-g|-proc|-implicit|-Xlint|-Xdoclint|-Xdiags|-Xpkginfo|-Xprefer", name)
	}))
	c.Spread()
	for _, o := range c.Options {
		switch {
		case program.Named("processorpath|processor-module-path", o.Name),
			o.Name == "cp" && !program.ContainsText(args, "-proc:none"): // a processor may lie there
			program.Path(c, 'x', o.Value)
		case o.Name == "cp":
			program.Path(c, 'r', o.Value)
		}
	}
	for _, w := range args { // -J gives options to the machine that runs the compiler
		if strings.HasPrefix(w.Text, "-J") && program.ContainsAny(w.Text, "agent", "XX:", "path", "@", "/") {
			c.Unclear("an option of the compiler loads code")
		}
	}
	c.Finish()
}

// dotnet has properties that may name files with more code of the build.
func dotnet(c *program.Call, args []program.Word) {
	scanOwn(c, args)
	for _, o := range c.Options {
		if program.Named("p|l", o.Name) && (strings.Contains(o.Value.Text, "/") || o.Value.Unknown) {
			c.Unclear("the value of the option " + o.Name + " may say which code runs")
		}
	}
	program.RunProject(c, args)
}

// installTypes handles mypy --install-types, which installs packages.
func installTypes(c *program.Call) {
	if c.Has("install-types") {
		c.Does |= effect.Install | effect.Network
	}
}

// bundler handles bundle update --bundler, which fetches another bundler.
func bundler(c *program.Call) {
	if c.Has("bundler") {
		c.Does |= effect.Install
	}
}
