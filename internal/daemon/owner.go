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
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

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

// Owner holds the lock and the socket.
type Owner struct {
	paths Paths
	kind  Kind
	key   key
	lock  *atomicfile.Lock
	ready *os.File      // the pipe on which Attach waits for a byte; nil: no Attach waits
	every time.Duration // how often socket and log are checked

	mu       sync.Mutex // guards what follows
	listener *net.UnixListener
	bound    fs.FileInfo   // the socket of listener
	stopped  bool          // listening has ended for good
	leaving  chan struct{} // closed by Leave
}

// Own takes the lock and listens on the socket. The error is ErrOwned if another process is the owner, and the claim does not ask it to
// leave. If no process answers but one holds the lock, Own waits: that process starts, or it finishes its last calls. A socket that a
// dead owner left is replaced, and so is one of a process without the lock.
func Own(ctx context.Context, p Paths, c Claim) (*Owner, error) {
	o := &Owner{paths: p, kind: c.Kind, ready: takeReady(), every: maintainEvery, leaving: make(chan struct{})}
	if err := o.own(ctx, c); err != nil {
		if errors.Is(err, ErrOwned) {
			o.signal(ownedByte)
		}
		o.closeReady()
		return nil, fmt.Errorf("own the project: %w", err)
	}
	return o, nil
}

func (o *Owner) own(ctx context.Context, c Claim) (err error) {
	if o.key, err = readKey(o.paths.Key); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.paths.Lock), 0o700); err != nil {
		return err
	}
	if o.lock, err = o.take(ctx, c); err != nil {
		return err
	}
	if o.listener, o.bound, err = listen(o.paths.Socket); err == nil {
		err = o.write(note{PID: os.Getpid(), Socket: o.paths.Socket, Kind: o.kind})
	}
	if err != nil {
		return errors.Join(err, o.release())
	}
	return nil
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
		if n := readNote(p.Lock); n.PID != 0 && n.PID != pid { // the next owner writes it just after it has taken the lock
			return n.PID, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("process %d still owns the project: %w", pid, ctx.Err())
		}
	}
}

// write puts the note into the lock file.
func (o *Owner) write(n note) error {
	if err := n.write(o.paths.Lock); err != nil {
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

// endListening is stopListening for an owner that ends: there is nobody to tell of an error but the log.
func (o *Owner) endListening(logger *slog.Logger) {
	if err := o.stopListening(); err != nil {
		logger.Warn("close the socket", "error", err)
	}
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
