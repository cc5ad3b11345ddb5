package role

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/change"
	"mycelium/cmd/myc/internal/project"
	"mycelium/internal/config/rolefile"
	"mycelium/internal/config/source"
	"mycelium/internal/node/roles"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
)

func createCmd(a *base.App) *cobra.Command {
	f := &fields{}
	c := &cobra.Command{Use: "create NAME", Short: "Write the file of a new role, and put it in force",
		Long: "Writes roles/ID.yaml, where ID is the name in small letters, with - between its words. Without --allowed-skills and\n" +
			"--inherits no skill is open to the role.",
		Example: "  myc roles create \"Data Analyst\" --allowed-skills common,reader --description \"Reads the numbers.\"",
		Args:    base.ArgRange(1, 1, "one name"),
		RunE:    func(c *cobra.Command, args []string) error { return (&app{a}).create(c.Context(), args[0], f) }}
	f.add(c.Flags())
	return c
}

func editCmd(a *base.App) *cobra.Command {
	f := &fields{}
	c := &cobra.Command{Use: "edit ROLE", Short: "Change a role's file, and put it in force",
		Long: "Sets what the flags say, and keeps the rest of the file with its comments. Without flags it is myc edit roles/ROLE, which\n" +
			"opens the file in $VISUAL or $EDITOR.",
		Example: "  myc roles edit intern\n  myc roles edit intern --deny files__write_file --clear model,prompt",
		Args:    base.ArgRange(1, 1, "one role"),
		RunE: func(c *cobra.Command, args []string) error {
			if !f.given() {
				return project.Edit(a).RunE(c, []string{source.RolesFolder + "/" + args[0]})
			}
			return (&app{a}).edit(c.Context(), args[0], f)
		}}
	f.add(c.Flags())
	c.Flags().StringSliceVar(&f.clear, "clear", nil, "keys to take out of the file: "+strings.Join(rolefile.Keys(), ", "))
	return c
}

// create writes the file of a new role.
func (a *app) create(ctx context.Context, name string, f *fields) error {
	const act = "roles create"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return failure.Usagef("%s: which name?", act)
	}
	id := rolefile.ID(name)
	if err := roles.Free(p, act, id); err != nil {
		return err
	}
	c := &update{File: change.Of(act, p, path.Join(source.RolesFolder, id+".yaml")), result: result{Role: id}}
	c.result.File, c.said = c.Name, "in force: "+c.Name
	e, err := f.edit(act, policy.Role{})
	if err != nil {
		return err
	}
	if c.Data, err = rolefile.New(id, name, e); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	if rolefile.Closed(e) {
		c.said += "\nno skill is open to it yet: myc roles edit " + id + " --allowed-skills NAME,…"
	}
	if err := a.put(ctx, c); err != nil {
		return err
	}
	a.tellClosed(id, f.skills)
	return a.done(ctx, c)
}

// edit changes a role's file as the flags say.
func (a *app) edit(ctx context.Context, role string, f *fields) error {
	const act = "roles edit"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	c := &update{File: change.Of(act, p, "")}
	if c.Name, err = roles.FileOf(p, act, role); err != nil {
		return err
	}
	if err := c.Read(); err != nil {
		return err
	}
	e, err := f.edit(act, rolefile.Read(c.Name, role, c.Was))
	if err != nil {
		return err
	}
	if c.Data, err = e.ApplyIn(c.Name, role, c.Was); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	c.result, c.said = result{Role: role, File: c.Name}, "in force: "+c.Name
	if err := a.put(ctx, c); err != nil {
		return err
	}
	a.tellClosed(role, f.skills)
	return a.done(ctx, c)
}

// tellClosed says which of the skills that a role's file lists are for other roles by their own allowedRoles.
func (a *app) tellClosed(role string, skills []string) {
	v, err := a.OpenView()
	if err != nil {
		return // the change is in force; doctor says what is wrong
	}
	defer v.Close()
	open := v.Policy.OpenSkills(role)
	for _, s := range v.Skills.All() {
		if slices.Contains(skills, s.Name) && !slices.Contains(open, s.Name) && len(s.AllowedRoles) > 0 {
			fmt.Fprintf(a.Err, "myc: the skill %s names other roles in allowedRoles: myc skill grant %s %s opens it\n", s.Name, s.Name, role)
		}
	}
}
