package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/skill"
)

// noSkill says that there is no such skill, or why the file that declares it does not load.
func (a *app) noSkill(v *view, name string) error {
	said := false
	for _, p := range v.problems {
		if isSkillFile(p.File) && filepath.Base(filepath.Dir(p.File)) == name {
			fmt.Fprintln(a.err, problemText(p))
			said = true
		}
	}
	if said {
		return configError(fmt.Errorf("skill %s does not load and is left out", name), "")
	}
	return unknownSkill(name)
}

// closed says why a valid skill is open to nobody; "" if it is open to someone, or nobody is meant.
func (v *view) closed(s skill.Checked) string {
	if _, inPlace := v.skills.Skill(s.Name); !inPlace || s.State != skill.Valid || len(v.rolesOf(s)) > 0 {
		return ""
	}
	if s.AllowedRoles == nil {
		return s.Name + " is open to no role: it has no allowedRoles, and no role file lists it in allowedSkills"
	}
	if len(s.AllowedRoles) == 0 {
		return ""
	}
	var why []string
	for _, r := range v.project.Roles {
		if slices.Contains(s.AllowedRoles, r.ID) && r.AllowedSkills != nil {
			why = append(why, fmt.Sprintf("roles/%s.yaml does not list it in allowedSkills", r.ID))
		}
	}
	return strings.TrimSuffix(s.Name+" is open to no role: "+strings.Join(why, ", "), ": ")
}
