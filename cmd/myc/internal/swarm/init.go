package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// defaultWorkers are enough for most plans, and fit a small machine.
const defaultWorkers = 3

// begin is what `myc swarm init` was asked for.
type begin struct {
	task     string
	verify   []string
	settings book.Settings
	command  string
}

func initCmd(a *app) *cobra.Command {
	var b begin
	c := &cobra.Command{Use: "init [PLAN]", Short: "Begin a session from a plan", Args: base.ArgRange(0, 1, "a file"),
		Long: "PLAN is Markdown (.md), features as data (.yaml, .json), or a list in words; - reads it from the input. With --task\n" +
			"the list is given in words. Nothing is started: myc swarm auto does that. The session works on a branch of its own,\n" +
			"which begins at the commit that is checked out; what is not committed there is not in it.",
		Example: "  myc swarm init plan.md --verify \"go test ./...\"\n  myc swarm init --task \"- add a parser\n- add a printer\" " +
			"--workers 2",
		RunE: func(c *cobra.Command, args []string) error {
			o, err := a.open(c.Context(), "begin a session of the swarm")
			if err != nil {
				return err
			}
			defer o.close()
			return a.begin(c.Context(), o, &b, args)
		}}
	f := c.Flags()
	f.StringVar(&b.task, "task", "", "the features in words, one a line")
	f.StringArrayVar(&b.verify, "verify", nil, "a `COMMAND` that each landing must pass, in the sandbox; may be given again")
	f.IntVar(&b.settings.Workers, "workers", defaultWorkers, "workers at once, 1 to 10")
	f.IntVar(&b.settings.Retries, "retries", 3, "how often a feature is tried again")
	f.Float64Var(&b.settings.Budget, "budget", 0, "pause when all workers together have cost this many `USD`; 0: no limit")
	f.StringVar(&b.settings.Role, "role", "", "role of workers whose feature names none (default: session.agentRole)")
	f.StringVarP(&b.settings.Model, "model", "m", "", "model of the workers")
	f.StringVar(&b.settings.Runner, "runner", runner.Claude, "with what workers work: "+strings.Join(runner.Names(), ", "))
	f.StringVar(&b.settings.Strategy, "strategy", string(schedule.Adaptive),
		"which ready feature is first: adaptive, breadth-first or depth-first")
	f.StringVar(&b.command, "command", "", "the `COMMAND` of the runner command; it has its task on its input, and runs in the sandbox")
	return c
}

// begin begins a session.
func (a *app) begin(ctx context.Context, o *opened, b *begin, args []string) error {
	if err := b.check(); err != nil {
		return err
	}
	p, problems, err := a.plan(b.task, args)
	if err != nil {
		return err
	}
	if err := a.refuse(problems); err != nil {
		return err
	}
	if err := a.settle(o, b, p); err != nil {
		return err
	}
	s := &book.Session{ID: "s" + strconv.FormatInt(time.Now().UnixMilli(), 36), Task: text.Truncate(b.task, 4000), State: book.Going,
		Settings: b.settings}
	for _, f := range p.Features {
		s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
	}
	g, err := o.ground(ctx, s.ID)
	if err != nil {
		return err
	}
	head, branch, err := g.Head(ctx)
	if err != nil {
		return err
	}
	s.Base, s.Target, s.Branch = string(head), branch, g.Branch()
	if err := o.Begin(ctx, s); err != nil {
		return err
	}
	if err := g.Begin(ctx, head); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(shown{Session: s, Features: s.Features})
	}
	fmt.Fprintf(a.Out, "session %s: %s on the branch %s\n\n", s.ID, text.Count(len(s.Features), "feature"), s.Branch)
	if err := a.picture(s); err != nil {
		return err
	}
	if err := present(a.Environ, s.Settings.Runner); err != nil {
		fmt.Fprintf(a.Err, "myc: warning: %s\nhint: %s\n", text.Visible(err.Error()), text.HintOf(err))
	}
	fmt.Fprintf(a.Out, "\nNext: myc swarm auto starts the workers\n")
	return nil
}

// check refuses what does not fit together.
func (b *begin) check() (err error) {
	s := &b.settings
	switch {
	case s.Workers < 1 || s.Workers > 10:
		return failure.Usagef("--workers is from 1 to 10")
	case s.Retries < 0 || s.Budget < 0:
		return failure.Usagef("--retries and --budget are not negative")
	case !slices.Contains(runner.Names(), s.Runner):
		return failure.Usagef("--runner: %q is not one of %s", s.Runner, strings.Join(runner.Names(), ", "))
	case !slices.Contains(schedule.Strategies(), schedule.Strategy(s.Strategy)):
		return failure.Usagef("--strategy: %q is not one of adaptive, breadth-first, depth-first", s.Strategy)
	case (s.Runner == runner.Command) != (b.command != ""):
		return failure.Usagef("--runner command and --command go together")
	}
	if b.command != "" {
		if s.Command, err = plan.Words(b.command); err != nil || len(s.Command) == 0 {
			return failure.Usagef("--command: %w", cmp.Or(err, errors.New("it is empty")))
		}
	}
	if err := affordable(s.Runner, s.Budget); err != nil && s.Runner != runner.Command {
		return err
	}
	for _, v := range b.verify {
		argv, err := plan.ParseCommand(v)
		if err != nil || len(argv) == 0 {
			return failure.Usagef("--verify: %w", cmp.Or(err, errors.New("it is empty")))
		}
		s.Verify = append(s.Verify, argv)
	}
	return nil
}
