package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/harness"
)

// Program is one run of a program that an agent starts at an event: it passes the event to the daemon, and prints the answer.
type Program struct {
	Flags
	Folder string // the project folder, absolute
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	// Interrupted is asked for a context that ends when the program shall end.
	Interrupted func() context.Context
	// Alone answers an event where no daemon runs, and returns the exit code.
	Alone func(ctx context.Context, event []byte) int
	// Note records a denial that nobody decided.
	Note func(ctx context.Context, event []byte, e harness.Event, why string)

	deadline time.Duration
	until    time.Time

	mu       sync.Mutex // guards what follows
	event    []byte     // what was read of the event
	answered bool       // somebody answers
	watched  bool       // the deadline and interrupts are heeded
}

// Run answers one event, and returns the exit code. What goes wrong denies where a tool comes next. When the time is over or the program
// is interrupted before the answer, it denies and ends the process: system calls may be under way that cannot be broken off.
func (p *Program) Run() int {
	p.begin()
	p.watch()
	return p.run()
}

// begin begins the time that the answer may take.
func (p *Program) begin() {
	p.deadline = (&Command{Flags: p.Flags}).Deadline()
	p.until = time.Now().Add(p.deadline)
}

// watch begins to heed the deadline and interrupts. Timers and signals take threads, and those a third of the time of an answer: the small
// program does without them for the first moments.
func (p *Program) watch() {
	p.mu.Lock()
	begun := p.watched
	p.watched = true
	p.mu.Unlock()
	if begun {
		return
	}
	ctx, cancel := context.WithDeadline(p.Interrupted(), p.until)
	context.AfterFunc(ctx, func() {
		defer cancel()
		if p.answers() {
			os.Exit(p.fault(lateness(ctx, p.deadline)))
		}
	})
}

func (p *Program) run() int {
	reply, err := p.ask()
	if !p.answers() {
		select {} // it is too late, and the process ends
	}
	switch {
	case err == nil:
		return p.print(reply)
	case errors.Is(err, daemon.ErrNotRunning):
		ctx := context.Background()
		if p.watched {
			ctx = p.Interrupted()
		}
		ctx, cancel := context.WithDeadline(ctx, p.until)
		defer cancel()
		return p.Alone(ctx, p.event)
	}
	return p.fault(err.Error())
}

// ask reads the event and has the daemon answer it. A panic is a fault like any other.
func (p *Program) ask() (reply Reply, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the hook failed: %v", fault)
		}
	}()
	if err := p.read(); err != nil {
		return reply, err
	}
	return askDaemon(p.Folder, p.request(), p.until, p.watch)
}

// answers takes it on to answer; false: somebody else has.
func (p *Program) answers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.answered
	p.answered = true
	return first
}

// read reads the event, one byte more of it than is taken. Who writes must not find the pipe closed: agents take that for a hook that
// failed, and go on.
func (p *Program) read() error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := p.In.Read(buffer)
		p.mu.Lock()
		p.event = append(p.event, buffer[:min(n, harness.MaxInput+1-len(p.event))]...)
		p.mu.Unlock()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the event cannot be read: %w", err)
		}
	}
}

// request is what the daemon is asked.
func (p *Program) request() Request {
	r := Request{
		Token: p.Getenv(TokenVar), Agent: p.Agent, Event: p.Event, Gateway: p.Gateway, Limit: p.Limit.Milliseconds(), Env: map[string]string{}, Input: p.event,
	}
	a, _ := harness.Named(p.Agent)
	for _, name := range surroundingVars(a) {
		if v := p.Getenv(name); v != "" {
			r.Env[name] = v
		}
	}
	return r
}

// print prints an answer. One that cannot be written blocks by the exit code.
func (p *Program) print(r Reply) int {
	if r.Stderr != "" {
		_, _ = io.WriteString(p.Err, r.Stderr)
	}
	if r.Stdout != "" {
		a, _ := harness.Named(p.Agent)
		if _, err := io.WriteString(p.Out, r.Stdout); err != nil && a.Kind(p.Event).Precedes() {
			return harness.Block
		}
	}
	return r.Exit
}

// fault answers where nobody decided.
func (p *Program) fault(why string) int {
	p.mu.Lock()
	event := bytes.Clone(p.event)
	p.mu.Unlock()
	f := p.Flags
	f.Fault = why
	c := Command{Flags: f, In: bytes.NewReader(event), Out: p.Out, Err: p.Err, Getenv: p.Getenv}
	if p.Note != nil {
		c.Note = func(ctx context.Context, e harness.Event, why string) { p.Note(ctx, event, e, why) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), margin)
	defer cancel()
	return c.Run(ctx)
}
