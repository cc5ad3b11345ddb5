package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync makes the contents of a file survive a crash of the machine, without its times.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
