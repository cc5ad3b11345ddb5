package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
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

// Declares reports whether a file declares a skill, this one or one in a folder below.
func Declares(name string) bool {
	switch strings.ToLower(path.Base(name)) {
	case "skill.md", "skill.yaml", "skill.yml":
		return true
	}
	return false
}
