//go:build amd64 || arm64

package jail

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bound reports whether a program has a path socket, so that somebody may answer there: false only if the kernel says that it is nobody's
// any more. The program does not notice. A datagram socket that connects sends nothing, and is refused by sockets of another type.
func Bound(folder *os.Root, name string) bool {
	dir, err := folder.Open(".")
	if err != nil {
		return true
	}
	defer func() { _ = dir.Close() }()
	// The name of a socket's address has at most 107 bytes, so that the file is named by its descriptor.
	at, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer func() { _ = unix.Close(at) }()
	probe, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer func() { _ = unix.Close(probe) }()
	err = unix.Connect(probe, &unix.SockaddrUnix{Name: "/proc/self/fd/" + strconv.Itoa(at)})
	return !errors.Is(err, unix.ECONNREFUSED)
}
