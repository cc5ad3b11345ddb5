package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// heldFolder is a project folder. It is held open, so that no other folder gets its inode meanwhile.
type heldFolder struct {
	dir  string
	held *os.File
	was  fs.FileInfo
}

// holdFolder holds a folder.
func holdFolder(dir string) (*heldFolder, error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open the project folder: %w", err)
	}
	was, err := held.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at the project folder: %w", err), held.Close())
	}
	return &heldFolder{dir, held, was}, nil
}

// Close lets the folder go.
func (f *heldFolder) Close() { _ = f.held.Close() }

// Gone says why the folder with the name is not the one that is held; "" if it is. It costs one stat(2).
func (f *heldFolder) Gone() string {
	switch now, err := os.Stat(f.dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "the project folder was renamed or removed while its daemon runs"
	case err != nil:
		return "the project folder cannot be read any more"
	case !os.SameFile(now, f.was):
		return "another folder has the name of the project folder, which was renamed or removed while its daemon runs"
	}
	return ""
}

// goneHint tells a person how to mend a folder that is gone.
const goneHint = "move the folder back, or end the daemon (myc stop -f); where a folder was moved to, myc trust --moved takes its " +
	"state along"
