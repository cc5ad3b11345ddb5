package daemon

import (
	"os"
	"strconv"
	"syscall"
)

// readyVar names the variable with the number of the descriptor on which Attach waits for a byte.
const readyVar = "MYCELIUM_READY_FD"

// takeReady takes over the descriptor, so that no child of this process inherits it. It leaves everything but a pipe alone, because the
// variable may name any descriptor.
func takeReady() *os.File {
	fd, err := strconv.Atoi(os.Getenv(readyVar))
	_ = os.Unsetenv(readyVar)
	if err != nil || fd < 3 {
		return nil
	}
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "ready")
}

// The bytes that an owner writes to the process that started it.
const (
	readyByte = 1 // it serves
	ownedByte = 2 // another process is the owner
)

// signal writes a byte to the process that started this one, once.
func (o *Owner) signal(what byte) {
	if o.ready != nil {
		_, _ = o.ready.Write([]byte{what}) // that process may have ended
	}
	o.closeReady()
}

func (o *Owner) closeReady() {
	if o.ready != nil {
		_ = o.ready.Close()
		o.ready = nil
	}
}
