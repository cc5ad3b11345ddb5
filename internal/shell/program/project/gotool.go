package project

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// listens handles tools of Go that show pages: go tool trace always does.
func listens(c *program.Call) {
	if c.Has("http") || c.Row.Name == "trace" && !c.HasAny("pprof", "d") {
		c.Does |= effect.Listen
	}
}

// compilerTool handles the compiler and the linker: their options write files and run programs.
func compilerTool(c *program.Call) {
	for _, w := range c.Words[min(3, len(c.Words)):] {
		if w.Unknown || !strings.HasPrefix(w.Text, "-V") && !plainToolOptions(w.Text) {
			c.Unclear("options of the compiler or the linker may write files or run another program")
		}
	}
}

// projectTools runs a tool that go.mod declares.
func projectTools(c *program.Call, words []program.Word) {
	c.Does |= effect.ProjectCode | effect.Write
	c.Guess(words[1:])
	c.Finish()
}

// workspace handles go work: modules from elsewhere become part of the builds.
func workspace(c *program.Call) {
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "..") {
			c.Role('x', w)
		}
	}
}

// modEdit changes what go.mod declares with all options but those that only format or print it.
func modEdit(c *program.Call) {
	for _, w := range c.Words[min(3, len(c.Words)):] {
		if strings.HasPrefix(w.Text, "-") && !program.Named("fmt|json|print", strings.TrimLeft(w.Text, "-")) || w.Unknown {
			c.Does |= effect.Install
		}
	}
}
