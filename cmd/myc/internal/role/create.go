package role

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/change"
	"mycelium/cmd/myc/internal/project"
	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/node/failure"
	"mycelium/internal/yamlfile"
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
	c.Flags().StringSliceVar(&f.clear, "clear", nil, "keys to take out of the file: "+keyNames())
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
	id := slug(name)
	if err := isFree(p, act, id); err != nil {
		return err
	}
	c := &update{File: change.File{Act: act, P: p, Name: path.Join(source.RolesFolder, id+".yaml")}, result: result{Role: id}}
	c.result.File, c.said = c.Name, "in force: "+c.Name
	if name != id && !f.flags.Changed("name") {
		c.Data = append(c.Data, strings.Join(yamlfile.Entry("name", name), "\n")+"\n"...)
	}
	if c.Data, err = f.apply(act, c.Data); err != nil {
		return err
	}
	if !f.flags.Changed("allowed-skills") && !f.flags.Changed("inherits") {
		c.Data = append(c.Data, "allowedSkills: []\n"...)
		c.said += "\nno skill is open to it yet: myc roles edit " + id + " --allowed-skills NAME,…"
	}
	if err := a.put(c); err != nil {
		return err
	}
	a.tellClosed(id, f.skills)
	return a.done(ctx, c)
}

// isFree is an error if a role has a file, or if the file's name is taken.
func isFree(p *config.Project, act, id string) error {
	for _, file := range config.Declares(p, id) {
		if path.Dir(file) == source.RolesFolder {
			return failure.New(failure.Conflict, fmt.Errorf("%s: the role %s exists: %s declares it", act, id, file),
				"change it: myc roles edit "+id)
		}
	}
	for _, ext := range []string{".yaml", ".yml"} {
		file := path.Join(source.RolesFolder, id+ext)
		if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(file))); !errors.Is(err, os.ErrNotExist) {
			return failure.New(failure.Conflict, fmt.Errorf("%s: %s is in the project already, and nobody has accepted it", act, file),
				"look at it: myc trust --diff")
		}
	}
	return nil
}

// slug is the id of a role with a name: its letters and digits of ASCII, in small letters, with - between words; role if there are none.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || (r == '.' || r == '_') && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	const most = 64 // of an id, as roles are read
	id := b.String()
	if len(id) > most {
		id = id[:most]
	}
	if id = strings.Trim(id, "-._"); id == "" {
		return "role"
	}
	return id
}

// edit changes a role's file as the flags say.
func (a *app) edit(ctx context.Context, role string, f *fields) error {
	const act = "roles edit"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	c := &update{File: change.File{Act: act, P: p}}
	if c.Name, err = fileOf(p, act, role); err != nil {
		return err
	}
	if err := c.Read(); err != nil {
		return err
	}
	if c.Data, err = f.apply(act, c.Was); err != nil {
		return err
	}
	c.result, c.said = result{Role: role, File: c.Name}, "in force: "+c.Name
	if err := a.put(c); err != nil {
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
