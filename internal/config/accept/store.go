package accept

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/state"
)

// The folders of a copy.
const (
	projectFolder = "project" // files of the project
	outsideFolder = "outside" // other files, by their absolute path
)

// Store is the folder that has the accepted copy of a project.
type Store struct {
	dir   string
	trial bool   // see Trial
	by    string // see By
}

// At returns the store in a folder. It creates nothing.
func At(dir string) Store { return Store{dir: dir} }

// Trial is At for a store that lasts for a moment, to see what files would mean: it keeps no versions, and need not survive a crash.
func Trial(dir string) Store { return Store{dir: dir, trial: true} }

// By returns the store for one who accepts: versions say the name. Without a name they say the account of this process.
func (s Store) By(who string) Store {
	s.by = who
	return s
}

// Manifest returns the path of the file that says what is accepted. It is replaced as a whole by each acceptance.
func (s Store) Manifest() string { return filepath.Join(s.dir, state.ManifestName) }

// Accepted is what a person has accepted, verified.
type Accepted struct {
	Manifest
	folder string // of the copy
}

// Folder returns the folder that has the copies of the files of the project, as they lie in the project.
func (a *Accepted) Folder() string { return filepath.Join(a.folder, projectFolder) }

// Path returns where the copy of a file or folder is, by its name in a [Set]. The file need not exist.
func (a *Accepted) Path(name string) string { return copyPath(a.folder, name) }

func copyPath(folder, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Join(folder, outsideFolder, filepath.FromSlash(name))
	}
	return filepath.Join(folder, projectFolder, filepath.FromSlash(name))
}

// Read reads what is accepted and verifies every digest. The error is [fs.ErrNotExist] if nothing was ever accepted. Any other error means
// that it is unknown what a person accepted.
func (s Store) Read() (*Accepted, error) {
	for last := ""; ; {
		m, err := s.readManifest()
		if err != nil {
			return nil, err
		}
		a := &Accepted{*m, filepath.Join(s.dir, m.Copy)}
		if err = a.verify(); err == nil {
			return a, nil
		}
		if m.Copy == last {
			return nil, err
		}
		last = m.Copy // somebody may have accepted something else meanwhile: then the manifest names another copy now
	}
}

// readManifest reads the manifest, which nobody else may write.
func (s Store) readManifest() (*Manifest, error) {
	st, err := os.Lstat(s.Manifest())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	if !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("others may write to %s (mode %04o)", s.Manifest(), st.Mode().Perm())
	}
	data, err := os.ReadFile(s.Manifest())
	if err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	return parse(data)
}

// verify compares the copy with the manifest. A file too many is damage as well, because it would take effect.
func (a *Accepted) verify() error {
	found, err := readTree(a.folder)
	if err != nil {
		return err
	}
	for _, e := range a.Files {
		f, ok := found[e.Path]
		switch {
		case e.Loose && ok, !e.Loose && !ok:
			return fmt.Errorf("the copy of %s is missing", e.Path)
		case !e.Loose && (f.sum() != e.Sum || f.Exec != e.Exec):
			return fmt.Errorf("the copy of %s was changed", e.Path)
		}
		delete(found, e.Path)
	}
	for name := range found {
		return fmt.Errorf("the copy has a file that nobody accepted: %s", name)
	}
	return nil
}

// Contents returns the accepted files with their bytes, except those of which no copy is kept.
func (a *Accepted) Contents() (Set, error) { return readTree(a.folder) }

