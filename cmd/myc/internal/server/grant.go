package server

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/shipped"
	"mycelium/internal/op/failure"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
)

// Grant is `myc skill grant`.
func Grant(b *base.App) *cobra.Command {
	a := &app{b}
	return &cobra.Command{Use: "grant SKILL ROLE", Short: "Let a role use a skill",
		Long: "Adds the skill to the role's file, where that file bounds the role, and the role to the skill's allowedRoles, where the\n" +
			"skill has any. Both change together, and are in force at once.",
		Example: "  myc skill grant reader guest", Args: base.ArgRange(2, 2, "a skill and a role"),
		RunE: func(_ *cobra.Command, args []string) error { return a.grant(args[0], args[1]) }}
}

func (a *app) grant(name, role string) error {
	if err := a.NeedPerson("grant a skill"); err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	i := slices.IndexFunc(v.Skills.All(), func(s skill.Checked) bool { return s.Name == name })
	if i < 0 {
		return failure.New(failure.Usage, fmt.Errorf("skill grant: there is no skill %q", name), "myc skill list shows them")
	}
	if role != filepath.Base(role) {
		return failure.Usagef("skill grant: %q is no name of a role", role)
	}
	s := v.Skills.All()[i]
	if slices.Contains(v.RolesOf(s), role) {
		fmt.Fprintf(a.Out, "the role %s may already use the skill %s\n", role, name)
		return nil
	}
	var all changes
	err = v.Project.Write(time.Now(), func(folders []string) error {
		where, err := foldersOf(v.Project, folders)
		if err != nil {
			return err
		}
		for _, at := range where {
			if err := all.planGrant(at, s.Skill, role); err != nil {
				return err
			}
		}
		return all.write()
	})
	if err == nil && len(all) == 0 {
		err = failure.Hint(fmt.Errorf("neither the skill's file nor the role's has a list that can be extended"),
			"write allowedRoles: ["+role+"] in the skill: myc edit skills/"+name)
	}
	if err != nil {
		return fmt.Errorf("skill grant: %w", err)
	}
	all.tellShipped(a.Out)
	fmt.Fprintf(a.Out, "the role %s may use the skill %s: myc tools --role %s --skill %s shows what it sees\n", role, name, role, name)
	return nil
}

// planGrant computes what the grant of a skill changes in one folder.
func (c *changes) planGrant(at folder, s skill.Skill, role string) error {
	if err := c.planRole(at, addition{skill: s.Name, role: role}); err != nil {
		return err
	}
	if len(s.AllowedRoles) == 0 || slices.Contains(s.AllowedRoles, "*") || slices.Contains(s.AllowedRoles, role) {
		return nil
	}
	declares := path.Join("skills", s.Name, path.Base(s.File))
	ch, err := at.change(declares)
	if err == nil && ch.after == nil {
		err = failure.Hint(fmt.Errorf("%s: %w", declares, os.ErrNotExist),
			"add "+role+" to the allowedRoles of the skill: myc edit skills/"+s.Name)
	}
	if err != nil {
		return err
	}
	if ch.after, err = addRole(declares, ch.after, role); err != nil {
		return fmt.Errorf("%s: %w", declares, err)
	}
	*c = append(*c, ch)
	for name := range at.ships { // a skill of the program comes with all its files
		if shipped.Unit(name) != path.Dir(declares) || name == declares {
			continue
		}
		other, err := at.change(name)
		if err != nil {
			return err
		}
		*c = append(*c, other)
	}
	return nil
}

// addRole adds a role to the allowedRoles of the file that declares a skill: a YAML file, or a page with YAML between two lines ---.
func addRole(name string, data []byte, role string) ([]byte, error) {
	if path.Ext(name) != ".md" {
		return yamlfile.AddItem(data, "allowedRoles", role)
	}
	const line = "---\n"
	front, ok := strings.CutPrefix(string(data), line)
	end := strings.Index(front, "\n"+line) + 1
	if !ok || end == 0 {
		return nil, errors.New("it has no front matter")
	}
	text, err := yamlfile.AddItem([]byte(front[:end]), "allowedRoles", role)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(line), text, []byte(front[end:])), nil
}
