package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// Program is one run of a program that an agent starts at an event. It passes the event to the daemon and prints the answer.
type Program struct {
	Flags
	Project state.Paths
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Getenv  func(string) string
	Environ []string // of the agent, to compare with that of its person; nil: not known
	// Interrupted returns a context that ends when the program is to end.
	Interrupted func() context.Context
	// Alone answers an event without a daemon, and returns the exit code. It gets the run of the hook, which lacks who decides and records.
	Alone func(ctx context.Context, c Command) int
	// Stranger records that something else answers at the daemon's socket. Alone then answers the event; nil: Alone meets it, too.
	Stranger func(ctx context.Context, s *daemon.StrangerError)
	// Note records a denial that was not decided.
	Note func(ctx context.Context, event []byte, e harness.Event, why string)

	deadline time.Duration
	until    time.Time

	mu       sync.Mutex // guards the fields below
	event    []byte     // the part of the event that was read
	answered bool       // a goroutine has taken on the answer
	watched  bool       // watch was called
}

// Run answers one event and returns the exit code. A failure before a tool is a denial. At the deadline or an interrupt, Run denies and
// ends the process, because system calls may be running that cannot be cancelled.
func (p *Program) Run() int {
	p.begin()
	p.watch()
	return p.run()
}

// Serve answers one event in a process that goes on, such as a server.
func (p *Program) Serve(ctx context.Context) Reply {
	var out, errs bytes.Buffer
	p.Out, p.Err, p.watched = &out, &errs, true
	p.begin()
	ctx, cancel := context.WithDeadline(ctx, p.until)
	defer cancel()
	p.Interrupted = func() context.Context { return ctx }
	done := make(chan int, 1)
	go func() { // it may wait for a daemon that never answers
		if reply, err := p.ask(); p.answers() {
			done <- p.settle(reply, err)
		}
	}()
	code := 0
	select {
	case code = <-done:
	case <-ctx.Done():
		if p.answers() {
			code = p.fault(lateness(ctx, p.deadline))
		} else {
			code = <-done
		}
	}
	return Reply{out.String(), errs.String(), code}
}

func (p *Program) begin() {
	p.deadline = (&Command{Flags: p.Flags}).Deadline()
	p.until = time.Now().Add(p.deadline)
}

// watch starts to watch the deadline and interrupts. Timers and signals need threads, which cost a third of the time of an answer, so the
// small program does without them at first.
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
		select {} // too late: the process ends
	}
	return p.settle(reply, err)
}

// settle answers with what the daemon said, or without one.
func (p *Program) settle(reply Reply, err error) int {
	var stranger *daemon.StrangerError
	switch unproved := errors.As(err, &stranger); {
	case err == nil:
		return p.print(reply)
	case unproved, errors.Is(err, daemon.ErrNotRunning):
		ctx := context.Background()
		if p.watched {
			ctx = p.Interrupted()
		}
		ctx, cancel := context.WithDeadline(ctx, p.until)
		defer cancel()
		if unproved && p.Stranger != nil {
			_, _ = fmt.Fprintf(p.Err, "mycelium: %s; the accepted files decide\n", stranger)
			p.Stranger(ctx, stranger)
		}
		return p.Alone(ctx, Command{Flags: p.Flags, In: bytes.NewReader(p.event), Out: p.Out, Err: p.Err, Getenv: p.Getenv})
	}
	return p.fault(err.Error())
}

// ask reads the event and has the daemon answer it. It turns a panic into an error.
func (p *Program) ask() (reply Reply, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the hook failed: %v", fault)
		}
	}()
	if err := p.read(); err != nil {
		return reply, err
	}
	if p.Door != "" {
		p.watch() // nothing else bounds this answer
		r := p.request()
		return askDoor(p.Door, &r)
	}
	return askDaemon(p.Project, p.request(), p.until, p.watch)
}

// answers reports whether the caller is the first to answer.
func (p *Program) answers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.answered
	p.answered = true
	return first
}

// read reads the event, up to one byte beyond the limit, and discards the rest. If the pipe were closed early, the agent would take the
// hook for failed and go on.
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

// request returns the request to the daemon.
func (p *Program) request() Request {
	r := Request{
		Token: p.Getenv(TokenVar), Agent: p.Agent, Event: p.Event, Gateway: p.Gateway, Limit: p.Limit.Milliseconds(), Env: map[string]string{},
		Input: p.event,
	}
	a, _ := harness.Named(p.Agent)
	for _, name := range surroundingVars(a) {
		if v := p.Getenv(name); v != "" {
			r.Env[name] = v
		}
	}
	r.Env[parentVar] = strconv.Itoa(os.Getppid())
	for _, kv := range Places(p.Environ) {
		name, value, _ := strings.Cut(kv, "=")
		r.Env[name] = value
	}
	return r
}

// print prints an answer.
func (p *Program) print(r Reply) int {
	a, _ := harness.Named(p.Agent)
	return say(p.Out, p.Err, r, a.Kind(p.Event).Precedes())
}

// fault answers an event that was not decided.
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
