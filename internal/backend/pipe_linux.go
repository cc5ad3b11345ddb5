package backend

import (
	"os"

	"golang.org/x/sys/unix"
)

// widen makes a pipe hold pipeSize; one that the system does not let grow works as it is.
func widen(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
}
