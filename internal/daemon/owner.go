// Package daemon lets one process own a project: a lock, a socket, and a way for others to start it and attach.
//
// The socket speaks JSON-RPC lines. A method of Methods is answered and the connection goes on; a method of Streams is answered
// once and the connection then belongs to it (an MCP client's lines follow).
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
)

// ErrOwned means that another process owns the project.
var ErrOwned = errors.New("another process owns this project")

// ErrNotRunning means that nobody owns the project, or that its owner is just ending.
var ErrNotRunning = errors.New("no daemon is running for this project")

// ErrSilent means that an owner has the socket and does not greet.
var ErrSilent = errors.New("the daemon of this project does not answer")

// ErrLost means that the owner took a question and went away without an answer.
var ErrLost = errors.New("the daemon ended in the middle")

// maxHandOver is how long Own waits for an owner that has the lock but no socket: one that just begins, or that ends its backends.
const maxHandOver = 10 * time.Second

// Owner holds the lock and the socket.
type Owner struct {
	paths Paths
	lock  *atomicfile.Lock
	ready *os.File      // where Attach waits for the first byte; nil when nobody does
	every time.Duration // how often socket and log are looked after

	mu       sync.Mutex // guards what follows
	listener *net.UnixListener
	stopped  bool // nothing is to listen any more
}

// note is what the lock file says of the owner, for processes of the same user with another runtime folder.
type note struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
}

// Own takes the lock and listens; ErrOwned if another process is the owner. A socket that a dead owner left is replaced. Where
// the owner is just ending, Own waits for its end, up to ten seconds.
func Own(p Paths) (*Owner, error) {
	o := &Owner{paths: p, ready: takeReady(), every: tendEvery}
	if err := o.own(); err != nil {
		if errors.Is(err, ErrOwned) {
			o.signal(ownedByte)
		}
		o.closeReady()
		return nil, fmt.Errorf("own the project: %w", err)
	}
	return o, nil
}

func (o *Owner) own() error {
	if err := os.MkdirAll(filepath.Dir(o.paths.Lock), 0o700); err != nil {
		return err
	}
	lock, err := takeLock(o.paths)
	if err != nil {
		return err
	}
	o.lock = lock
	if o.listener, err = listen(o.paths.Socket); err == nil {
		err = o.write(note{PID: os.Getpid(), Socket: o.paths.Socket})
	}
	if err != nil {
		return errors.Join(err, o.release())
	}
	return nil
}

// takeLock takes the lock. While another process has it, an answer from the socket says that the owner is well; so does a
// connection that stays open (the owner has not come to answering yet). A connection that is closed is that of an owner which ends.
func takeLock(p Paths) (*atomicfile.Lock, error) {
	for deadline := time.Now().Add(maxHandOver); ; {
		lock, err := atomicfile.LockWait(p.Lock, 20*time.Millisecond)
		if !errors.Is(err, atomicfile.ErrLocked) {
			return lock, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := Dial(ctx, p)
		cancel()
		switch {
		case err == nil:
			_ = c.Close()
			return nil, ErrOwned
		case errors.Is(err, context.DeadlineExceeded):
			return nil, ErrOwned
		case !errors.Is(err, ErrNotRunning):
			return nil, fmt.Errorf("%w: %w", ErrOwned, err)
		case time.Now().After(deadline):
			return nil, fmt.Errorf("%w, but does not answer at %s", ErrOwned, p.Socket)
		}
	}
}

// listen binds the socket. It is called under the lock: whatever socket is there belongs to no living owner.
func listen(path string) (*net.UnixListener, error) {
	if err := socketFolder(path); err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("look at the old socket: %w", err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s is in the way and is no socket; remove it", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the old socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	// Nobody else can come this far before the mode is set: the folder is closed to them.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("close the socket to others: %w", err)
	}
	return l, nil
}

// write puts the note into the lock file. The file is written in place, never replaced: the lock is on it.
func (o *Owner) write(n note) error {
	raw, err := json.Marshal(n)
	if err == nil {
		err = os.WriteFile(o.paths.Lock, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	return nil
}

// Close gives socket and lock back.
func (o *Owner) Close() error {
	o.closeReady()
	return o.release()
}

// release closes the socket before the lock: the next owner must not find its new socket unlinked by this one.
func (o *Owner) release() error {
	return errors.Join(o.stopListening(), o.lock.Unlock())
}

// stopListening closes and removes the socket; doing so again does nothing.
func (o *Owner) stopListening() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	if o.listener == nil {
		return nil
	}
	err := o.listener.Close()
	o.listener = nil
	return err
}
