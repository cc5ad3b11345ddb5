package project

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// RoleChange says what a skill would change for one role (B22).
type RoleChange struct {
	Role        string   `json:"role"`
	Added       []string `json:"added"`
	Removed     []string `json:"removed"`
	Concealment struct {
		Before float64 `json:"before"`
		After  float64 `json:"after"`
	} `json:"concealment"`
}

// Changes compares two policies over one catalog, role by role.
func (v *View) Changes(before, after *policy.Policy) []RoleChange {
	rows := []RoleChange{}
	for _, c := range skill.Preview(before, after, v.Catalog.Definitions, v.Catalog.Definitions) {
		row := RoleChange{Role: c.Role, Added: textForms(c.Added), Removed: textForms(c.Removed)}
		row.Concealment.Before, row.Concealment.After = c.Before, c.After
		rows = append(rows, row)
	}
	return rows
}

func textForms(items []policy.Item) []string {
	out := []string{}
	for _, it := range items {
		out = append(out, it.String())
	}
	return out
}

// RolesOf returns the roles to which a skill is open. For a skill without effect it returns those that the skill declares.
func (v *View) RolesOf(s skill.Checked) []string {
	roles := []string{}
	for _, r := range v.Policy.Roles() {
		if slices.Contains(v.Policy.OpenSkills(r), s.Name) {
			roles = append(roles, r)
		}
	}
	if s.State != skill.Valid && len(roles) == 0 {
		return append(roles, s.AllowedRoles...)
	}
	return roles
}

// WhyClosed says why a valid skill is open to no role; "" if it is open to one, or declares that it is for none.
func (v *View) WhyClosed(s skill.Checked) string {
	if _, inPlace := v.Skills.Skill(s.Name); !inPlace || s.State != skill.Valid || len(v.RolesOf(s)) > 0 {
		return ""
	}
	if s.AllowedRoles == nil {
		return s.Name + " is open to no role: it has no allowedRoles, and no role file lists it in allowedSkills"
	}
	if len(s.AllowedRoles) == 0 {
		return ""
	}
	var why []string
	for _, r := range v.Project.Roles {
		if slices.Contains(s.AllowedRoles, r.ID) && r.AllowedSkills != nil {
			why = append(why, fmt.Sprintf("roles/%s.yaml does not list it in allowedSkills", r.ID))
		}
	}
	return strings.TrimSuffix(s.Name+" is open to no role: "+strings.Join(why, ", "), ": ")
}
