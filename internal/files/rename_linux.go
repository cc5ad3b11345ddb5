package files

import (
	"errors"
	"io/fs"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames a file in the folder. It fails with EEXIST if the new name exists, atomically. os.Root opens the folders of both
// names, so it refuses links that lead out; renameat2 does not follow the last part of a name.
func (s *Server) renameNew(from, to string) error {
	a, err := s.root.Open(parent(from))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := s.root.Open(parent(to))
	if err != nil {
		return err
	}
	defer b.Close()
	err = unix.Renameat2(int(a.Fd()), path.Base(from), int(b.Fd()), path.Base(to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || (errors.Is(err, unix.EINVAL) && !s.inside(from, to)) {
		return s.renameChecked(from, to) // the file system does not support the flag
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}
