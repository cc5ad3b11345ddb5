// Package worker is the folder that a worker of the swarm and its driver share: what the worker is to do, what it says while it works,
// what it is told, and how it ended. Everything passes through files, so that either side may die and be started again.
//
// A worker that runs holds a lock in its folder. The kernel gives the lock back when the process ends, however it ends, so the lock tells
// whether the worker is alive, and whose pid the folder has.
package worker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
)

// Order is what a worker is to do.
type Order struct {
	Session  string   `json:"session"`
	Feature  string   `json:"feature"`
	Attempt  int      `json:"attempt"`
	Runner   string   `json:"runner"`            // claude or command
	Command  []string `json:"command,omitempty"` // of the runner command
	Tree     string   `json:"tree"`              // the worktree that it works in
	Role     string   `json:"role,omitempty"`
	Skills   []string `json:"skills,omitempty"`
	Model    string   `json:"model,omitempty"`
	Budget   float64  `json:"budget,omitzero"`   // USD; 0: no limit
	MaxTurns int      `json:"maxTurns,omitzero"` // answers of the model; 0: no limit
	Seconds  float64  `json:"seconds,omitzero"`  // that it may work; 0: no limit
	Resume   string   `json:"resume,omitempty"`  // id of the conversation that it goes on with, if it can
	Again    string   `json:"again,omitempty"`   // what is said then, in the place of the prompt
	Anywhere bool     `json:"anywhere,omitzero"` // myc lies where an agent may write, and a person accepted that
	Wall     string   `json:"wall,omitempty"`    // yes: it does not start without the light wall; no: it starts without; empty: as this machine can
	Profile  string   `json:"profile,omitempty"` // of the sandbox, for the runner command
	// Unsandboxed says that a person accepted that it runs outside of a sandbox.
	Unsandboxed bool `json:"unsandboxed,omitzero"`
	// Writes is the only file that it may write, absolute: that of a reviewer or a planner. Empty: what the policy says.
	Writes string `json:"writes,omitempty"`
}

