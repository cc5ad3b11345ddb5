// Package hook answers one event of a coding agent. An agent runs the hook before each of its own tools. The hook reads the event from
// standard input in the agent's dialect, has it decided by the daemon (or, without one, as the program provides), and answers in the same
// dialect. Any failure before a tool is a denial.
package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// Command is one run of the hook. All fields but Own and Note are required.
type Command struct {
	Flags
	Parent func() int                // the process that started the hook; nil: it is not known
	Own    func(program string) bool // reports whether an MCP server that an agent started is this program; nil: not checked
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string

	// Decide decides an event, by the daemon or by the files. If it ignores the end of its context, the hook answers without it.
	Decide func(ctx context.Context, e harness.Event) (harness.Answer, error)
	// Note records a denial that was not decided; nil: no record. The hook waits a few seconds for it.
	Note func(ctx context.Context, e harness.Event, why string)
}

// margin is how much earlier than the agent's own limit we answer. If the limit passes, the agent goes on as if there were no hook.
const margin = 5 * time.Second

// Deadline returns how long the answer may take: the agent's limit less 5 s, or half of a limit that is shorter than 10 s.
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

// outcome is the result of one run.
type outcome struct {
	event  harness.Event
	answer harness.Answer
	fault  string // why no decision was made
	hint   string // how to mend that; empty: it is not known
	noted  bool   // the fault is recorded, or another process records it
}

// Run reads one event, has it decided, and writes the answer in the agent's dialect. It returns the exit code. It always answers: a
// failure is a denial before a tool and a message elsewhere.
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
		case o = <-done: // both at once: the answer counts
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

// runHere is Run for a caller that enforces the deadline itself. It starts no goroutine, and ends when Decide does.
func (c *Command) runHere(ctx context.Context) int {
	deadline := c.Deadline()
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	return c.finish(ctx, c.work(ctx, deadline, make(chan harness.Event, 1)))
}

// finish prints the answer of a run.
func (c *Command) finish(ctx context.Context, o outcome) int {
	if o.fault != "" {
		o.answer = c.failed(ctx, &o)
	}
	return c.print(o)
}

// lateness says why the run was given up.
func lateness(ctx context.Context, deadline time.Duration) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("no decision came within %s", deadline)
	}
	return "the hook was interrupted"
}

// work does the work of Run before the answer. It turns a panic into a fault.
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
	if len(raw) > harness.MaxInput { // read the rest: if the pipe is closed early, the agent takes the hook for failed and goes on
		_, _ = io.Copy(io.Discard, c.In)
	}
	o.event, err = harness.Read(c.Agent, c.Event, raw)
	c.surroundings(&o.event)
	// The daemon answers a little before our own deadline, so that its record and our answer agree.
	o.event.Deadline = max((deadline-time.Since(began))*9/10, deadline-time.Since(began)-margin).Milliseconds()
	known <- o.event
	if c.Fault != "" {
		o.fault = c.Fault
		return o
	}
	if err != nil {
		o.fault = err.Error()
		if o.event.Kind.Precedes() && o.event.Session != "" && o.event.Tool != "" { // enough is known for a record in the session
			_, derr := c.Decide(ctx, faulted(o.event, o.fault))
			o.noted = derr == nil
		}
		return o
	}
	if o.answer, err = c.Decide(ctx, o.event); err != nil {
		o.fault, o.hint = err.Error(), text.HintOf(err)
	}
	return o
}

// pinned returns the parts of the event that the agent's configuration fixes.
func (c *Command) pinned() harness.Event {
	a, _ := harness.Named(c.Agent)
	return harness.Event{Agent: c.Agent, Name: c.Event, Kind: a.Kind(c.Event)}
}

// faulted returns an event that only records why its call cannot be decided.
func faulted(e harness.Event, why string) harness.Event {
	e.Fault = why
	if e.Input.Kind() != '{' {
		e.Input = nil
	}
	return e
}

// surroundings adds what the environment says about the agent.
func (c *Command) surroundings(e *harness.Event) {
	e.Pane, e.Tmux = c.Getenv("TMUX_PANE"), c.Getenv("TMUX")
	e.Interactive = interactive(e.Agent, c.Getenv)
	if a, _ := harness.Named(e.Agent); a.Launch.Prefix.Variable != "" {
		e.Prefix = c.Getenv(a.Launch.Prefix.Variable)
	}
	if c.Parent != nil {
		e.Parent = c.Parent()
	}
	if c.Gateway != "" && e.Server == c.Gateway && (len(e.Command) == 0 || e.Command[0] == "" || c.Own == nil || c.Own(e.Command[0])) {
		e.Ours = true
		_, e.Tool, _ = strings.Cut(e.Tool, "__") // the gateway's tool names include their server
	}
}

// interactive reports whether a person sits at the agent's own terminal, where the agent can ask.
func interactive(agent string, getenv func(string) string) bool {
	a, _ := harness.Named(agent)
	return a.Terminal[0] != "" && getenv(a.Terminal[0]) == a.Terminal[1]
}

// failed returns the answer of a run that has a fault.
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
			defer func() { _ = recover() }() // the answer is more important than the record
			c.Note(noting, o.event, o.fault)
		}()
		select {
		case <-done:
		case <-noting.Done():
		}
	}
	mend := cmp.Or(o.hint, "a person can look into it with `myc doctor`")
	return harness.Answer{Verdict: harness.Deny, Reason: "Mycelium denied this call: " + o.fault + ". Nothing ran. To mend it: " + mend + "."}
}

// print writes the answer.
func (c *Command) print(o outcome) int {
	stdout, stderr, exit := harness.Write(o.event, o.answer)
	if stderr != "" {
		stderr += "\n"
	}
	return say(c.Out, c.Err, Reply{string(stdout), stderr, exit}, o.event.Kind.Precedes())
}

// say writes an answer, and returns the exit code. If the answer cannot be written before a tool, the exit code blocks the tool.
func say(out, errs io.Writer, r Reply, precedes bool) int {
	_, _ = io.WriteString(errs, r.Stderr)
	if r.Stdout == "" {
		return r.Exit
	}
	if _, err := io.WriteString(out, r.Stdout); precedes && (err != nil || nowhere(out)) {
		_, _ = io.WriteString(errs, harness.Unanswered+"\n")
		return harness.Block
	}
	return r.Exit
}

// nowhere reports whether what is written to a file is lost. Go's runtime opens the null device in place of a standard output that is
// closed, so that a write to it succeeds.
func nowhere(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	a, err := f.Stat()
	if err != nil {
		return true
	}
	b, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(a, b)
}

// Deaf makes the process outlive signals that would end it without an answer: SIGPIPE becomes an error of the write, and the others are
// lost until [Program] waits and handles them. SIGPIPE is the last: a process that ignores it has taken on the others.
func Deaf() {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE)
}
