package skill

import (
	"fmt"
	"slices"

	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/skill"
)

// skillPreview compares the policy with and without a skill. A skill that is installed is
// compared with its absence, a shipped one with its presence.
func (a *app) skillPreview(name, role string) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	with, without := *v.Project, *v.Project
	without.Skills = slices.DeleteFunc(slices.Clone(v.Project.Skills), func(s skill.Skill) bool { return s.Name == name })
	if len(without.Skills) == len(v.Project.Skills) {
		shipped, _ := skill.Load(skill.Shipped(), "shipped", "shipped")
		i := slices.IndexFunc(shipped, func(s skill.Skill) bool { return s.Name == name })
		if i < 0 {
			return unknownSkill(name)
		}
		with.Skills = append(slices.Clone(v.Project.Skills), shipped[i])
	}
	before, _, _ := without.Compile(v.Catalog)
	after, _, _ := with.Compile(v.Catalog)
	rows := slices.DeleteFunc(v.Changes(before, after), func(r project.RoleChange) bool { return role != "" && r.Role != role })
	if role != "" && len(rows) == 0 {
		return failure.Hint(fmt.Errorf("role %q: no skill and no role file names it", role), "myc policy roles lists them")
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	for _, r := range rows {
		if len(r.Added)+len(r.Removed) == 0 {
			fmt.Fprintf(a.Out, "%s: no change\n", r.Role)
			continue
		}
		fmt.Fprintf(a.Out, "%s: %.0f %% hidden → %.0f %%\n", r.Role, 100*r.Concealment.Before, 100*r.Concealment.After)
		for _, t := range r.Added {
			fmt.Fprintf(a.Out, "  + %s\n", t)
		}
		for _, t := range r.Removed {
			fmt.Fprintf(a.Out, "  - %s\n", t)
		}
	}
	return nil
}
