//go:build linux

// Package scratch makes a machine of its own for a test, its world: namespaces for users, mounts, processes and the network. Everything
// outside is read only, /home, /tmp and /run are in memory, there is no network but the loopback, and all processes end with the first one.
// So a test may do whatever an agent might do, every world has the same paths, and nothing is left behind.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// The folders of every world. An account of the world's own says that Home is its home, so that a program
// finds the same home in the password database as in $HOME.
const (
	Home   = "/home/dev"
	RunDir = "/run/user/1000"
	passwd = "root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000:Developer:" + Home + ":/bin/bash\n"
)

const (
	user      = 1000  // who works in the world
	outerUser = 65534 // who that is outside, where the tests run as root
)

// Attr returns the attributes of a process that may call [Make].
func Attr() *syscall.SysProcAttr {
	outer := os.Getuid()
	if outer == 0 {
		outer = outerUser
	}
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: outer, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: outer, Size: 1}},
		Credential:  &syscall.Credential{Uid: user, Gid: user, NoSetGroups: true},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN},
	}
}

// Make turns the namespaces of the calling process into a world, and starts the loopback. The folder programs appears at the absolute path
// at, below the home; "" is none.
func Make(programs, at string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("detach the mounts: %w", err)
	}
	// /proc stays writable, for sandboxes in the world: they say there who their users are. The kernel takes no /proc that shows more than one
	// which is there, so this one comes before the others are made read only.
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	proc, err := unix.OpenTree(unix.AT_FDCWD, "/proc", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("make the mounts read only: %w", err)
	}
	folder := -1
	if programs != "" {
		var err error
		if folder, err = unix.OpenTree(unix.AT_FDCWD, programs, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC); err != nil {
			return fmt.Errorf("the programs in %s: %w", programs, err)
		}
	}
	devices, err := deviceFolder()
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	for _, dir := range []string{"/home", "/run", "/tmp"} {
		if err := memory(dir); err != nil {
			return err
		}
	}
	if err := unix.MoveMount(devices, "", unix.AT_FDCWD, "/dev", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if err := unix.MoveMount(proc, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := account(); err != nil {
		return fmt.Errorf("the account: %w", err)
	}
	for _, dir := range []string{Home, RunDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if folder >= 0 {
		if err := os.MkdirAll(at, 0o700); err != nil {
			return err
		}
		if err := unix.MoveMount(folder, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("programs: %w", err)
		}
	}
	return loopback()
}

// memory mounts an empty file system in memory.
func memory(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=512m"); err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

// deviceFolder makes a folder with the devices that programs need, and returns it as a mount that is not attached anywhere.
func deviceFolder() (int, error) {
	const dir = "/tmp"
	if err := memory(dir); err != nil {
		return 0, err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return 0, err
		}
		if err := unix.Mount(filepath.Join("/dev", name), path, "", unix.MS_BIND, ""); err != nil {
			return 0, err
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			return 0, err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "shm"), 0o700); err != nil {
		return 0, err
	}
	return unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
}

// account puts an account for the world's user over the password database.
func account() error {
	path := "/run/passwd"
	if err := os.WriteFile(path, []byte(passwd), 0o600); err != nil {
		return err
	}
	if err := unix.Mount(path, "/etc/passwd", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return os.Remove(path)
}

// loopback starts the interface lo, which is down in a new namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// Work starts the test program again in the world, without privileges and with env as its environment, and reaps whatever dies until it
// ends. files are its descriptors, from 0.
func Work(name string, env []string, files []uintptr) error {
	runtime.LockOSThread() // capabilities are a thread's; the worker is forked by this one
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{name}, &syscall.ProcAttr{Dir: "/", Env: env, Files: files})
	if err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		dead, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		case dead == pid && status.ExitStatus() != 0:
			return fmt.Errorf("the worker ended: %v %v", status.ExitStatus(), status.Signal())
		case dead == pid:
			return nil
		}
	}
}
