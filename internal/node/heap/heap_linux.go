package heap

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// dropProgram takes the pages of our own file that cannot have been written to out of this process's memory.
func dropProgram() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) { // from-to perms offset device inode path (proc(5))
		f := bytes.Fields(line)
		if len(f) < 6 || string(f[5]) != self || len(f[1]) != 4 || f[1][1] != '-' {
			continue
		}
		from, to, _ := bytes.Cut(f[0], []byte("-"))
		start, err := strconv.ParseUint(string(from), 16, 64)
		end, eerr := strconv.ParseUint(string(to), 16, 64)
		if err == nil && eerr == nil && start < end {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(start), uintptr(end-start), syscall.MADV_DONTNEED)
		}
	}
}
