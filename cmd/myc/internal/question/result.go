package question

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Result is what `myc "question" --json` prints (requirements, A38).
type Result struct {
	Success      bool           `json:"success"`
	Role         string         `json:"role"`
	Result       jsontext.Value `json:"result"` // a string; with --schema, the value
	Error        string         `json:"error,omitempty"`
	Tools        []string       `json:"toolsUsed"`
	Usage        usage          `json:"usage"`
	Conversation string         `json:"conversation,omitempty"` // for --resume
}

type usage struct {
	Input  int64   `json:"inputTokens"`
	Output int64   `json:"outputTokens"`
	Cost   float64 `json:"costUSD"`
}

// take takes what a turn came to.
func (r *Result) take(t agent.Turn) {
	r.Tools = append([]string{}, t.Tools...)
	r.Usage = usage{Input: int64(t.Usage.Prompt()), Output: t.Usage.Output, Cost: t.Cost}
	if raw, err := json.Marshal(strings.ToValidUTF8(t.Text, "�")); err == nil {
		r.Result = raw
	}
}

// succeeded prints the answer. Without --json it was printed as it came.
func (a *app) succeeded(r Result) error {
	r.Success = true
	switch {
	case a.JSON:
		return a.PrintJSON(r)
	case a.schema != "":
		_, err := fmt.Fprintf(a.Out, "%s\n", r.Result)
		return err
	}
	return nil
}

// failed is the error of the command. With --json it is printed as a result too, and again for people on stderr.
func (a *app) failed(r Result, err error) error {
	if !a.JSON || failure.Of(err).Kind == failure.Usage {
		return err
	}
	r.Error = err.Error()
	if r.Tools == nil {
		r.Tools = []string{}
	}
	if r.Result == nil {
		r.Result = jsontext.Value("null")
	}
	if printing := a.PrintJSON(r); printing != nil {
		return printing
	}
	return err
}

// show shows a turn as it happens: the answer on standard output, everything else on stderr, in plain lines.
type show struct {
	app    *app
	calls  map[string]string // tools by the id of their calls
	begun  bool              // something was printed since the last line break
	broken bool              // the answer was interrupted by a call
}

// tell shows one event.
func (s *show) tell(e agent.Event) {
	quiet, still := s.app.JSON, s.app.JSON && !s.app.calls
	switch {
	case e.Text != "" && !quiet && s.app.schema == "":
		if s.broken {
			fmt.Fprintln(s.app.Out)
			s.broken = false
		}
		fmt.Fprint(s.app.Out, text.Visible(e.Text))
		s.begun = !strings.HasSuffix(e.Text, "\n")
	case e.Call != nil:
		s.calls[e.Call.ID] = e.Call.Tool
		s.line()
		if !still {
			s.say("● %s %s", e.Call.Tool, text.Cell(string(e.Call.Args), 100))
		}
	case e.Waiting != nil:
		base.SayWaiting(s.app.Err, s.calls[e.Waiting.CallID], e.Waiting.Request, e.Waiting.Deadline)
	case e.Done != nil && !still:
		s.done(*e.Done)
	case e.Skills != nil && !still:
		s.skills(*e.Skills)
	case e.Note != "":
		s.line()
		fmt.Fprintf(s.app.Err, "myc: %s\n", text.OneLine(e.Note))
	case e.Spent != nil:
		s.line()
	}
}

// line ends the line of the answer.
func (s *show) line() {
	if s.begun {
		fmt.Fprintln(s.app.Out)
		s.begun, s.broken = false, true
	}
}

func (s *show) say(format string, args ...any) {
	fmt.Fprintf(s.app.Err, "%s\n", s.app.Paint(base.Faint, text.OneLine(fmt.Sprintf(format, args...))))
}

// done shows the outcome of a call in a line.
func (s *show) done(d agent.Done) {
	mark := "✓"
	if d.Failed {
		mark = "✗"
	}
	more := ""
	if n := strings.Count(strings.TrimSpace(d.Text), "\n"); n > 0 {
		more = fmt.Sprintf(" (+%s)", text.Count(n, "line"))
	}
	s.say("  %s %s%s", mark, text.Cell(strings.TrimSpace(d.Text), 100), more)
}

// skills shows a change of the active skills, as [active] (+x, −y). The start is no change.
func (s *show) skills(k agent.Skills) {
	if len(k.Added)+len(k.Removed) == 0 {
		return
	}
	var change []string
	for _, name := range k.Added {
		change = append(change, "+"+name)
	}
	for _, name := range k.Removed {
		change = append(change, "−"+name)
	}
	s.say("● %s [%s] (%s)", k.Role, strings.Join(k.Active, ", "), strings.Join(change, ", "))
}
