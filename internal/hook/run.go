package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Command is one run of `myc hook AGENT`. All but Now are required, Note excepted.
type Command struct {
	Agent   string
	Event   string                    // the event that the agent's configuration pins; "": the event itself says it
	Limit   time.Duration             // how long the agent waits, as its configuration pins it; 0: the agent's own default
	Within  time.Duration             // how long the answer may take; 0, or more than the limit allows: as long as the limit allows
	Gateway string                    // the name of our own gateway in the agent's configuration; "": it has none
	Own     func(program string) bool // whether a program that an agent started as a server is this one; nil: not asked
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Getenv  func(string) string

	// Decide asks whoever decides: the daemon, or the files. It must heed its context, and is given up on when it does not.
	Decide func(ctx context.Context, e Event) (Answer, error)
	// Note records a denial that nobody decided; nil: there is no record. It is given up on after a few seconds.
	Note func(ctx context.Context, e Event, why string)
}

// margin is how much earlier than the agent's own limit we answer: a hook that the agent gives up on denies nothing.
const margin = 5 * time.Second

// Deadline is how long the answer may take: the agent's limit less 5 s, or half of a limit that is shorter than 10 s.
func (c *Command) Deadline() time.Duration {
	limit := c.Limit
	if limit <= 0 {
		limit = Limit(c.Agent)
	}
	own := max(limit-margin, limit/2)
	if c.Within > 0 {
		own = min(own, c.Within)
	}
	return own
}

// outcome is what one run comes to.
type outcome struct {
	event  Event
	answer Answer
	fault  string // why there is no answer
	noted  bool   // the fault is on record, or is none of ours
}

// Run reads one event, has it decided and answers it in the agent's dialect; the result is the exit code. It always answers: what goes
// wrong on the way denies where a tool comes next, and is a message elsewhere.
func (c *Command) Run(ctx context.Context) int {
	deadline := c.Deadline()
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	known := make(chan Event, 1)
	done := make(chan outcome, 1)
	go func() { done <- c.work(ctx, deadline, known) }()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // both at once: an answer is an answer
		default:
			o = outcome{event: Event{Agent: c.Agent, Name: c.Event, Kind: KindOf(c.Agent, c.Event)}, fault: c.lateness(ctx, deadline)}
			select {
			case o.event = <-known:
			default:
			}
		}
	}
	if o.fault != "" {
		o.answer = c.failed(ctx, &o)
	}
	return c.print(o)
}

// lateness says why nobody waits any longer.
func (c *Command) lateness(ctx context.Context, deadline time.Duration) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("no decision came within %s", deadline)
	}
	return "the hook was interrupted"
}

// work is Run up to the answer. A panic is a fault like any other.
func (c *Command) work(ctx context.Context, deadline time.Duration, known chan<- Event) (o outcome) {
	o.event = Event{Agent: c.Agent, Name: c.Event, Kind: KindOf(c.Agent, c.Event)}
	defer func() {
		if p := recover(); p != nil {
			o.fault = fmt.Sprintf("the hook failed: %v", p)
		}
	}()
	began := time.Now()
	raw, err := io.ReadAll(io.LimitReader(c.In, MaxInput+1))
	if err != nil {
		o.fault = "the event cannot be read: " + err.Error()
		return o
	}
	if len(raw) > MaxInput { // who writes must not find the pipe closed: agents take that for a hook that failed, and go on
		_, _ = io.Copy(io.Discard, c.In)
	}
	o.event, err = Read(c.Agent, c.Event, raw)
	c.surroundings(&o.event)
	// The daemon answers a little before we would give up on it, so that its record and our answer agree.
	o.event.Deadline = max((deadline-time.Since(began))*9/10, deadline-time.Since(began)-margin).Milliseconds()
	known <- o.event
	if err != nil {
		o.fault = err.Error()
		if o.event.Kind.Precedes() && o.event.Session != "" && o.event.Tool != "" { // as much is known as a record in its session needs
			_, derr := c.Decide(ctx, o.event.faulted(o.fault))
			o.noted = derr == nil
		}
		return o
	}
	if o.answer, err = c.Decide(ctx, o.event); err != nil {
		o.fault = err.Error()
	}
	return o
}

// faulted is an event whose call cannot be decided, as it is sent to be recorded.
func (e Event) faulted(why string) Event {
	e.Fault = why
	if e.Input.Kind() != '{' {
		e.Input = nil
	}
	return e
}

// surroundings are what the environment tells of the agent.
func (c *Command) surroundings(e *Event) {
	e.Pane, e.Tmux = c.Getenv("TMUX_PANE"), c.Getenv("TMUX")
	e.Interactive = interactive(e.Agent, c.Getenv)
	if c.Gateway != "" && e.Server == c.Gateway && (len(e.Command) == 0 || e.Command[0] == "" || c.Own == nil || c.Own(e.Command[0])) {
		e.Ours = true
		_, e.Tool, _ = strings.Cut(e.Tool, "__") // our gateway's tools have the names that it gave them
	}
}

// interactive reports whether a person sits at the agent's own terminal and is asked there. Only Claude Code says so, and only it can
// be told to ask.
func interactive(agent string, getenv func(string) string) bool {
	return agent == "claude" && getenv("CLAUDE_CODE_ENTRYPOINT") == "cli"
}

// failed is the answer where there is none.
func (c *Command) failed(ctx context.Context, o *outcome) Answer {
	if !o.event.Kind.Precedes() {
		return Answer{Verdict: Pass, Message: "mycelium: " + o.fault}
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
	return Answer{Verdict: Deny, Reason: "Mycelium denied this call: " + o.fault + ". Nothing ran. A person can look into it with `myc doctor`."}
}

// print writes the answer. One that cannot be written blocks by the exit code.
func (c *Command) print(o outcome) int {
	stdout, stderr, exit := Write(o.event, o.answer)
	if stderr != "" {
		_, _ = fmt.Fprintln(c.Err, stderr)
	}
	if len(stdout) > 0 {
		if _, err := c.Out.Write(stdout); err != nil && o.event.Kind.Precedes() {
			return block
		}
	}
	return exit
}
