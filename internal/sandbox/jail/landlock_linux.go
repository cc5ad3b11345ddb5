//go:build amd64 || arm64

package jail

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leastABI is the version of Landlock that the walls need: the third checks truncation, without which a file that may not be written can
// still be emptied (Linux 6.2).
const leastABI = 3

// The rights of Landlock on files and folders (linux/landlock.h).
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

	fileWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	dirWrites  = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER
)

// landlock lets this thread read the root that was made, and write where the specification says. It does not need the mounts: what a
// read-only mount stops, it stops as well.
func (c *child) landlock() *StageError {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return failed(Landlock, "ask the kernel for Landlock", errno)
	}
	if c.abi = int(abi); c.abi < leastABI {
		return &StageError{Layer: Landlock, Doing: "ask the kernel for Landlock", Cause: "the kernel's version is too old: Linux 6.2 is needed"}
	}
	handled := uint64(readRights | fileWrites | dirWrites)
	attr := unix.LandlockRulesetAttr{}
	if c.abi >= 6 { //nolint:mnd // the sixth version: signals and abstract sockets of others (Linux 6.12)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	attr.Handled_access_fs = handled
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // the kernel reads the structure during the call
	if errno != 0 {
		return failed(Landlock, "make the rules of Landlock", errno)
	}
	defer func() { _ = unix.Close(int(fd)) }()
	if err := c.allowPaths(int(fd), handled); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return failed(Landlock, "put the rules of Landlock in force", errno)
	}
	return nil
}

// own are the places that every command may write: they are the sandbox's, not the machine's.
var own = []string{"/dev", "/proc"}

// allowPaths adds the rules: the parts of the root may be read, and written if they say so. What else is there, such as the folders above
// a part, may be passed and not listed.
func (c *child) allowPaths(rules int, handled uint64) *StageError {
	for _, path := range own {
		if err := allow(rules, path, handled); err != nil {
			return failed(Landlock, "allow writing "+path, err)
		}
	}
	for _, b := range c.spec.Binds {
		if b.Kind == Temp && !c.has(Mount) {
			continue // without its mount it would be the machine's
		}
		rights := uint64(readRights)
		if b.Write || b.Kind == Temp {
			rights = handled
		}
		if err := allow(rules, b.Target, rights); err != nil && !errors.Is(err, unix.ENOENT) {
			return failed(Landlock, "allow "+b.Target, err)
		}
	}
	return nil
}

// allow adds a rule for a file, or for a folder and all below it.
func allow(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.IsDir() {
		rights &= fileWrites | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)} //nolint:gosec // a descriptor
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0) //nolint:gosec // as above
	if errno != 0 {
		return errno
	}
	return nil
}
