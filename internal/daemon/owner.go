// Package daemon lets one process own a project: it holds a lock and serves a socket, and other processes start it and attach to it.
//
// The socket carries lines of JSON-RPC. A connection serves any number of calls of Methods; a call of one of Streams hands the
// connection over to that stream, such as the messages of an MCP client.
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

// ErrNotRunning means that no process owns the project, or that its owner is about to end.
var ErrNotRunning = errors.New("no daemon is running for this project")

// ErrSilent means that an owner has the socket but does not answer.
var ErrSilent = errors.New("the daemon of this project does not answer")

// ErrLost means that the owner took a question and ended before it answered.
var ErrLost = errors.New("the daemon ended before it answered")

// maxHandover is how long Own waits for an owner that has the lock but no socket: it starts, or it waits for its backends to end.
const maxHandover = 10 * time.Second

// Owner holds the lock and the socket.
type Owner struct {
	paths Paths
	key   key
	lock  *atomicfile.Lock
	ready *os.File      // the pipe on which Attach waits for a byte; nil: no Attach waits
	every time.Duration // how often socket and log are checked

	mu       sync.Mutex // guards what follows
	listener *net.UnixListener
	bound    fs.FileInfo // the socket of listener
	stopped  bool        // listening has ended for good
}

// note is the content of the lock file, in which clients find the socket.
type note struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
}

// Own takes the lock and listens on the socket. The error is ErrOwned if another process is the owner. If that owner is about to end,
// Own waits for its end, up to ten seconds. A socket that a dead owner left is replaced, and so is one of a process without the lock.
func Own(p Paths) (*Owner, error) {
	o := &Owner{paths: p, ready: takeReady(), every: maintainEvery}
	if err := o.own(); err != nil {
		if errors.Is(err, ErrOwned) {
			o.signal(ownedByte)
		}
		o.closeReady()
		return nil, fmt.Errorf("own the project: %w", err)
	}
	return o, nil
}

func (o *Owner) own() (err error) {
	if o.key, err = readKey(o.paths.Key); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.paths.Lock), 0o700); err != nil {
		return err
	}
	lock, err := takeLock(o.paths)
	if err != nil {
		return err
	}
	o.lock = lock
	if o.listener, o.bound, err = listen(o.paths.Socket); err == nil {
		err = o.write(note{PID: os.Getpid(), Socket: o.paths.Socket})
	}
	if err != nil {
		return errors.Join(err, o.release())
	}
	return nil
}

// takeLock takes the lock. While another process has it, an answer from the socket means that the owner is alive; so does a connection
// that stays open, because the owner may not be answering yet. An owner that closes the connection is about to end.
func takeLock(p Paths) (*atomicfile.Lock, error) {
	for deadline := time.Now().Add(maxHandover); ; {
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

// listen binds the socket. The caller holds the lock, so a socket that exists is not that of an owner.
func listen(path string) (*net.UnixListener, fs.FileInfo, error) {
	if err := socketFolder(path); err != nil {
		return nil, nil, err
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, fmt.Errorf("look at the old socket: %w", err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, nil, fmt.Errorf("%s exists and is not a socket; remove it", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, nil, fmt.Errorf("remove the old socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	// No other user can reach the socket before its mode is set, because the folder is closed to them.
	if err = os.Chmod(path, 0o600); err != nil {
		err = fmt.Errorf("close the socket to others: %w", err)
	}
	var bound fs.FileInfo
	if err == nil {
		bound, err = os.Lstat(path)
	}
	if err != nil {
		_ = l.Close()
		return nil, nil, err
	}
	return l, bound, nil
}

// endPoll is how often AwaitEnd looks.
const endPoll = 10 * time.Millisecond

// AwaitEnd waits until the process with this id does not own the project any more. next is the owner that has taken its place meanwhile,
// such as one that an attached client has started; 0: there is none. The error is that of ctx if the process still is the owner then.
func AwaitEnd(ctx context.Context, p Paths, pid int) (next int, err error) {
	tick := time.NewTicker(endPoll)
	defer tick.Stop()
	for {
		lock, err := atomicfile.TryLock(p.Lock)
		if err == nil {
			return 0, lock.Unlock()
		}
		if !errors.Is(err, atomicfile.ErrLocked) {
			return 0, err
		}
		var n note // the next owner writes it just after it has taken the lock
		if raw, err := os.ReadFile(p.Lock); err == nil && json.Unmarshal(raw, &n) == nil && n.PID != 0 && n.PID != pid {
			return n.PID, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("process %d still owns the project: %w", pid, ctx.Err())
		}
	}
}

// write puts the note into the lock file. The file is written in place and never replaced, because the lock is on it.
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

// Close gives back the socket and the lock.
func (o *Owner) Close() error {
	o.closeReady()
	return o.release()
}

// release closes the socket before it gives back the lock, so that it cannot unlink the socket of the next owner.
func (o *Owner) release() error {
	return errors.Join(o.stopListening(), o.lock.Unlock())
}

// stopListening closes and removes the socket. A second call does nothing.
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
