//go:build amd64 || arm64

package jail

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limits sets the limits of processes, files and memory. The limit of processes counts those of the user in this namespace; the kernel
// does not hold root to it, so that the numbers of processes are limited too, from Linux 6.14 on.
func (c *child) limits() *StageError {
	type limit struct {
		what string
		id   int
		most uint64
	}
	// A core dump goes to a program of the machine if core_pattern says so. Of the values that make no dump, 1 is the one with which that
	// program is not started (core(5)).
	all := []limit{{"core dumps", unix.RLIMIT_CORE, 1}}
	if c.spec.Files > 0 {
		all = append(all, limit{"open files", unix.RLIMIT_NOFILE, c.spec.Files})
	}
	if c.spec.Memory > 0 {
		all = append(all, limit{"memory", unix.RLIMIT_DATA, c.spec.Memory})
	}
	if c.spec.Procs > 0 {
		// This process and its threads count: they are those of the Go runtime, and come on top.
		all = append(all, limit{"processes", unix.RLIMIT_NPROC, tasks(c.spec.Procs) + ownThreads})
	}
	for _, l := range all {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.id, &now); err != nil {
			return failed(Privilege, "limit "+l.what, err)
		}
		most := min(l.most, now.Max) // the caller's own limit may be lower
		if err := unix.Setrlimit(l.id, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return failed(Privilege, "limit "+l.what, err)
		}
	}
	return nil
}

// limitNumbers ends the numbers of processes, for root. It must come before /proc/sys is read-only. Before Linux 6.14 the number was the
// machine's, and root in a namespace could write it too: there it is left alone.
func (c *child) limitNumbers(proc string) {
	if c.spec.Procs > 0 && os.Getuid() == 0 && ownNumbers(release()) {
		_ = os.WriteFile(filepath.Join(proc, pidMax), []byte(strconv.FormatUint(max(tasks(c.spec.Procs), leastPIDs), 10)), 0o600)
	}
}

// ownNumbers reports whether a kernel, by its release (6.12.95+deb12-cloud-amd64), has a pid_max for each process namespace. A release
// that is not understood has none.
func ownNumbers(release string) bool {
	const major, minor = 6, 14
	first, rest, _ := strings.Cut(release, ".")
	second := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	a, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	b, err := strconv.Atoi(second)
	return err == nil && (a > major || a == major && b >= minor)
}

// release is the release of the running kernel; "" if it does not say.
func release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// tasks is how many threads a number of processes may have together. The kernel has no limit of processes: it counts threads, and an
// interpreter has a dozen of them (node 11, on any machine).
func tasks(procs uint64) uint64 { return max(procs, min(procs*threadsEach, mostTasks)) }

const (
	threadsEach = 16   // threads of a process, on average
	mostTasks   = 4096 // threads of a command, unless there may be more processes

	ownThreads = 16                   // threads that this process may have while the command runs
	pidMax     = "sys/kernel/pid_max" // in /proc, of this namespace
	leastPIDs  = 301                  // the least that the kernel takes (RESERVED_PIDS + 1)
)