// Ended says how a worker ended. It is written by the worker itself: one that was killed has none.
type Ended struct {
	At           time.Time `json:"at"`
	Stop         string    `json:"stop"`           // end_turn, max_turns, budget, refusal, limit, aborted, unproved, or error
	Until        time.Time `json:"until,omitzero"` // of a limit: when it ends; zero: not known
	Text         string    `json:"text,omitempty"`
	Error        string    `json:"error,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Session      string    `json:"session,omitempty"` // at the door
	Cost         float64   `json:"costUSD,omitzero"`
	Turns        int       `json:"turns,omitzero"`
	Taken        []string  `json:"taken,omitempty"` // files that would govern agents, which the sandbox has taken away
}

// Unproved is the end of a worker that was asked nothing, because it is not proved that the policy governs it.
const Unproved = "unproved"

// The kinds of events.
const (
	Began   = "began"   // Text: the engine
	Call    = "call"    // a tool is called
	Done    = "done"    // its outcome
	Talks   = "talks"   // Text: id of the conversation, which another worker can go on with
	Says    = "says"    // a piece of what the agent says
	Notes   = "note"    // something that a person should know
	Waits   = "waiting" // a call waits for a person
	Limited = "limit"   // the provider answers at Until, or a moment later; without Until: it answers again
	Spent   = "spent"   // after each answer of the model
	Heard   = "heard"   // a message has reached the agent
	Stopped = "stopped"
)

// Event is one thing that a worker did.
type Event struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Call   string    `json:"call,omitempty"` // id that joins a call with its outcome
	Tool   string    `json:"tool,omitempty"`
	Args   string    `json:"args,omitempty"` // as JSON, bounded
	Text   string    `json:"text,omitempty"` // bounded
	Sum    string    `json:"sum,omitempty"`  // of the whole arguments or the whole result, to compare with others
	Failed bool      `json:"failed,omitzero"`
	Cost   float64   `json:"costUSD,omitzero"` // so far
	Until  time.Time `json:"until,omitzero"`
}

// What is an event in a line: what was said, or the call with its arguments.
func (e Event) What() string {
	if e.Kind == Call {
		return e.Tool + " " + e.Args
	}
	return e.Text
}

// Folder is the path of the folder of one attempt.
type Folder string

func (f Folder) file(names ...string) string {
	return filepath.Join(append([]string{string(f)}, names...)...)
}

// Give makes the folder and writes the order and the prompt. Only this user may read them.
func (f Folder) Give(o Order, prompt string) error {
	if err := os.MkdirAll(f.file("inbox"), 0o700); err != nil {
		return fmt.Errorf("make the folder of a worker: %w", err)
	}
	b, err := json.Marshal(o, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write the order of a worker: %w", err)
	}
	if err := atomicfile.Write(f.file("prompt.md"), []byte(prompt), 0o600); err != nil {
		return err
	}
	return atomicfile.Write(f.file("order.json"), b, 0o600)
}

// Order returns the order and the prompt.
func (f Folder) Order() (o Order, prompt string, err error) {
	b, err := os.ReadFile(f.file("order.json"))
	if err == nil {
		err = json.Unmarshal(b, &o, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return o, "", fmt.Errorf("read the order of a worker: %w", err)
	}
	b, err = os.ReadFile(f.file("prompt.md"))
	return o, string(b), err
}

// endedFile says how a worker ended.
const endedFile = "ended.json"

// SaysEnded reports whether a file of a folder is the one by which its worker says that it has ended.
func SaysEnded(path string) bool { return filepath.Base(path) == endedFile }

// Ended returns how the worker ended; nil: it has not said so.
func (f Folder) Ended() (*Ended, error) {
	b, err := os.ReadFile(f.file(endedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	e := &Ended{}
	if err == nil {
		err = json.Unmarshal(b, e)
	}
	if err != nil {
		return nil, fmt.Errorf("read how a worker ended: %w", err)
	}
	return e, nil
}

// Alive reports whether the worker runs.
func (f Folder) Alive() bool {
	locked, err := atomicfile.Locked(f.file("worker.lock"))
	return locked || err != nil // what cannot be told is not taken for dead
}

// PID is the process of a worker that runs; 0: it does not run.
func (f Folder) PID() int {
	b, err := os.ReadFile(f.file("worker.pid"))
	if err != nil || !f.Alive() {
		return 0
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		return 0
	}
	return pid
}

// Signal sends a signal to the worker, if it runs.
func (f Folder) Signal(sig syscall.Signal) error {
	pid := f.PID()
	if pid <= 0 {
		return nil
	}
	p, err := os.FindProcess(pid) // a handle: the number cannot become that of another process from here on
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	defer func() { _ = p.Release() }()
	if f.PID() != pid {
		return nil
	}
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal worker %d: %w", pid, err)
	}
	return nil
}

// goneEvery is how often a worker that was told to end is looked for: the kernel tells nobody but its parent.
const goneEvery = 5 * time.Millisecond

// Gone waits until the worker does not run any more, for up to d, and reports whether that is so.
func (f Folder) Gone(ctx context.Context, d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	look := time.NewTicker(goneEvery)
	defer look.Stop()
	for f.Alive() {
		select {
		case <-ctx.Done():
			return !f.Alive()
		case <-late.C:
			return !f.Alive()
		case <-look.C:
		}
	}
	return true
}

// Follow gives the events of the worker behind an offset to a function, one by one, and returns the offset of the next ones. A line that
// is not whole yet is left for the next time.
func (f Folder) Follow(offset int64, take func(Event)) (next int64, err error) {
	file, err := os.Open(f.file("events.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return offset, nil
	}
	if err != nil {
		return offset, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return offset, err
	}
	r := bufio.NewReader(file)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		offset += int64(len(line))
		var e Event
		if json.Unmarshal(line, &e) == nil { // a line that a full disk has cut is lost, not the rest
			take(e)
		}
	}
}

// Conversation is the id of the conversation of the worker, for another one to go on with; "": there is none.
func (f Folder) Conversation() (string, error) {
	id := ""
	if _, err := f.Follow(0, func(e Event) {
		if e.Kind == Talks && id == "" {
			id = e.Text
		}
	}); err != nil || id != "" {
		return id, err
	}
	o, _, err := f.Order()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return o.Resume, err
}

// Work is a worker at work.
type Work struct {
	Folder

	lock   *atomicfile.Lock
	mu     sync.Mutex
	events *os.File
	said   rate
}

// rate lets through what comes now and then, and one a second of what comes without end.
type rate struct {
	left  float64
	since time.Time
}

// burst is how many pieces of output are recorded however fast they come.
const burst = 500

func (r *rate) allow(now time.Time) bool {
	if r.since.IsZero() {
		r.left = burst
	} else {
		r.left = min(burst, r.left+now.Sub(r.since).Seconds())
	}
	r.since = now
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}

// takeWithin is how long a worker waits for its lock: as long as somebody looks at it.
const takeWithin = 1 * time.Second

// closedFile is there once nobody may begin any more.
const closedFile = "closed"

// Close has a worker that was started and has not begun yet never begin: another one may have its worktree by then. One that has begun goes
// on; see [Folder.Signal].
func (f Folder) Close() error {
	err := atomicfile.Write(f.file(closedFile), nil, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // without a folder, no worker was started
	}
	return err
}

// Begin takes the folder for this process. It is refused while another worker has it, after one has ended, and once it is closed.
func (f Folder) Begin() (*Work, error) {
	lock, err := atomicfile.LockWait(f.file("worker.lock"), takeWithin)
	if err != nil {
		return nil, fmt.Errorf("another worker has this attempt: %w", err)
	}
	if e, err := f.Ended(); err != nil || e != nil { // by the one that had the lock until now
		return nil, errors.Join(err, errors.New("this attempt is over"), lock.Unlock())
	}
	if _, err := os.Lstat(f.file(closedFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, errors.New("this attempt goes on without this worker"), lock.Unlock())
	}
	w := &Work{Folder: f, lock: lock}
	if err = atomicfile.Write(f.file("worker.pid"), fmt.Append(nil, os.Getpid()), 0o600); err == nil {
		w.events, err = os.OpenFile(f.file("events.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err != nil {
		_ = lock.Unlock()
		return nil, err
	}
	return w, nil
}

// Bounds of what an event keeps, in bytes: enough to see what is done, not to repeat it.
const (
	maxArgs = 2 << 10
	maxSaid = 4 << 10
)

// Write records an event. Of what the agent says, it records 500 pieces at once and then one a second: a worker that floods fills no
// disk, and shows that it lives.
func (w *Work) Write(e Event) error {
	e.At, e.Args, e.Text = time.Now(), text.Truncate(e.Args, maxArgs), text.Truncate(e.Text, maxSaid)
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, e, json.Deterministic(true)); err != nil {
		return err
	}
	b.WriteByte('\n')
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == Says && !w.said.allow(e.At) {
		return nil
	}
	_, err := w.events.Write(b.Bytes())
	return err
}

// End records how the work ended, and gives the folder back.
func (w *Work) End(e Ended) error {
	e.At, e.Text = time.Now(), text.Truncate(e.Text, maxSaid)
	b, err := json.Marshal(e, json.Deterministic(true))
	if err == nil {
		err = atomicfile.Write(w.file(endedFile), b, 0o600)
	}
	return errors.Join(err, w.events.Close(), w.lock.Unlock())
}
