package config

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
	"mycelium/internal/state"
)

// trustFile, in the state folder, lists the folders whose own files take effect. It has mode 0600.
const trustFile = "trust.json"

// trustList is trust.json.
type trustList struct {
	Version int             `json:"version"`
	Folders []trustedFolder `json:"folders"`
}

// trustedFolder is one folder that is trusted. A path alone would not do: it can be removed and made again by somebody else, or
// unpacked anew. So the folder itself is meant: device and inode, and where the file system keeps it the time of its making,
// because inodes are used again. A folder that was moved, copied or restored has to be trusted again; so has one on a disk that
// comes back under another device number. Losing trust only ever closes.
type trustedFolder struct {
	Path  string    `json:"path"` // with links resolved
	Dev   uint64    `json:"dev"`
	Inode uint64    `json:"inode"`
	Born  int64     `json:"born,omitzero"` // nanoseconds since 1970; 0: not known
	Since time.Time `json:"since,omitzero"`
}

// same reports whether both are the same folder at the same path.
func (f trustedFolder) same(other trustedFolder) bool {
	return f.Path == other.Path && f.Dev == other.Dev && f.Inode == other.Inode && f.Born == other.Born
}

// Trusted reports whether a folder is trusted; Trust and Revoke change it. The list is kept in the user's state folder. Trust
// holds for that very folder: not for folders in it, and not for another folder that takes its path.
func Trusted(dir string) (bool, error) {
	state, err := state.User()
	if err != nil {
		return false, err
	}
	return trustedIn(state, dir)
}

func trustedIn(state, dir string) (bool, error) {
	list, err := readTrust(state)
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

// Trust trusts a folder.
func Trust(dir string) error {
	f, err := identify(dir)
	if err != nil {
		return err
	}
	f.Since = time.Now().UTC().Truncate(time.Second)
	return changeTrust(func(list *trustList) bool {
		if slices.ContainsFunc(list.Folders, f.same) {
			return false
		}
		list.Folders = append(slices.DeleteFunc(list.Folders, func(o trustedFolder) bool { return o.Path == f.Path }), f)
		return true
	})
}

// Revoke takes the trust back; false if the folder was not trusted. A folder that is gone, or another one by now, is forgotten by
// its path.
func Revoke(dir string) (bool, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return false, fmt.Errorf("revoke trust: %w", err)
	}
	path = resolved(path)
	was := false
	err = changeTrust(func(list *trustList) bool {
		n := len(list.Folders)
		list.Folders = slices.DeleteFunc(list.Folders, func(o trustedFolder) bool { return o.Path == path })
		was = len(list.Folders) < n
		return was
	})
	return was, err
}

// identify says which folder a path leads to.
func identify(dir string) (trustedFolder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return trustedFolder{}, fmt.Errorf("identify folder: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return trustedFolder{}, fmt.Errorf("identify folder: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return trustedFolder{}, fmt.Errorf("identify folder: %w", err)
	}
	if !st.IsDir() {
		return trustedFolder{}, fmt.Errorf("identify folder: %s is not a folder", path)
	}
	f := trustedFolder{Path: path}
	if err := f.identity(); err != nil {
		return trustedFolder{}, fmt.Errorf("identify folder %s: %w", path, err)
	}
	return f, nil
}

// readTrust reads the list. One that others may write to, or that cannot be understood, is an error: nothing is trusted then.
func readTrust(state string) (*trustList, error) {
	path := filepath.Join(state, trustFile)
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &trustList{Version: 1}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read list of trusted folders: %w", err)
	}
	if st.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("read list of trusted folders: others may write to %s (mode %04o); run chmod 600 on it if you trust what it says", path, st.Mode().Perm())
	}
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read list of trusted folders: %s: %w", path, err)
	}
	var list trustList
	if err := json.Unmarshal(data, &list, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read list of trusted folders: %s: %w", path, err)
	}
	if list.Version != 1 {
		return nil, fmt.Errorf("read list of trusted folders: %s has version %d, which this program does not know", path, list.Version)
	}
	return &list, nil
}

// changeTrust changes the list under its lock.
func changeTrust(change func(*trustList) bool) error {
	state, err := state.User()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	lock, err := atomicfile.LockWait(filepath.Join(state, "trust.lock"), 5*time.Second)
	if err != nil {
		return fmt.Errorf("lock list of trusted folders: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process gives it back too
	list, err := readTrust(state)
	if err != nil {
		return err
	}
	if !change(list) {
		return nil
	}
	data, err := json.Marshal(list, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write list of trusted folders: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(state, trustFile), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write list of trusted folders: %w", err)
	}
	return nil
}
