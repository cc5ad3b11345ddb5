//go:build amd64 || arm64

package jail

import (
	"errors"

	"golang.org/x/sys/unix"
)

// send sends a message with descriptors.
func send(socket int, data []byte, fds ...int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Sendmsg(socket, data, rights, nil, 0)
	}
	return err
}

// receive reads a message into a buffer, and returns its length and the descriptors that came with it, of which there may be as many as most.
// The length is 0 if the other side is gone.
func receive(socket int, buf []byte, most int) (n int, fds []int, err error) {
	rights := make([]byte, unix.CmsgSpace(most*4))
	n, got, _, _, err := unix.Recvmsg(socket, buf, rights, unix.MSG_CMSG_CLOEXEC)
	for errors.Is(err, unix.EINTR) {
		n, got, _, _, err = unix.Recvmsg(socket, buf, rights, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || got == 0 {
		return n, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:got])
	if err != nil || len(messages) == 0 {
		return n, nil, err
	}
	fds, err = unix.ParseUnixRights(&messages[0])
	return n, fds, err
}
