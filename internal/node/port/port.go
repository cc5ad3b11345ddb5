// Package port opens the TCP sockets of the program. If a port is taken, the error names the program that holds it.
package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"mycelium/internal/text"
)

// Listen listens on HOST:PORT. If another program listens there, the error names it, as far as this user may see it.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	err = fmt.Errorf("listen on %s: %w", addr, err)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, err
	}
	if h, ok := findHolder(ctx, addr); ok {
		return nil, fmt.Errorf("%w: %s holds it", err, h)
	}
	return nil, err
}

// holder is a process that listens.
type holder struct {
	pid     int
	program string
}

func (h holder) String() string {
	return fmt.Sprintf("%s (pid %d)", text.Visible(h.program), h.pid)
}

// findHolder finds who listens on an address that is taken.
func findHolder(ctx context.Context, addr string) (holder, bool) {
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil || a.Port == 0 {
		return holder{}, false
	}
	return holderOf(ctx, a.AddrPort())
}

// collides reports whether who listens on theirs holds ours: the ports are equal, and so are the hosts, or one of them is every host.
func collides(theirs, ours netip.AddrPort) bool {
	a, b := theirs.Addr().Unmap(), ours.Addr().Unmap()
	return theirs.Port() == ours.Port() && (a == b || !a.IsValid() || !b.IsValid() || a.IsUnspecified() || b.IsUnspecified())
}
