//go:build amd64 || arm64

package jail

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// childProgram is where the child's program is in a root that another program made, until the child runs. The folder lies in memory.
const childProgram = "/run/mycelium-child"

// spaces are the namespaces, with the option of bwrap(1) that makes each.
var spaces = []struct {
	layer        Layer
	name, option string
}{
	{User, "user", "--unshare-user"}, {Mount, "mnt", ""}, {PID, "pid", "--unshare-pid"}, {PID, "ipc", "--unshare-ipc"},
	{PID, "uts", "--unshare-uts"}, {Net, "net", "--unshare-net"},
}

// wants reports whether the command has namespaces of its own for a layer.
func (s *Spec) wants(l Layer) bool { return !slices.Contains(s.Without, l) && (l != Net || !s.Network) }

// look notes how the machine looks from outside.
func (s *Spec) look() error {
	s.Outside = Outside{Spaces: map[string]string{}, Files: map[string]Identity{}}
	for _, space := range spaces {
		if !s.wants(space.layer) {
			continue
		}
		is, err := os.Readlink("/proc/self/ns/" + space.name)
		if err != nil {
			return fmt.Errorf("read a namespace: %w", err)
		}
		s.Outside.Spaces[space.name] = is
	}
	for _, b := range s.Binds {
		if b.Kind != Tree {
			continue
		}
		is, err := identify(b.Source, b.Strict)
		if err == nil {
			s.Outside.Files[b.Source] = is
		} else if b.Strict {
			return failed(Mount, "open "+b.Source, err)
		}
	}
	return nil
}

// identify tells which file a path leads to. A link at its end is not followed; strict: nor one above.
func identify(path string, strict bool) (Identity, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC}
	if strict {
		how.Resolve = unix.RESOLVE_NO_SYMLINKS
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return Identity{}, err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	return Identity{st.Dev, st.Ino}, err
}

// within returns the part in which a path lies; its kind is empty if there is none.
func within(path string, parts []Bind) Bind {
	for _, b := range slices.Backward(parts) {
		if path == b.Target || strings.HasPrefix(path, b.Target+"/") {
			return b
		}
	}
	return Bind{}
}

// complete finishes the root that another program made, after it has looked whether it is the one that was asked for.
func (c *child) complete() *StageError {
	maker := string(c.spec.Backend)
	// Whatever becomes of that program, the command ends with it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return failed(PID, "end with the program that made the root", err)
	}
	for _, space := range spaces {
		was, wanted := c.spec.Outside.Spaces[space.name]
		if is, err := os.Readlink("/proc/self/ns/" + space.name); wanted && (err != nil || is == was) {
			return &StageError{Layer: space.layer, Doing: "make the namespace " + space.name, Cause: maker + ": it was not made"}
		}
	}
	if err := c.compare(); err != nil {
		return err
	}
	if err := c.deviceFolders(); err != nil {
		return failed(Mount, "mount /dev", err)
	}
	const memory = "/dev/shm" // where the files lie that cover others
	for i, b := range c.spec.Binds {
		in := within(b.Target, c.spec.Binds[:i]).Kind
		if b.Kind == Link && (in == Tree || in != "" && c.spec.Backend == Container) {
			if err := attachLink(memory, b.Source, b.Target); err != nil {
				return failed(Mount, "mount "+b.Target, err)
			}
		}
	}
	if c.has(PID) {
		if err := c.fixProc("/proc", memory); err != nil {
			return err
		}
	}
	for _, m := range c.spec.Masks {
		if err := cover(memory, m); err != nil {
			return failed(Mount, "cover "+m, err)
		}
	}
	_ = os.Remove(filepath.Join(memory, emptyName))
	if err := errors.Join(unix.Unmount(childProgram, unix.MNT_DETACH), os.Remove(childProgram)); err != nil {
		return failed(Mount, "take the child's program away", err)
	}
	if c.spec.Backend == Container {
		if err := sealContainer(); err != nil {
			return err
		}
	}
	return c.sealed()
}

// deviceFolders mounts the folders of /dev. Bubblewrap has made their places.
func (c *child) deviceFolders() error {
	if c.spec.Backend == Container {
		_ = os.Remove("/dev/core") // a link of the runtime that no other back end has
		for _, name := range deviceFolders {
			if err := os.MkdirAll(filepath.Join("/dev", name), 0o755); err != nil { //nolint:gosec // a folder of the sandbox
				return err
			}
		}
	}
	return mountDeviceFolders("/dev")
}

// sealed looks whether the root is read-only.
func (c *child) sealed() *StageError {
	var root unix.Statfs_t
	if err := unix.Statfs("/", &root); err != nil || root.Flags&unix.ST_RDONLY == 0 {
		return &StageError{Layer: Mount, Doing: "make the root read-only", Cause: string(c.spec.Backend) + ": it is not"}
	}
	return nil
}

// compare looks whether each tree is the file that it was outside, and read-only if it should be.
func (c *child) compare() *StageError {
	last := map[string]Bind{} // a later part covers an earlier one at the same place
	for _, b := range c.spec.Binds {
		last[b.Target] = b
	}
	for _, target := range slices.Sorted(maps.Keys(last)) {
		b := last[target]
		was, ok := c.spec.Outside.Files[b.Source]
		if b.Kind != Tree || !ok {
			continue
		}
		is, err := identify(target, b.Strict)
		if err != nil {
			return failed(Mount, "look at "+target, err)
		}
		var fs unix.Statfs_t
		if err := unix.Statfs(target, &fs); err != nil {
			return failed(Mount, "look at "+target, err)
		}
		if is != was || !b.Write && fs.Flags&unix.ST_RDONLY == 0 {
			return &StageError{Layer: Mount, Doing: "mount " + target, Cause: string(c.spec.Backend) + ": it is something else, or can be written"}
		}
	}
	if c.has(PID) && os.Getpid() != 1 {
		return &StageError{Layer: PID, Doing: "be the first process", Cause: string(c.spec.Backend) + ": there is another one"}
	}
	return nil
}
