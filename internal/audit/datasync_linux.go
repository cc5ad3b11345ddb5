package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync writes the contents of a file to the disk, without its times.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
