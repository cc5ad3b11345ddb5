// Package swarmed opens the swarm of a project: for the commands of a person, and for the daemon, which has its tools.
package swarmed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/daemon"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/tmux"
)

// Ops returns the operations on the swarm of a project, and makes its folder. by is who acts; see [ops.Ops].
func Ops(db *store.DB, paths state.Paths, by string) (ops.Ops, error) {
	o := ops.Ops{Book: book.New(db), Dir: paths.Project, Folder: filepath.Join(paths.Folder(), "swarm"), By: by, Inside: Inside(paths),
		// Beside the root of the state, in which no agent may write.
		Trees: paths.WorkerTrees()}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return o, fmt.Errorf("make the folder of the swarm: %w", err)
	}
	return o, nil
}

// Terminals is the tmux server of the workers, which is the swarm's own. Its socket lies beside the daemon's: a path in the state could be
// longer than a socket's may be. runtime is $XDG_RUNTIME_DIR.
func Terminals(paths state.Paths, runtime string) (tmux.Server, error) {
	name := strings.TrimSuffix(paths.SocketName(), ".sock") + ".tmux"
	socket, err := daemon.PathsOf(paths, runtime).Beside(name)
	return tmux.Server{Socket: socket, Config: os.DevNull}, err
}
