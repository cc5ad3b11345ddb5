// Package scaffold writes the first files of a project.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/fromclaude"
	"mycelium/internal/config/source"
	"mycelium/internal/skill"
)

//go:embed initial
var initial embed.FS

//go:embed minimal
var minimalMain embed.FS

// Written says what Init did. Paths are relative to Dir and sorted.
type Written struct {
	Dir     string   `json:"dir"`
	Written []string `json:"written"`
	Kept    []string `json:"kept"` // existed and were not changed
}

// Options say what Init writes.
type Options struct {
	Minimal  bool             // no skills and no roles, so that nothing is granted
	Template string           // the template of package skill from which another skill is written; "": none
	Import   *fromclaude.Plan // what another program's files mean; nil: nothing. Its files are written too, and the others name them
}

// Init makes a folder a project: mycelium.yaml, rules.yaml, skills/ and roles/. It keeps files that exist. An unknown template is an error
// before anything is written. So is an import into a folder that has a mycelium.yaml, because it would change what that says.
func Init(dir string, o Options) (*Written, error) {
	files, err := initialFiles(o.Minimal, o.Template)
	if err != nil {
		return nil, err
	}
	if o.Import != nil {
		if _, err := os.Lstat(filepath.Join(dir, source.MainFile)); err == nil {
			return nil, fmt.Errorf("init --from: %s is there: an import is for a new project", source.MainFile)
		}
		if files, err = withImport(files, o.Import); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project folder like any other
		return nil, fmt.Errorf("make project folder: %w", err)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("find project folder: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, fmt.Errorf("find project folder: %w", err)
	}
	out := &Written{Dir: root, Written: []string{}, Kept: []string{}}
	for _, folder := range []string{source.SkillsFolder, source.RolesFolder} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil { //nolint:gosec // as above
			return out, fmt.Errorf("make folder %s: %w", folder, err)
		}
	}
	for _, f := range files {
		if kept, err := writeNew(root, f); err != nil {
			return out, err
		} else if kept {
			out.Kept = append(out.Kept, f.path)
		} else {
			out.Written = append(out.Written, f.path)
		}
	}
	return out, nil
}

// file is a file that Init writes.
type file struct {
	path string // slash-separated, relative to the project
	data []byte
}

// initialFiles returns the files to write, sorted by path.
func initialFiles(minimal bool, template string) ([]file, error) {
	var out []file
	add := func(fsys fs.FS, root, to string) error {
		return fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			rel := strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
			if minimal && rel != source.RulesFile {
				return nil
			}
			out = append(out, file{path.Join(to, rel), data})
			return nil
		})
	}
	if err := add(initial, "initial", ""); err != nil {
		return nil, fmt.Errorf("read initial files: %w", err)
	}
	if minimal {
		data, err := fs.ReadFile(minimalMain, "minimal/"+source.MainFile)
		if err != nil {
			return nil, fmt.Errorf("read initial files: %w", err)
		}
		out = append(out, file{source.MainFile, data})
	}
	shipped := skill.Shipped()
	names, err := fs.ReadDir(shipped, ".")
	if err != nil {
		return nil, fmt.Errorf("read shipped skills: %w", err)
	}
	for _, e := range names {
		if minimal {
			break
		}
		if err := add(shipped, e.Name(), path.Join(source.SkillsFolder, e.Name())); err != nil {
			return nil, fmt.Errorf("read shipped skill %s: %w", e.Name(), err)
		}
	}
	if template != "" {
		files, err := skill.Render(template, template)
		if err != nil {
			return nil, fmt.Errorf("init: %w", err)
		}
		for name, data := range files {
			out = append(out, file{path.Join(source.SkillsFolder, template, name), data})
		}
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.path, b.path) })
	out = slices.CompactFunc(out, func(a, b file) bool { return a.path == b.path }) // the template is one of the shipped skills
	return out, nil
}

// withImport returns the files of a project with those of an import, sorted by path. The developer may use the imported skills, they are
// active at the start, and the imported rules are among the rules.
func withImport(files []file, from *fromclaude.Plan) ([]file, error) {
	own := map[string]bool{}
	for _, f := range from.Files {
		own[f.Path] = true
	}
	files = slices.DeleteFunc(files, func(f file) bool { return own[f.path] })
	more := ""
	for _, s := range from.Skills {
		more += ", " + s
	}
	type change struct{ file, old, new string }
	changes := []change{
		{"roles/developer.yaml", "allowedSkills: [common,", "allowedSkills: [common" + more + ","},
		{source.MainFile, "defaultSkills: [common,", "defaultSkills: [common" + more + ","},
	}
	if own[fromclaude.RulesFile] {
		changes = append(changes, change{source.MainFile, "rules: [rules.yaml]", "rules: [rules.yaml, " + fromclaude.RulesFile + "]"})
	}
	if from.Asks {
		changes = append(changes, change{source.MainFile, "fallback: {mcp: allow,", "fallback: {mcp: ask,"})
	}
	for _, c := range changes {
		i := slices.IndexFunc(files, func(f file) bool { return f.path == c.file })
		if i < 0 || !bytes.Contains(files[i].data, []byte(c.old)) {
			return nil, fmt.Errorf("init --from: the initial %s has no %q", c.file, c.old)
		}
		files[i].data = bytes.Replace(files[i].data, []byte(c.old), []byte(c.new), 1)
	}
	for _, f := range from.Files {
		files = append(files, file{f.Path, f.Data})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// writeNew writes a file unless one of its name exists; then kept is true.
func writeNew(dir string, f file) (kept bool, err error) {
	to := filepath.Join(dir, filepath.FromSlash(f.path))
	if _, err := os.Lstat(to); err == nil {
		return true, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("write %s: %w", f.path, err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // a project folder like any other
		return false, fmt.Errorf("make folder for %s: %w", f.path, err)
	}
	if err := atomicfile.Write(to, f.data, 0o644); err != nil {
		return false, fmt.Errorf("write %s: %w", f.path, err)
	}
	return false, nil
}
