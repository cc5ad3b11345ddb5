package faketest

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// NoNetwork runs a command in its own network namespace, where it can reach nothing outside. The command must call LoopbackUp first. A
// user other than root also gets a user namespace and is root in it.
func NoNetwork(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
}

// LoopbackUp enables the loopback interface of a new network namespace.
func LoopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	return nil
}

// OwnMounts runs a command in its own mount namespace, in which it can call OwnHosts.
func OwnMounts(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Unshareflags |= syscall.CLONE_NEWNS // Go makes the mounts private, so that nobody else sees a change
}

// OwnHosts makes an address of the internet one of the loopback, and gives it to some names of hosts: the programs that start from now on
// find them in /etc/hosts. The file is written in a folder that stays. The address is none that an interface has, because whoever guards the
// servers of a machine looks at those: the whole /24 is of the loopback, by an address that ends in 1.
func OwnHosts(folder string, address netip.Addr, names []string) error {
	const what = "give names to the loopback: %w"
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf(what, err)
	}
	defer func() { _ = unix.Close(fd) }()
	bytes := address.As4()
	bytes[3] = 1
	for _, set := range []struct {
		request uint
		value   []byte
	}{{unix.SIOCSIFADDR, bytes[:]}, {unix.SIOCSIFNETMASK, []byte{255, 255, 255, 0}}} {
		ifr, err := unix.NewIfreq("lo:1")
		if err != nil {
			return fmt.Errorf(what, err)
		}
		if err := ifr.SetInet4Addr(set.value); err != nil {
			return fmt.Errorf(what, err)
		}
		if err := unix.IoctlIfreq(fd, set.request, ifr); err != nil {
			return fmt.Errorf(what, err)
		}
	}
	file := filepath.Join(folder, "hosts")
	text := "127.0.0.1 localhost\n" + address.String() + " " + strings.Join(names, " ") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // as /etc/hosts
		return fmt.Errorf(what, err)
	}
	if err := unix.Mount(file, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf(what, err)
	}
	return nil
}
