package policy

import (
	"path/filepath"
	"slices"

	"mycelium/internal/config/source"
	"mycelium/internal/node/project"
)

// brokenRules returns the rules files of the project that do not load, and why. They are not among files.
func brokenRules(v *project.View, files []string) (broken []string, why map[string][]string) {
	why = map[string][]string{}
	for _, p := range v.Problems {
		file := filepath.Join(v.Project.Dir, p.File)
		if p.Warning || filepath.Base(p.File) != source.RulesFile || slices.Contains(files, file) {
			continue
		}
		if why[file] == nil {
			broken = append(broken, file)
		}
		why[file] = append(why[file], project.ProblemText(p))
	}
	return broken, why
}
