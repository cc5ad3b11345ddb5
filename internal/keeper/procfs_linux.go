package keeper

import (
	"bytes"
	"os"
	"strconv"
)

// Descendants are the processes below pid, from /proc.
func Descendants(pid int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error still counts
	below := map[int][]int{}
	for _, name := range names {
		if child, err := strconv.Atoi(name); err == nil {
			if parent, ok := parentOf(child); ok {
				below[parent] = append(below[parent], child)
			}
		}
	}
	var all []int
	for next := below[pid]; len(next) > 0; {
		child := next[0]
		next = append(next[1:len(next):len(next)], below[child]...)
		all = append(all, child)
	}
	return all
}

// parentOf reads the parent of a process from /proc/<pid>/stat. Its second field is the name in parentheses, which may hold anything.
func parentOf(pid int) (int, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 2 || string(fields[0]) == "Z" {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
