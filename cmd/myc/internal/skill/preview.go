package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/skill"
)

// skillPreview shows what it changes for each role to activate a skill: one of the project, one that lies in its folder and is not accepted
// yet, a shipped one, or one in another folder.
func (a *app) skillPreview(name, role string) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	with := *v.Project
	if name, with.Skills, err = a.withSkill(v, name); err != nil {
		return err
	}
	without := *v.Project
	without.Skills = others(v.Project, name)
	before, after := v.With(&without), v.With(&with)
	before.Compile()
	after.Compile()
	a.SayUntrusted(v)
	a.sayClosed(after, name)
	rows := slices.DeleteFunc(v.Activations(before.Policy, after.Policy, name), func(r project.Activation) bool {
		return role != "" && r.Role != role
	})
	if role != "" && len(rows) == 0 {
		return failure.Hint(fmt.Errorf("role %q: no skill and no role file names it", role), "myc policy roles lists them")
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	for _, r := range rows {
		a.printActivation(r)
	}
	return nil
}

// sayClosed says why a skill changes nothing for anybody.
func (a *app) sayClosed(v *project.View, name string) {
	for _, s := range v.Skills.All() {
		if s.Name != name {
			continue
		}
		if why := v.WhyClosed(s); why != "" {
			fmt.Fprintf(a.Err, "myc: %s\nhint: myc skill grant %s ROLE lets a role use it, once it is in the project\n", why, name)
		}
		if s.State == skill.Valid {
			continue
		}
		for _, p := range s.Problems {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
		fmt.Fprintf(a.Err, "myc: the skill %s is %s, so it changes nothing\n", name, s.State)
	}
}

// withSkill returns the name of a skill and the project's skills with it: as it is on disk, where it differs from what is accepted.
func (a *app) withSkill(v *project.View, name string) (string, []skill.Skill, error) {
	if st, err := os.Stat(name); filepath.Base(name) != name || err == nil && st.IsDir() && isSkill(name) {
		skills, problems, err := loadAt(name)
		if err != nil {
			return "", nil, err
		}
		for _, p := range problems {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
		if len(skills) != 1 {
			return "", nil, failure.Hint(fmt.Errorf("skill preview: %d skills in %s", len(skills), name), "name the folder of one skill")
		}
		return skills[0].Name, append(others(v.Project, skills[0].Name), skills[0]), nil
	}
	disk := *a.App
	disk.OnDisk = true
	p, err := disk.Load()
	if err != nil {
		return "", nil, err
	}
	shipped, _ := skill.Load(skill.Shipped(), "shipped", "shipped")
	for _, list := range [][]skill.Skill{p.Skills, v.Project.Skills, shipped} {
		if i := slices.IndexFunc(list, func(s skill.Skill) bool { return s.Name == name }); i >= 0 {
			return name, append(others(v.Project, name), list[i]), nil
		}
	}
	return "", nil, unknownSkill(name)
}

// isSkill reports whether a folder is that of a skill.
func isSkill(dir string) bool {
	for _, f := range skillFiles {
		if _, err := os.Stat(filepath.Join(dir, f)); err == nil {
			return true
		}
	}
	return false
}

// others are the skills of a project without those of a name.
func others(p *config.Project, name string) []skill.Skill {
	return slices.DeleteFunc(slices.Clone(p.Skills), func(s skill.Skill) bool { return s.Name == name })
}

// printActivation shows what a skill changes for a role.
func (a *app) printActivation(r project.Activation) {
	when := map[string]string{project.AtStart: "it is active at the start", project.WhenTold: "a session can take it",
		project.Never: "it is not open to the role"}[r.When]
	if len(r.Added)+len(r.Removed) == 0 {
		fmt.Fprintf(a.Out, "%s: %s; no change\n", r.Role, when)
		return
	}
	fmt.Fprintf(a.Out, "%s: %s; %.0f %% hidden → %.0f %%\n", r.Role, when, 100*r.Concealment.Before, 100*r.Concealment.After)
	for _, t := range r.Added {
		fmt.Fprintf(a.Out, "  + %s\n", t)
	}
	for _, t := range r.Removed {
		fmt.Fprintf(a.Out, "  - %s\n", t)
	}
}
