//go:build !linux

package daemon

import (
	"errors"
	"net"
	"os"

	"mycelium/internal/op"
)

// peer fails on systems where we do not know how to ask the kernel: no connection is accepted there.
func peer(*net.UnixConn) (op.Caller, error) {
	return op.Caller{}, errors.New("finding the process at the other end of a socket is not supported on this system")
}

func own(op.Caller) bool { return false }

// Holds fails: no daemon runs on these systems.
func Holds(int, string) bool { return false }

func redirect(*os.File, *os.File) error { return errors.ErrUnsupported }

func random([]byte) error { return errors.ErrUnsupported }
