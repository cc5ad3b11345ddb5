package node

import (
	"context"
	"os"
	"path/filepath"

	"mycelium/internal/node/sandboxed"
)

// warm prepares the caches of a project whose commands run in the sandbox: what its lock files name, and the seed of Go's build cache where it
// builds Go. A command that begins meanwhile does not wait for the seed.
func (n *Node) warm(ctx context.Context) error {
	p := n.files.Project()
	if !sandboxed.Wanted(p) {
		return nil
	}
	refused, err := sandboxed.Take(ctx, n.dir, n.state, p.Home, n.options.Environ)
	if err != nil {
		n.logger.Info("what lock files name was not taken from the caches; the next command in the sandbox tries again", "err", err)
	}
	for _, path := range refused {
		n.logger.Warn("a file does not have the hash that a lock file of the project names: commands in the sandbox do not find it", "file", path)
	}
	if _, err := os.Lstat(filepath.Join(n.dir, "go.mod")); err != nil {
		return nil //nolint:nilerr // it builds no Go
	}
	seed, err := sandboxed.MakeSeed(ctx, n.dir, n.state, p.Home, n.options.Environ, true)
	switch {
	case ctx.Err() != nil:
	case err != nil: // where the sandbox does not hold, everything else says so
		n.logger.Info("no seed of Go's build cache: the first build in the sandbox compiles the standard library", "err", err)
	case seed.Made:
		n.logger.Info("Go's standard library is compiled for the sandbox", "of", seed.Of)
	}
	return nil //nolint:nilerr // it is told above
}
