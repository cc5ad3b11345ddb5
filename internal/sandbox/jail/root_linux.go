//go:build amd64 || arm64

package jail

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a source of the root, opened before the root of the machine is covered.
type tree struct {
	bind Bind
	fd   int // a detached copy of the mount; -1: there is no such file
	dir  bool
}

// root makes the root of the command and enters it. What was there before is not reachable from it.
func (c *child) root() *StageError {
	// Nothing that is mounted here shows outside.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return failed(Mount, "make the mounts private", err)
	}
	trees := make([]tree, len(c.spec.Binds))
	for i, b := range c.spec.Binds {
		t, err := openTree(b)
		if err != nil {
			return failed(Mount, "open "+b.Source, err)
		}
		trees[i] = t
	}
	base, err := mountTemp()
	if err != nil {
		return failed(Mount, "mount an empty root", err)
	}
	for i, t := range trees {
		if err := t.attach(base, trees[:i]); err != nil {
			return failed(Mount, "mount "+t.bind.Target, err)
		}
	}
	if err := c.mountProc(base, c.has(PID)); err != nil {
		return err
	}
	if err := mountDevices(base); err != nil {
		return failed(Mount, "mount /dev", err)
	}
	for _, m := range c.spec.Masks {
		if err := mask(base, m); err != nil {
			return failed(Mount, "cover "+m, err)
		}
	}
	return pivot(base)
}

// pivot makes a folder the root, and lets go of the old one.
func pivot(base string) *StageError {
	if err := unix.Chdir(base); err != nil {
		return failed(Mount, "enter the new root", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return failed(Mount, ChangeRoot, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return failed(Mount, "let go of the old root", err)
	}
	// The root itself is read-only: what the command writes there would be lost without a word.
	err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID})
	if err != nil {
		return failed(Mount, "make the root read-only", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return failed(Mount, "enter the new root", err)
	}
	return nil
}

// mountTemp covers a folder of the machine by an empty one in memory, for this namespace only, and returns its path.
func mountTemp() (string, error) {
	err := error(unix.ENOENT)
	for _, name := range []string{"/tmp", "/var/tmp", "/mnt", "/usr"} {
		dir, linkErr := filepath.EvalSymlinks(name)
		if linkErr != nil {
			continue
		}
		if err = unix.Mount("myc", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=64m"); err == nil {
			return dir, nil
		}
	}
	return "", err
}

// openTree opens what a bind names. Links are not followed: the caller resolved them.
func openTree(b Bind) (tree, error) {
	if b.Kind != Tree {
		return tree{bind: b, fd: -1}, nil
	}
	fd, err := cloneMount(b)
	if !b.Strict && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)) {
		return tree{bind: b, fd: -1}, nil
	}
	if err != nil {
		return tree{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return tree{}, err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if !b.Write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return tree{}, err
	}
	return tree{bind: b, fd: fd, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

// cloneMount makes a detached copy of the mounts of a source.
func cloneMount(b Bind) (int, error) {
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE | unix.AT_SYMLINK_NOFOLLOW
	if !b.Strict {
		return unix.OpenTree(unix.AT_FDCWD, b.Source, flags)
	}
	at, err := place(b.Source)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(at) }()
	return unix.OpenTree(at, "", flags|unix.AT_EMPTY_PATH)
}

// place opens a path without following any link: where a command may write, another one that runs at the same time may put a link in the
// place of a folder.
func place(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS})
}

// put puts a detached mount at a place.
func (t tree) put(target string) error {
	at, err := place(target)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	return t.putAt(at)
}

