package daemon

import (
	"errors"

	"golang.org/x/sys/unix"
)

func pidfd(pid int) (int, error) { return unix.PidfdOpen(pid, 0) }

// waitFD waits until the process of a pidfd has ended.
func waitFD(fd int) {
	for {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
