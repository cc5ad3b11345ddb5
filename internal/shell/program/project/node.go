package project

import (
	"slices"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// npmOptions looks among all words for options that lead npm and the like to another registry or to other settings.
func npmOptions(c *program.Call) {
	own := true // the words behind -- belong to a script
	script := runsScript(c)
	for i, t := range c.Words {
		name, _, _ := strings.Cut(t.Text, "=")
		own = own && t.Text != "--"
		switch {
		case changesSource(name), own && c.Part.Program == "npm" && changesProgram(name):
			c.Unclear("the option " + name + " changes what is fetched or run")
		case i > 1 && script && (!own || program.Named("yarn|pnpm", c.Part.Program)) && program.OwnServer(c, t):
		case strings.Contains(t.Text, "://"):
			c.Address(t)
		}
	}
}

// runsScript reports whether npm, or one of its kind, runs a script of the project.
func runsScript(c *program.Call) bool {
	if len(c.Operands) == 0 || c.Operands[0].Unknown {
		return false
	}
	sub := c.Operands[0].Text
	if program.Named("run|run-script|test|t|tst|start|stop|restart|build|lint|dev|serve", sub) {
		return true
	}
	return program.Named("yarn|pnpm", c.Part.Program) && !slices.ContainsFunc(c.Shell.Find(c.Part.Program).Subs,
		func(row program.Row) bool { return program.Named(row.Name, sub) })
}

// changesSource reports whether an option of npm, or the beginning of one, names a registry, settings or a shell.
func changesSource(option string) bool {
	for _, prefix := range [...]string{"--reg", "--userc", "--globalc", "--script-", "--node-o", "--@", "--config."} {
		if strings.HasPrefix(option, prefix) {
			return true
		}
	}
	return strings.Contains(option, ":registry")
}

// changesProgram reports whether an option of npm alone names a program, code, or a machine between.
func changesProgram(option string) bool {
	for _, prefix := range [...]string{"--init-m", "--init.m", "--onl", "--https-p", "--prox", "--shell"} {
		if strings.HasPrefix(option, prefix) {
			return true
		}
	}
	return option == "--git"
}

// namedScript is packageScript for a row that names its options: those of npm are its own up to --, also behind the name of a script, and
// those of the others up to that name.
func namedScript(c *program.Call, args []program.Word) {
	c.Scan(args)
	packageScript(c, args)
}

// explore handles npm explore: it runs a command in the folder of a package.
func explore(c *program.Call, args []program.Word) {
	c.Scan(args)
	rest := c.Operands[min(1, len(c.Operands)):]
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	c.Does |= effect.ProjectCode
	c.RunProcess(rest)
}

// inWorkspace handles yarn workspace NAME: the rest is a command of yarn.
func inWorkspace(c *program.Call, args []program.Word) {
	if len(args) == 0 {
		c.Finish()
		return
	}
	if strings.HasPrefix(args[0].Text, "-") || args[0].Unknown {
		c.Unclear("what the option " + args[0].Text + " does is not known")
	}
	c.Apply(c.Shell.Find(c.Part.Program), args[1:])
}

// inWorkspaces handles yarn workspaces foreach and run: the rest is a command of yarn.
func inWorkspaces(c *program.Call, args []program.Word) {
	switch name := args[:min(1, len(args))]; {
	case len(name) == 0 || program.Named("list|info", name[0].Text):
		c.Finish()
	case name[0].Text == "foreach":
		c.Scan(args[1:])
		c.Apply(c.Shell.Find(c.Part.Program), c.Operands)
	case name[0].Text == "run":
		c.Apply(c.Shell.Find(c.Part.Program), args[1:])
	default:
		c.Does |= effect.Deps | effect.Network | effect.ProjectCode
		c.Guess(args)
		c.Finish()
	}
}

// uvRun handles uv run: a module, a script or a program, with packages that it fetches before.
func uvRun(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.HasAny("with", "with-editable", "with-requirements") {
		c.Does |= effect.Install | effect.Network
		for _, o := range c.Options {
			if o.Name == "with-editable" {
				c.Role('r', o.Value)
			}
		}
	}
	words := c.Operands
	module, isModule := c.Value("m")
	script, isScript := c.Value("s")
	switch {
	case isModule:
		words = append([]program.Word{program.Known("python"), program.Known("-m"), module}, words...)
	case isScript && strings.Contains(script.Text, "://"):
		c.Address(script)
		c.Does |= effect.RemoteCode
		c.Finish()
		return
	case isScript:
		words = append([]program.Word{program.Known("python"), script}, words...)
	case len(words) == 0:
	case strings.Contains(words[0].Text, "://"):
		c.Address(words[0])
		c.Does |= effect.RemoteCode
		c.Finish()
		return
	case words[0].Text == "-" || strings.HasSuffix(words[0].Text, ".py") && !words[0].Unknown:
		words = append([]program.Word{program.Known("python")}, words...)
	}
	c.RunProcess(words)
}

// pdmRun handles pdm run and hatch run: a script of the project, or a program.
func pdmRun(c *program.Call, args []program.Word) {
	c.Scan(args)
	c.Does |= effect.ProjectCode
	if len(c.Operands) > 0 && c.Shell.Find(c.Operands[0].Text) != nil {
		c.RunProcess(c.Operands)
		return
	}
	c.Guess(c.Operands)
	c.Finish()
}
