package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/migrate"
	"mycelium/internal/config/source"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
)

func (a *app) migrateCmd() *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use: "migrate [FILE]", Short: "Show what a file of ClaudeCube means here, in the present form",
		Long: "Prints a rules file of ClaudeCube, or the settings of its orchestrator, in the present form: the rules, what belongs in\n" +
			"mycelium.yaml, and what could not be carried over. Without FILE it is rules.yaml. With --write the files change, and are\n" +
			"in force at once where their old form was; each is kept beside itself as NAME.bak.",
		Example: "  myc config migrate\n  myc config migrate config/orchestrator.yaml --write", Args: base.ArgRange(0, 1, "at most one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{source.RulesFile}
			}
			return a.migrate(args[0], write)
		}}
	c.Flags().BoolVar(&write, "write", false, "change the files")
	return c
}

// migration is a plan in the shape of `myc config migrate --json`.
type migration struct {
	File    string   `json:"file"`
	Old     bool     `json:"old"`  // something of it is not in the present form
	Text    string   `json:"text"` // the rules in their present form; empty for the settings of the orchestrator
	Added   []string `json:"added"`
	Notes   []string `json:"notes"`
	Backups []string `json:"backups"` // with --write
}

func (a *app) migrate(file string, write bool) error {
	if err := a.NeedPerson("show what governs agents"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	plan, text, err := planMigration(p.Dir, path, file)
	if err != nil {
		return err
	}
	m := migration{File: file, Old: plan.Old(text), Text: string(plan.Text), Added: append([]string{}, plan.Added...),
		Notes: append([]string{}, plan.Notes...), Backups: []string{}}
	if write && m.Old {
		err := p.Write(time.Now(), func(folders []string) error {
			for _, dir := range folders {
				kept, err := migrateIn(dir, p.Dir, path, file)
				if err != nil {
					return err
				}
				m.Backups = append(m.Backups, kept...)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("config migrate: %w", err)
		}
	}
	if a.JSON {
		return a.PrintJSON(m)
	}
	a.showMigration(m, write)
	return nil
}

// planMigration reads an old file and the mycelium.yaml of a folder.
func planMigration(dir, path, shown string) (*migrate.Plan, []byte, error) {
	text, err := source.Read(path)
	if err != nil {
		return nil, nil, failure.New(failure.Usage, fmt.Errorf("config migrate: %s: %s", shown, source.Reason(err)),
			"name the file: myc config migrate FILE")
	}
	main, err := source.Read(filepath.Join(dir, source.MainFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("config migrate: %s: %s", source.MainFile, source.Reason(err))
	}
	plan, problems := migrate.Read(shown, text, main)
	if plan == nil {
		return nil, nil, failure.New(failure.Config, fmt.Errorf("config migrate: %s", project.ProblemText(firstFault(problems))), "")
	}
	return plan, text, nil
}

// firstFault is the first problem that is more than a warning.
func firstFault(problems []policy.Problem) policy.Problem {
	for _, p := range problems {
		if !p.Warning {
			return p
		}
	}
	return policy.Problem{}
}

// migrateIn changes the files of one folder: the project, or the copy of what was accepted of it, which may have another version of the
// file, or none. mycelium.yaml is the first, so that no bound is missing if the second cannot be written.
func migrateIn(dir, projectDir, path, shown string) (backups []string, err error) {
	inProject := dir == projectDir
	if name, err := filepath.Rel(projectDir, path); !inProject && (err != nil || !filepath.IsLocal(name)) {
		return nil, nil //nolint:nilerr // a file outside of the project has no accepted copy
	} else if !inProject {
		path = filepath.Join(dir, name)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !inProject {
		return nil, nil
	}
	plan, _, err := planMigration(dir, path, shown)
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		path string
		text []byte
	}{{filepath.Join(dir, source.MainFile), plan.Main}, {path, plan.Text}} {
		if f.text == nil {
			continue
		}
		if inProject {
			kept, err := keep(f.path)
			if err != nil {
				return backups, err
			}
			backups = append(backups, kept...)
		}
		if err := atomicfile.Write(f.path, f.text, 0o644); err != nil {
			return backups, err
		}
	}
	return backups, nil
}

// keep copies a file to the first free of NAME.bak, NAME.bak2 … . A file that does not exist is not kept.
func keep(path string) ([]string, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	to := path + ".bak"
	for n := 2; err == nil; n++ {
		var f *os.File
		if f, err = os.OpenFile(filepath.Clean(to), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(text)
			return []string{to}, errors.Join(err, f.Close())
		}
		if errors.Is(err, fs.ErrExist) {
			to, err = fmt.Sprintf("%s.bak%d", path, n), nil
		}
	}
	return nil, err
}

// showMigration prints a plan as text that is YAML itself.
func (a *app) showMigration(m migration, write bool) {
	switch {
	case !m.Old:
		fmt.Fprintf(a.Out, "# %s is in its present form.\n", m.File)
	case !write && m.Text != "":
		fmt.Fprintf(a.Out, "# %s in its present form; no file was changed, --write does it.\n%s\n", m.File, strings.TrimRight(m.Text, "\n"))
	}
	if len(m.Added) > 0 {
		fmt.Fprintf(a.Out, "# In %s:\n", source.MainFile)
	}
	for _, s := range m.Added {
		fmt.Fprintf(a.Out, "#   %s\n", s)
	}
	for _, n := range m.Notes {
		fmt.Fprintf(a.Out, "# Note: %s.\n", n)
	}
	for _, b := range m.Backups {
		fmt.Fprintf(a.Out, "# The old text is in %s.\n", b)
	}
	if len(m.Backups) > 0 {
		fmt.Fprintln(a.Out, "# Written. myc config validate checks it, and myc trust shows what else waits.")
	}
}
