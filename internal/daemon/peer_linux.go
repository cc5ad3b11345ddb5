package daemon

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"mycelium/internal/op"
)

// peer returns the process at the other end, as the kernel reports it (SO_PEERCRED, unix(7)): for an accepted connection the process
// that connected, for a dialled one the process that listens.
func peer(c *net.UnixConn) (op.Caller, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return op.Caller{}, fmt.Errorf("find the process at the other end: %w", err)
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return op.Caller{}, fmt.Errorf("find the process at the other end: %w", err)
	}
	if cerr != nil {
		return op.Caller{}, fmt.Errorf("find the process at the other end: %w", cerr)
	}
	return op.Caller{PID: int(cred.Pid), UID: int(cred.Uid)}, nil
}

// own reports whether the peer belongs to this user.
func own(c op.Caller) bool { return c.UID == os.Getuid() }

// Holds reports whether a process of this user has a file open, such as the lock of a daemon that it claims to be.
func Holds(pid int, path string) bool {
	file, err := os.Stat(path)
	if err != nil {
		return false
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	open, _ := os.ReadDir(dir)
	return slices.ContainsFunc(open, func(d os.DirEntry) bool {
		st, err := os.Stat(filepath.Join(dir, d.Name()))
		return err == nil && os.SameFile(st, file)
	})
}

// redirect makes a standard descriptor write into another file.
func redirect(std, to *os.File) error { return unix.Dup3(int(to.Fd()), int(std.Fd()), 0) }

// random fills b with random bytes. crypto/rand would initialise more than the small program may.
func random(b []byte) error {
	_, err := unix.Getrandom(b, 0) // up to 256 bytes are always returned whole (getrandom(2))
	return err
}
