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
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

//go:embed initial minimal
var initial embed.FS

// Written says what Init did. Paths are relative to Dir and sorted.
type Written struct {
	Dir     string   `json:"dir"`
	Written []string `json:"written"`
	Kept    []string `json:"kept"` // existed and were not changed
}

// Options say what Init writes.
type Options struct {
	Minimal  bool             // nothing is granted: not even the skills and roles of the program are used
	Template string           // the template of package skill from which another skill is written; "": none
	Sandbox  bool             // commands of agents run in the sandbox
	Import   *fromclaude.Plan // what another program's files mean; nil: nothing. Its files are written too, and the others name them
}

// Init makes a folder a project: mycelium.yaml, rules.yaml, and empty folders skills/ and roles/, because its skills and roles are those of
// the program (see package shipped). It keeps files that exist. An unknown template is an error before anything is written. So is an import
// into a folder that has a mycelium.yaml, because it would change what that says.
func Init(dir string, o Options) (*Written, error) {
	files, err := initialFiles(o)
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

// Wall is the line of mycelium.yaml, below the policy: key, with which commands of agents run in the sandbox.
const Wall = "  wall: project\n"

// initialFiles returns the files to write, sorted by path.
func initialFiles(o Options) ([]file, error) {
	main, template := "initial/"+source.MainFile, o.Template
	if o.Minimal {
		main = "minimal/" + source.MainFile
	}
	var out []file
	for _, from := range []string{main, "initial/" + source.RulesFile} {
		data, err := fs.ReadFile(initial, from)
		if err != nil {
			return nil, fmt.Errorf("read initial files: %w", err)
		}
		if !o.Sandbox {
			data = bytes.Replace(data, []byte(Wall), []byte("  wall: "+policy.NoWall+"\n"), 1)
		}
		out = append(out, file{path.Base(from), data})
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
	return out, nil
}

// developer is the file of the role that gets what is imported.
const developer = source.RolesFolder + "/developer.yaml"

// withImport returns the files of a project with those of an import, sorted by path. The developer may use the imported skills, they are
// active at the start, and the imported rules are among the rules. So the role of the developer is a file of the project.
func withImport(files []file, from *fromclaude.Plan) ([]file, error) {
	own := map[string]bool{}
	for _, f := range from.Files {
		own[f.Path] = true
	}
	files = slices.DeleteFunc(files, func(f file) bool { return own[f.path] })
	further := ""
	if len(from.Skills) > 0 && !own[developer] {
		data, err := fs.ReadFile(shipped.Own().Roles, path.Base(developer))
		if err != nil {
			return nil, fmt.Errorf("init --from: %w", err)
		}
		files = append(files, file{developer, data})
		for _, s := range from.Skills {
			if !bytes.Contains(data, []byte(" "+s+",")) && !bytes.Contains(data, []byte(" "+s+"]")) { // one of the program's names replaces it
				further += ", " + s
			}
		}
	}
	more := ""
	for _, s := range from.Skills {
		more += ", " + s
	}
	type change struct{ file, old, new string }
	var changes []change
	if len(from.Skills) > 0 {
		changes = append(changes, change{developer, "allowedSkills: [common,", "allowedSkills: [common" + further + ","},
			change{source.MainFile, "defaultSkills: [common,", "defaultSkills: [common" + more + ","})
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
