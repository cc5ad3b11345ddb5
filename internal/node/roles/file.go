package roles

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// FileOf returns the name in the project of the one file that declares a role and nothing else.
func FileOf(p *config.Project, act, role string) (string, error) {
	var files []string
	for _, file := range config.Declares(p, role) {
		if path.Dir(file) == source.RolesFolder {
			files = append(files, file)
		} else if len(config.Declares(p, role)) == 1 {
			return "", failure.Hint(fmt.Errorf("%s: the role %s is yours, for every project: %s", act, role, file),
				"myc edit --user roles/"+role)
		}
	}
	switch {
	case len(files) > 1:
		return "", failure.Hint(fmt.Errorf("%s: the role %s is declared in %s", act, role, strings.Join(files, " and ")),
			"keep one of them: myc edit roles/"+role)
	case len(files) == 1:
		return files[0], nil
	}
	var known []string
	for _, r := range p.Roles {
		known = append(known, r.ID)
	}
	for _, s := range p.Skills {
		if slices.Contains(s.AllowedRoles, role) {
			return "", failure.New(failure.NotFound, fmt.Errorf("%s: the role %s has no file; the skill %s names it", act, role, s.Name),
				"myc roles create "+role+" writes one, which bounds the role")
		}
	}
	hint := "roles with a file: " + strings.Join(slices.Compact(slices.Sorted(slices.Values(known))), ", ")
	if near := text.Nearest(role, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", failure.New(failure.NotFound, fmt.Errorf("%s: no file declares a role %q", act, role), hint)
}

// Free is an error if a role has a file, or if the file's name is taken.
func Free(p *config.Project, act, id string) error {
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

// Deletable is an error if a role cannot be taken out of its file, which says this, or is shipped by the program.
func Deletable(p *config.Project, act, role, file string, says []byte, ships bool) error {
	instead := "close the role instead: myc roles edit " + role + " --allowed-skills \"\""
	switch {
	case ships:
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s comes with the program, and is not in the project", act, file), instead)
	case says == nil:
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s is gone already, and nobody has accepted that", act, file),
			"accept it: myc trust")
	case isPrograms(p, file):
		return failure.New(failure.Conflict, fmt.Errorf("%s: without its file here, the program's own %s would count", act, file), instead)
	}
	return nil
}

// isPrograms reports whether the program ships a file that the project would use if it had none of its own.
func isPrograms(p *config.Project, file string) bool {
	var main struct {
		Shipped bool `yaml:"shipped"`
	}
	_ = yamlfile.Decode(source.MainFile, p.Accepted(source.MainFile), &main) // its other keys are unknown here
	return main.Shipped && slices.Contains(shipped.Own().Names(), file)
}
