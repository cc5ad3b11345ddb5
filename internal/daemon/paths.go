package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"mycelium/internal/state"
)

// maxSocketPath bounds the path of a Unix socket, in bytes: sun_path has 108 with the closing NUL (unix(7)).
const maxSocketPath = 107

// Paths are the files of a project's daemon.
type Paths struct {
	Lock   string // it contains the path of the owner's socket, and what kind of owner it is
	Next   string // held by a daemon that waits for Lock
	Socket string // $XDG_RUNTIME_DIR/mycelium/<hash>.sock, else /tmp/mycelium-<uid>/<hash>.sock; at most 107 bytes
	Log    string // what the daemon writes to stderr
	Info   string // pid, address, since; written by the node
	Key    string // with which the daemon and its clients prove themselves to each other
}

// PathsOf returns the paths of the daemon of a project. runtime is the folder in which an owner makes the folder of its socket
// ($XDG_RUNTIME_DIR), or "". PathsOf creates nothing.
//
// The socket is not with the state, because its path could be too long and some file systems do not support sockets. Clients find it in
// the lock file, so they need no runtime folder, and none of their environment leads them elsewhere.
func PathsOf(project state.Paths, runtime string) Paths {
	name := project.SocketName()
	p := Paths{
		Lock:   project.DaemonLock(),
		Next:   project.DaemonNext(),
		Socket: filepath.Join("/tmp", "mycelium-"+strconv.Itoa(os.Getuid()), name),
		Log:    project.DaemonLog(),
		Info:   project.DaemonInfo(),
		Key:    project.DaemonKey(),
	}
	if filepath.IsAbs(runtime) && checkFolder(runtime, false) == nil {
		if s := filepath.Join(runtime, "mycelium", name); len(s) <= maxSocketPath {
			p.Socket = s
		}
	}
	return p
}

// Beside returns the path of a socket of another name beside that of the daemon, and makes their folder.
func (p Paths) Beside(name string) (string, error) {
	socket := filepath.Join(filepath.Dir(p.Socket), name)
	return socket, socketFolder(socket)
}

// socketFolder makes the folder of a socket if it is missing, and refuses a folder that another user can change.
func socketFolder(socket string) error {
	if len(socket) > maxSocketPath {
		return fmt.Errorf("the path of the socket %s has %d bytes, more than the %d that the system allows", socket, len(socket), maxSocketPath)
	}
	dir := filepath.Dir(socket)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder of the socket: %w", err)
	}
	return checkFolder(dir, true)
}

// checkFolder returns an error unless dir is a folder, not a link, that belongs to this user. With private, it also closes the folder to
// other users.
func checkFolder(dir string, private bool) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of the socket: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder; remove it", dir)
	case !ok || int(st.Uid) != os.Getuid():
		return fmt.Errorf("the folder %s belongs to another user: a socket in it would not be safe; set XDG_RUNTIME_DIR to a folder of your own",
			dir)
	case private && info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs its x bit
			return fmt.Errorf("close the folder of the socket to others: %w", err)
		}
	}
	return nil
}
