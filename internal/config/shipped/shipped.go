// Package shipped has the skills and roles that come with the program, and lays them under those of a project whose mycelium.yaml says
// shipped: true. A file of the project stands in front of the shipped one of its name, also if it is broken.
package shipped

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"mycelium/internal/config/source"
	"mycelium/internal/skill"
)

//go:embed roles
var roles embed.FS

// Rules is the text of a rules file: the rules of a project whose mycelium.yaml says policy.wall, behind its own.
//
//go:embed rules.yaml
var Rules []byte

// Files are the skills and roles of a program. A nil *Files has none.
type Files struct {
	Skills fs.FS // a folder for each skill, by its name
	Roles  fs.FS // a file NAME.yaml for each role
}

// Own returns the files of this program.
func Own() *Files {
	sub, err := fs.Sub(roles, source.RolesFolder)
	if err != nil {
		sub = embed.FS{} // only for an invalid path
	}
	return &Files{Skills: skill.Shipped(), Roles: sub}
}

// Names returns the names of the skills, as skills/NAME, and of the roles, as roles/NAME.yaml.
func (f *Files) Names() (out []string) {
	for folder, fsys := range map[string]fs.FS{source.SkillsFolder: f.Skills, source.RolesFolder: f.Roles} {
		for _, name := range names(fsys) {
			out = append(out, path.Join(folder, name))
		}
	}
	slices.Sort(out)
	return out
}

// Time returns when the program was installed: what comes with it is as old. It is zero if that is not known.
func Time() time.Time {
	self, err := os.Executable()
	if err != nil {
		return time.Time{}
	}
	st, err := os.Stat(self)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// Unit returns the skill or role to which a file belongs: skills/NAME, or roles/NAME.yaml.
func Unit(name string) string {
	if parts := strings.SplitN(name, "/", 3); len(parts) == 3 {
		return parts[0] + "/" + parts[1]
	}
	return name
}

// names lists what lies in a folder. Whoever needs to know that it cannot be read reads it too.
func names(fsys fs.FS) (out []string) {
	list, _ := fs.ReadDir(fsys, ".")
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// RolesBeside returns the roles for which a project has no file in its roles folder, by the names of their files. has reports whether its
// index file has a role.
func (f *Files) RolesBeside(files []fs.DirEntry, has func(id string) bool) map[string][]byte {
	out := map[string][]byte{}
	if f == nil {
		return out
	}
	for _, name := range names(f.Roles) {
		stem := strings.TrimSuffix(name, path.Ext(name))
		theirs := slices.ContainsFunc(files, func(e fs.DirEntry) bool { return e.Name() == stem+".yaml" || e.Name() == stem+".yml" })
		if data, err := fs.ReadFile(f.Roles, name); err == nil && !theirs && !has(stem) {
			out[name] = data
		}
	}
	return out
}

// SkillsUnder returns a folder of skills with the shipped ones of whose names it has nothing.
func (f *Files) SkillsUnder(own fs.FS) Skills {
	s := Skills{own: own}
	if f != nil {
		s.ships = f.Skills
		s.lacks = slices.DeleteFunc(names(f.Skills), func(name string) bool { return slices.Contains(names(own), name) })
	}
	return s
}

// Skills is a folder of skills with shipped ones. Shipped files are below the folders that lacks names.
type Skills struct {
	own, ships fs.FS
	lacks      []string
}

// of returns the file system that has a file.
func (s Skills) of(name string) fs.FS {
	if first, _, _ := strings.Cut(name, "/"); slices.Contains(s.lacks, first) {
		return s.ships
	}
	return s.own
}

// Shipped returns the content of a shipped file; nil if the file is the project's.
func (s Skills) Shipped(name string) []byte {
	if first, _, _ := strings.Cut(name, "/"); !slices.Contains(s.lacks, first) {
		return nil
	}
	data, err := fs.ReadFile(s.ships, name)
	if err != nil {
		return nil
	}
	return data
}

// Open opens a file. See [fs.FS].
func (s Skills) Open(name string) (fs.File, error) { return s.of(name).Open(name) }

// Stat describes a file. See [fs.StatFS].
func (s Skills) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.of(name), name) }

// Sub returns a folder. See [fs.SubFS].
func (s Skills) Sub(dir string) (fs.FS, error) { return fs.Sub(s.of(dir), dir) }

// ReadDir lists a folder; the folder of the skills with the shipped ones. See [fs.ReadDirFS].
func (s Skills) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(s.of(name), name)
	if name != "." || len(s.lacks) == 0 {
		return list, err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return list, err
	}
	more, err := fs.ReadDir(s.ships, ".")
	for _, e := range more {
		if slices.Contains(s.lacks, e.Name()) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}
