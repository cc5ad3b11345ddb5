// Package trust keeps the list of the folders that a user trusts. The files of a project take effect only in a trusted folder.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/source"
	"mycelium/internal/state"
)

// list is trust.json, which has mode 0600.
type list struct {
	Version int      `json:"version"`
	Folders []folder `json:"folders"`
}

// folder is one trusted folder. Its path does not suffice, because somebody else could remove the folder and make another one there. So
// device and inode count too, and the time of its creation where the file system keeps it, because inodes are reused. A folder that was
// moved, copied or restored must be trusted again, and so must one on a disk whose device number has changed. Losing trust is safe.
type folder struct {
	Path  string    `json:"path"` // with links resolved
	Dev   uint64    `json:"dev"`
	Inode uint64    `json:"inode"`
	Born  int64     `json:"born,omitzero"` // nanoseconds since 1970; 0: not known
	Since time.Time `json:"since,omitzero"`
}

// same reports whether both are the same folder at the same path.
func (f folder) same(other folder) bool {
	return f.Path == other.Path && f.Dev == other.Dev && f.Inode == other.Inode && f.Born == other.Born
}

// Has reports whether the user trusts a folder. Trust is for that folder only: not for folders in it, and not for another folder that
// takes its path.
func Has(dir string) (bool, error) {
	user, err := state.OfPerson(os.Getenv)
	if err != nil {
		return false, err
	}
	return HasIn(user, dir)
}

// HasIn is [Has] with the list in another state folder of a user.
func HasIn(user state.Root, dir string) (bool, error) {
	list, err := read(user)
	if err != nil {
		return false, err
	}
	if len(list.Folders) == 0 {
		return false, nil
	}
	f, err := identify(dir)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Folders, f.same), nil
}

// Add adds a folder to the list.
func Add(dir string) error {
	f, err := identify(dir)
	if err != nil {
		return err
	}
	f.Since = time.Now().UTC().Truncate(time.Second)
	return change(func(list *list) bool {
		if slices.ContainsFunc(list.Folders, f.same) {
			return false
		}
		list.Folders = append(slices.DeleteFunc(list.Folders, func(o folder) bool { return o.Path == f.Path }), f)
		return true
	})
}

// Remove removes a folder from the list, by its path, and reports whether it was there. The folder need not exist any more.
func Remove(dir string) (bool, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return false, fmt.Errorf("revoke trust: %w", err)
	}
	path = source.Resolve(path)
	was := false
	err = change(func(list *list) bool {
		n := len(list.Folders)
		list.Folders = slices.DeleteFunc(list.Folders, func(o folder) bool { return o.Path == path })
		was = len(list.Folders) < n
		return was
	})
	return was, err
}

// identify returns the identity of the folder that a path leads to.
func identify(dir string) (folder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return folder{}, fmt.Errorf("identify folder: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return folder{}, fmt.Errorf("identify folder: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return folder{}, fmt.Errorf("identify folder: %w", err)
	}
	if !st.IsDir() {
		return folder{}, fmt.Errorf("identify folder: %s is not a folder", path)
	}
	f := folder{Path: path}
	if err := f.identity(); err != nil {
		return folder{}, fmt.Errorf("identify folder %s: %w", path, err)
	}
	return f, nil
}

// read reads the list. A list that others may write to, or that cannot be read, is an error: then no folder is trusted.
func read(user state.Root) (*list, error) {
	path := user.TrustList()
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &list{Version: 1}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read list of trusted folders: %w", err)
	}
	if st.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("read list of trusted folders: others may write to %s (mode %04o); run chmod 600 on it if you trust what it says",
			path, st.Mode().Perm())
	}
	data, err := source.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read list of trusted folders: %s: %w", path, err)
	}
	var list list
	if err := json.Unmarshal(data, &list, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read list of trusted folders: %s: %w", path, err)
	}
	if list.Version != 1 {
		return nil, fmt.Errorf("read list of trusted folders: %s has version %d, which this program does not know", path, list.Version)
	}
	return &list, nil
}

// change changes the list under its lock. f reports whether it changed something.
func change(f func(*list) bool) error {
	user, err := state.OfPerson(os.Getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(user), 0o700); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	lock, err := atomicfile.LockWait(user.TrustLock(), 5*time.Second)
	if err != nil {
		return fmt.Errorf("lock list of trusted folders: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process releases it too
	list, err := read(user)
	if err != nil {
		return err
	}
	if !f(list) {
		return nil
	}
	data, err := json.Marshal(list, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write list of trusted folders: %w", err)
	}
	if err := atomicfile.Write(user.TrustList(), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write list of trusted folders: %w", err)
	}
	return nil
}
