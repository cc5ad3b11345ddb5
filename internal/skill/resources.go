package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// The bounds of a skill's resources.
const (
	MaxResource  = 1 << 20 // bytes of one file
	maxResources = 1000    // files of one skill
)

// Resources lists the regular files in the skill's folder by their slash-separated paths, sorted. It omits hidden files, links, and the
// files that declare the skill. A skill without a folder has no resources.
func (s *Skill) Resources() ([]string, error) {
	if s.Dir == nil {
		return nil, nil
	}
	var out []string
	err := fs.WalkDir(s.Dir, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || Declares(name):
			return nil
		case len(out) == maxResources:
			return fmt.Errorf("it has more than %d files", maxResources)
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of skill %s: %s", s.Name, reason(err))
	}
	slices.Sort(out)
	return out, nil
}

// Resource reads one of the files that Resources lists. No part of the path may be hidden or a link, so the file is in the folder.
func (s *Skill) Resource(name string) ([]byte, error) {
	fail := func(err error) error { return fmt.Errorf("read %q of skill %s: %s", name, s.Name, reason(err)) }
	if s.Dir == nil || name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") || Declares(name) {
		return nil, fail(errors.New("it is not a file of the skill"))
	}
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := fs.Lstat(s.Dir, at)
		if err != nil {
			return nil, fail(err)
		}
		if strings.HasPrefix(part, ".") || !info.IsDir() && !info.Mode().IsRegular() {
			return nil, fail(errors.New("it is hidden, a link, or no regular file"))
		}
	}
	data, err := readRegular(s.Dir, name, MaxResource)
	if err != nil {
		return nil, fail(err)
	}
	return data, nil
}

// Files lists the files of a folder of skills that count, by their slash-separated paths, sorted: those that declare a skill, and what
// [Skill.Resources] lists. A folder that cannot be read is in unread, with the reason.
func Files(fsys fs.FS) (names []string, unread map[string]error) {
	unread = map[string]error{}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		unread["."] = err
	}
	for _, e := range entries {
		name := e.Name()
		info, err := fs.Stat(fsys, name) // a skill may be a link to a folder
		switch {
		case strings.HasPrefix(name, "."):
		case err != nil:
			unread[name] = err
		case info.Mode().IsRegular():
			names = append(names, name)
		case info.IsDir():
			more, err := filesOf(fsys, name)
			if err != nil {
				unread[name] = err
			}
			names = append(names, more...)
		}
	}
	slices.Sort(names)
	return names, unread
}

// filesOf lists the files of one skill. A link counts only where the files that the loader reads may be one.
func filesOf(fsys fs.FS, folder string) ([]string, error) {
	sub, err := fs.Sub(fsys, folder)
	if err != nil {
		return nil, err
	}
	names, err := (&Skill{Grant: policy.Grant{Name: folder}, Dir: sub}).Resources()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{pageFile, yamlFile, ymlFile, readmeFile} {
		if _, err := fs.Stat(sub, name); err == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = path.Join(folder, name)
	}
	return names, nil
}

// Declares reports whether a file declares a skill, this one or one in a folder below.
func Declares(name string) bool {
	switch strings.ToLower(path.Base(name)) {
	case "skill.md", "skill.yaml", "skill.yml":
		return true
	}
	return false
}

// reason is the text of an error without its path, which the problem names already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
