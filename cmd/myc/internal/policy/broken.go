package policy

import (
	"fmt"
	"path/filepath"
	"slices"

	"mycelium/internal/config/source"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

// brokenRules prints why rules files of the project do not load. Those that do not are not among files.
func (a *app) brokenRules(v *project.View, files []string) (n int) {
	for _, p := range v.Problems {
		file := filepath.Join(v.Project.Dir, p.File)
		if !p.Warning && filepath.Base(p.File) == source.RulesFile && !slices.Contains(files, file) {
			fmt.Fprintf(a.Out, "FAIL %s\n     %s\n", file, text.Flatten(project.ProblemText(p)))
			n++
		}
	}
	return n
}
