//go:build amd64 || arm64

package jail

import (
	"slices"

	"golang.org/x/sys/unix"
)

// dropPrivileges gives up every capability of this thread, for ever: no program that it starts gets one back, a setuid program neither.
func (c *child) dropPrivileges() *StageError {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return failed(Privilege, "forbid new privileges", err)
	}
	return c.dropRights(nil)
}

// dropRights is dropPrivileges without the flag that forbids new privileges. In a user namespace that has no other user, a setuid program
// gives none, and what it keeps is the most that anything gets.
func (c *child) dropRights(keep []uintptr) *StageError {
	// The other threads of this process keep their rights. Nobody may write into the memory that they share: not a command with the same
	// user id either.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failed(Privilege, "close this process's memory", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return failed(Privilege, "clear the ambient capabilities", err)
	}
	var left [2]unix.CapUserData
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if slices.Contains(keep, capability) {
			bit := uint32(1) << (capability % 32)
			left[capability/32].Permitted |= bit
			left[capability/32].Effective |= bit
			continue
		}
		// What the kernel does not know, nobody has.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && err != unix.EINVAL { //nolint:errorlint // an errno
			return failed(Privilege, "drop capabilities", err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &left[0]); err != nil {
		return failed(Privilege, "give up the capabilities", err)
	}
	return nil
}
