//go:build amd64 || arm64

package jail

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The parent reaches servers of the command on its loopback: it finds their ports in /proc, and asks the child for a connection. The child
// connects on a thread that is not behind the walls of the command, and passes the socket.

// connect answers requests until the parent is gone. A request is a line with a port, for a connection to it, or with a port and a minus
// sign before it, for a listener there. The answer is one byte, with the socket if there is one.
func (c *child) connect() {
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return
		}
		fd := -1
		if port, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && port > 0 {
			fd = dialLoopback(port)
		} else if err == nil {
			fd, _ = listenAt(-port)
		}
		if fd < 0 {
			err = send(int(c.control.Fd()), []byte{0})
		} else {
			err = send(int(c.control.Fd()), []byte{0}, fd)
			_ = unix.Close(fd)
		}
		if err != nil {
			return
		}
	}
}

// dialLoopback connects to a port of the loopback; -1 if nobody listens there. It waits two seconds for a server whose queue is full.
func dialLoopback(port int) int {
	var six [16]byte
	six[15] = 1
	for _, to := range []unix.Sockaddr{&unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}, &unix.SockaddrInet6{Port: port, Addr: six}} {
		family := unix.AF_INET
		if _, is := to.(*unix.SockaddrInet6); is {
			family = unix.AF_INET6
		}
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			continue
		}
		_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 2})
		if err := unix.Connect(fd, to); err == nil {
			_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{})
			return fd
		}
		_ = unix.Close(fd)
	}
	return -1
}

// Dial connects to a server of the command on its loopback. It fails where the command may not start processes, and where another program
// than this one made the namespaces.
func (j *Jailed) Dial(port int) (net.Conn, error) {
	f, err := j.socket(port)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileConn(f)
}

// Listen listens at a port of the loopback of the command, on which the command then finds the parent. It fails as [Jailed.Dial] does, and
// where the command has the port.
func (j *Jailed) Listen(port int) (net.Listener, error) {
	f, err := j.socket(-port)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// socket asks the child for a socket: see [child.connect].
func (j *Jailed) socket(request int) (*os.File, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return nil, net.ErrClosed
	}
	if _, err := fmt.Fprintf(j.control, "%d\n", request); err != nil {
		return nil, err
	}
	n, fds, err := receive(int(j.control.Fd()), make([]byte, 1), 1)
	if err != nil || n == 0 || len(fds) != 1 {
		return nil, errors.Join(err, fmt.Errorf("there is no socket for %d", request))
	}
	return os.NewFile(uintptr(fds[0]), "socket"), nil
}

// Ports returns the ports at which programs of the command listen on its loopback, sorted, without that of [ListenAddr]. It returns none
// where another program than this one made the namespaces.
func (j *Jailed) Ports() (out []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended { // another process may have its number
		return nil
	}
	ours := netip.MustParseAddrPort(ListenAddr).Port()
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", j.cmd.Process.Pid, name))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if port, ok := listens(lines.Text()); ok && port != int(ours) {
				out = append(out, port)
			}
		}
		_ = f.Close()
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listens reads a line of /proc/net/tcp or tcp6 (proc_net_tcp(5)). ok is false unless it is of a socket that waits for connections on the
// loopback.
func listens(line string) (port int, ok bool) {
	const listening = "0A"
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[3] != listening {
		return 0, false
	}
	host, at, _ := strings.Cut(fields[1], ":")
	n, err := strconv.ParseUint(at, 16, 16)
	raw, hexErr := hex.DecodeString(host)
	if err != nil || hexErr != nil || len(raw)%4 != 0 {
		return 0, false
	}
	for i := 0; i < len(raw); i += 4 { // words of the machine's byte order, which is little-endian on amd64 and arm64
		slices.Reverse(raw[i : i+4])
	}
	addr, is := netip.AddrFromSlice(raw)
	return int(n), is && (addr.IsUnspecified() || addr.Unmap().IsLoopback())
}
