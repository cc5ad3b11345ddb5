//go:build amd64 || arm64

package jail

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's struct seccomp_data (linux/seccomp.h), on machines that store the low half of a word first.
const (
	offsetNr   = 0
	offsetArch = 4
	offsetArgs = 16
)

// filter is a program of the kernel's packet filter that looks at system calls.
type filter []unix.SockFilter

func (f *filter) add(code uint16, jt, jf uint8, k uint32) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (f *filter) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }

func (f *filter) answer(action uint32) { f.add(unix.BPF_RET|unix.BPF_K, 0, 0, action) }

// The answers of the filter.
const (
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // as if the kernel did not have it: programs take the older call
)

// deny refuses a system call whatever its arguments are. The number is loaded.
func (f *filter) deny(nr uint32, action uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, nr)
	f.answer(action)
}

// denyIf refuses a system call if the low half of an argument fits the test, which jumps over the refusal if it does not.
func (f *filter) denyIf(nr uint32, arg int, mask, value uint32, action uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 5, nr)
	f.load(offsetArgs + 8*uint32(arg))                       //nolint:gosec // 0 to 5
	f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, mask)  // what of the argument counts
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, value) // equal: refuse
	f.answer(action)
	f.load(offsetNr)
}

// denyAny refuses a system call if an argument has any of the bits.
func (f *filter) denyAny(nr uint32, arg int, bits uint32, action uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 4, nr)
	f.load(offsetArgs + 8*uint32(arg))                       //nolint:gosec // 0 to 5
	f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, bits) // any of the bits: refuse
	f.answer(action)
	f.load(offsetNr)
}

// only refuses a system call unless an argument is one of the values.
func (f *filter) only(nr uint32, arg int, values []uint32, action uint32) {
	n := uint8(len(values)) //nolint:gosec // a few
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, n+3, nr)
	f.load(offsetArgs + 8*uint32(arg)) //nolint:gosec // 0 to 5
	for i, v := range values {
		f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, n-uint8(i), 0, v) //nolint:gosec // as above
	}
	f.answer(action)
	f.load(offsetNr)
}

// denyCoreLimit refuses prlimit64 of core dumps with a new value, whose address is not zero in either half. To ask for the limit is
// allowed.
func (f *filter) denyCoreLimit() {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 8, unix.SYS_PRLIMIT64)
	f.load(offsetArgs + 8)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 5, unix.RLIMIT_CORE)
	f.load(offsetArgs + 16)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 2, 0)
	f.load(offsetArgs + 20)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, 0)
	f.answer(refused)
	f.load(offsetNr)
}

// modeCall is a system call that sets the mode of a file, with the place of the mode among its arguments.
type modeCall struct {
	nr  uint32
	arg int
}

// newNamespaces are the flags of clone(2) that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// program writes the filter. fork says whether the command may start processes.
func program(fork bool) filter {
	var f filter
	f.load(offsetArch)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, auditArch)
	f.answer(unix.SECCOMP_RET_KILL_PROCESS) // numbers of another architecture mean other calls
	f.load(offsetNr)
	if otherNumbers != 0 {
		f.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, otherNumbers)
		f.answer(unknown)
	}
	for _, nr := range forbidden {
		f.deny(nr, refused)
	}
	for _, nr := range absent {
		f.deny(nr, unknown)
	}
	f.denyAny(unix.SYS_CLONE, 0, newNamespaces, refused)
	f.only(unix.SYS_SOCKET, 0, []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}, refused)
	for _, request := range []uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCCONS} { // they type into the terminal of the person
		f.denyIf(unix.SYS_IOCTL, 1, ^uint32(0), request, refused)
	}
	// A limit that the command lowered would start the machine's program for core dumps again.
	f.denyIf(unix.SYS_SETRLIMIT, 0, ^uint32(0), unix.RLIMIT_CORE, refused)
	f.denyCoreLimit()
	for _, c := range modeCalls {
		f.denyAny(c.nr, c.arg, unix.S_ISUID|unix.S_ISGID, refused)
	}
	if !fork {
		for _, nr := range forks {
			f.deny(nr, refused)
		}
		f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 4, unix.SYS_CLONE)
		f.load(offsetArgs)
		f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 1, 0, unix.CLONE_THREAD) // threads are not processes
		f.answer(refused)
		f.load(offsetNr)
	}
	f.answer(unix.SECCOMP_RET_ALLOW)
	return f
}

// forbidden are system calls that no build or test needs, and with which walls were broken or other processes reached.
var forbidden = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG,
	unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_VHANGUP,
	unix.SYS_MBIND, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
}

// absent are system calls for which programs have another way. Their arguments lie in memory, or their work is done by the kernel, so a
// filter cannot look at it.
var absent = []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

// seccomp puts the filter in force for this thread and for what it starts.
func (c *child) seccomp() *StageError {
	f := program(c.spec.Fork)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]} //nolint:gosec // some hundred
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&prog))) //nolint:gosec // the kernel reads the structure during the call
	runtime.KeepAlive(f)
	if errno != 0 {
		return failed(Seccomp, "put the filter of system calls in force", errno)
	}
	return nil
}