// readTree reads the files of a copy.
func readTree(folder string) (Set, error) {
	out := Set{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, ok := nameOf(folder, path)
		if !ok || !d.Type().IsRegular() {
			return fmt.Errorf("%s does not belong into a copy", path)
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // no agent may write into our state
		out[name] = File{Data: data, Exec: st.Mode()&0o100 != 0}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the copy cannot be read: %w", err)
	}
	return out, nil
}

// nameOf is the inverse of copyPath.
func nameOf(folder, path string) (string, bool) {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if name, ok := strings.CutPrefix(rel, projectFolder+"/"); ok {
		return name, true
	}
	name, ok := strings.CutPrefix(rel, outsideFolder)
	return name, ok
}

// Write makes the files what is accepted, and nothing else. A file whose content was accepted before keeps its time.
func (s Store) Write(files Set, now time.Time) error {
	return s.underLock(func() error { return s.write(files, nil, now) })
}

// write writes the copy and then the manifest. loose are entries of files that are not in the set.
func (s Store) write(files Set, loose []Entry, now time.Time) error {
	folder, err := s.newCopy()
	if err != nil {
		return err
	}
	for name, f := range files {
		if f.Loose {
			loose = append(loose, Entry{Path: name, Exec: f.Exec, Sum: f.sum(), Loose: true})
		} else if err := s.writeFile(copyPath(folder, name), f); err != nil {
			return err
		}
	}
	return s.adopt(folder, loose, now)
}

// adopt makes a copy that is complete the accepted one.
func (s Store) adopt(folder string, loose []Entry, now time.Time) error {
	files, err := readTree(folder)
	if err != nil {
		return err
	}
	old, err := s.readManifest()
	if err != nil {
		old = &Manifest{} // what is damaged is replaced: that is how a person mends it
	}
	m := Manifest{Version: 1, Copy: filepath.Base(folder), Files: loose}
	for name, f := range files {
		m.Files = append(m.Files, Entry{Path: name, Exec: f.Exec, Sum: f.sum()})
	}
	slices.SortFunc(m.Files, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for i := range m.Files {
		e := &m.Files[i]
		e.Since = now.UTC().Truncate(time.Second)
		for _, o := range old.Files {
			if o.Path == e.Path && o.Sum == e.Sum && o.Exec == e.Exec {
				e.Since = o.Since
			}
		}
	}
	m.Digest = digest(m.Files)
	data, err := m.format()
	if err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	if _, err := parse(data); err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	if err := s.keepVersions(old, &m, folder, now); err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	if err := atomicfile.Write(s.Manifest(), data, 0o600); err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	s.sweep(m.Copy, old.Copy)
	return nil
}

// Amend changes what is accepted: change gets a folder with a copy of the accepted files of the project and may change, add and remove
// files there. If it fails, everything stays as it is.
func (s Store) Amend(now time.Time, change func(project string) error) error {
	return s.underLock(func() error {
		old, err := s.Read()
		if err != nil {
			return err
		}
		folder, err := s.newCopy()
		if err != nil {
			return err
		}
		var loose []Entry
		for _, e := range old.Files {
			if e.Loose {
				loose = append(loose, e)
				continue
			}
			data, err := os.ReadFile(old.Path(e.Path))
			if err == nil {
				err = s.writeFile(copyPath(folder, e.Path), File{Data: data, Exec: e.Exec})
			}
			if err != nil {
				return fmt.Errorf("accept files: %w", err)
			}
		}
		if err := change(filepath.Join(folder, projectFolder)); err != nil {
			return err
		}
		return s.adopt(folder, loose, now)
	})
}

// Remove forgets what was accepted, and reports whether something was.
func (s Store) Remove() (bool, error) {
	was := false
	err := s.underLock(func() error {
		err := os.Remove(s.Manifest())
		was = err == nil
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what was accepted: %w", err)
		}
		s.sweep("", "")
		return nil
	})
	return was, err
}

// Patience is how long a change waits for those before it. Each copies what governs and syncs it to the disk: some milliseconds, but
// seconds where many processes use the disk, and several changes may stand in line.
const Patience = 30 * time.Second

// underLock runs f while no other process changes the store.
func (s Store) underLock(f func() error) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	lock, err := atomicfile.LockWait(filepath.Join(s.dir, "lock"), Patience)
	if err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process releases it too
	return f()
}

// newCopy makes an empty folder for a copy. What is not adopted is removed by the next sweep.
func (s Store) newCopy() (string, error) {
	folder, err := os.MkdirTemp(s.dir, copyPrefix+"*")
	if err == nil {
		err = os.Mkdir(filepath.Join(folder, projectFolder), 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("accept files: %w", err)
	}
	return folder, nil
}

// sweep removes copies but those of these names. The copy before the last one stays: a program that has just read the manifest may still
// read it.
func (s Store) sweep(keep ...string) {
	list, _ := os.ReadDir(s.dir)
	for _, d := range list {
		if strings.HasPrefix(d.Name(), copyPrefix) && !slices.Contains(keep, d.Name()) {
			_ = os.RemoveAll(filepath.Join(s.dir, d.Name())) // the next sweep tries again
		}
	}
}

// writeFile writes a file of a copy so that it survives a crash.
func (s Store) writeFile(path string, f File) error {
	perm := fs.FileMode(0o600)
	if f.Exec {
		perm = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	_, err = out.Write(f.Data)
	if err == nil && !s.trial {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("accept files: %w", err)
	}
	return nil
}
