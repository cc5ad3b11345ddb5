package facts

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"mycelium/internal/policy"
)

// twins finds the protected file of which a path is another name: the fence goes by names, and a program may have made a hard link. Only a
// file with several names is looked for, so most calls look for none.
type twins struct {
	at    Place
	files map[fileID]string // the protected files with several names; nil before the first look
	names int               // looked at so far
}

// fileID is what all names of a file have in common.
type fileID struct{ device, inode uint64 }

// identify returns the identity of a regular file with several names. ok is false for any other file.
func identify(path string) (id fileID, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink < 2 {
		return fileID{}, false
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, true //nolint:unconvert // the types differ between systems
}

// of returns the protected name of a file.
func (t *twins) of(path string) (name string, ok bool) {
	id, several := identify(path)
	if !several || t.at.Protects == nil {
		return "", false
	}
	if t.files == nil {
		t.look()
	}
	name, ok = t.files[id]
	return name, ok && name != path
}

// complete adds the protected names of the paths of a part.
func (t *twins) complete(part *policy.Part) {
	for _, p := range part.Paths { // without those that this loop adds
		if p.Pattern || p.Access == policy.Delete {
			continue
		}
		if name, ok := t.of(cmp.Or(p.Resolved, p.Clean)); ok {
			part.Paths = append(part.Paths, policy.Path{Access: p.Access, Only: p.Only, Raw: name, Clean: name, Resolved: name})
		}
	}
}

// look finds the protected files in the folders of the project and in the home folder.
func (t *twins) look() {
	t.files = map[fileID]string{}
	var seen []string
	for _, folder := range slices.Concat([]string{t.at.Project, t.at.Dir}, t.at.worktrees()) {
		if folder != "" && !slices.ContainsFunc(seen, func(above string) bool { return holds(above, folder) }) {
			seen = append(seen, folder)
			t.below(folder)
		}
	}
	if t.at.Home == "" {
		return
	}
	for _, b := range policy.BasePaths() {
		if rest, own := strings.CutPrefix(b.Path, "~/"); own {
			t.below(filepath.Join(t.at.Home, rest))
		}
	}
	list, _ := os.ReadDir(t.at.Home)
	for _, e := range list {
		path := filepath.Join(t.at.Home, e.Name())
		if t.names++; !e.IsDir() {
			t.note(path)
		} else if e.Name()[0] == '.' && t.protects(path+"/x") {
			t.below(path)
		}
	}
}

// below looks at what lies in a folder, within the bounds.
func (t *twins) below(folder string) {
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		t.names++
		switch {
		case t.names > maxNames:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // what cannot be read has no other name that can
		case e.IsDir() && (installed(e.Name()) || path == filepath.Join(folder, ".git")):
			return fs.SkipDir
		case e.Type().IsRegular():
			t.note(path)
		}
		return nil
	})
}

func (t *twins) note(path string) {
	if id, ok := identify(path); ok && t.protects(path) {
		t.files[id] = path
	}
}

// protects reports whether the policy refuses somebody to read or to change a file, or asks.
func (t *twins) protects(path string) bool {
	p := policy.Path{Access: policy.Read, Raw: path, Clean: path, Resolved: path}
	if t.at.Protects(p) {
		return true
	}
	p.Access = policy.Write
	return t.at.Protects(p)
}
