package roles

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/rolefile"
	"mycelium/internal/config/source"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/node/edit"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// Show returns a role with what its file says. An empty id is that of a role that is new.
func (s Roles) Show(ctx context.Context, id string) (api.RoleDetail, error) {
	v := s.View()
	out := api.RoleDetail{Fields: fieldsOf(policy.Role{AllowedSkills: []string{}}), Further: []string{}, Entries: []api.ToolEntry{},
		References: []string{}}
	p, err := s.Load()
	if err != nil {
		return out, err
	}
	live, err := s.Sessions(ctx)
	if err != nil {
		return out, err
	}
	if _, known := v.Policy.Role(id); !known && id != "" {
		return out, failure.New(failure.NotFound, fmt.Errorf("roles: there is no role %q", id),
			"roles: "+strings.Join(v.Policy.Roles(), ", "))
	}
	ships, err := p.Shipped(p)
	if err != nil {
		return out, err
	}
	if id != "" {
		out.Role = rowOf(v, id, ships, live)
		if err := read(&out, p, id); err != nil {
			return out, err
		}
		for _, r := range v.References(id, live) {
			out.References = append(out.References, r.String())
		}
	}
	all := v.All(policy.Scope{})
	out.Entries = entries(v, all, out.Fields.ToolIDs)
	if out.Sees, err = sees(v, id); err != nil {
		return out, err
	}
	out.Opens = opens(v, id)
	return out, nil
}

// read takes in what the file of a role says.
func read(d *api.RoleDetail, p *config.Project, id string) error {
	name, err := FileOf(p, "roles", id)
	if err != nil {
		if len(config.Declares(p, id)) == 0 { // a skill names it; its file can be made, and nothing bounds it yet
			d.Fields = fieldsOf(policy.Role{})
			d.File, d.Locked = path.Join(source.RolesFolder, id+".yaml"), ""
			return nil
		}
		d.Locked = err.Error()
		return nil
	}
	set := &edit.Set{Act: "roles", P: p}
	data, _, err := set.Read(name)
	if err != nil {
		return err
	}
	d.File, d.Digest = name, edit.Digest(data)
	is := rolefile.Read(name, id, data)
	d.Fields = fieldsOf(is)
	if path.Base(name) == source.RoleIndexFile {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(yamlfile.Keys(data))) {
		if !slices.Contains([]string{"id", "name", "description", "inherits", "allowedSkills", "toolIds", "prompt", "systemPrompt", "model",
			"createdAt", "updatedAt"}, key) {
			d.Further = append(d.Further, key)
		}
	}
	return nil
}

// fieldsOf are the fields of a form for a role.
func fieldsOf(r policy.Role) api.RoleFields {
	return api.RoleFields{Name: r.Name, Description: r.Description, Inherits: r.Inherits, Prompt: r.Prompt, Model: r.Model,
		Bounded: r.AllowedSkills != nil && !slices.Equal(r.AllowedSkills, []string{"*"}), Skills: append([]string{}, r.AllowedSkills...),
		ToolIDs: append([]string{}, r.ToolIDs...)}
}

// sees says of every tool whether a role sees it once the skills open to it are active, and why not.
func sees(v *project.View, role string) ([]api.RoleSees, error) {
	scope := scopeOf(v.Policy, role, v.Policy.OpenSkills(role))
	rows, err := v.Tools(scope, true)
	if err != nil {
		return nil, err
	}
	out := []api.RoleSees{}
	for _, t := range rows {
		if it, err := policy.ParseTool(t.Name); err == nil && it.IsControl() {
			continue // of the session itself: no skill gives them
		}
		row := api.RoleSees{Tool: t.Name, Title: t.Title, Description: t.Description, Category: t.Category, Mutates: t.Mutates,
			SaysReads: t.SaysReads, Sees: t.Visible != nil && *t.Visible, Skills: t.Skills}
		if !row.Sees {
			row.Why = t.Reason
		}
		out = append(out, row)
	}
	return out, nil
}

// scopeOf is the scope of a session of a role.
func scopeOf(p *policy.Policy, role string, skills []string) policy.Scope {
	open := p.OpenSkills(role)
	skills = slices.DeleteFunc(slices.Clone(skills), func(s string) bool { return !slices.Contains(open, s) })
	return policy.Scope{Principal: policy.Principal{ID: project.LocalPrincipal, Role: role}, Skills: skills}
}

