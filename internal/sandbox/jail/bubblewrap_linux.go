//go:build amd64 || arm64

package jail

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// childProgram is where the child's program is in a root that bubblewrap made, until the child runs. The folder lies in memory.
const childProgram = "/run/mycelium-child"

// spaces are the namespaces, with the option of bwrap(1) that makes each.
var spaces = []struct {
	layer        Layer
	name, option string
}{
	{User, "user", "--unshare-user"}, {Mount, "mnt", ""}, {PID, "pid", "--unshare-pid"}, {PID, "ipc", "--unshare-ipc"},
	{PID, "uts", "--unshare-uts"}, {Net, "net", "--unshare-net"},
}

// bubblewrap sets the command that starts the child by bwrap(1): it makes the namespaces and mounts the parts of the root. The child keeps
// the rights in its namespaces that it needs for the rest, as the child of [Own] has them, and gives them up before the command runs.
func bubblewrap(cmd *exec.Cmd, self []string, spec *Spec) (*Spec, error) {
	told := *spec
	if err := told.look(); err != nil {
		return nil, err
	}
	args := []string{spec.Program, "--die-with-parent", "--as-pid-1",
		"--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"}
	for _, s := range spaces {
		if told.wants(s.layer) && s.option != "" {
			args = append(args, s.option)
		}
	}
	if told.wants(PID) && spec.Host != "" {
		args = append(args, "--hostname", spec.Host)
	}
	for i, b := range spec.Binds {
		more, err := told.part(cmd, b, spec.Binds[:i])
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	// Its own --dev would put the child into a second user namespace, which has no rights over the mounts.
	args = append(args, "--proc", "/proc")
	for _, name := range devices {
		args = append(args, "--dev-bind", "/dev/"+name, "/dev/"+name)
	}
	for _, l := range deviceLinks {
		args = append(args, "--symlink", l[1], "/dev/"+l[0])
	}
	for _, name := range deviceFolders {
		args = append(args, "--dir", "/dev/"+name)
	}
	args = append(args, "--ro-bind", self[0], childProgram, "--remount-ro", "/", "--", childProgram)
	cmd.Path, cmd.Args = spec.Program, slices.Concat(args, self[1:])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return &told, nil
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

// part is a part of the root in the words of bwrap(1). A link in a tree of the machine is left to the child: bwrap would make it on the
// machine.
func (s *Spec) part(cmd *exec.Cmd, b Bind, earlier []Bind) ([]string, error) {
	in := within(b.Target, earlier)
	switch b.Kind {
	case Temp:
		return []string{"--perms", "0700", "--size", quarter(), "--tmpfs", b.Target}, nil
	case Link:
		if in.Kind == Tree {
			return nil, nil
		}
		return []string{"--symlink", b.Source, b.Target}, nil
	case File:
		fd, err := dataFile(cmd, b.Data)
		return []string{"--perms", "0400", "--file", strconv.Itoa(fd), b.Target}, err
	case Tree:
	}
	if _, ok := s.Outside.Files[b.Source]; !ok {
		return nil, nil
	}
	if in.Kind == Tree {
		if _, err := os.Lstat(in.Source + strings.TrimPrefix(b.Target, in.Target)); err != nil {
			return nil, failed(Mount, "mount "+b.Target, unix.ENOENT) // bwrap would make it on the machine
		}
	}
	if b.Write {
		return []string{"--bind", b.Source, b.Target}, nil
	}
	return []string{"--ro-bind", b.Source, b.Target}, nil
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

// dataFile gives bwrap a file in memory, and returns its descriptor there.
func dataFile(cmd *exec.Cmd, data []byte) (int, error) {
	fd, err := unix.MemfdCreate("data", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, err
	}
	f := os.NewFile(uintptr(fd), "data")
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	if _, err := f.Write(data); err != nil {
		return 0, err
	}
	_, err = f.Seek(0, 0)
	return controlFD + len(cmd.ExtraFiles) - 1, err
}

// quarter is a quarter of the machine's memory in bytes, as a folder in memory of [Own] has it.
func quarter() string {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return strconv.Itoa(1 << 30)
	}
	return strconv.FormatUint(uint64(info.Totalram)*uint64(info.Unit)/4, 10)
}

// complete finishes the root that bubblewrap made, after it has looked whether it is the one that was asked for.
func (c *child) complete() *StageError {
	for _, space := range spaces {
		was, wanted := c.spec.Outside.Spaces[space.name]
		if is, err := os.Readlink("/proc/self/ns/" + space.name); wanted && (err != nil || is == was) {
			return &StageError{Layer: space.layer, Doing: "make the namespace " + space.name, Cause: "bubblewrap did not make it"}
		}
	}
	if err := c.compare(); err != nil {
		return err
	}
	if err := mountDeviceFolders("/dev"); err != nil {
		return failed(Mount, "mount /dev", err)
	}
	const memory = "/dev/shm" // where the files lie that cover others
	for i, b := range c.spec.Binds {
		if b.Kind == Link && within(b.Target, c.spec.Binds[:i]).Kind == Tree {
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
			return &StageError{Layer: Mount, Doing: "mount " + target, Cause: "bubblewrap mounted something else, or not read-only"}
		}
	}
	var root unix.Statfs_t
	if err := unix.Statfs("/", &root); err != nil || root.Flags&unix.ST_RDONLY == 0 {
		return &StageError{Layer: Mount, Doing: "make the root read-only", Cause: "bubblewrap did not"}
	}
	if c.has(PID) && os.Getpid() != 1 {
		return &StageError{Layer: PID, Doing: "be the first process", Cause: "bubblewrap has another one"}
	}
	return nil
}
