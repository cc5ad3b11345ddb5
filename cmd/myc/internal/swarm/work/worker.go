// Package work has the worker of one attempt: what the swarm starts in a terminal of its own.
package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// app is the program as a worker.
type app struct{ *base.App }

// Command is what the swarm starts in the terminal of a worker.
func Command(b *base.App) *cobra.Command {
	a := &app{b}
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
		if order.Runner == runner.Command {
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

// engaged carries on a conversation with an agent. One that cannot be gone on with begins anew, with the whole prompt.
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
	e, err := a.openRunner(ctx, t, o)
	if err != nil {
		return end, err
	}
	defer func() {
		end.Conversation = e.conversation()
		err = errors.Join(err, e.Close())
	}()
	end.Session = e.session
	t.allowance, t.conversation = allowance, e.conversation
	t.write(worker.Event{Kind: worker.Began, Text: e.title})
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
		if said, err = t.take(e, waiting); err != nil {
			return end, err
		}
	}
}

// take is what is said next, where messages wait: nothing to an agent that takes them itself, else the oldest.
func (t *telling) take(e *running, waiting []worker.Message) (string, error) {
	if e.hears {
		return "", nil
	}
	return waiting[0].Text, t.work.Received(waiting[0].ID)
}

// messages are what the worker has not received.
func (t *telling) messages() (out []agent.Message, err error) {
	waiting, err := t.work.Inbox()
	for _, m := range waiting {
		out = append(out, agent.Message{ID: m.ID, Text: m.Text})
	}
	return out, err
}
