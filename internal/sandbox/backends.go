package sandbox

import (
	"os"
	"path/filepath"
	"syscall"

	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
)

// Backends are the names of the back ends.
func Backends() []string {
	return []string{string(jail.Own), string(jail.Bubblewrap), string(jail.Container)}
}

// systemPrograms are the folders in which systems have the programs of back ends. A PATH could name another one.
var systemPrograms = []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"}

// program finds the program of a back end; "" for that of ours. It must be one that only root can change.
func program(b jail.Backend) (string, error) {
	name, find := "bwrap", cause.FindBubblewrap
	switch {
	case !b.Other():
		return "", nil
	case b == jail.Container:
		name, find = "crun", cause.FindContainer
	}
	for _, dir := range systemPrograms {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 {
			continue
		}
		if of, ok := st.Sys().(*syscall.Stat_t); ok && of.Uid == 0 {
			return path, nil
		}
	}
	return "", &jail.StageError{Layer: jail.User, Doing: find, Cause: "there is no " + name + " of root's in a folder of the system"}
}
