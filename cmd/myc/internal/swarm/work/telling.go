package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// telling records what an engine does, and shows it in the terminal of the worker.
type telling struct {
	*app
	work  *worker.Work
	tools map[string]string // by the id of their calls
	said  strings.Builder
	err   error // the first that could not be recorded

	conversation func() string // its id; "" before the agent has told it
	talks        string        // that id, once it is on record: the model has answered in it
	// allowance is the time that the worker may work; nil: it has no end.
	allowance *worker.Allowance
}

func (t *telling) write(e worker.Event) {
	if err := t.work.Write(e); err != nil && t.err == nil {
		t.err = err
	}
}

// note records something that a person should know, before the agent works.
func (t *telling) note(line string) {
	t.write(worker.Event{Kind: worker.Notes, Text: line})
	fmt.Fprintf(t.Err, "myc: %s\n", text.Visible(line))
}

// flush records what the agent has said since the last event.
func (t *telling) flush() {
	if t.said.Len() > 0 {
		t.write(worker.Event{Kind: worker.Says, Text: t.said.String()})
		fmt.Fprintf(t.Out, "%s\n", text.Visible(t.said.String()))
		t.said.Reset()
	}
}

// tell takes one event. A terminal that is gone is no error.
func (t *telling) tell(e agent.Event) {
	if e.Text != "" || e.Thinking != "" || e.Call != nil || e.Heard != "" {
		if id := t.conversation(); t.talks != id {
			t.talks = id
			t.write(worker.Event{Kind: worker.Talks, Text: id})
		}
	}
	if e.Text != "" {
		t.said.WriteString(e.Text)
		return
	}
	if e.Thinking != "" {
		return
	}
	t.flush()
	switch {
	case e.Call != nil:
		t.tools[e.Call.ID] = e.Call.Tool
		t.write(worker.Event{Kind: worker.Call, Call: e.Call.ID, Tool: e.Call.Tool, Args: string(e.Call.Args),
			Sum: sum(string(e.Call.Args))})
		fmt.Fprintf(t.Out, "● %s %s\n", text.OneLine(e.Call.Tool), text.Cell(string(e.Call.Args), 120))
	case e.Done != nil:
		t.write(worker.Event{Kind: worker.Done, Call: e.Done.CallID, Tool: t.tools[e.Done.CallID], Text: e.Done.Text, Sum: sum(e.Done.Text),
			Failed: e.Done.Failed})
		mark := "✓"
		if e.Done.Failed {
			mark = "✗"
		}
		fmt.Fprintf(t.Out, "  %s %s\n", mark, text.Cell(e.Done.Text, 120))
	case e.Waiting != nil:
		t.write(worker.Event{Kind: worker.Waits, Call: e.Waiting.CallID, Text: e.Waiting.Why})
		base.SayWaiting(t.Out, "a call of this worker", e.Waiting.Request, e.Waiting.Deadline)
	case e.Heard != "":
		if err := t.work.Received(e.Heard); err != nil && t.err == nil {
			t.err = err
		}
	case e.Limit != nil:
		t.limit(*e.Limit)
	case e.Note != "":
		t.write(worker.Event{Kind: worker.Notes, Text: e.Note})
		fmt.Fprintf(t.Out, "%s\n", text.OneLine(e.Note))
	case e.Spent != nil:
		t.write(worker.Event{Kind: worker.Spent, Cost: e.Spent.Cost})
	}
}

// limit records that the provider answers later, or answers again. The time that it takes is not the worker's.
func (t *telling) limit(l agent.Limit) {
	t.write(worker.Event{Kind: worker.Limited, Text: l.Why, Until: l.Until})
	if t.allowance.Pause(!l.Until.IsZero()); l.Until.IsZero() {
		return
	}
	fmt.Fprintf(t.Out, "… waits for the provider until %s: %s\n", l.Until.Local().Format(time.TimeOnly), text.OneLine(l.Why))
}

// sum is a short digest of a text, by which results of one call are told apart.
func sum(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:8])
}
