package skill

import (
	"fmt"
	"path/filepath"

	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
)

// noSkill says that there is no such skill, or why the file that declares it does not load.
func (a *app) noSkill(v *project.View, name string) error {
	said := false
	for _, p := range v.Problems {
		if project.IsSkillFile(p.File) && filepath.Base(filepath.Dir(p.File)) == name {
			fmt.Fprintln(a.Err, project.ProblemText(p))
			said = true
		}
	}
	if said {
		return failure.New(failure.Config, fmt.Errorf("skill %s does not load and is left out", name), "")
	}
	return unknownSkill(name)
}

func unknownSkill(name string) error {
	return failure.Hint(fmt.Errorf("there is no skill %q", name),
		"myc skill list shows them, myc skill templates what can be added")
}
