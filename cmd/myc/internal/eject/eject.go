// Package eject has the commands that write a skill or a role of the program into the project, where it can be changed.
package eject

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// kind is what a command ejects.
type kind struct {
	command, noun, folder, ext string
}

// Skill is `myc skill eject`.
func Skill(a *base.App) *cobra.Command {
	return kind{"skill", "skill", source.SkillsFolder, ""}.cmd(a, "reader")
}

// Roles is `myc roles eject`.
func Roles(a *base.App) *cobra.Command {
	return kind{"roles", "role", source.RolesFolder, ".yaml"}.cmd(a, "guest")
}

func (k kind) cmd(a *base.App, example string) *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "eject NAME… | --all", Short: "Write a " + k.noun + " of the program into the project, to be changed",
		Long: "Writes the files of a " + k.noun + " that the program ships into the project, as they are in force. This changes nothing:\n" +
			"from then on the project's file counts, and a newer program does not change it.",
		Example: fmt.Sprintf("  myc %s eject %s\n  myc %s eject --all", k.command, example, k.command),
		RunE: func(_ *cobra.Command, names []string) error {
			if all == (len(names) > 0) {
				return failure.Usagef("%s eject: it wants the names of %ss, or --all", k.command, k.noun)
			}
			return k.eject(a, names)
		}}
	c.Flags().BoolVar(&all, "all", false, "every "+k.noun+" that the project uses from the program")
	return c
}

// eject writes the named ones, or all that are left. It writes nothing if one of them cannot be ejected.
func (k kind) eject(a *base.App, names []string) error {
	if err := a.NeedPerson("eject a " + k.noun); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	a.SayProject()
	files, err := p.Shipped(p)
	if err != nil {
		return fmt.Errorf("%s eject: %w", k.command, err)
	}
	units := map[string]bool{}
	for name := range files {
		if unit := shipped.Unit(name); strings.HasPrefix(unit, k.folder+"/") {
			units[unit] = true
		}
	}
	if len(names) > 0 {
		if units, err = k.chosen(p, names, units); err != nil {
			return err
		}
	}
	if len(units) == 0 {
		fmt.Fprintf(a.Out, "no %s of the program is used here that is not in the project\n", k.noun)
		return nil
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return !units[shipped.Unit(name)] })
	if err := p.Write(time.Now(), func(folders []string) error { return write(folders[len(folders)-1], files) }); err != nil {
		return fmt.Errorf("%s eject: %w", k.command, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(a.Out, "wrote %s\n", name)
	}
	fmt.Fprintf(a.Out, "%s ejected. Nothing changed in force: myc edit %s/NAME changes one.\n", text.Count(len(units), k.noun), k.folder)
	return nil
}

// chosen returns those of the units that are named.
func (k kind) chosen(p *config.Project, names []string, units map[string]bool) (map[string]bool, error) {
	out := map[string]bool{}
	for _, name := range names {
		unit := path.Join(k.folder, name+k.ext)
		if !units[unit] {
			return nil, k.why(p, name, units)
		}
		if out[unit] {
			return nil, failure.Usagef("%s eject: %s is named twice", k.command, name)
		}
		out[unit] = true
	}
	return out, nil
}

// why says why a name cannot be ejected.
func (k kind) why(p *config.Project, name string, units map[string]bool) error {
	unit := path.Join(k.folder, name+k.ext)
	var known []string
	for _, u := range shipped.Own().Names() {
		if n, ok := strings.CutPrefix(u, k.folder+"/"); ok {
			known = append(known, strings.TrimSuffix(n, k.ext))
		}
	}
	theirs := unit
	if k.ext != "" {
		own := slices.DeleteFunc(config.Declares(p, name), func(file string) bool { return path.Dir(file) != k.folder }) // not the user's
		theirs = strings.Join(own, ", ")
	} else if _, err := os.Lstat(filepath.Join(p.Dir, unit)); err != nil {
		theirs = ""
	}
	switch {
	case name != path.Base(name) || !slices.Contains(known, name):
		hint := "there are: " + strings.Join(known, ", ")
		if near := text.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return failure.New(failure.NotFound, fmt.Errorf("%s eject: the program ships no %s %q", k.command, k.noun, name), hint)
	case theirs != "":
		return failure.Hint(fmt.Errorf("%s eject: %s is in the project already", k.command, theirs),
			"change it: myc edit "+k.folder+"/"+name)
	case len(units) == 0:
		return failure.Hint(fmt.Errorf("%s eject: this project does not use the skills and roles of the program", k.command),
			"write shipped: true into mycelium.yaml (myc edit config), then accept what comes with it: myc trust")
	}
	return failure.Hint(fmt.Errorf("%s eject: %s is not used from the program here", k.command, name),
		"myc "+k.command+" list shows where each comes from")
}

// write writes files that must not exist.
func write(dir string, files map[string][]byte) error {
	for name := range files {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return failure.Hint(fmt.Errorf("%s is in the project already", name), "look at it first; nothing was written")
		}
	}
	for name, data := range files {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // people's own files, as their editor would make them
			return err
		}
		if err := atomicfile.Write(to, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
