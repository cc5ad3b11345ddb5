package rpc

import (
	"io"
	"time"
)

// Interrupt ends a blocked or later read of r, and reports whether that is possible: r must take a deadline, or be a closer other than a
// file that cannot be polled. Standard input is such a file unless it was made non-blocking.
func Interrupt(r io.Reader) bool {
	c, closes := r.(io.Closer)
	if d, ok := r.(interface{ SetReadDeadline(time.Time) error }); ok {
		if d.SetReadDeadline(time.Unix(1, 0)) == nil {
			return true
		}
		if closes {
			_ = c.Close()
		}
		return false
	}
	return closes && c.Close() == nil
}