// opens says of every skill whether it is open to a role, and why not.
func opens(v *project.View, role string) []api.RoleSkill {
	out := []api.RoleSkill{}
	open, start := v.Policy.OpenSkills(role), v.Policy.StartSkills(role)
	about, _ := v.Policy.Role(role)
	for _, s := range v.Skills.All() {
		if slices.ContainsFunc(out, func(r api.RoleSkill) bool { return r.Skill == s.Name }) {
			continue
		}
		row := api.RoleSkill{Skill: s.Name, Description: s.Description, Open: slices.Contains(open, s.Name),
			Start: slices.Contains(start, s.Name)}
		named := s.AllowedRoles == nil || slices.Contains(s.AllowedRoles, "*") ||
			slices.ContainsFunc(append(slices.Clone(about.Chain), role), func(r string) bool { return slices.Contains(s.AllowedRoles, r) })
		file, line := s.Place("allowedRoles")
		switch {
		case row.Open:
		case s.State != "valid":
			row.Why = "the skill is " + string(s.State)
		case !named:
			row.Why = fmt.Sprintf("its allowedRoles do not name the role (%s)", project.Reference{File: file, Line: line,
				What: strings.Join(s.AllowedRoles, ", ")})
		default:
			row.Why = "allowedSkills of the role, or of one that it inherits, leave it out"
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b api.RoleSkill) int { return strings.Compare(a.Skill, b.Skill) })
	return out
}

// entries says which tools each entry of toolIds gives. The compiler of the policy says it: each entry is a role of its own for it.
func entries(v *project.View, all []policy.Definition, ids []string) []api.ToolEntry {
	out := []api.ToolEntry{}
	src := policy.Source{Catalog: v.Catalog.Definitions, Roles: []policy.Role{{ID: "none", AllowedSkills: []string{}}}}
	for i, id := range ids {
		src.Roles = append(src.Roles, policy.Role{ID: fmt.Sprintf("entry%d", i), AllowedSkills: []string{}, ToolIDs: []string{id}})
	}
	p, _ := policy.New(src)
	for i, id := range ids {
		e := api.ToolEntry{ID: id, Tools: []string{}}
		role := fmt.Sprintf("entry%d", i)
		for _, d := range all {
			if p.Visible(scopeOf(p, role, nil), d.Item) && !p.Visible(scopeOf(p, "none", nil), d.Item) {
				e.Tools = append(e.Tools, d.Item.String())
			}
		}
		slices.Sort(e.Tools)
		if len(e.Tools) == 0 {
			about, _ := p.Role(role)
			e.Why = cmp.Or(about.Absent[id], "matches no tool that is known now")
		}
		out = append(out, e)
	}
	return out
}

// changes is how what sessions and roles see changes.
func changes(before, after *project.View, live []session.Summary, role string) (sessions, others []api.ToolsChange) {
	sessions, others = []api.ToolsChange{}, []api.ToolsChange{}
	all := before.All(policy.Scope{})
	compare := func(c api.ToolsChange, skills []string) (api.ToolsChange, bool) {
		c.Gains, c.Loses = []string{}, []string{}
		for _, d := range all {
			was, is := before.Policy.Visible(scopeOf(before.Policy, c.Role, skills), d.Item),
				after.Policy.Visible(scopeOf(after.Policy, c.Role, skills), d.Item)
			switch {
			case is && !was:
				c.Gains = append(c.Gains, d.Item.String())
			case was && !is:
				c.Loses = append(c.Loses, d.Item.String())
			}
		}
		return c, len(c.Gains)+len(c.Loses) > 0
	}
	for _, s := range live {
		if c, differs := compare(api.ToolsChange{ID: s.ID, Name: s.Name, Role: s.Role}, s.Skills); s.Live && differs {
			sessions = append(sessions, c)
		}
	}
	for _, id := range before.Policy.Roles() {
		open := append(before.Policy.OpenSkills(id), after.Policy.OpenSkills(id)...)
		if c, differs := compare(api.ToolsChange{ID: id, Role: id}, open); id != role && differs {
			others = append(others, c)
		}
	}
	return sessions, others
}
