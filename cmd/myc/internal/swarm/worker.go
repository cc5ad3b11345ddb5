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

	"github.com/spf13/cobra"

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
	if err != nil {
		end.Stop, end.Error = cmp.Or(end.Stop, "error"), err.Error()
		fmt.Fprintf(a.Err, "myc: %s\n", text.Visible(err.Error()))
	}
	return errors.Join(err, w.End(end))
}

// engaged works with the engine claude, in the worktree, with a session of its own.
func (a *app) engaged(ctx context.Context, w *worker.Work, o worker.Order, prompt string) (end worker.Ended, err error) {
	e, err := engine.Open(ctx, a.App, engine.Options{Role: o.Role, Skills: o.Skills, Model: o.Model, Engine: engine.Claude,
		Ask: approval.AskReached, Resume: o.Resume, Budget: o.Budget, MaxTurns: o.MaxTurns, Dir: o.Tree, Anywhere: o.Anywhere, Worker: true})
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	end.Conversation, end.Session = e.ID(), e.Session
	t := &telling{app: a, work: w, tools: map[string]string{}}
	t.write(worker.Event{Kind: worker.Began, Text: strings.TrimSpace(e.Name() + " " + e.Model)})
	for said := prompt; said != ""; {
		turn, err := e.Say(ctx, said, t.tell)
		t.flush()
		end.Stop, end.Text = turn.Stop, turn.Text
		end.Cost += turn.Cost
		end.Turns += turn.Turns
		if err != nil || turn.Stop != agent.StopEnd {
			return end, errors.Join(err, t.err)
		}
		if said, err = w.Next(); err != nil {
			return end, err
		}
		if said != "" {
			t.write(worker.Event{Kind: worker.Heard, Text: said})
		}
	}
	return end, t.err
}

// telling records what an engine does, and shows it in the terminal of the worker.
type telling struct {
	*app
	work  *worker.Work
	tools map[string]string // by the id of their calls
	said  strings.Builder
	err   error // the first that could not be recorded
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
	case e.Note != "":
		t.write(worker.Event{Kind: worker.Notes, Text: e.Note})
		fmt.Fprintf(t.Out, "%s\n", text.OneLine(e.Note))
	case e.Spent != nil:
		t.write(worker.Event{Kind: worker.Spent, Cost: e.Spent.Cost})
	}
}

// sum is a short digest of a text, by which results of one call are told apart.
func sum(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:8])
}
