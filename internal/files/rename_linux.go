package files

import (
	"errors"
	"io/fs"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames inside the folder and fails with EEXIST where the new name is taken, in one step. The folders of both names
// are opened through os.Root, so a link that leads out is refused; renameat2 does not follow the last part of a name.
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
		return s.renameChecked(from, to) // a file system that does not know the flag
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}
