package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Open opens a regular file or a folder for reading. Anything else, such as a pipe or a device, is refused at once: it could block, and
// whoever may write to the folder can put one in the place of a file between a look at it and the opening.
func Open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is not a regular file (%s)", info.Mode().Type())}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// DirFS is like [os.DirFS], and opens files as [Open] does.
type DirFS string

// Open opens a file or a folder below the folder.
func (d DirFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, _, err := Open(filepath.Join(string(d), filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat describes a file, without opening it.
func (d DirFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(os.DirFS(string(d)), name) }
