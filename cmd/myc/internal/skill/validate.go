package skill

import (
	"context"
	"fmt"
	"slices"

	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/skill/need"
	"mycelium/internal/text"
)

// skillValidate checks the project's skills, and what its roles and rules say of skills and tools. With a folder it checks the skill or
// the skills in it as if they were installed.
func (a *app) skillValidate(ctx context.Context, args []string) error {
	a.OnDisk = true
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	a.SayUntrusted(v)
	lib, loaded, more := v.Skills, v.Project.Problems, slices.Concat(ofRoles(v.Problems), v.Names(), ofPolicy(v.Problems))
	if len(args) == 1 {
		skills, problems, err := loadAt(args[0])
		if err != nil {
			return err
		}
		with := *v.Project
		with.Skills = skills
		_, lib, more = with.Compile(v.Catalog)
		loaded, more = problems, skill.Located(ofPolicy(more), skills)
	}
	loaded = slices.DeleteFunc(slices.Clone(loaded), func(p policy.Problem) bool { return !project.IsSkillFile(p.File) })
	more = append(more, project.Form(lib)...)
	bad, closed := 0, len(ofRoles(v.Problems)) == 0
	for _, p := range project.Checked(loaded, more) {
		if !p.Warning {
			bad++
		}
		if !a.JSON {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
	}
	hint, lacks := "", need.Look(ctx, lib.All())
	rows := skillRows(v, lib, nil, lacks)
	for _, s := range lib.All() {
		if s.State == skill.Invalid {
			bad += max(1, len(slices.DeleteFunc(slices.Clone(s.Problems), func(p policy.Problem) bool { return p.Warning })))
			hint = "an invalid skill is left out whole until it is corrected"
		}
		a.validated(s, lacks[s.Name])
		if why := v.WhyClosed(s); why != "" && closed && !a.JSON {
			fmt.Fprintln(a.Err, "myc: "+why)
		}
	}
	if a.JSON {
		if err := a.PrintJSON(rows); err != nil {
			return err
		}
	}
	if bad > 0 {
		return failure.New(failure.Config, fmt.Errorf("skill validate: %s", text.Count(bad, "problem")), hint)
	}
	return nil
}

// validated prints the state of a skill, its problems, and what it requires and this machine does not have.
func (a *app) validated(s skill.Checked, lacks []need.Lack) {
	if a.JSON {
		return
	}
	for _, p := range s.Problems {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
	a.printLacks(s, lacks)
	fmt.Fprintf(a.Out, "%-8s %s\n", s.State, s.Name)
}

// ofRoles are the errors of roles, rules and settings. While there are any, nobody knows to which roles a skill is open.
func ofRoles(problems []policy.Problem) (out []policy.Problem) {
	for _, p := range problems {
		if !p.Warning && p.File != "" && !project.IsSkillFile(p.File) {
			out = append(out, p)
		}
	}
	return out
}

// ofPolicy are the problems that the policy has with a skill, such as what policy.strict forbids.
func ofPolicy(problems []policy.Problem) (out []policy.Problem) {
	for _, p := range problems {
		if p.Skill != "" {
			out = append(out, p)
		}
	}
	return out
}
