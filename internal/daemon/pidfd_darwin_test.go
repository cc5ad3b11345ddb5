package daemon

import (
	"errors"

	"golang.org/x/sys/unix"
)

// pidfd returns a kqueue that has one event when the process ends: macOS has no pidfd.
func pidfd(pid int) (int, error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return -1, err
	}
	exit := unix.Kevent_t{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	if _, err := unix.Kevent(fd, []unix.Kevent_t{exit}, nil, nil); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// waitFD waits until the process of pidfd has ended.
func waitFD(fd int) {
	for {
		if _, err := unix.Kevent(fd, nil, make([]unix.Kevent_t, 1), nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
