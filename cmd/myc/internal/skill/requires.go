package skill

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/skill/need"
)

// lackProblem is the warning about something that a skill requires and this machine does not have.
func lackProblem(s skill.Checked, l need.Lack) policy.Problem {
	said := fmt.Sprintf("the skill uses %s, which is not on this machine", l)
	return policy.Problem{File: s.File, Message: said, Hint: l.Install, Warning: true}
}

func (a *app) printLacks(s skill.Checked, lacks []need.Lack) {
	for _, l := range lacks {
		fmt.Fprintln(a.Err, project.ProblemText(lackProblem(s, l)))
	}
}

// lacksText names what a skill lacks in a cell of a table.
func lacksText(lacks []need.Lack) string {
	var names []string
	for _, l := range lacks {
		names = append(names, l.Name)
	}
	return base.OrDash(strings.Join(names, ", "))
}

// requiresText names what a skill requires.
func requiresText(r skill.Requires) string {
	names := slices.Clone(r.Programs)
	for _, m := range r.Python {
		names = append(names, "python module "+m)
	}
	return base.OrDash(strings.ReplaceAll(strings.Join(names, ", "), "|", " or "))
}
