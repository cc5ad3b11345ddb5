package swarm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/agent"
	"mycelium/internal/approval"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// workerCmd is what the swarm starts in the terminal of a worker.
func workerCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "worker FOLDER", Short: "Work on the feature that a folder of the swarm orders", Hidden: true,
		Args: base.ArgRange(1, 1, "the folder of an attempt"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.NeedPerson("start a worker"); err != nil {
				return err
			}
			signal.Ignore(syscall.SIGHUP) // the work goes on when its terminal is gone
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return a.work(ctx, worker.Folder(args[0]))
		}}
}

// work runs the worker of one attempt to its end, which it records.
func (a *app) work(ctx context.Context, folder worker.Folder) error {
	w, err := folder.Begin()
	if err != nil {
		return err
	}
	order, prompt, err := w.Order()
	var end worker.Ended
	if err == nil {
		run := a.engaged
		if order.Runner == runnerCommand {
			run = a.commanded
		}
		end, err = run(ctx, w, order, prompt)
	}
	if unproved := (*agents.UnprovedError)(nil); errors.As(err, &unproved) {
		end.Stop = worker.Unproved
	}
	if limit := (*agent.LimitError)(nil); errors.As(err, &limit) {
		end.Until = limit.Until
	}
	if err != nil {
		end.Stop, end.Error = cmp.Or(end.Stop, "error"), err.Error()
		fmt.Fprintf(a.Err, "myc: %s\n", text.Visible(err.Error()))
	}
	return errors.Join(err, w.End(end))
}

// engaged works with the engine claude. A conversation that cannot be gone on with begins anew, with the whole prompt.
func (a *app) engaged(ctx context.Context, w *worker.Work, o worker.Order, prompt string) (worker.Ended, error) {
	t := &telling{app: a, work: w, tools: map[string]string{}}
	if o.Resume == "" {
		return a.converse(ctx, t, o, prompt)
	}
	end, err := a.converse(ctx, t, o, o.Again)
	if err == nil || t.talks != "" || end.Stop != "" || ctx.Err() != nil || errors.As(err, new(*agents.UnprovedError)) {
		return end, err
	}
	t.write(worker.Event{Kind: worker.Notes, Text: "the conversation " + o.Resume + " cannot be gone on with: " + err.Error()})
	o.Resume = ""
	return a.converse(ctx, t, o, prompt)
}

// converse carries on a conversation in the worktree, in a session of its own.
func (a *app) converse(ctx context.Context, t *telling, o worker.Order, said string) (end worker.Ended, err error) {
	ctx, allowance := worker.Allow(ctx, time.Duration(o.Seconds*float64(time.Second)))
	defer allowance.End()
	within := "project"
	if o.Unsandboxed {
		within = ""
	}
	e, err := engine.Open(ctx, a.App, engine.Options{Role: o.Role, Skills: o.Skills, Model: o.Model, Engine: engine.Claude,
		Ask: approval.AskReached, Resume: o.Resume, Budget: o.Budget, MaxTurns: o.MaxTurns, Dir: o.Tree, Anywhere: o.Anywhere,
		Prove: true, Within: within, Messages: t.messages})
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	end.Conversation, end.Session = e.ID(), e.Session
	t.allowance, t.conversation = allowance, e.ID()
	t.write(worker.Event{Kind: worker.Began, Text: strings.TrimSpace(e.Name() + " " + e.Model)})
	for {
		turn, err := e.Say(ctx, said, t.tell)
		t.flush()
		end.Stop, end.Text = turn.Stop, turn.Text
		end.Cost += turn.Cost
		end.Turns += turn.Turns
		if errors.Is(context.Cause(ctx), worker.ErrSpent) {
			end.Stop, err = agent.StopBudget, errors.Join(err, worker.ErrSpent)
		}
		if err != nil || turn.Stop != agent.StopEnd {
			return end, errors.Join(err, t.err)
		}
		waiting, err := t.work.Inbox() // a message that came when the turn was over
		if err != nil || len(waiting) == 0 {
			return end, errors.Join(err, t.err)
		}
		said = ""
	}
}

// messages are what the worker has not received.
func (t *telling) messages() (out []agent.Message, err error) {
	waiting, err := t.work.Inbox()
	for _, m := range waiting {
		out = append(out, agent.Message{ID: m.ID, Text: m.Text})
	}
	return out, err
}

// telling records what an engine does, and shows it in the terminal of the worker.
type telling struct {
	*app
	work  *worker.Work
	tools map[string]string // by the id of their calls
	said  strings.Builder
	err   error // the first that could not be recorded

	conversation string // its id
	talks        string // that id, once it is on record: the model has answered in it
	// allowance is the time that the worker may work; nil: it has no end.
	allowance *worker.Allowance
}

func (t *telling) write(e worker.Event) {
	if err := t.work.Write(e); err != nil && t.err == nil {
		t.err = err
	}
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
	if (e.Text != "" || e.Thinking != "" || e.Call != nil || e.Heard != "") && t.talks != t.conversation {
		t.talks = t.conversation
		t.write(worker.Event{Kind: worker.Talks, Text: t.conversation})
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
