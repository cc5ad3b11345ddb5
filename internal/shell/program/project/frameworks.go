package project

import (
	"slices"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Frameworks whose own commands do more than build and test.

// plainSbt are harmless options of sbt. It has no row of them, because its arguments are whole commands.
const plainSbt = "-batch|--batch|-client|--client|--no-server|-v|--verbose|-d|--debug|--info|--warn|--error|-no-colors|--no-colors|" +
	"--color|--supershell|-mem|-h|-help|--help|-V|-version|--version|--numeric-version|--script-version|--timings|--no-share|--"

// sbt has commands that are code, and commands that publish, also behind the name of a project: core/publishSigned.
func sbt(c *program.Call, args []program.Word) {
	for _, w := range args {
		name, _, _ := strings.Cut(w.Text, "=")
		plain := program.Named(plainSbt, name) || program.ContainsAny(w.Text[:min(5, len(w.Text))], "-J-Xm", "-J-Xs") ||
			strings.HasPrefix(w.Text, "-Dsbt.") && !strings.Contains(w.Text, "/")
		if strings.HasPrefix(w.Text, "-") && !plain {
			c.Unclear("what the option " + name + " does is not known")
		}
	}
	for _, w := range args {
		for line := range strings.SplitSeq(w.Text, ";") {
			head, _, _ := strings.Cut(strings.TrimLeft(line, " +~"), " ")
			head = head[strings.LastIndexAny(head, "/:")+1:]
			switch {
			case program.Named("eval|set|apply", head):
				c.Does |= effect.InlineCode
			case program.Named("console|consoleQuick|consoleProject", head):
				c.RunInput()
			case head == "new":
				c.Does |= effect.Install | effect.Network
			case strings.HasPrefix(head, "publish") && !strings.HasPrefix(head, "publishLocal") && !strings.HasPrefix(head, "publishM2"):
				c.Does |= effect.Publish | effect.Network
			}
		}
	}
	if (c.Input.Document != nil || c.Input.Output != nil || c.Input.File != nil) && len(args) == 0 {
		c.RunInput()
	}
	program.RunProject(c, args)
}

// gradle has settings of its own among the properties.
func gradle(c *program.Call, args []program.Word) {
	scanOwn(c, args)
	for _, o := range c.Options {
		own := program.Named("D|P", o.Name) && strings.HasPrefix(o.Value.Text, "org.gradle.")
		if own && program.ContainsAny(o.Value.Text, "/", "agent", "args") {
			c.Unclear("a setting of gradle may say which code runs")
		}
	}
	program.RunProject(c, args)
}

// maven has plugins that run programs, fetch what is not declared, and publish.
func maven(c *program.Call, args []program.Word) {
	scanOwn(c, slices.DeleteFunc(slices.Clone(args), func(w program.Word) bool {
		return len(w.Text) > 2 && w.Text[0] == '-' && strings.IndexByte("DPT", w.Text[1]) >= 0
	}))
	for _, w := range args {
		name, value, _ := strings.Cut(w.Text, "=")
		switch {
		case name == "-Dexec.executable":
			c.RunNested(program.Word{Text: value, Unknown: w.Unknown})
			c.Unclear("which program the build runs with which arguments is not known")
		case program.Named("-Dmaven.ext.class.path|-Dexec.mainClass|-javaagent", name) && strings.Contains(value, "/"):
			c.Role('x', program.Word{Text: value, Unknown: w.Unknown})
		case program.ContainsAny(w.Text, "release:perform", "release:prepare", "scm:checkin", "release:stage", "jib:build", "site-deploy"):
			c.Does |= effect.Publish | effect.Network
		case program.ContainsAny(w.Text, "dependency:get", "archetype:generate", "wrapper:wrapper"):
			c.Does |= effect.Install | effect.Network
		}
	}
	program.RunProject(c, args)
}

// rails runs code and shows secrets with some of its commands.
func rails(c *program.Call, args []program.Word) {
	if len(args) == 0 {
		program.RunProject(c, args)
		return
	}
	name, _, _ := strings.Cut(args[0].Text, ":")
	switch rest := args[1:]; {
	case program.Named("runner|r", name):
		railsCode(c, rest)
	case program.Named("console|c", name):
		c.RunInput()
	case program.Named("dbconsole|db", args[0].Text):
		c.Does |= effect.Database
		c.Unclear("it asks for what it runs")
	case program.Named("credentials|encrypted|secrets", name):
		c.Does |= effect.Secrets
	case program.Named("app:template|new|plugin", args[0].Text):
		c.Does |= effect.Install | effect.Network
	}
	c.Scan(args[1:])
	if v, ok := c.Value("b"); ok && !program.Named("localhost|127.0.0.1|::1|[::1]", v.Text) {
		c.Does |= effect.Listen
	}
	dropsData(c, args)
	program.RunProject(c, args)
}

// railsCode runs the code or the file that rails runner is given.
func railsCode(c *program.Call, args []program.Word) {
	for i := 0; i < len(args); i++ {
		switch s := args[i].Text; {
		case s == "-":
			c.RunInput()
		case program.Named("-e|--environment", s):
			i++
		case strings.HasPrefix(s, "-"):
		case strings.HasSuffix(s, ".rb") && !args[i].Unknown:
			c.RunFile(args[i])
			return
		default:
			c.Does |= effect.InlineCode
			return
		}
	}
}

// dropsData looks for tasks that lose the data of a database.
func dropsData(c *program.Call, args []program.Word) {
	for _, w := range args {
		if strings.HasPrefix(w.Text, "db:") && program.ContainsAny(w.Text, "drop", "reset", "purge", "truncate", "rollback", "redo", "down",
			"replant") {
			c.Does |= effect.Database
		}
	}
}

// rake has options that are code, and options that name it.
func rake(c *program.Call, args []program.Word) {
	c.Scan(args)
	dropsData(c, args)
	program.RunProject(c, args)
}

// mixRun runs a file, or the code that mix run -e and mix eval are given.
func mixRun(c *program.Call) {
	c.Does |= effect.ProjectCode
	if c.Words[1].Text == "eval" {
		c.Does |= effect.InlineCode
	} else if len(c.Operands) > 0 {
		c.RunFile(c.Operands[0])
	}
}
