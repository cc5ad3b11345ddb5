package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
)

// Kind says why a process owns the project. It decides who gives way to whom.
type Kind string

// The kinds of owners; "" for an owner of an earlier version, which does not say. A command owns the project until its own work is done. A
// daemon that starts goes before every command that comes later, and waits for the command that is the owner. A served daemon asks an
// automatic one, or a command, to leave.
const (
	Command   Kind = "command"   // no daemon ran when it began
	Automatic Kind = "automatic" // a client has started it: it ends when it is idle
	Served    Kind = "served"    // a person has started it
	Alone     Kind = "alone"     // `myc mcp --alone`: its client is served by this process, and by no other
)

// daemon reports whether an owner of this kind stays when the command that started it has ended.
func (k Kind) daemon() bool { return k == Automatic || k == Served }

// Claim is what a process that wants the project says.
type Claim struct {
	Kind Kind
	// Ask asks an owner of the kind Command, Automatic or "" to leave. Own calls it once for each owner, and waits for the end of that
	// owner. Its error is that of Own. nil: Own waits for commands, and gives way to every other owner.
	Ask func(ctx context.Context, c *Client, of Kind) error
}

// maxSilence is how long Own waits for a process that holds a lock, and neither answers nor says that it is leaving: it starts, or it ends
// its backends.
const maxSilence = 30 * time.Second

// claimPoll is how often Own looks whether the lock is free.
const claimPoll = 10 * time.Millisecond

// note is the content of the lock files. Clients find the socket in it.
type note struct {
	PID     int    `json:"pid"`
	Socket  string `json:"socket,omitempty"`
	Kind    Kind   `json:"kind"`
	Leaving bool   `json:"leaving,omitempty"` // it takes no connection any more, and ends when its last calls are done
}

// write writes the file in place and never replaces it, because the lock is on it. A reader finds the one note or the other: the
// rest of a longer one is blank until it is cut off.
func (n note) write(path string) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil {
		blank := max(int(st.Size())-len(raw), 0) // a lock file is small
		_, err = f.Write(append(raw, bytes.Repeat([]byte{'\n'}, blank+1)...))
	}
	if err == nil {
		err = f.Truncate(int64(len(raw)) + 1)
	}
	return errors.Join(err, f.Close())
}

// readNote returns the note of a lock file; the zero note if there is none.
func readNote(path string) (n note) {
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &n) != nil {
		return note{}
	}
	return n
}

// Owning says which process owns the project or is about to, and as what; 0: none. An owner of an earlier version has no kind.
func Owning(p Paths) (pid int, kind Kind, leaving bool) {
	for _, path := range []string{p.Lock, p.Next} {
		if held, err := atomicfile.Locked(path); held || err != nil {
			n := readNote(path)
			return n.PID, n.Kind, n.Leaving
		}
	}
	return 0, "", false
}

// take takes the lock. A command first looks whether a daemon waits for the lock, and a daemon says that it waits before it looks at the
// lock. So each command that takes the lock after that had looked before it: a loop of commands cannot keep a daemon out.
func (o *Owner) take(ctx context.Context, c Claim) (lock *atomicfile.Lock, err error) {
	if c.Kind.daemon() {
		next, err := o.takeTurn(ctx, c)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, next.Unlock()) }()
	}
	return o.takeLock(ctx, c)
}

// takeTurn takes the lock of the daemon that comes next. An automatic daemon gives way to another that has it; a served one waits until
// that is the owner, which it can ask.
func (o *Owner) takeTurn(ctx context.Context, c Claim) (*atomicfile.Lock, error) {
	for since := time.Now(); ; {
		lock, err := atomicfile.TryLock(o.paths.Next)
		switch {
		case err == nil:
			if err := (note{PID: os.Getpid(), Kind: c.Kind}).write(o.paths.Next); err != nil {
				return nil, errors.Join(fmt.Errorf("write %s: %w", o.paths.Next, err), lock.Unlock())
			}
			return lock, nil
		case !errors.Is(err, atomicfile.ErrLocked):
			return nil, err
		case c.Kind == Automatic:
			return nil, ErrOwned
		case time.Since(since) > maxSilence && !o.ownerLives():
			return nil, fmt.Errorf("%w: process %d is the next: %w", ErrOwned, readNote(o.paths.Next).PID, ErrSilent)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// ownerLives reports whether the owner finishes its last calls: a daemon that comes next then waits for it.
func (o *Owner) ownerLives() bool {
	pid, _, leaving := Owning(o.paths)
	return pid != 0 && leaving
}

// takeLock waits for the lock. It returns ErrOwned for an owner that stays.
func (o *Owner) takeLock(ctx context.Context, c Claim) (*atomicfile.Lock, error) {
	asked := 0 // the process that was asked to leave
	for since := time.Now(); ; {
		if c.Kind.daemon() || !waits(o.paths) {
			lock, err := atomicfile.TryLock(o.paths.Lock)
			if !errors.Is(err, atomicfile.ErrLocked) {
				return lock, err
			}
		}
		owner, err := o.find(ctx)
		switch {
		case errors.Is(err, ErrNotRunning), c.Kind.daemon() && errors.Is(err, context.DeadlineExceeded) && !stays(o.paths):
			// It starts or ends, or the machine is busy.
			if readNote(o.paths.Lock).Leaving {
				since = time.Now()
			}
		case err != nil:
			return nil, err
		case !c.Kind.daemon() || owner.of == Served || owner.of == Alone || owner.of != Command && c.Ask == nil:
			_ = owner.Close()
			return nil, ErrOwned
		default:
			since = time.Now()
			if c.Ask == nil {
				o.signal(ownedByte) // the client that started this daemon attaches to the command meanwhile
			} else if asked != owner.Owner() {
				if err = c.Ask(ctx, owner.Client, owner.of); err == nil {
					asked = owner.Owner()
				}
			}
			_ = owner.Close()
			if err != nil && !ended(err) { // it may end while it is asked
				return nil, err
			}
		}
		if time.Since(since) > maxSilence {
			pid, kind, _ := Owning(o.paths)
			return nil, fmt.Errorf("%w: process %d %s: %w", ErrOwned, pid, kind, ErrSilent)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// stays reports whether the owner says of itself that it leaves for nobody.
func stays(p Paths) bool {
	n := readNote(p.Lock)
	return !n.Leaving && (n.Kind == Served || n.Kind == Alone)
}

// waits reports whether a daemon waits for the lock.
func waits(p Paths) bool {
	held, err := atomicfile.Locked(p.Next)
	return held || err != nil
}

// found is an owner that answers.
type found struct {
	*Client
	of Kind
}

// find attaches to the owner. The error is ErrNotRunning if none answers, and wraps ErrOwned if one holds its socket and cannot be asked.
func (o *Owner) find(ctx context.Context) (found, error) {
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := Dial(short, o.paths)
	switch {
	case ctx.Err() != nil && err != nil:
		return found{}, ctx.Err()
	case errors.Is(err, ErrNotRunning):
		return found{}, ErrNotRunning
	case err != nil:
		return found{}, fmt.Errorf("%w: %w", ErrOwned, err)
	}
	f := found{Client: c}
	if n := readNote(o.paths.Lock); n.PID == c.Owner() { // it writes its note before it answers
		f.of = n.Kind
	}
	return f, nil
}

func pause(ctx context.Context) error {
	t := time.NewTimer(claimPoll)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
