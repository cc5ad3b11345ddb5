package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/yamlfile"
)

// change is the new content of one file; before is nil where there was no file.
type change struct {
	path          string
	before, after []byte
	mode          fs.FileMode // 0: 0644
	made          bool        // its folder was made for it
	shipped       string      // the name of the file that was one of the program; empty: it was not
}

// changes are written all or not at all.
type changes []change

// plan computes what adding a server, or a skill over its tools, changes in one folder.
func (c *changes) plan(at folder, n addition, s backend.Server, p project.Probe, defaults []string) error {
	file := filepath.Join(at.dir, "mycelium.yaml")
	old, err := read(file)
	if err != nil {
		return err
	}
	text := old
	if !n.known {
		if text, err = yamlfile.AddEntry(old, "mcpServers", n.name, entryLines(s)); err != nil {
			return fmt.Errorf("mycelium.yaml: %w", err)
		}
	}
	if !n.login && len(defaults) > 0 && !slices.Contains(defaults, n.skill) {
		if text, err = yamlfile.AddItem(text, "defaultSkills", n.skill); err != nil {
			return fmt.Errorf("mycelium.yaml: %w", err)
		}
	}
	if !bytes.Equal(text, old) {
		*c = append(*c, change{path: file, before: old, after: text})
	}
	if n.login {
		return nil
	}
	file = filepath.Join(at.dir, "skills", n.skill, "SKILL.yaml")
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, fs.ErrNotExist) {
		return failure.Hint(fmt.Errorf("skills/%s exists", n.skill), "choose another name with --skill")
	}
	*c = append(*c, change{path: file, after: []byte(n.skillText(p))})
	return c.planRole(at, n)
}

// write writes what adding a server changes, in all folders, and returns it.
func (n addition) write(p *config.Project, s backend.Server, probe project.Probe, run []string) (all changes, err error) {
	err = p.Write(time.Now(), func(folders []string) error {
		where, err := foldersOf(p, folders)
		if err != nil {
			return err
		}
		for _, at := range where {
			if err := all.plan(at, n, s, probe, p.File.Session.DefaultSkills); err != nil {
				return err
			}
		}
		for _, folder := range folders[:len(folders)-1] {
			if err := all.planRun(folder, p.Dir, run); err != nil {
				return err
			}
		}
		return all.write()
	})
	return all, err
}

// planRole adds the skill to the role's file, where that file bounds the role's skills.
func (c *changes) planRole(at folder, n addition) error {
	ch, err := at.change("roles/" + n.role + ".yaml")
	if err != nil || ch.after == nil {
		return err
	}
	var role struct {
		AllowedSkills []string `yaml:"allowedSkills"`
	}
	_ = yamlfile.Decode("role", ch.after, &role) // its other keys are unknown here
	if len(role.AllowedSkills) == 0 || slices.Contains(role.AllowedSkills, "*") || slices.Contains(role.AllowedSkills, n.skill) {
		return nil
	}
	if ch.after, err = yamlfile.AddItem(ch.after, "allowedSkills", n.skill); err != nil {
		return fmt.Errorf("roles/%s.yaml: %w", n.role, err)
	}
	*c = append(*c, ch)
	return nil
}

// write writes all files. After an error those that it wrote are as before.
func (c changes) write() error {
	for i, ch := range c {
		_, err := os.Stat(filepath.Dir(ch.path))
		c[i].made = errors.Is(err, fs.ErrNotExist)
		err = os.MkdirAll(filepath.Dir(ch.path), 0o755) //nolint:gosec // people's own files, as their editor would make them
		if err == nil {
			err = atomicfile.Write(ch.path, ch.after, cmp.Or(ch.mode, 0o644))
		}
		if err != nil {
			return errors.Join(err, c[:i+1].undo())
		}
	}
	return nil
}

// undo puts back what was there before.
func (c changes) undo() error {
	var errs []error
	for _, ch := range c {
		if ch.before != nil {
			errs = append(errs, atomicfile.Write(ch.path, ch.before, 0o644))
			continue
		}
		_ = os.Remove(ch.path)
		if ch.made {
			_ = os.Remove(filepath.Dir(ch.path)) // only if it is empty
		}
	}
	return errors.Join(errs...)
}

// entryLines are the lines of an entry in mycelium.yaml.
func entryLines(s backend.Server) []string {
	lines := []string{yamlfile.AddedBy + "server add on " + time.Now().Format(time.DateOnly) + ".", s.Name + ":"}
	if s.URL != "" {
		lines = append(lines, "  type: http", "  url: "+yamlfile.Text(s.URL))
	} else {
		words := make([]string, len(s.Args))
		for i, w := range s.Args {
			words[i] = yamlfile.Text(w)
		}
		lines = append(lines, "  command: "+yamlfile.Text(s.Command))
		if len(words) > 0 {
			lines = append(lines, "  args: ["+strings.Join(words, ", ")+"]")
		}
		if s.Sandbox != "" {
			lines = append(lines, "  sandbox: "+yamlfile.Text(s.Sandbox))
		}
	}
	for key, m := range map[string]map[string]string{"env": s.Env, "headers": s.Headers} {
		if len(m) > 0 {
			lines = append(lines, "  "+key+":")
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			lines = append(lines, "    "+yamlfile.Text(k)+": "+yamlfile.Text(m[k]))
		}
	}
	return lines
}

// read reads a file; an absent one is nil.
func read(path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
