// Package save writes several files of a folder that people own: all of them or none, also if the process or the machine ends in between.
//
// A journal beside the lock of these files says what is written. It is there until what is written has been accepted, and whoever takes
// the lock next mends first what was begun.
package save

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/accept"
)

// File is a file of a folder, with what it says before and afterwards.
type File struct {
	Name string // its path in the folder, with slashes
	Was  []byte // nil: there is none
	Is   []byte // nil: it goes
}

// most bounds a file, in bytes, as what can be accepted is bounded.
const most = 16 << 20

// ErrPlace means that a name leads to something else than a regular file of the folder.
var ErrPlace = errors.New("it is a link, no file, or outside of the folder")

// entry is a File in the journal. A file without content is not an absent one.
type entry struct {
	Name string `json:"name"`
	New  bool   `json:"new,omitzero"`
	Was  []byte `json:"was"`
	Gone bool   `json:"gone,omitzero"`
	Is   []byte `json:"is"`
}

func (e entry) was() []byte { return unless(e.New, e.Was) }
func (e entry) is() []byte  { return unless(e.Gone, e.Is) }

// unless is data; nil if nil is what is meant.
func unless(none bool, data []byte) []byte {
	if none {
		return nil
	}
	return append([]byte{}, data...)
}

// Journal is the path of the journal of the files under a lock.
func Journal(lock string) string { return filepath.Join(filepath.Dir(lock), "saving.json") }

// Write writes files into each of the folders, of which the last is the one that people see. A file there that does not say what it was is
// an error. The journal stays: [Mend] removes it when it is known whether the files were accepted.
func Write(lock string, folders []string, files []File) error {
	seen := folders[len(folders)-1]
	journal := make([]entry, 0, len(files))
	for _, f := range files {
		now, err := Read(seen, f.Name)
		if err != nil {
			return err
		}
		if !same(now, f.Was) {
			return fmt.Errorf("%s has changed meanwhile and is not overwritten", f.Name)
		}
		journal = append(journal, entry{Name: f.Name, New: f.Was == nil, Was: f.Was, Gone: f.Is == nil, Is: f.Is})
	}
	data, err := json.Marshal(journal)
	if err == nil {
		err = atomicfile.Write(Journal(lock), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("save files: %w", err)
	}
	for _, folder := range folders {
		for _, f := range files {
			if err := put(folder, f.Name, f.Is); err != nil {
				return fmt.Errorf("save %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// Mend ends what a process has begun with [Write], in the folder that people see: if a person has accepted all of it, what is missing is
// written, and otherwise what was written is taken back. A file that somebody has changed since stays as it is. The caller has the lock.
func Mend(lock, folder string, store accept.Store) error {
	data, err := os.ReadFile(Journal(lock))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var journal []entry
	if err == nil {
		err = json.Unmarshal(data, &journal, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return fmt.Errorf("end what was being saved: %s: %w", Journal(lock), err)
	}
	done := accepted(store, journal)
	for _, e := range journal {
		from, to := e.is(), e.was()
		if done {
			from, to = to, from
		}
		now, err := Read(folder, e.Name)
		if err == nil && same(now, from) {
			err = put(folder, e.Name, to)
		}
		if err != nil && !errors.Is(err, ErrPlace) { // somebody has put something else there, and it is not overwritten
			return fmt.Errorf("end what was being saved: %s: %w", e.Name, err)
		}
	}
	if err := os.Remove(Journal(lock)); err != nil {
		return fmt.Errorf("end what was being saved: %w", err)
	}
	return nil
}

// accepted reports whether what was being saved is what a person has accepted.
func accepted(store accept.Store, journal []entry) bool {
	a, err := store.Read()
	if err != nil {
		return false
	}
	for _, e := range journal {
		i := slices.IndexFunc(a.Files, func(f accept.Entry) bool { return f.Path == e.Name })
		sum := sha256.Sum256(e.Is)
		if (i < 0) != e.Gone || i >= 0 && a.Files[i].Sum != hex.EncodeToString(sum[:]) {
			return false
		}
	}
	return true
}

// same reports whether two contents are the same; nil is no file.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// Read reads a file of a folder; nil if there is none. It opens nothing outside of the folder, and nothing that could block.
func Read(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	st, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil, !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", name, ErrPlace)
	case st.Size() > most:
		return nil, fmt.Errorf("%s: it is larger than %d MiB", name, most>>20)
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	return append([]byte{}, data...), err
}

// put writes a file of a folder with the permissions that it has, or removes it. It follows no link out of the folder.
func put(folder, name string, data []byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil { // the user's own may not be there yet
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	at := filepath.FromSlash(name)
	if data == nil {
		if err := root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	perm := fs.FileMode(0o644)
	if st, err := root.Stat(at); err == nil {
		perm = st.Mode().Perm()
	}
	if err := root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(at), ".saving-"+path.Base(name))
	_ = root.Remove(temp) // of a process that was killed
	if err := fill(root, temp, data, perm); err != nil {
		_ = root.Remove(temp)
		return err
	}
	if err := root.Rename(temp, at); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return sync(root, filepath.Dir(at))
}

// fill writes a new file, so that it survives a crash of the machine.
func fill(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(perm), f.Sync(), f.Close())
}

// sync makes names in a folder survive a crash of the machine.
func sync(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
