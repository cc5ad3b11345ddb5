package roles

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/rolefile"
	"mycelium/internal/config/source"
	"mycelium/internal/node/api"
	"mycelium/internal/node/edit"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// Try says what a change of a role's file would do. It changes nothing.
func (s Roles) Try(ctx context.Context, t api.RoleTry) (api.RoleTried, error) {
	out := api.RoleTried{ID: t.ID, Sees: []api.RoleSees{}, Opens: []api.RoleSkill{}, Entries: []api.ToolEntry{},
		Sessions: []api.ToolsChange{}, Others: []api.ToolsChange{}}
	p, err := s.Load()
	if err != nil {
		return out, err
	}
	f, err := proposed(p, &out, t)
	if err != nil {
		return out, err
	}
	set := &edit.Set{Act: act(t), P: p, Files: []*edit.File{f}}
	if err := set.Untrusted(); err != nil {
		return out, err
	}
	c, err := set.Candidate()
	if err != nil {
		return out, fmt.Errorf("%s: %w", act(t), err)
	}
	if len(c.Why) > 0 {
		out.Fault = project.ProblemText(c.Why[0])
		return out, nil
	}
	now := s.View().With(p)
	now.Compile()
	next := now.With(c.Project)
	next.Compile()
	live, err := s.Sessions(ctx)
	if err != nil {
		return out, err
	}
	out.Sessions, out.Others = changes(now, next, live, out.ID)
	if _, there := next.Policy.Role(out.ID); !there {
		return out, nil
	}
	out.Opens, out.Entries = opens(next, out.ID), entries(next, next.All(policy.Scope{}), t.Fields.ToolIDs)
	out.Sees, err = sees(next, out.ID)
	return out, err
}

// act is what a person does, for errors.
func act(t api.RoleTry) string {
	switch {
	case t.New:
		return "roles create"
	case t.Gone:
		return "roles delete"
	}
	return "roles edit"
}

// proposed is the file of a role as it would be. It fills the id and the edit of what was tried.
func proposed(p *config.Project, out *api.RoleTried, t api.RoleTry) (*edit.File, error) {
	name := ""
	var err error
	switch declared := len(config.Declares(p, t.ID)) > 0; {
	case t.New:
		if strings.TrimSpace(t.Fields.Name) == "" {
			return nil, failure.New(failure.Invalid, errors.New("roles create: a role has a name"), "")
		}
		out.ID = rolefile.ID(t.Fields.Name)
		if err := Free(p, act(t), out.ID); err != nil {
			return nil, err
		}
		name = path.Join(source.RolesFolder, out.ID+".yaml")
	case !declared && slices.ContainsFunc(p.Skills, func(k skill.Skill) bool { return slices.Contains(k.AllowedRoles, t.ID) }):
		name = path.Join(source.RolesFolder, t.ID+".yaml") // a skill names it: its file is made
	default:
		if name, err = FileOf(p, act(t), t.ID); err != nil {
			return nil, err
		}
	}
	set := &edit.Set{Act: act(t), P: p}
	f := &edit.File{Name: name}
	if f.Was, f.Shipped, err = set.Read(name); err != nil {
		return nil, fmt.Errorf("%s: %w", act(t), err)
	}
	out.Edit = api.FileEdit{Name: name, Digest: t.Digest}
	if t.Gone {
		if err := Deletable(p, act(t), t.ID, name, f.Was, f.Shipped); err != nil {
			return nil, err
		}
		if f.Data, err = rolefile.Without(name, t.ID, f.Was); err != nil {
			return nil, fmt.Errorf("%s: %w", act(t), err)
		}
		out.Edit.Text, out.Edit.Gone = string(f.Data), f.Data == nil
		return f, nil
	}
	is := rolefile.Read(name, t.ID, f.Was)
	e := rolefile.Difference(is, wanted(is, t.Fields))
	if f.Data, err = e.ApplyIn(name, t.ID, f.Was); err != nil {
		return nil, failure.New(failure.Conflict, fmt.Errorf("%s: %w", act(t), err), "change the file itself: myc edit roles/"+t.ID)
	}
	if f.Data == nil {
		f.Data = []byte{}
	}
	out.Edit.Text = string(f.Data)
	return f, nil
}

// wanted is a role as a form wants it. What the form does not have stays, and so does the order of lists.
func wanted(is policy.Role, f api.RoleFields) policy.Role {
	want := is
	want.Name, want.Description, want.Inherits, want.Prompt = f.Name, f.Description, f.Inherits, f.Prompt
	want.Model = f.Model
	if want.ToolIDs = ordered(is.ToolIDs, f.ToolIDs); is.ToolIDs == nil && len(want.ToolIDs) == 0 {
		want.ToolIDs = nil
	}
	all := is.AllowedSkills == nil || slices.Equal(is.AllowedSkills, []string{"*"})
	switch {
	case f.Bounded:
		want.AllowedSkills = ordered(is.AllowedSkills, f.Skills)
	case !all:
		want.AllowedSkills = []string{"*"}
	}
	return want
}

// ordered are the words that are wanted: those that were there in their order, and then the others.
func ordered(was, want []string) []string {
	out := []string{}
	for _, w := range append(slices.Clone(was), want...) {
		if slices.Contains(want, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
