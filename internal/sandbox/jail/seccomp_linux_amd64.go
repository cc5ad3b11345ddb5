package jail

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000 // calls of the x32 ABI are the same calls under other numbers (__X32_SYSCALL_BIT)
)

// modeCalls are the system calls that set the mode of a file, with the place of the mode among their arguments.
var modeCalls = [...]modeCall{{unix.SYS_CHMOD, 1}, {unix.SYS_FCHMOD, 1}, {unix.SYS_FCHMODAT, 2}, {unix.SYS_FCHMODAT2, 2},
	{unix.SYS_MKNOD, 1}, {unix.SYS_MKNODAT, 2},
}

// forks are the system calls that always make a process.
var forks = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
