package presence

import (
	"io/fs"
	"syscall"
	"time"
)

var systemDevices = []string{"/dev/pts/[0-9]*", "/dev/tty[0-9]*"}

// readAt returns when a program last read from a terminal, and whose it is.
func readAt(st fs.FileInfo) (at time.Time, uid int, ok bool) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return at, 0, false
	}
	return time.Unix(s.Atim.Unix()), int(s.Uid), true
}
