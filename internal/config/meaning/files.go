package meaning

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/skill"
)

// others tells of the files that changed and that no key speaks of: scripts and templates of skills, and what servers run. A person has
// to read them.
func (d *diff) others(files []string) {
	for _, name := range files {
		if config.Reads(d.old.Project, name) || config.Reads(d.new.Project, name) {
			continue // its keys are compared
		}
		at := place{file: name}
		if s, inside := d.new.skillOf(name); s != nil {
			if d.old.has(s.Name) && (strings.Contains(inside, "/") || !skill.Declares(inside)) {
				d.add(Unclear, at, "skill ", s.Name, ": its file ", inside, " changed")
			}
			continue
		}
		if s, _ := d.old.skillOf(name); s != nil {
			continue // the skill is gone
		}
		what := name + " changed"
		for _, s := range d.new.Servers {
			if names(s, name) {
				what = "server " + s.Name + " runs " + name + ", which changed"
			}
		}
		d.add(Unclear, at, what)
	}
}

// skillOf returns the skill in whose folder a file lies, and the file's name in it.
func (s side) skillOf(name string) (owner *skill.Skill, inside string) {
	for i := range s.Skills {
		if rest, ok := strings.CutPrefix(name, path.Dir(s.Skills[i].File)+"/"); ok {
			return &s.Skills[i], rest
		}
	}
	return nil, ""
}

// names reports whether the command of a server names a file of the project.
func names(s backend.Server, file string) bool {
	return slices.ContainsFunc(append([]string{s.Command}, s.Args...), func(word string) bool {
		word = path.Clean(word)
		return word == file || strings.HasSuffix(word, "/"+file) || strings.HasSuffix(word, "="+file) || path.Join(s.Cwd, word) == file
	})
}

// SkillFiles reads the files in the folders of the skills of both versions, and returns the names of those that differ or cannot be
// compared. It is for versions of which no set of bytes is kept.
func SkillFiles(old, fresh *config.Project) []string {
	var out []string
	for i := range fresh.Skills {
		is := &fresh.Skills[i]
		for j := range old.Skills {
			if was := &old.Skills[j]; was.Name == is.Name && was.Source == is.Source {
				out = append(out, differingFiles(was, is)...)
			}
		}
	}
	return out
}

// differingFiles compares the files of two versions of one skill.
func differingFiles(was, is *skill.Skill) []string {
	before, err := was.Resources()
	after, bad := is.Resources()
	folder := path.Dir(is.File)
	if err != nil || bad != nil {
		return []string{path.Join(folder, "*")}
	}
	var out []string
	for _, name := range gained(nil, append(before, after...)) {
		a, err := was.Resource(name)
		b, bad := is.Resource(name)
		if err != nil || bad != nil || !bytes.Equal(a, b) {
			out = append(out, path.Join(folder, name))
		}
	}
	return out
}
