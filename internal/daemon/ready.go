package daemon

import (
	"os"
	"strconv"
	"syscall"
)

// readyVar names the variable that holds the number of the descriptor on which Attach waits for a byte: the owner answers.
const readyVar = "MYCELIUM_READY_FD"

// takeReady takes the descriptor over, so that no process that this one starts inherits it. Anything but a pipe is left alone: the
// variable is the environment's word only.
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

// What an owner tells whoever started it.
const (
	readyByte = 1 // it answers
	ownedByte = 2 // another one was first
)

// signal tells whoever started this process, once.
func (o *Owner) signal(what byte) {
	if o.ready != nil {
		_, _ = o.ready.Write([]byte{what}) // whoever waited may be gone by now
	}
	o.closeReady()
}

func (o *Owner) closeReady() {
	if o.ready != nil {
		_ = o.ready.Close()
		o.ready = nil
	}
}
