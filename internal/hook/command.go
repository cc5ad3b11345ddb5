// Package hook answers one event of a coding agent. An agent runs it before each of its own tools: the event on standard input is read
// in that agent's dialect, decided by the daemon (or, if none runs, by whoever the program names), and answered in the same dialect.
// Whatever goes wrong before a tool is a denial.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"mycelium/internal/harness"
)

// Command is one run of the hook. All fields but Own and Note are required.
type Command struct {
	Flags
	Own    func(program string) bool // whether a program that an agent started as a server is this one; nil: not asked
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string

	// Decide asks whoever decides: the daemon, or the files. It must heed its context, and is given up on when it does not.
	Decide func(ctx context.Context, e harness.Event) (harness.Answer, error)
	// Note records a denial that nobody decided; nil: there is no record. It is given up on after a few seconds.
	Note func(ctx context.Context, e harness.Event, why string)
}

// margin is how much earlier than the agent's own limit we answer: a hook that the agent gives up on denies nothing.
const margin = 5 * time.Second

// Deadline is how long the answer may take: the agent's limit less 5 s, or half of a limit that is shorter than 10 s.
func (c *Command) Deadline() time.Duration {
	limit := c.Limit
	if limit <= 0 {
		a, _ := harness.Named(c.Agent)
		limit = a.Limit
	}
	own := max(limit-margin, limit/2)
	if c.Flags.Deadline > 0 {
		own = min(own, c.Flags.Deadline)
	}
	return own
}

// outcome is what one run comes to.
type outcome struct {
	event  harness.Event
	answer harness.Answer
	fault  string // why there is no answer
	noted  bool   // the fault is on record, or is not ours to record
}

// Run reads one event, has it decided and answers it in the agent's dialect; the result is the exit code. It always answers: what goes
// wrong on the way denies where a tool comes next, and is a message elsewhere.
func (c *Command) Run(ctx context.Context) int {
	deadline := c.Deadline()
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	known := make(chan harness.Event, 1)
	done := make(chan outcome, 1)
	go func() { done <- c.work(ctx, deadline, known) }()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // both at once: an answer is an answer
		default:
			o = outcome{event: c.pinned(), fault: lateness(ctx, deadline)}
			select {
			case o.event = <-known:
			default:
			}
		}
	}
	return c.finish(ctx, o)
}

// runHere is Run for whoever is waited for by a program that gives up in time: it starts nothing beside it, and ends when Decide does.
func (c *Command) runHere(ctx context.Context) int {
	deadline := c.Deadline()
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	return c.finish(ctx, c.work(ctx, deadline, make(chan harness.Event, 1)))
}

// finish prints what a run comes to.
func (c *Command) finish(ctx context.Context, o outcome) int {
	if o.fault != "" {
		o.answer = c.failed(ctx, &o)
	}
	return c.print(o)
}

// lateness says why nobody waits any longer.
func lateness(ctx context.Context, deadline time.Duration) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("no decision came within %s", deadline)
	}
	return "the hook was interrupted"
}

// work is Run up to the answer. A panic is a fault like any other.
func (c *Command) work(ctx context.Context, deadline time.Duration, known chan<- harness.Event) (o outcome) {
	o.event = c.pinned()
	defer func() {
		if p := recover(); p != nil {
			o.fault = fmt.Sprintf("the hook failed: %v", p)
		}
	}()
	began := time.Now()
	raw, err := io.ReadAll(io.LimitReader(c.In, harness.MaxInput+1))
	if err != nil {
		o.fault = "the event cannot be read: " + err.Error()
		return o
	}
	if len(raw) > harness.MaxInput { // who writes must not find the pipe closed: agents take that for a hook that failed, and go on
		_, _ = io.Copy(io.Discard, c.In)
	}
	o.event, err = harness.Read(c.Agent, c.Event, raw)
	c.surroundings(&o.event)
	// The daemon answers a little before we would give up on it, so that its record and our answer agree.
	o.event.Deadline = max((deadline-time.Since(began))*9/10, deadline-time.Since(began)-margin).Milliseconds()
	known <- o.event
	if c.Fault != "" {
		o.fault = c.Fault
		return o
	}
	if err != nil {
		o.fault = err.Error()
		if o.event.Kind.Precedes() && o.event.Session != "" && o.event.Tool != "" { // as much is known as a record in its session needs
			_, derr := c.Decide(ctx, faulted(o.event, o.fault))
			o.noted = derr == nil
		}
		return o
	}
	if o.answer, err = c.Decide(ctx, o.event); err != nil {
		o.fault = err.Error()
	}
	return o
}

// pinned is the event as far as the agent's configuration pins it.
func (c *Command) pinned() harness.Event {
	a, _ := harness.Named(c.Agent)
	return harness.Event{Agent: c.Agent, Name: c.Event, Kind: a.Kind(c.Event)}
}

// faulted is an event whose call cannot be decided, as it is sent to be recorded.
func faulted(e harness.Event, why string) harness.Event {
	e.Fault = why
	if e.Input.Kind() != '{' {
		e.Input = nil
	}
	return e
}

// surroundings are what the environment tells of the agent.
func (c *Command) surroundings(e *harness.Event) {
	e.Pane, e.Tmux = c.Getenv("TMUX_PANE"), c.Getenv("TMUX")
	e.Interactive = interactive(e.Agent, c.Getenv)
	if c.Gateway != "" && e.Server == c.Gateway && (len(e.Command) == 0 || e.Command[0] == "" || c.Own == nil || c.Own(e.Command[0])) {
		e.Ours = true
		_, e.Tool, _ = strings.Cut(e.Tool, "__") // our gateway's tools have the names that it gave them
	}
}

// interactive reports whether a person sits at the agent's own terminal and is asked there.
func interactive(agent string, getenv func(string) string) bool {
	a, _ := harness.Named(agent)
	return a.Terminal[0] != "" && getenv(a.Terminal[0]) == a.Terminal[1]
}

// failed is the answer where there is none.
func (c *Command) failed(ctx context.Context, o *outcome) harness.Answer {
	if !o.event.Kind.Precedes() {
		return harness.Answer{Verdict: harness.Pass, Message: "mycelium: " + o.fault}
	}
	if c.Note != nil && !o.noted {
		noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), margin/2)
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }() // the answer counts more than its record
			c.Note(noting, o.event, o.fault)
		}()
		select {
		case <-done:
		case <-noting.Done():
		}
	}
	return harness.Answer{Verdict: harness.Deny, Reason: "Mycelium denied this call: " + o.fault +
		". Nothing ran. A person can look into it with `myc doctor`."}
}

// print writes the answer. One that cannot be written blocks by the exit code.
func (c *Command) print(o outcome) int {
	stdout, stderr, exit := harness.Write(o.event, o.answer)
	if stderr != "" {
		_, _ = fmt.Fprintln(c.Err, stderr)
	}
	if len(stdout) > 0 {
		if _, err := c.Out.Write(stdout); err != nil && o.event.Kind.Precedes() {
			return harness.Block
		}
	}
	return exit
}
