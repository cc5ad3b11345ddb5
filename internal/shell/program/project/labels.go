package project

import (
	"strings"

	"mycelium/internal/shell/program"
)

// labels handles bazel and buck: //folder:target names what is built, in the project.
func labels(c *program.Call, args []program.Word) {
	if len(args) == 0 || !program.Named("build|test|query|cquery|aquery|coverage|info", args[0].Text) {
		program.RunProject(c, args)
		return
	}
	program.Targets(c, args)
	rest := make([]program.Word, 0, len(args))
	for _, w := range args {
		if strings.HasPrefix(w.Text, "--override") || strings.HasPrefix(w.Text, "--inject") {
			c.Unclear("the code of another folder takes the place of a part of the project")
		}
		if !isLabel(w) {
			rest = append(rest, w)
		}
	}
	program.RunProject(c, rest)
}

func isLabel(w program.Word) bool {
	name, ok := strings.CutPrefix(strings.TrimPrefix(w.Text, "-"), "//")
	return ok && !w.Unknown && !w.Pattern && !strings.Contains(name, "//") && !strings.Contains("/"+name, "/../")
}
