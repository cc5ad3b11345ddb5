package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/warm"
)

const (
	modulesInside    = inside + "/modules"    // the modules of Go that lock files name, as a proxy of modules
	toolchainsInside = inside + "/toolchains" // toolchains of Go that the person has in the cache of modules
	goMod            = "go-mod"               // the project's own cache of modules, in its folder of caches
)

// lockFiles are the names of the files that name what a command finds of the person's caches.
var lockFiles = set(warm.Locks())

// The bounds of the lock files that are read. One beyond them names nothing.
const (
	mostLocks = 256
	mostLock  = 32 << 20 // bytes
)

// warm prepares the caches of the command.
func (c *Command) warm(w *work) error {
	if c.Caches == "" || c.Home == "" {
		return nil
	}
	if c.Seeds != "" && c.Profile.Backend != jail.Seatbelt { // which shows the seed elsewhere than where the links of the cache lead
		_ = c.Seeds.Lay(c.Caches) // a command whose cache is cold takes longer, and is right
	}
	if c.Taken == "" {
		return nil
	}
	if root, err := os.OpenRoot(c.Caches); err == nil {
		_ = root.Mkdir(goMod, 0o700) // where an earlier command left something else, go says so
		_ = root.Close()
	}
	_, err := c.take(w.guarded)
	return err
}

// Take takes what the lock files of the project name from the person's caches, as each command does before it begins. It returns what does not
// have the content that they name.
func (c *Command) Take(ctx context.Context) (warm.Refused, error) {
	g, err := c.look(ctx, nil)
	if err != nil {
		return nil, err
	}
	return c.take(g)
}

func (c *Command) take(g *Guarded) (warm.Refused, error) {
	locks := g.Locks[:min(len(g.Locks), mostLocks)]
	var state strings.Builder
	for _, path := range locks {
		if st, err := os.Lstat(path); err == nil {
			fmt.Fprintln(&state, path, st.Size(), st.ModTime().UnixNano(), inodeOf(st))
		}
	}
	return c.Taken.Fill(c.Home, c.Project, state.String(), func() (out []warm.Lock) {
		for _, path := range locks {
			if data, err := c.readLock(path); err == nil {
				out = append(out, warm.Lock{Path: path, Data: data})
			}
		}
		return out
	})
}

// readLock reads a lock file of the project, without following a link that a command may put there at this moment.
func (c *Command) readLock(path string) ([]byte, error) {
	dir, err := c.parent(path)
	if err != nil {
		return nil, err
	}
	data, err := readUpTo(dir, filepath.Base(path), mostLock)
	return data, errors.Join(err, dir.Close())
}

// warmParts are the parts of the root with what caches begin with. The command has its folder of caches already.
func (c *Command) warmParts() (out []jail.Bind) {
	if c.Seeds != "" {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: c.Seeds.Folder(), Target: warm.SeedsInside})
	}
	if c.Taken != "" {
		out = append(out, jail.Bind{Kind: jail.Tree, Source: c.Taken.Proxy(), Target: modulesInside},
			jail.Bind{Kind: jail.Tree, Source: c.Taken.NPM(), Target: filepath.Join(c.Home, ".npm/_cacache")},
			// Where people look for the source of a module.
			jail.Bind{Kind: jail.Link, Source: filepath.Join(c.Home, ".cache", goMod), Target: filepath.Join(c.Home, "go/pkg/mod")})
	}
	for _, path := range c.toolchains() {
		name := filepath.Base(path)
		_, version, _ := strings.Cut(name, "-") // toolchain@v0.0.1-go1.26.1.linux-amd64
		version = strings.TrimSuffix(version, filepath.Ext(version))
		folder := filepath.Join(toolchainsInside, version)
		out = append(out, jail.Bind{Kind: jail.Tree, Source: path, Target: folder},
			jail.Bind{Kind: jail.Link, Source: filepath.Join(folder, "bin/go"), Target: filepath.Join(toolchainsInside, "bin", version)})
	}
	return out
}

// toolchains lists the toolchains of Go that the go command has fetched for the person. They are programs, like those of nvm and rustup, and no
// lock file names them. The go command looks for them in PATH before it fetches one.
func (c *Command) toolchains() []string {
	found, _ := filepath.Glob(filepath.Join(c.Home, "go/pkg/mod/golang.org/toolchain@*-go*"))
	return found
}

// warmEnviron says in the environment of the command where its caches are.
func (c *Command) warmEnviron(environ []string) []string {
	if c.Caches == "" || c.Home == "" || c.Taken == "" {
		return environ
	}
	// The cache of modules lies where the project's own caches lie, so folders without the right to write would be in the way of whoever
	// removes them.
	flags, path := "-modcacherw", ""
	environ = slices.DeleteFunc(environ, func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS":
			flags = value + " " + flags
		case "PATH":
			path = v
		}
		return name == "GOFLAGS" || name == "PATH"
	})
	if path != "" && len(c.toolchains()) > 0 {
		path += ":" + filepath.Join(toolchainsInside, "bin")
	}
	if path != "" {
		environ = append(environ, path)
	}
	return append(environ, "GOFLAGS="+flags, "GOMODCACHE="+filepath.Join(c.Home, ".cache", goMod),
		// After the files, go asks where it asks by default.
		"GOPROXY=file://"+modulesInside+",https://proxy.golang.org,direct")
}
