package sandbox

import (
	"os"
	"path/filepath"
	"syscall"

	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
)

// Backends are the names of the back ends.
func Backends() []string { return []string{string(jail.Own), string(jail.Bubblewrap)} }

// bubblewraps are the folders in which systems have bwrap(1). A PATH could name another one.
var bubblewraps = []string{"/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"}

// program finds the program of a back end; "" for that of ours. It must be one that only root can change.
func program(b jail.Backend) (string, error) {
	if b != jail.Bubblewrap {
		return "", nil
	}
	for _, dir := range bubblewraps {
		path := filepath.Join(dir, "bwrap")
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&0o022 != 0 {
			continue
		}
		if of, ok := st.Sys().(*syscall.Stat_t); ok && of.Uid == 0 {
			return path, nil
		}
	}
	return "", &jail.StageError{Layer: jail.User, Doing: cause.FindBubblewrap, Cause: "there is no bwrap of root's in a folder of the system"}
}
