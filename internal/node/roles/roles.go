// Package roles tells people of the roles of a project: where the tools of each come from, and what a change of its file would do.
package roles

import (
	"context"
	"path"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/edit"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/socket"
)

// List returns every role, by id. live are the sessions that live.
func List(v *project.View, live []session.Summary) ([]api.Role, error) {
	ships, err := v.Project.Shipped(v.Project)
	if err != nil {
		return nil, err
	}
	out := []api.Role{}
	for _, id := range v.Policy.Roles() {
		out = append(out, rowOf(v, id, ships, live))
	}
	return out, nil
}

// rowOf returns a role in the list of roles.
func rowOf(v *project.View, id string, ships map[string][]byte, live []session.Summary) api.Role {
	about, _ := v.Policy.Role(id)
	check, _ := v.Check(id)
	r := api.Role{ID: id, Name: about.Name, Description: about.Description, Tools: len(check.Tools),
		Skills:  append([]string{}, about.Skills...),
		ToolIDs: append([]string{}, about.ToolIDs...), Missing: []string{}, Inherits: append([]string{}, check.Chain[1:]...), Files: []string{},
		Broken: about.Broken}
	for _, tool := range about.ToolIDs {
		if about.Absent[tool] != "" {
			r.Missing = append(r.Missing, tool)
		}
	}
	for _, file := range config.Declares(v.Project, id) {
		r.Files = append(r.Files, file)
		r.Shipped = r.Shipped || ships[file] != nil
	}
	r.Locked = locked(v.Project, id)
	for _, s := range live {
		if s.Live && s.Role == id {
			r.Sessions++
		}
	}
	return r
}

// locked says why the file of a role cannot be changed as one of the project; "" if it can, or if it has none yet.
func locked(p *config.Project, role string) string {
	files := slices.Clone(config.Declares(p, role))
	own := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return path.Dir(f) != source.RolesFolder })
	switch {
	case len(own) > 1:
		return "it is declared in " + strings.Join(own, " and ") + ": keep one of them"
	case len(own) == 0 && len(files) > 0:
		return "it is yours, for every project: myc edit --user roles/" + role
	}
	return ""
}

// Roles does the operations on roles.
type Roles struct {
	View     func() *project.View            // what is in force
	Load     func() (*config.Project, error) // reads the files anew
	Sessions func(context.Context) ([]session.Summary, error)
	Edits    *edit.Editor // saves their files
}

// Handle adds the operations to those that a socket serves.
func (s Roles) Handle(to socket.Table) {
	socket.Handle(to, api.RolesList, func(ctx context.Context, _ op.Caller, _ op.None) ([]api.Role, error) {
		live, err := s.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		return List(s.View(), live)
	})
	socket.Handle(to, api.RolesShow, func(ctx context.Context, _ op.Caller, p api.RoleParams) (api.RoleDetail, error) {
		return s.Show(ctx, p.ID)
	})
	socket.Handle(to, api.RolesTry, func(ctx context.Context, _ op.Caller, p api.RoleTry) (api.RoleTried, error) {
		return s.Try(ctx, p)
	})
	socket.Handle(to, api.RolesCreate, func(ctx context.Context, c op.Caller, p api.RoleChange) (api.RoleDetail, error) {
		return s.Change(ctx, acts.User(c.UID), "", p)
	})
	socket.Handle(to, api.RolesUpdate, func(ctx context.Context, c op.Caller, p api.RoleUpdate) (api.RoleDetail, error) {
		return s.Change(ctx, acts.User(c.UID), p.ID, p.RoleChange)
	})
	socket.Handle(to, api.RolesDelete, func(ctx context.Context, c op.Caller, p api.RoleVersion) (api.RoleParams, error) {
		return api.RoleParams{ID: p.ID}, s.Delete(ctx, acts.User(c.UID), p)
	})
	socket.Handle(to, api.RolesRestore, func(ctx context.Context, c op.Caller, p api.RoleRestore) (none op.None, _ error) {
		return none, s.Restore(ctx, acts.User(c.UID), p)
	})
}
