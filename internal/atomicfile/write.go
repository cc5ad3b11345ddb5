// Package atomicfile writes files whole or not at all, and locks them between processes.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path: it writes a temporary file beside it, syncs it, renames it over path and syncs the folder.
// A reader sees the old content or the new one, never a mixture, and after a crash one of the two is there.
// A symbolic link at path is replaced, not followed. An existing file's permission bits are not kept: perm is used, whatever
// the umask. The folder must exist. After an error the old file is untouched, except that a failure to sync the folder leaves
// it open whether a crash brings the old content back.
func Write(path string, data []byte, perm fs.FileMode) error { return write(path, data, perm, true) }

// Note is Write without syncing, for what nobody misses after a crash of the machine (it may be gone then, or empty): a sync
// takes milliseconds where the disk is busy.
func Note(path string, data []byte, perm fs.FileMode) error { return write(path, data, perm, false) }

func write(path string, data []byte, perm fs.FileMode, durable bool) error {
	dir, base := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	tmp, err := writeTemp(dir, base, data, perm, durable)
	if err != nil {
		return explain(path, dir, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(explain(path, dir, err), os.Remove(tmp))
	}
	if !durable {
		return nil
	}
	return SyncDir(dir)
}

// writeTemp writes the data into a new file of the folder and returns its name; after an error the file is gone again.
func writeTemp(dir, base string, data []byte, perm fs.FileMode, durable bool) (name string, err error) {
	const most = 200 // bytes of the name that the temporary name repeats; a name may have 255 in all
	f, err := os.CreateTemp(dir, "."+base[:min(len(base), most)]+".tmp-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm) // CreateTemp made it 0600: nobody else could read it while it was written
	}
	if err == nil && durable {
		err = f.Sync() // before the rename: else a crash may leave the new name with no content
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return f.Name(), err
}

// explain says what failed in the terms of the caller's path, and names a missing folder as the cause.
func explain(path, dir string, err error) error {
	if _, e := os.Stat(dir); errors.Is(e, fs.ErrNotExist) {
		return fmt.Errorf("write %s: its folder %s does not exist: %w", path, filepath.Clean(dir), fs.ErrNotExist)
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// SyncDir makes new, renamed and removed names in a folder survive a crash of the machine.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
