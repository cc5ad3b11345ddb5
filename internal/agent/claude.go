package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent/journal"
	"mycelium/internal/model"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// Program is a running Claude Code.
type Program struct {
	In     io.WriteCloser // a line of JSON for each message of the person
	Out    io.Reader
	End    func(grace time.Duration) error // ends it, and waits for that: the error is how it ended
	Stderr func() string                   // the end of what it said there
}

// Claude is the engine that drives an installed Claude Code. Its tools are those of the gateway, and its hook is ours: who starts it
// sees to
// that. It keeps the conversation in its own files, by which it goes on; the journal has what people see of it.
type Claude struct {
	start   func(args []string) (*Program, error)
	stands  func(ctx context.Context) (Standing, error)
	journal *journal.Journal
	Options

	program *Program
	lines   chan []byte // of its output; closed at its end
	told    Standing
	asked   int     // interrupts
	spent   float64 // USD, that the running program has told
}

// NewClaude returns an engine that goes on with the conversation of a journal. start starts the program with further arguments; stands
// says
// what the session is.
func NewClaude(start func(args []string) (*Program, error), stands func(ctx context.Context) (Standing, error), j *journal.Journal,
	o Options) *Claude {
	return &Claude{start: start, stands: stands, journal: j, Options: o, told: o.Began}
}

// Name is claude.
func (*Claude) Name() string { return "claude" }

// ID is that of the conversation.
func (c *Claude) ID() string { return c.journal.ID }

// Close ends the program.
func (c *Claude) Close() error {
	err := c.end(5 * time.Second)
	return errors.Join(err, c.journal.Close())
}

// end ends the program, if one runs.
func (c *Claude) end(grace time.Duration) error {
	if c.program == nil {
		return nil
	}
	_ = c.program.In.Close()
	p, lines := c.program, c.lines
	c.program = nil
	go func() {
		for range lines { // so that it does not wait for its reader
		}
	}()
	_ = p.End(grace) // how it ends is of no interest once its answer is there
	return nil
}

// maxEvent bounds one line of the program, in bytes: results of tools with pictures.
const maxEvent = 64 << 20

// run starts the program, if none runs.
func (c *Claude) run() error {
	if c.program != nil {
		return nil
	}
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}
	if c.Model != "" {
		args = append(args, "--model", c.Model)
	}
	if c.journal.AgentID != "" {
		args = append(args, "--resume", c.journal.AgentID)
	}
	if c.Messages != nil {
		args = append(args, "--replay-user-messages") // their receipt
	}
	if c.MaxTurns > 0 {
		args = append(args, "--max-turns", fmt.Sprint(c.MaxTurns))
	}
	p, err := c.start(args)
	if err != nil {
		return err
	}
	c.program, c.lines, c.spent = p, make(chan []byte), 0
	go func(lines chan<- []byte) {
		defer close(lines)
		s := bufio.NewScanner(p.Out)
		s.Buffer(nil, maxEvent)
		for s.Scan() {
			lines <- append([]byte{}, s.Bytes()...)
		}
	}(c.lines)
	return nil
}

// drive is one turn of the program.
type drive struct {
	*Claude
	tell  func(Event)
	out   Turn
	names map[string]string // tools by the id of their calls
	text  strings.Builder   // of the last answer
	below float64           // USD, of the sub-agents that it started
	halt  bool              // too many calls in a row were refused
	done  bool
	err   error

	unheard     map[string]string // texts of the messages without a receipt, by their ids
	heardBefore map[string]bool

	waiting bool      // for the provider
	resets  time.Time // when the limit ends that the program told of last; zero: not known
}

// Say runs one turn. If nothing is said, it begins with the messages that wait.
func (c *Claude) Say(ctx context.Context, prompt string, tell func(Event)) (Turn, error) {
	if c.Budget > 0 && c.journal.Cost >= c.Budget {
		tell(Event{Note: fmt.Sprintf("the budget of $%.2f is spent", c.Budget)})
		return Turn{Stop: StopBudget}, nil
	}
	d := &drive{Claude: c, tell: tell, names: map[string]string{}, unheard: map[string]string{}, heardBefore: map[string]bool{}}
	if prompt != "" {
		d.write(journal.Line{Kind: journal.Said, Text: prompt})
	}
	if d.err != nil {
		return d.out, d.err
	}
	if err := c.run(); err != nil {
		return d.out, err
	}
	if prompt != "" {
		line, err := said(Message{Text: prompt})
		if err == nil {
			_, err = c.program.In.Write(line)
		}
		if err != nil {
			return d.out, c.died(err)
		}
	}
	if prompt == "" {
		if err := d.pass(); err != nil || len(d.unheard) == 0 {
			return Turn{Stop: StopEnd}, err
		}
	}
	err := d.listen(ctx)
	d.standing(ctx)
	return d.out, errors.Join(err, d.err)
}

// interruptWithin is how long the program may take to end a turn that a person ended; then it is ended itself.
const interruptWithin = 10 * time.Second

