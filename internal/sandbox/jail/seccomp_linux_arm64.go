package jail

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_AARCH64
	otherNumbers = 0 // there is one set of numbers
)

// modeCalls are the system calls that set the mode of a file, with the place of the mode among their arguments.
var modeCalls = [...]modeCall{{unix.SYS_FCHMOD, 1}, {unix.SYS_FCHMODAT, 2}, {unix.SYS_FCHMODAT2, 2}, {unix.SYS_MKNODAT, 2}}

// forks are the system calls that always make a process: none here, where all are clone.
var forks []uint32
