package keeper

import (
	"os"

	"golang.org/x/sys/unix"
)

// enlargePipe gives a pipe the capacity pipeSize. A pipe that the system does not let grow works as it is.
func enlargePipe(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
}