// listen takes what the program says until the turn is over.
func (d *drive) listen(ctx context.Context) error {
	over, halted := ctx.Done(), make(chan struct{})
	close(halted)
	var late, look <-chan time.Time
	if d.Messages != nil {
		ticker := time.NewTicker(messagesEvery)
		defer ticker.Stop()
		look = ticker.C
	}
	for !d.done && d.err == nil {
		select {
		case line, ok := <-d.lines:
			if !ok {
				if ctx.Err() != nil {
					d.out.Stop = StopAborted
					return d.end(time.Second)
				}
				return d.died(io.ErrUnexpectedEOF)
			}
			d.take(ctx, line)
			if d.halt && over != nil {
				over = halted
			}
		case <-look:
			if err := d.pass(); err != nil {
				return err
			}
		case <-over:
			over = nil
			d.asked++
			_, err := fmt.Fprintf(d.program.In, `{"type":"control_request","request_id":"myc-%d","request":{"subtype":"interrupt"}}`+"\n", d.asked)
			if err != nil {
				d.out.Stop = StopAborted
				return d.end(time.Second)
			}
			timer := time.NewTimer(interruptWithin)
			defer timer.Stop()
			late = timer.C
		case <-late:
			d.out.Stop = StopAborted
			return d.end(time.Second)
		}
	}
	switch {
	case ctx.Err() != nil:
		d.out.Stop = StopAborted
	case d.halt && d.err == nil:
		d.out.Stop = StopDenials
	}
	return nil
}

// died is the error of a program that ended in the middle of a turn.
func (c *Claude) died(err error) error {
	said := strings.TrimSpace(c.program.Stderr())
	_ = c.end(time.Second)
	if said != "" {
		return fmt.Errorf("Claude Code ended: %s", text.Truncate(said, 2000)) //nolint:staticcheck,revive // a name
	}
	return fmt.Errorf("Claude Code ended in the middle of the turn: %w", err) //nolint:staticcheck,revive // a name
}

// spoken is one line of the program.
type spoken struct {
	limits

	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Parent  string `json:"parent_tool_use_id"`
	ID      string `json:"uuid"`
	Replay  bool   `json:"isReplay"` // a message of the person, said again as its receipt
	Model   string `json:"model"`
	Message struct {
		Content jsontext.Value `json:"content"`
		Model   string         `json:"model"`
	} `json:"message"`
	Event struct {
		Type  string `json:"type"`
		Delta struct {
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
	} `json:"event"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	Turns   int      `json:"num_turns"`
	Cost    float64  `json:"total_cost_usd"`
	Usage   struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
	Stop string `json:"stop_reason"`
}

// take takes one line. What cannot be read is of a kind that concerns nobody here.
func (d *drive) take(ctx context.Context, line []byte) {
	var s spoken
	if rawjson.Decode(line, &s) != nil || s.Parent != "" { // what a sub-agent says is in the result of its call
		return
	}
	switch s.Type {
	case "system":
		if s.Session != "" && s.Session != d.journal.AgentID {
			d.write(journal.Line{Kind: journal.Agent, ID: s.Session})
		}
		switch s.Subtype {
		case "init":
			d.standing(ctx) // the hook has heard what was said
		case "api_retry":
			d.limit(s)
		}
	case "rate_limit_event":
		d.limit(s)
	case "stream_event":
		d.waitsNoMore()
		if t := s.Event.Delta.Text; t != "" {
			d.write(journal.Line{Kind: journal.Text, Text: t})
			d.tell(Event{Text: t})
		}
		if t := s.Event.Delta.Thinking; t != "" {
			d.write(journal.Line{Kind: journal.Thinking, Text: t})
			d.tell(Event{Thinking: t})
		}
	case "assistant":
		d.answer(s)
	case "user":
		if s.Replay {
			d.heard(s.ID)
			return
		}
		d.outcomes(s)
	case "result":
		d.result(s)
	}
}

// standing tells what the session is, if that is new.
func (d *drive) standing(ctx context.Context) {
	now, err := d.stands(context.WithoutCancel(ctx))
	if err != nil {
		return // the session's own calls will say so
	}
	if added, removed := Difference(d.told.Active, now.Active); d.told.Role != now.Role || len(added)+len(removed) > 0 {
		d.tell(Event{Skills: &Skills{Role: now.Role, Active: now.Active, Added: added, Removed: removed}})
	}
	d.told = now
}

// write keeps a line. Its error ends the turn.
func (d *drive) write(l journal.Line) {
	if d.err == nil {
		d.err = d.journal.Append(l)
	}
}

// result takes the end of a turn.
func (d *drive) result(s spoken) {
	d.done = s.IsError || s.Subtype != "success" || len(d.unheard) == 0 // else another turn follows, with what was said meanwhile
	d.out.Turns += s.Turns
	u := model.Usage{Input: s.Usage.Input, Output: s.Usage.Output, CacheRead: s.Usage.CacheRead, CacheWrite: s.Usage.CacheWrite}
	d.out.Usage = d.out.Usage.Plus(u)
	cost := max(0, s.Cost-d.spent)
	d.spent = max(d.spent, s.Cost)
	d.out.Cost += cost + d.below
	d.below = 0
	d.write(journal.Line{Kind: journal.Spent, Usage: &u, Cost: cost})
	d.out.Text = d.text.String()
	if s.Result != "" {
		d.out.Text = s.Result
	}
	d.tell(Event{Spent: &Spent{Usage: d.journal.Usage, Cost: d.journal.Cost, Context: u.Prompt()}})
	switch {
	case limited(s.EndStatus):
		d.out.Stop = StopLimit
		d.err = errors.Join(d.err, &LimitError{Until: d.resets, Why: text.Truncate(strings.TrimSpace(s.Result), 500)})
	case s.Subtype == "error_max_turns":
		d.out.Stop = StopTurns
	case s.Stop == "refusal":
		d.out.Stop = StopRefusal
	case s.IsError && s.Subtype != "error_during_execution" || s.IsError && d.asked == 0:
		d.err = errors.Join(d.err, fmt.Errorf("Claude Code: %s", text.Truncate(strings.TrimSpace(s.Result+" "+strings.Join(s.Errors, "; ")),
			2000)))
	default:
		d.out.Stop = StopEnd
	}
}
