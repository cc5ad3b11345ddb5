package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
)

// Backends are the names of the back ends.
func Backends() []string {
	return []string{string(jail.Own), string(jail.Bubblewrap), string(jail.Container), string(jail.Seatbelt)}
}

// systemPrograms are the folders in which systems have the programs of back ends. A PATH could name another one.
var systemPrograms = []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"}

// Untried says of a back end that nobody has tried it on the system that it is for; "" if it was tried.
func Untried(b jail.Backend) string {
	if b != jail.Seatbelt {
		return ""
	}
	return "the back end seatbelt was not tried on a Mac: its rules were written from documentation and compared as text"
}

// mac is the system of Seatbelt, as Go names it.
const mac = "darwin"

// program finds the program of a back end; "" for that of ours. It must be one that only root can change.
func program(b jail.Backend) (string, error) {
	name, dirs, e := "bwrap", systemPrograms, &jail.StageError{Layer: jail.User, Doing: cause.FindBubblewrap}
	switch b {
	case jail.Bubblewrap:
	case jail.Container:
		name, e.Doing = "crun", cause.FindContainer
	case jail.Seatbelt:
		name, dirs, e.Layer, e.Doing = "sandbox-exec", []string{"/usr/bin"}, jail.Rules, cause.FindSeatbelt
		if runtime.GOOS != mac { // a program of that name would be another one
			e.Cause = "it is a program of macOS, and this is " + runtime.GOOS
			return "", e
		}
	default:
		return "", nil
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 {
			continue
		}
		if of, ok := st.Sys().(*syscall.Stat_t); ok && of.Uid == 0 {
			return path, nil
		}
	}
	e.Cause = "there is no " + name + " of root's in a folder of the system"
	return "", e
}
