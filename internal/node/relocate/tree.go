package relocate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit"
)

// copyTree copies a file or a folder and syncs it; one that does not exist is no copy. It follows no link, and refuses everything that is
// neither a file nor a folder: somebody else could have put it there.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == from {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type().IsRegular():
			return copyFile(path, target)
		}
		return fmt.Errorf("%s is neither a file nor a folder: remove it", path)
	})
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, st, err := atomicfile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", from)
	}
	out, err := os.OpenFile(filepath.Clean(to), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// moveTree moves a file or a folder, also to another file system: then it is removed when a whole copy is on the disk. What has the name
// already stays.
func moveTree(from, to string) error {
	err := os.Rename(from, to)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrExist):
		return os.Rename(from, to+"-"+audit.NewID())
	case !errors.Is(err, syscall.EXDEV):
		return err
	}
	if missing(to) {
		part := to + ".part"
		err := os.RemoveAll(part)
		if err == nil {
			err = copyTree(from, part)
		}
		if err == nil {
			err = os.Rename(part, to)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(syncFolder(filepath.Dir(to)), os.RemoveAll(from))
}
