//go:build unix

package httpserver

import "syscall"

// The bound of connections: mostConns, of which each costs about 20 KiB, and no more than half of the descriptors that the process may
// open. The other half stays for the socket of commands, for servers and files.
const (
	mostConns  = 4096
	leastConns = 8
)

func defaultMost() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return mostConns / 8
	}
	return int(min(mostConns, max(leastConns, uint64(limit.Cur)/2))) // #nosec G115 -- at most mostConns
}