// putAt puts a detached mount at an open place.
func (t tree) putAt(at int) error {
	return unix.MoveMount(t.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// attach puts a part into the root, in which the earlier parts are.
func (t tree) attach(base string, earlier []tree) error {
	target := filepath.Join(base, t.bind.Target)
	switch t.bind.Kind {
	case Link:
		return attachLink(base, t.bind.Source, target)
	case Temp:
		if err := os.MkdirAll(target, 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		return unix.Mount("myc", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,size=25%")
	case File:
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		return os.WriteFile(target, t.bind.Data, 0o400)
	case Tree:
	}
	if t.fd < 0 {
		return nil
	}
	defer func() { _ = unix.Close(t.fd) }()
	if err := t.makeTarget(target, earlier); err != nil {
		return err
	}
	return t.put(target)
}

// attachLink makes a symbolic link. Over a file of the machine it is mounted, so that the file keeps its name outside: a program that
// replaces the file by renaming another one to its name, as git does with its configuration, does so where the link leads.
func attachLink(base, to, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // a folder of the root of the sandbox
		return err
	}
	if _, err := os.Lstat(target); err != nil {
		return os.Symlink(to, target)
	}
	link := filepath.Join(base, ".link")
	if err := os.Symlink(to, link); err != nil {
		return err
	}
	t, err := openTree(Bind{Kind: Tree, Source: link})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(t.fd) }()
	if err := t.put(target); err != nil {
		return err
	}
	return os.Remove(link)
}

// makeTarget makes the place of a mount, in the sandbox's own memory. In a part that is the machine's it must be there: nothing is made on
// the machine.
func (t tree) makeTarget(target string, earlier []tree) error {
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	for _, e := range slices.Backward(earlier) {
		if rest, ok := strings.CutPrefix(t.bind.Target, e.bind.Target+"/"); ok && rest != "" {
			if e.fd >= 0 {
				return unix.ENOENT
			}
			if e.bind.Kind == Temp {
				break
			}
		}
	}
	if t.dir {
		return os.MkdirAll(target, 0o755) //nolint:gosec // a folder of the root of the sandbox
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	return os.WriteFile(target, nil, 0o600)
}

// procFixed are parts of /proc through which root changes the machine, although it is root only of its namespace.
var procFixed = []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"}

// procHidden are parts of /proc that tell of the machine.
var procHidden = []string{"kcore", "keys", "key-users", "timer_list", "latency_stats", "sched_debug", "kallsyms", "kpagecount"}

// mountProc mounts the processes of the namespace.
func (c *child) mountProc(base string, own bool) *StageError {
	proc := filepath.Join(base, "proc")
	if err := os.MkdirAll(proc, 0o755); err != nil { //nolint:gosec // a folder of the root of the sandbox
		return failed(Mount, "make /proc", err)
	}
	if !own { // only the test of escapes: the processes of the machine
		return nil
	}
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return failed(PID, MountProc, err)
	}
	return c.fixProc(proc, base)
}

// fixProc limits the numbers of processes, and takes away what of /proc is the machine's. base is a folder in memory.
func (c *child) fixProc(proc, base string) *StageError {
	c.limitNumbers(proc)
	for _, name := range procFixed {
		if err := fix(filepath.Join(proc, name)); err != nil {
			return failed(PID, "make /proc/"+name+" read-only", err)
		}
	}
	for _, name := range procHidden {
		if err := cover(base, filepath.Join(proc, name)); err != nil {
			return failed(PID, "cover /proc/"+name, err)
		}
	}
	return nil
}

// fix makes a path read-only by a mount on itself. What does not exist stays so.
func fix(path string) error {
	t, err := openTree(Bind{Kind: Tree, Source: path})
	if err != nil || t.fd < 0 {
		return err
	}
	defer func() { _ = unix.Close(t.fd) }()
	return t.put(path)
}

// mask covers a path by an empty file or folder that cannot be written. What does not exist stays so.
func mask(base, path string) error { return cover(base, filepath.Join(base, path)) }

// cover covers a path; base is a folder in memory.
func cover(base, target string) error {
	st, err := os.Lstat(target)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to cover
	}
	if st.IsDir() {
		at, err := place(target)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(at) }()
		return unix.Mount("myc", "/proc/self/fd/"+strconv.Itoa(at), "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "mode=0555,size=4k")
	}
	t, err := emptyFile(base)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(t.fd) }()
	return t.put(target)
}

const emptyName = ".empty"

// emptyFile makes the file that covers other files, and opens it.
func emptyFile(base string) (tree, error) {
	path := filepath.Join(base, emptyName)
	if _, err := os.Lstat(path); err != nil {
		if err := os.WriteFile(path, nil, 0o400); err != nil {
			return tree{}, err
		}
	}
	return openTree(Bind{Kind: Tree, Source: path})
}

// devices are the devices that every program may need. None of them reaches anything outside.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are the links in /dev, with where they lead; deviceFolders are the folders.
var (
	deviceLinks = [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
		{"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"}}
	deviceFolders = []string{"pts", "shm"}
)

// mountDevices makes /dev.
func mountDevices(base string) error {
	dev := filepath.Join(base, "dev")
	if err := os.MkdirAll(dev, 0o755); err != nil { //nolint:gosec // a folder of the root of the sandbox
		return err
	}
	for _, name := range devices {
		t, err := openTree(Bind{Kind: Tree, Source: "/dev/" + name, Write: true})
		if err != nil || t.fd < 0 {
			return err
		}
		t.bind = Bind{Kind: Tree, Target: "/dev/" + name}
		if err := t.attach(base, nil); err != nil {
			return err
		}
	}
	for _, l := range deviceLinks {
		if err := os.Symlink(l[1], filepath.Join(dev, l[0])); err != nil {
			return err
		}
	}
	for _, name := range deviceFolders {
		if err := os.Mkdir(filepath.Join(dev, name), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return mountDeviceFolders(dev)
}

// mountDeviceFolders mounts the terminals of the sandbox, and its shared memory.
func mountDeviceFolders(dev string) error {
	if err := unix.Mount("devpts", filepath.Join(dev, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC,
		"newinstance,ptmxmode=0666,mode=620"); err != nil {
		return err
	}
	return unix.Mount("myc", filepath.Join(dev, "shm"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
}

// loopback brings up the loopback of a new network namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, r); err != nil {
		return err
	}
	r.SetUint16(r.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// listen makes the listeners of the parent. A socket stays in the network in which it was made, whoever has it.
func (c *child) listen() error {
	if c.spec.Listen {
		at, err := netip.ParseAddrPort(ListenAddr)
		if err != nil {
			return err
		}
		if err := c.listenAt(int(at.Port())); err != nil {
			return err
		}
	}
	for _, port := range c.spec.Ports {
		if err := c.listenAt(port); err == nil {
			c.ports = append(c.ports, port)
		}
	}
	return nil
}

// listenAt makes a listener at a port of the loopback.
func (c *child) listenAt(port int) error {
	fd, err := listenAt(port)
	if err == nil {
		c.listeners = append(c.listeners, fd)
	}
	return err
}

func listenAt(port int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
