package port

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holderOf looks for the listening sockets in /proc/net, and for a process that has one of them open.
func holderOf(_ context.Context, ours netip.AddrPort) (holder, bool) {
	sockets := slices.Concat(listening("/proc/net/tcp", ours), listening("/proc/net/tcp6", ours))
	if len(sockets) == 0 {
		return holder{}, false
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range processes {
		if has(proc, sockets) {
			pid, err := strconv.Atoi(filepath.Base(proc))
			return holder{pid, programOf(proc)}, err == nil
		}
	}
	return holder{}, false
}

// stateListen is the state of a listening socket in /proc/net/tcp.
const stateListen = "0A"

// listening returns the links under which /proc/PID/fd shows the sockets of a table that listen where we want to.
func listening(table string, ours netip.AddrPort) (links []string) {
	b, err := os.ReadFile(table)
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[3] != stateListen {
			continue
		}
		if theirs, ok := parseAddr(f[1]); ok && collides(theirs, ours) {
			links = append(links, "socket:["+f[9]+"]")
		}
	}
	return links
}

// parseAddr reads an address of /proc/net/tcp: the host as 32-bit words of the machine's order (little endian on all that we run on), and
// the port, all in hexadecimal.
func parseAddr(s string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(s, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	b, bad := hex.DecodeString(host)
	if err != nil || bad != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(addr, uint16(n)), ok
}

// has reports whether a process has one of some sockets open. Those of other users' processes are not seen.
func has(proc string, links []string) bool {
	open, _ := os.ReadDir(filepath.Join(proc, "fd"))
	return slices.ContainsFunc(open, func(e os.DirEntry) bool {
		link, err := os.Readlink(filepath.Join(proc, "fd", e.Name()))
		return err == nil && slices.Contains(links, link)
	})
}

// programOf is the name of the program that a process runs.
func programOf(proc string) string {
	if exe, err := os.Readlink(filepath.Join(proc, "exe")); err == nil {
		return strings.TrimSuffix(filepath.Base(exe), " (deleted)")
	}
	comm, _ := os.ReadFile(filepath.Join(proc, "comm"))
	return strings.TrimSpace(string(comm))
}
