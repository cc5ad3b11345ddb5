package modes

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/cmd/myc/internal/question"
	"mycelium/cmd/myc/internal/repl"
	"mycelium/internal/agent"
	"mycelium/internal/agent/handoff"
	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Adhoc is the command adhoc.
func Adhoc(b *base.App, program repl.Program) *cobra.Command {
	a := &app{App: b, program: program, options: engine.Options{Role: adhocRole, MaxTurns: agent.DefaultMaxTurns}}
	var file string
	var approve, refuse bool
	c := &cobra.Command{Use: "adhoc [\"task\"]", Short: "Look into a failure with many tools, with a person's approval", Args: question.Args,
		Long: "The agent has the role adhoc. A person is asked before each of its calls that changes, runs or sends something. Without a\n" +
			"terminal and without anybody who can be reached, such a call is denied. Without a task and a context it is a chat.",
		Example: "  myc adhoc --context .mycelium/context/20261126T114500.000000000Z.json\n  myc adhoc \"why does the nightly build fail?\"",
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.NeedPerson("start an agent with the role " + adhocRole); err != nil {
				return err
			}
			if approve && refuse {
				return failure.Usagef("adhoc: --auto-approve and --no-approval exclude each other")
			}
			said, err := question.Said(a.App, args)
			if err != nil {
				return err
			}
			a.approvals(approve, refuse)
			return a.adhoc(c.Context(), said, file)
		}}
	f := c.Flags()
	f.StringVarP(&file, "context", "c", "", "the `FILE` with the context of a failure, which myc workflow kept")
	f.BoolVar(&approve, "auto-approve", false, "approve each call that asks, in your name; the log says so")
	f.BoolVar(&refuse, "no-approval", false, "ask nobody: each call that asks is denied")
	f.StringSliceVar(&a.options.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	a.flags(c)
	return c
}

// approvals says what becomes of the calls that ask.
func (a *app) approvals(approve, refuse bool) {
	switch {
	case refuse:
		a.options.Ask = approval.AskDeny
	case approve:
		a.options.Ask, a.options.Opened = approval.AskWait, a.approveAll
	case base.StdinIsTerminal(a.In): // the person who is here can answer
		a.options.Ask = approval.AskWait
	}
}

// adhoc runs the agent, with the context of a failure where a file has one.
func (a *app) adhoc(ctx context.Context, said, file string) error {
	if file != "" {
		c, unknown, err := handoff.Load(file)
		if err != nil {
			return failure.New(failure.Usage, fmt.Errorf("adhoc: --context: %w", err), text.HintOf(err))
		}
		if len(unknown) > 0 {
			fmt.Fprintf(a.Err, "myc: %s: unknown keys are left out: %s\n", file, text.OneLine(strings.Join(unknown, ", ")))
		}
		if said, err = c.Task(said); err != nil {
			return err
		}
	}
	if said == "" {
		return a.chat(ctx)
	}
	return question.Ask(ctx, a.App, a.options, said, nil)
}

// escalate goes on as adhoc where a workflow failed.
func (a *app) escalate(ctx context.Context, file string) error {
	fmt.Fprintln(a.Err, "myc: goes on in the role "+adhocRole)
	next := &app{App: a.App, program: a.program, options: engine.Options{Role: adhocRole, MaxTurns: agent.DefaultMaxTurns,
		Model: a.options.Model, Engine: a.options.Engine, Budget: a.options.Budget, Anywhere: a.options.Anywhere,
		Wall: a.options.Wall}}
	next.approvals(false, false)
	return next.adhoc(ctx, "", file)
}

// approveAll answers each request of the agent with yes, in the name of the person who started it, until the agent is closed. Each answer
// is in the log. It brings no second sign, because nobody has read the call: one that demands it waits for a person.
func (a *app) approveAll(ctx context.Context, e *engine.Agent) error {
	c, err := a.Attach(ctx)
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := base.WatchApprovals(watching, c, api.WatchParams{Session: e.Session}, func(r approval.Request) {
			if r.State != approval.Pending {
				return
			}
			yes := true
			_, err := base.Operate(watching, a.App, api.ApprovalsAnswer, api.Answer{ID: r.ID, Allow: &yes, For: approval.Once,
				Reason: "myc adhoc --auto-approve", Digest: r.Digest})
			if err != nil && watching.Err() == nil {
				fmt.Fprintf(a.Err, "myc: %s is not approved: %s\n", text.OneLine(r.Tool), text.OneLine(err.Error()))
			}
		})
		if err != nil && watching.Err() == nil {
			fmt.Fprintf(a.Err, "myc: --auto-approve has ended: %s\n", text.OneLine(err.Error()))
		}
	}()
	e.OnClose(func() {
		cancel()
		<-done
	})
	return nil
}
