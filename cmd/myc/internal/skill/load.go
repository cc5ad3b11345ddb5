package skill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

func (a *app) skillReload(ctx context.Context, name string) error {
	if err := a.NeedPerson("reload"); err != nil {
		return err
	}
	if err := base.Reload(ctx, a.App); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	if name == "" {
		for _, p := range skillFaults(v) {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
		n := len(v.Skills.Grants())
		fmt.Fprintf(a.Out, "%s %s valid\n", text.Count(n, "skill"), text.Plural(n, "is", "are"))
		return nil
	}
	if sk, ok := v.Skills.Skill(name); ok {
		if why := v.WhyClosed(skill.Checked{Skill: *sk, State: skill.Valid}); why != "" {
			fmt.Fprintln(a.Err, "myc: "+why)
		}
		fmt.Fprintf(a.Out, "%s is in effect, open to %s\n", sk.Name,
			base.OrDash(strings.Join(v.RolesOf(skill.Checked{Skill: *sk, State: skill.Valid}), ", ")))
		return nil
	}
	for _, s := range v.Skills.All() {
		if s.Name == name {
			for _, p := range s.Problems {
				fmt.Fprintln(a.Err, project.ProblemText(p))
			}
			return failure.New(failure.Config, fmt.Errorf("skill %s is %s and left out", name, s.State), "")
		}
	}
	return a.noSkill(v, name)
}

// skillFaults returns the problems for which skills are left out.
func skillFaults(v *project.View) []policy.Problem {
	var all, faults []policy.Problem
	for _, p := range v.Problems {
		if project.IsSkillFile(p.File) {
			all = append(all, p)
		}
	}
	for _, s := range v.Skills.All() {
		if s.State == skill.Invalid {
			all = append(all, s.Problems...)
		}
	}
	for _, p := range all {
		if !p.Warning && !slices.Contains(faults, p) {
			faults = append(faults, p)
		}
	}
	return faults
}
