package policy

import (
	"fmt"
	"path/filepath"
	"slices"

	"mycelium/internal/config/source"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
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

// failed prints what is wrong with a file, and returns how much that is.
func (a *app) failed(file string, wrong []string) int {
	fmt.Fprintf(a.Out, "FAIL %s\n", file)
	for _, w := range wrong {
		fmt.Fprintf(a.Out, "     %s\n", text.Flatten(w))
	}
	return len(wrong)
}
