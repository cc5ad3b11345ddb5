// Package cause finds out why a wall of the sandbox cannot be built on this machine, and what mends it.
package cause

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"mycelium/internal/sandbox/jail"
)

// settings are settings of the kernel that forbid namespaces, each with the value that does and what to do.
var settings = []struct{ file, bad, mend string }{
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
		"AppArmor forbids user namespaces to programs without a profile (Ubuntu 23.10 and later): " +
			"myc sandbox capabilities --apparmor prints one for myc"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "user namespaces are switched off: sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "user namespaces are switched off: sysctl user.max_user_namespaces=10000"},
	{"/proc/sys/user/max_mnt_namespaces", "0", "mount namespaces are switched off: sysctl user.max_mnt_namespaces=10000"},
	{"/proc/sys/user/max_pid_namespaces", "0", "process namespaces are switched off: sysctl user.max_pid_namespaces=10000"},
	{"/proc/sys/user/max_ipc_namespaces", "0", "IPC namespaces are switched off: sysctl user.max_ipc_namespaces=10000"},
	{"/proc/sys/user/max_uts_namespaces", "0", "host-name namespaces are switched off: sysctl user.max_uts_namespaces=10000"},
	{"/proc/sys/user/max_net_namespaces", "0", "network namespaces are switched off: sysctl user.max_net_namespaces=10000"},
}

// The steps whose failure is mended by an installation.
const (
	FindBubblewrap = "find bubblewrap"
	FindContainer  = "find crun"
	FindSeatbelt   = "find sandbox-exec"
)

// Mend says what makes a layer possible that could not be built; "" if nothing is known.
func Mend(e *jail.StageError) string {
	switch e.Layer {
	case jail.User:
		if program, ok := strings.CutPrefix(e.Doing, "find "); ok {
			return "install it: apt-get install " + program
		}
		for _, s := range settings {
			if value, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(value)) == s.bad {
				return s.mend
			}
		}
		if profile := confined(); profile != "" {
			return "this program runs under AppArmor's profile " + profile + ", which forbids namespaces: " +
				"myc sandbox capabilities --apparmor prints one for myc"
		}
		if filtered() {
			return filterMend
		}
		if inContainer() {
			return "this is a container, whose own profile forbids namespaces: run myc outside of it, or give the container that right"
		}
	case jail.Mount, jail.PID, jail.Net:
		if e.Doing == jail.StartIn(jail.Container) && mixedCgroups() {
			return "crun does not run where the machine has version 1 of cgroups and controllers in version 2: " +
				"start the kernel with systemd.unified_cgroup_hierarchy=1, or use the back end own"
		}
		if e.Doing == jail.ChangeRoot && syscall.Errno(e.Errno) == syscall.EINVAL {
			return "the root of this machine is the first file system of its kernel (initramfs), which cannot be left: " +
				"mount it on itself, or use switch_root"
		}
		if e.Doing == jail.MountProc && procCovered() {
			return "parts of /proc are covered, as engines of containers do it, and then the kernel mounts no new /proc: " +
				"run myc outside of the container, or start it with --security-opt systempaths=unconfined (Docker) or unmask=ALL (Podman)"
		}
		if filtered() {
			return filterMend
		}
		if inContainer() {
			return "this is a container, whose own profile forbids mounts: run myc outside of it, or give the container that right"
		}
		return "user namespaces are there and have no rights: AppArmor or another security module forbids it"
	case jail.Rules:
		switch e.Doing {
		case FindSeatbelt:
			return "on Linux, use the back end own"
		case jail.LimitData:
			return "use the profile project, or one of your own with memory: 0"
		}
	case jail.Privilege, jail.Seccomp: // every kernel that has the layers before them has them
	case jail.Landlock:
		if syscall.Errno(e.Errno) == syscall.ENOSYS && filtered() {
			return filterMend + "; or the kernel has no Landlock, and then it is Linux 6.2 or later that is needed"
		}
		return "Linux 6.2 or later, with Landlock among the security modules (lsm=landlock,… on the kernel's command line)"
	}
	return ""
}

// confined returns the profile of AppArmor that this program runs under, "" if there is none that forbids anything (apparmor(7): a name and
// a mode, or "unconfined").
func confined() string {
	label, err := os.ReadFile("/proc/self/attr/apparmor/current")
	profile, enforced := strings.CutSuffix(strings.Trim(string(label), "\x00\n"), " (enforce)")
	if err != nil || !enforced {
		return ""
	}
	return strconv.Quote(profile)
}

// filterMend says what to do about a filter of system calls that this program was started under.
const filterMend = "this program was started under a filter of system calls, as engines of containers and some services set, which may " +
	"refuse this: run myc outside of it, or widen the filter"

// filtered reports whether this program runs under a filter of system calls (proc_pid_status(5), Seccomp).
func filtered() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && strings.Contains(string(status), "\nSeccomp:\t2\n")
}

// procCovered reports whether something is mounted below /proc (proc_pid_mountinfo(5): the fifth field is the place). The mount that
// systemd makes there on every machine covers an empty folder, which the kernel does not mind.
func procCovered() bool {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.HasPrefix(fields[4], "/proc/") && fields[4] != "/proc/sys/fs/binfmt_misc" {
			return true
		}
	}
	return err != nil
}

// mixedCgroups reports whether version 2 of cgroups is mounted beside version 1 and has controllers (cgroups(7), "CGROUPS VERSION 2").
func mixedCgroups() bool {
	controllers, err := os.ReadFile("/sys/fs/cgroup/unified/cgroup.controllers")
	return err == nil && strings.TrimSpace(string(controllers)) != ""
}

// inContainer reports whether this machine is a container, as far as engines say so.
func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return os.Getenv("container") != ""
}
