package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
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
	s, changed := v.Skills.All()[i], false
	if slices.Contains(v.RolesOf(s), role) {
		fmt.Fprintf(a.Out, "the role %s may already use the skill %s\n", role, name)
		return nil
	}
	err = v.Project.Write(time.Now(), func(folders []string) error {
		var all changes
		for _, dir := range folders {
			if err := all.planGrant(dir, s.Skill, role); err != nil {
				return err
			}
		}
		changed = len(all) > 0
		return all.write()
	})
	if err == nil && !changed {
		err = failure.Hint(fmt.Errorf("neither the skill's file nor the role's has a list that can be extended"),
			"write allowedRoles: ["+role+"] in the skill: myc edit skills/"+name)
	}
	if err != nil {
		return fmt.Errorf("skill grant: %w", err)
	}
	fmt.Fprintf(a.Out, "the role %s may use the skill %s: myc tools --role %s --skill %s shows what it sees\n", role, name, role, name)
	return nil
}

// planGrant computes what the grant of a skill changes in one folder.
func (c *changes) planGrant(dir string, s skill.Skill, role string) error {
	if err := c.planRole(dir, addition{skill: s.Name, role: role}); err != nil {
		return err
	}
	if len(s.AllowedRoles) == 0 || slices.Contains(s.AllowedRoles, "*") || slices.Contains(s.AllowedRoles, role) {
		return nil
	}
	file := filepath.Join(dir, "skills", s.Name, "SKILL.yaml")
	old, err := read(file)
	if err == nil && old == nil {
		err = failure.Hint(fmt.Errorf("skills/%s/SKILL.yaml: %w", s.Name, os.ErrNotExist),
			"add "+role+" to the allowedRoles of the skill: myc edit skills/"+s.Name)
	}
	if err != nil {
		return err
	}
	text, err := yamlfile.AddItem(old, "allowedRoles", role)
	if err != nil {
		return fmt.Errorf("skills/%s: %w", s.Name, err)
	}
	*c = append(*c, change{path: file, before: old, after: text})
	return nil
}
