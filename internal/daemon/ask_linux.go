package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/op"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// quickAnswer is how long Ask waits for an answer before it asks for a greeting. Most answers come sooner.
const quickAnswer = 50 * time.Millisecond

// socketHolds is how many bytes of a message fit into a socket whose receiver does not read.
const socketHolds = 64 << 10

// Ask calls one method of the owner on a connection of its own, and returns the raw result. It is Dial and Call for a program with a
// single question: the answer has the owner's proof with it, and the system calls block, so that no other thread is started. params are
// JSON without line breaks. If the answer does not come at once, Ask calls slow, at least once, and waits for a greeting for as long as
// greet. The wait for the answer itself has no bound: a program that gives up ends. The error is ErrNotRunning, ErrSilent, ErrLost, a
// *StrangerError if what answers does not prove that it is the owner, an *rpc.Error if the owner refuses, or another.
func Ask(p Paths, greet time.Duration, method string, params []byte, slow func()) (result []byte, err error) {
	fd, socket, pid, err := connectSocket(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	a := asking{fd: fd, socket: socket, pid: pid, question: question{method: method, params: params}, slow: once(slow)}
	a.lines = rpc.NewLines(&patientReader{descriptor(fd), time.Now(), a.slow}, maxMessage)
	if a.key, err = readKey(p.Key); err != nil {
		return nil, stranger(socket, pid, err.Error())
	}
	if err := a.ask(greet); err != nil {
		return nil, err
	}
	result, err = a.answer(greet)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	return result, nil
}

// once returns a function that calls f the first time.
func once(f func()) func() {
	called := false
	return func() {
		if !called {
			called = true
			f()
		}
	}
}

// The ids of the two requests.
var greetingID, answerID = []byte("1"), []byte("2")

// asking is a question that waits for its answer.
type asking struct {
	fd     int
	socket string // its path
	pid    int    // who listens there
	key    key
	lines  *rpc.Lines
	slow   func()
	waits  bool // it asked for a greeting
	question
}

// ask sends the question.
func (a *asking) ask(greet time.Duration) (err error) {
	if a.nonce, err = newNonce(); err != nil {
		return err
	}
	a.proof = a.proofOf(a.key, os.Getpid())
	request := append(rpc.Message{ID: answerID, Method: askMethod, Params: a.json()}.Append(nil), '\n')
	if len(request) > maxMessage/2 {
		return fmt.Errorf("call %s: %w", a.method, rpc.ErrTooLong)
	}
	if len(request) > socketHolds {
		a.slow()
	}
	if err := setTimeout(a.fd, greet); err != nil {
		return fmt.Errorf("attach to the daemon: %w", err)
	}
	if err := send(a.fd, request); err != nil {
		return err
	}
	if err := setTimeout(a.fd, quickAnswer); err != nil {
		return fmt.Errorf("attach to the daemon: %w", err)
	}
	return nil
}

// answer reads the answer, and asks for a greeting if it does not come soon.
func (a *asking) answer(greet time.Duration) ([]byte, error) {
	for {
		line, err := a.lines.Next()
		switch {
		case err == nil:
		case errors.Is(err, rpc.ErrTooLong):
			return nil, stranger(a.socket, a.pid, "it sent a message that is too long")
		case errors.Is(err, unix.EAGAIN) && !a.waits:
			if err := a.greet(greet); err != nil {
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
			return nil, stranger(a.socket, a.pid, "it sent an invalid message: "+bad.Message)
		}
		result, done, err := a.take(m)
		if done || err != nil {
			return result, err
		}
	}
}

// greet asks for a greeting, with the nonce of the question.
func (a *asking) greet(within time.Duration) error {
	a.waits = true
	a.slow()
	if err := setTimeout(a.fd, within); err != nil {
		return err
	}
	params := rawjson.Object(rawjson.Field{Name: "nonce", Value: rawjson.Quote(a.nonce)})
	return send(a.fd, append(rpc.Message{ID: greetingID, Method: helloMethod, Params: params}.Append(nil), '\n'))
}

// take handles one message. done means that it is the answer. The owner sends nothing but the two that it was asked for.
func (a *asking) take(m rpc.Message) (result []byte, done bool, err error) {
	switch {
	case m.IsResponse() && m.Error != nil:
		return nil, true, stranger(a.socket, a.pid, "it refuses: "+rpc.ErrorOf(m.Error).Message)
	case m.IsResponse() && string(m.ID) == string(answerID):
		if answer, ok := a.accept(a.key, a.pid, m.Result); ok {
			if e := rawjson.Member(answer, "error"); e != nil {
				return nil, true, rpc.ErrorOf(e)
			}
			return rawjson.Member(answer, "result"), true, nil
		}
	case m.IsResponse() && a.waits && string(m.ID) == string(greetingID):
		owner, own := processes(a.pid, os.Getpid())
		theirs := rawjson.TextAt(m.Result, "nonce")
		if same(rawjson.TextAt(m.Result, "proof"), a.key.prove(daemonRole, nil, a.nonce, theirs, owner, own)) {
			return nil, false, setTimeout(a.fd, 0)
		}
	}
	return nil, true, stranger(a.socket, a.pid, "it does not prove that it knows the key of this project's state")
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

// connectSocket connects to the owner's socket like connect, and returns the descriptor, the path, and the process that listens there.
func connectSocket(p Paths) (fd int, socket string, pid int, err error) {
	for _, socket = range sockets(p) {
		if fd, pid, err = dialSocket(socket); err == nil {
			return fd, socket, pid, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		err = ErrNotRunning
	}
	return -1, "", 0, fmt.Errorf("attach to the daemon: %w", err)
}

// dialSocket connects to a socket, and checks that the process which listens there is this user's.
func dialSocket(path string) (fd, pid int, err error) {
	if len(path) > maxSocketPath {
		return -1, 0, fs.ErrNotExist
	}
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, 0, err
	}
	if err = unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err == nil {
		var cred *unix.Ucred
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil && own(op.Caller{PID: int(cred.Pid), UID: int(cred.Uid)}) {
			return fd, int(cred.Pid), nil
		}
		if err == nil {
			err = fmt.Errorf("the socket %s belongs to another user", path)
		}
	}
	_ = unix.Close(fd)
	return -1, 0, err
}

// setTimeout sets the timeout of reads and writes on a socket; 0: none.
func setTimeout(fd int, d time.Duration) error {
	t := unix.NsecToTimeval(d.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &t); err != nil {
		return err
	}
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &t)
}

// patientReader reads a socket, and calls slow if the answer is not there in time, also if it comes in pieces.
type patientReader struct {
	descriptor
	began time.Time
	slow  func()
}

func (r *patientReader) Read(b []byte) (int, error) {
	if time.Since(r.began) > quickAnswer {
		r.slow()
	}
	return r.descriptor.Read(b)
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
