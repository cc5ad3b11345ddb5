package policy

import "slices"

// StartSkills are the skills that are active in a new session of a role: session.defaultSkills as far as they are open to the
// role, or without any, every skill open to it. Sorted.
func (p *Policy) StartSkills(role string) []string {
	open := p.OpenSkills(role)
	if p.start == nil {
		return open
	}
	return slices.DeleteFunc(open, func(s string) bool { return !slices.Contains(p.start, s) })
}

// OpenSkills are the skills that a role may activate, sorted; none for an unknown role. The internal skill of a role's toolIds
// (role:<id>) is not among them: it is always active.
func (p *Policy) OpenSkills(role string) []string {
	i, ok := p.roleIndex[role]
	if !ok {
		return []string{}
	}
	return p.openSkills(p.roles[i])
}

func (p *Policy) openSkills(r *role) []string {
	list := []string{}
	for s := range p.skills {
		if r.broken == "" && p.broken == "" && r.open.has(s) && !p.skills[s].internal {
			list = append(list, p.skills[s].name)
		}
	}
	slices.Sort(list)
	return list
}

// Roles are the ids of every role that a skill or a role file names, sorted.
func (p *Policy) Roles() []string { return slices.Clone(p.roleIDs) }

// RoleView is what a role comes to, flattened.
type RoleView struct {
	ID, Name, Description, Prompt string
	Chain                         []string // the role and what it inherits, child first
	Skills                        []string // open skills
	Memory                        string   // none, isolated, team or all
	MemoryTeams                   []string
	Model                         *Model
	ToolIDs                       []string // patterns of its own and inherited toolIds
}

// Role describes a role, by id or by name; false when no skill and no role file names it.
func (p *Policy) Role(id string) (RoleView, bool) {
	i, ok := p.roleIndex[id]
	if !ok {
		return RoleView{}, false
	}
	v := p.roles[i].view
	v.Chain, v.Skills = slices.Clone(v.Chain), slices.Clone(v.Skills)
	v.MemoryTeams, v.ToolIDs = slices.Clone(v.MemoryTeams), slices.Clone(v.ToolIDs)
	return v, true
}
