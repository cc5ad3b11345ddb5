package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// quickAnswer is how long Ask waits for an answer before it asks for a greeting. Most answers come sooner.
const quickAnswer = 50 * time.Millisecond

// socketHolds is how many bytes of a message fit into a socket whose receiver does not read.
const socketHolds = 64 << 10

// Ask calls one method of the owner on a connection of its own, and returns the raw result. It is Dial and Call for a program with a
// single question: the answer includes the greeting, and the system calls block, so that no other thread is started. If the answer does
// not come at once, Ask calls slow, at least once, and waits for a greeting for as long as greet. The wait for the answer itself has no
// bound: a program that gives up ends. The error is ErrNotRunning, ErrSilent, ErrLost, an *rpc.Error if the owner refuses, or another.
func Ask(p Paths, greet time.Duration, method string, params []byte, slow func()) (result []byte, err error) {
	fd, err := connectSocket(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	asked := append(append([]byte(`{"method":"`+method+`","params":`), params...), '}')
	request := append(rpc.Message{ID: answerID, Method: askMethod, Params: asked}.Append(nil), '\n')
	if len(request) > maxMessage/2 {
		return nil, fmt.Errorf("call %s: %w", method, rpc.ErrTooLong)
	}
	if len(request) > socketHolds {
		slow()
	}
	if err := setTimeout(fd, greet); err != nil {
		return nil, fmt.Errorf("attach to the daemon: %w", err)
	}
	if err := send(fd, request); err != nil {
		return nil, err
	}
	if err := setTimeout(fd, quickAnswer); err != nil {
		return nil, fmt.Errorf("attach to the daemon: %w", err)
	}
	a := asking{fd: fd, lock: p.Lock, lines: rpc.NewLines(descriptor(fd), maxMessage)}
	result, err = a.answer(greet, slow)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	return result, nil
}

// The ids of the two requests.
var greetingID, answerID = []byte("1"), []byte("2")

// asking is a question that waits for its answer.
type asking struct {
	fd    int
	lock  string // the lock file of the project
	lines *rpc.Lines
	waits bool // it asked for a greeting
}

// answer reads the answer, and asks for a greeting if it does not come soon.
func (a *asking) answer(greet time.Duration, slow func()) ([]byte, error) {
	for {
		line, err := a.lines.Next()
		switch {
		case err == nil:
		case errors.Is(err, unix.EAGAIN) && !a.waits:
			a.waits = true
			slow()
			if err := setTimeout(a.fd, greet); err != nil {
				return nil, err
			}
			if err := send(a.fd, append(rpc.Message{ID: greetingID, Method: helloMethod}.Append(nil), '\n')); err != nil {
				return nil, err
			}
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil, ErrSilent
		case errors.Is(err, unix.ECONNRESET) && !a.waits: // the kernel's answer if the question was not read (unix(7))
			return nil, ErrNotRunning
		default:
			return nil, fmt.Errorf("%w: %w", ErrLost, err)
		}
		m, bad := rpc.Parse(append([]byte(nil), line...))
		if bad != nil {
			return nil, fmt.Errorf("the daemon sent an invalid message: %w", bad)
		}
		result, done, err := a.take(m)
		if done || err != nil {
			return result, err
		}
	}
}

// take handles one message. done means that it is the answer.
func (a *asking) take(m rpc.Message) (result []byte, done bool, err error) {
	answers := string(m.ID) == string(answerID)
	switch {
	case !m.IsResponse() || !answers && string(m.ID) != string(greetingID):
		return nil, false, nil
	case m.Error != nil:
		return nil, true, rpc.ErrorOf(m.Error)
	}
	if !sameFile(rawjson.TextAt(m.Result, "lock"), a.lock) {
		return nil, true, fmt.Errorf("%w: %s names the socket of another project", ErrNotRunning, a.lock)
	}
	if answers {
		return rawjson.Member(m.Result, "result"), true, nil
	}
	return nil, false, setTimeout(a.fd, 0)
}

// send sends a request.
func send(fd int, request []byte) error {
	switch _, err := descriptor(fd).Write(request); {
	case errors.Is(err, unix.EAGAIN):
		return ErrSilent
	case err != nil && !ended(err): // if the other side is gone, the next read says so
		return fmt.Errorf("ask the daemon: %w", err)
	}
	return nil
}

// connectSocket connects to the owner's socket like connect, and returns the descriptor.
func connectSocket(p Paths) (fd int, err error) {
	fd, err = dialSocket(p.Socket)
	if err != nil {
		for _, path := range sockets(p)[1:] {
			fd, err = dialSocket(path)
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		err = ErrNotRunning
	}
	if err != nil {
		return -1, fmt.Errorf("attach to the daemon: %w", err)
	}
	return fd, nil
}

// dialSocket connects to a socket, and checks that the process which listens there is this user's.
func dialSocket(path string) (fd int, err error) {
	if len(path) > maxSocketPath {
		return -1, fs.ErrNotExist
	}
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err == nil {
		var cred *unix.Ucred
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil && !own(Caller{PID: int(cred.Pid), UID: int(cred.Uid)}) {
			err = fmt.Errorf("the socket %s belongs to another user", path)
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// setTimeout sets the timeout of reads and writes on a socket; 0: none.
func setTimeout(fd int, d time.Duration) error {
	t := unix.NsecToTimeval(d.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &t); err != nil {
		return err
	}
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &t)
}

// descriptor is a socket whose reads and writes block.
type descriptor int

func (d descriptor) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(d), b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (d descriptor) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := unix.SendmsgN(int(d), b[done:], nil, nil, unix.MSG_NOSIGNAL)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return done, err
		}
		done += max(n, 0)
	}
	return done, nil
}
