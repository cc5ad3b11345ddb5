package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/server"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/shipped"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

func (a *app) skillTemplates() error {
	type row struct {
		Name        string `json:"name"`
		Kind        string `json:"kind"` // template or shipped
		Description string `json:"description"`
	}
	rows := []row{}
	for _, t := range skill.Templates() {
		rows = append(rows, row{t.Name, "template", t.Description})
	}
	ours, _ := skill.Load(skill.Shipped(), "shipped", "shipped")
	for _, s := range ours {
		rows = append(rows, row{s.Name, "shipped", s.Description})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Name, r.Kind, r.Description})
	}
	a.Table(base.Column{Name: "NAME"}, base.Column{Name: "KIND"}, base.Column{Name: "DESCRIPTION", Least: 20}).Print(cells...)
	return nil
}

func (a *app) skillAddCmd() *cobra.Command {
	var template string
	var from server.Skill
	c := &cobra.Command{Use: "add NAME", Short: "Add a skill from a template or a server's tools, or a shipped one by its name",
		Long: "With --from, the skill is made of the tools of a server that is there, as myc server add does it: the tools that the\n" +
			"server calls read-only are in it, the others are commented out, and the role may use it at once.",
		Example: "  myc skill add my-skill --template code-reviewer\n  myc skill add read-docs --from docs --role guest",
		Args:    base.ArgRange(1, 1, "one name"),
		RunE: func(c *cobra.Command, args []string) error {
			if from.Name = args[0]; from.Server != "" {
				return server.AddSkill(c.Context(), a.App, from)
			}
			for _, flag := range []string{"role", "yes", "dry-run"} {
				if c.Flags().Changed(flag) {
					return failure.Usagef("skill add: --%s is for --from", flag)
				}
			}
			return a.skillAdd(c.Context(), args[0], template)
		}}
	c.Flags().StringVar(&template, "template", "", "template (default: the shipped skill of that name, else basic)")
	c.Flags().StringVar(&from.Server, "from", "", "server whose tools the skill grants")
	c.Flags().StringVar(&from.Role, "role", "", "with --from: role that may use it (default: session.agentRole, else session.defaultRole)")
	c.Flags().BoolVarP(&from.Yes, "yes", "y", false, "with --from: do not ask")
	c.Flags().BoolVar(&from.Dry, "dry-run", false, "with --from: show what would be written, and change no file")
	c.MarkFlagsMutuallyExclusive("template", "from")
	return c
}

// skillAdd writes a new skill folder. It never changes an existing one.
func (a *app) skillAdd(ctx context.Context, name, template string) error {
	if err := a.NeedPerson("add a skill"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	files, err := skill.Render(name, template)
	if err != nil {
		return failure.Usagef("skill add: %w", err)
	}
	ships, err := p.Shipped(p)
	if err != nil {
		return fmt.Errorf("skill add: %w", err)
	}
	for file := range ships {
		if shipped.Unit(file) == "skills/"+name {
			return failure.Hint(fmt.Errorf("skill add: the skill %s is shipped by the program and is used here already", name),
				"myc skill eject "+name+" writes it into the project, to be changed")
		}
	}
	err = p.Write(time.Now(), func(folders []string) error {
		for _, dir := range slices.Backward(folders) { // the project first, because it may have such a folder
			if err := writeSkill(filepath.Join(dir, "skills", name), files); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join("skills", name, file))
	}
	return a.skillValidate(ctx, []string{filepath.Join(p.Dir, "skills", name)})
}

// writeSkill writes a skill's folder, which must not exist.
func writeSkill(target string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // people's own files, as their editor would make them
		return fmt.Errorf("skill add: %w", err)
	}
	if err := os.Mkdir(target, 0o755); err != nil { //nolint:gosec // as above
		if errors.Is(err, fs.ErrExist) {
			return failure.Hint(fmt.Errorf("skill add: %s exists", target), "choose another name, or edit the existing skill")
		}
		return fmt.Errorf("skill add: %w", err)
	}
	for file, data := range files {
		if err := atomicfile.Write(filepath.Join(target, file), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// skillFiles are the files that declare a skill.
var skillFiles = [...]string{"SKILL.md", "SKILL.yaml", "SKILL.yml"}

// loadAt reads the skill in a folder, or the skills below it.
func loadAt(path string) ([]skill.Skill, []policy.Problem, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("skill validate: %w", err)
	}
	if st, err := os.Stat(abs); err != nil {
		return nil, nil, fmt.Errorf("skill validate: %w", err)
	} else if !st.IsDir() {
		abs = filepath.Dir(abs)
	}
	for _, f := range skillFiles {
		if _, err := os.Stat(filepath.Join(abs, f)); err == nil {
			parent, name := filepath.Split(abs)
			s, p := skill.LoadOne(atomicfile.DirFS(parent), name, parent, "project")
			return s, p, nil
		}
	}
	s, p := skill.Load(atomicfile.DirFS(abs), path, "project")
	if len(s)+len(p) == 0 {
		return nil, nil, failure.Hint(fmt.Errorf("skill validate: no SKILL.md or SKILL.yaml in %s", path),
			"name a skill's folder, or the folder that holds skill folders")
	}
	return s, p, nil
}
