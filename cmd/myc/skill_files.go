package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/atomicfile"
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
	shipped, _ := skill.Load(skill.Shipped(), "shipped", "shipped")
	for _, s := range shipped {
		rows = append(rows, row{s.Name, "shipped", s.Description})
	}
	if a.json {
		return a.printJSON(rows)
	}
	text := [][]string{{"NAME", "KIND", "DESCRIPTION"}}
	for _, r := range rows {
		text = append(text, []string{r.Name, r.Kind, firstLine(r.Description, 80)})
	}
	table(a.out, text)
	return nil
}

// skillAdd writes a new skill folder; an existing one is never touched.
func (a *app) skillAdd(name, template string) error {
	if err := a.needPerson("add a skill"); err != nil {
		return err
	}
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	files, err := skill.Render(name, template)
	if err != nil {
		return usageError("skill add: %w", err)
	}
	target := filepath.Join(dir, "skills", name)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // people's own files, as their editor would make them
		return fmt.Errorf("skill add: %w", err)
	}
	if err := os.Mkdir(target, 0o755); err != nil { //nolint:gosec // as above
		if errors.Is(err, fs.ErrExist) {
			return hinted(fmt.Errorf("skill add: %s exists", target), "choose another name, or edit that one")
		}
		return fmt.Errorf("skill add: %w", err)
	}
	for file, data := range files {
		if err := atomicfile.Write(filepath.Join(target, file), data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "wrote %s\n", filepath.Join("skills", name, file))
	}
	return a.skillValidate([]string{target})
}

// skillValidate checks the project's skills, or those of one folder (a skill's, or one of skill folders) as if they were in place.
func (a *app) skillValidate(args []string) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	lib, problems := v.skills, v.project.Problems
	if len(args) == 1 {
		skills, more, err := loadAt(args[0])
		if err != nil {
			return err
		}
		lib, problems = skill.Validate(skills, v.catalog), more
	}
	rows := v.skillRows(lib)
	bad := 0
	for _, p := range problems {
		if !p.Warning && isSkillFile(p.File) {
			bad++
		}
		if isSkillFile(p.File) && !a.json {
			fmt.Fprintln(a.err, problemText(p))
		}
	}
	for _, s := range lib.All() {
		if s.State == skill.Invalid {
			bad++
		}
		for _, p := range s.Problems {
			if !a.json {
				fmt.Fprintln(a.err, problemText(p))
			}
		}
		if !a.json {
			fmt.Fprintf(a.out, "%-8s %s\n", s.State, s.Name)
		}
		if why := v.closed(s); why != "" && !a.json {
			fmt.Fprintln(a.err, "myc: "+why)
		}
	}
	if a.json {
		if err := a.printJSON(rows); err != nil {
			return err
		}
	}
	if bad > 0 {
		return configError(fmt.Errorf("skill validate: %d invalid", bad), "an invalid skill is left out whole until it is mended")
	}
	return nil
}

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
	for _, f := range []string{"SKILL.md", "SKILL.yaml", "SKILL.yml"} {
		if _, err := os.Stat(filepath.Join(abs, f)); err == nil {
			parent, name := filepath.Split(abs)
			s, p := skill.LoadOne(os.DirFS(parent), name, parent, "project")
			return s, p, nil
		}
	}
	s, p := skill.Load(os.DirFS(abs), path, "project")
	if len(s)+len(p) == 0 {
		return nil, nil, hinted(fmt.Errorf("skill validate: no SKILL.md or SKILL.yaml in %s", path), "name a skill's folder, or the folder that holds skill folders")
	}
	return s, p, nil
}

func (a *app) skillReload(ctx context.Context, name string) error {
	if err := a.needPerson("reload"); err != nil {
		return err
	}
	if c, _, err := a.running(ctx); err != nil {
		return err
	} else if c != nil {
		defer c.Close()
		if err := answered(c.Call(ctx, "reload", nil, nil)); err != nil {
			return configError(err, "myc doctor shows what is wrong")
		}
	}
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	if name == "" {
		for _, p := range v.skillFaults() {
			fmt.Fprintln(a.err, problemText(p))
		}
		fmt.Fprintf(a.out, "%d skills are valid\n", len(v.skills.Grants()))
		return nil
	}
	if sk, ok := v.skills.Skill(name); ok {
		if why := v.closed(skill.Checked{Skill: *sk, State: skill.Valid}); why != "" {
			fmt.Fprintln(a.err, "myc: "+why)
		}
		fmt.Fprintf(a.out, "%s is in effect, open to %s\n", sk.Name, orDash(strings.Join(v.rolesOf(skill.Checked{Skill: *sk, State: skill.Valid}), ", ")))
		return nil
	}
	for _, s := range v.skills.All() {
		if s.Name == name {
			for _, p := range s.Problems {
				fmt.Fprintln(a.err, problemText(p))
			}
			return configError(fmt.Errorf("skill %s is %s and left out", name, s.State), "")
		}
	}
	return a.noSkill(v, name)
}

// skillFaults are the faults for which skills are left out.
func (v *view) skillFaults() []policy.Problem {
	var all, faults []policy.Problem
	for _, p := range v.problems {
		if isSkillFile(p.File) {
			all = append(all, p)
		}
	}
	for _, s := range v.skills.All() {
		if s.State == skill.Invalid {
			all = append(all, s.Problems...)
		}
	}
	for _, p := range all {
		if !p.Warning && !slices.Contains(faults, p) {
			faults = append(faults, p)
		}
	}
	return faults
}
