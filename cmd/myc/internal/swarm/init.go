package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/review"
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
	yes      bool // what a model divides is accepted
	quiet    bool // no reviews
}

func initCmd(a *app) *cobra.Command {
	var b begin
	c := &cobra.Command{Use: "init [PLAN]", Short: "Begin a session from a plan", Args: base.ArgRange(0, 1, "a file"),
		Long: "PLAN is Markdown (.md), features as data (.yaml, .json), or a list in words; - reads it from the input. With --task\n" +
			"the list is given in words; a task that is no list is divided into features by a model, and you are asked whether they are\n" +
			"what you mean. Nothing is started: myc swarm auto does that. The session works on a branch of its own,\n" +
			"which begins at the commit that is checked out; what is not committed there is not in it.",
		Example: "  myc swarm init plan.md --verify \"go test ./...\"\n  myc swarm init --task \"- add a parser\n- add a printer\" " +
			"--workers 2",
		RunE: func(c *cobra.Command, args []string) error {
			o, err := a.Open(c.Context(), "begin a session of the swarm")
			if err != nil {
				return err
			}
			defer o.Close()
			return a.begin(c.Context(), o, &b, args)
		}}
	f := c.Flags()
	f.StringVar(&b.task, "task", "", "the features in words, one a line")
	f.StringArrayVar(&b.verify, "verify", nil, "a `COMMAND` that each landing must pass, in the sandbox; may be given again")
	allowFlag(c, &b.settings.Programs)
	f.IntVar(&b.settings.Workers, "workers", defaultWorkers, "workers at once, 1 to 10")
	f.IntVar(&b.settings.Retries, "retries", 3, "how often a feature is tried again")
	f.Float64Var(&b.settings.Budget, "budget", 0, "pause when all workers together have cost this many `USD`; 0: no limit")
	f.IntVar(&b.settings.Turns, "turns", 0, "a worker that needs more than this many answers of the model fails; 0: no limit")
	f.StringVar(&b.settings.Role, "role", "", "role of workers whose feature names none (default: session.agentRole)")
	f.StringVarP(&b.settings.Model, "model", "m", "", "model of the workers")
	f.StringVar(&b.settings.Runner, "runner", runner.Claude, "with what workers work: "+strings.Join(runner.Names(), ", "))
	f.StringVar(&b.settings.Strategy, "strategy", string(schedule.Adaptive),
		"which ready feature is first: adaptive, breadth-first or depth-first")
	f.IntVar(&b.settings.Planned, "plan-threshold", plan.Threshold,
		"complexity from which two planners compete for a feature before it is worked on, 1 to 100; 0: for none")
	f.StringVar(&b.settings.Judge, "judge", book.ByRubric, "rubric, or model: who says which of their plans is better")
	f.BoolVar(&b.settings.Bare, "no-material", false, "give workers no documents and files of the project to read")
	f.BoolVarP(&b.yes, "yes", "y", false, "with --task: take the features of the model without a question")
	f.BoolVar(&a.Anywhere, "unsafe-program", false, "with --task: run a myc that lies where an agent may write")
	f.StringVar(&b.command, "command", "", "the `COMMAND` of the runner command; it has its task on its input, and runs in the sandbox")
	f.BoolVar(&b.quiet, "no-reviews", false, "do not review what has landed (default: its code and its architecture, at the end)")
	return c
}

// allowFlag has a person allow programs that no list knows.
func allowFlag(c *cobra.Command, programs *[]string) {
	c.Flags().StringArrayVar(programs, "allow-program", nil,
		"a `PROGRAM` that --verify and verifyCommand may run besides the known ones; may be given again")
}

// begin begins a session.
func (a *app) begin(ctx context.Context, o *open.Swarm, b *begin, args []string) error {
	if err := b.check(); err != nil {
		return err
	}
	p, err := a.planFor(ctx, o, b, args)
	if err != nil {
		return err
	}
	s, err := o.Begin(ctx, b.task, b.settings, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(shown{Session: s, Features: s.Features})
	}
	fmt.Fprintf(a.Out, "session %s: %s on the branch %s\n\n", s.ID, text.Count(len(s.Features), "feature"), s.Branch)
	if err := a.picture(s); err != nil {
		return err
	}
	for _, lack := range s.Lacks {
		fmt.Fprintf(a.Out, "note: %s\n", text.Visible(lack))
	}
	if err := swarmed.Present(a.Environ, s.Settings.Runner); err != nil {
		fmt.Fprintf(a.Err, "myc: warning: %s\nhint: %s\n", text.Visible(err.Error()), text.HintOf(err))
	}
	fmt.Fprintf(a.Out, "\nreviews: %s\nNext: myc swarm auto starts the workers\n", review.Settings(s.Settings.Reviews))
	return nil
}

// planFor is the plan that a session begins with.
func (a *app) planFor(ctx context.Context, o *open.Swarm, b *begin, args []string) (plan.Plan, error) {
	if len(args) == 0 && b.task != "" && !plan.IsList(b.task) {
		return a.divide(ctx, o, b)
	}
	p, problems, err := a.plan(b.task, args, b.settings.Programs)
	if err == nil {
		err = a.refuse(problems)
	}
	if err == nil {
		err = a.settle(o, b, p)
	}
	return p, err
}

// check refuses what does not fit together.
func (b *begin) check() (err error) {
	s := &b.settings
	switch {
	case s.Workers < 1 || s.Workers > 10:
		return failure.Usagef("--workers is from 1 to 10")
	case s.Retries < 0 || s.Budget < 0 || s.Turns < 0:
		return failure.Usagef("--retries, --budget and --turns are not negative")
	case !slices.Contains(runner.Names(), s.Runner):
		return failure.Usagef("--runner: %q is not one of %s", s.Runner, strings.Join(runner.Names(), ", "))
	case s.Planned < 0 || s.Planned > 100:
		return failure.Usagef("--plan-threshold is from 0 to 100")
	case s.Judge != book.ByRubric && s.Judge != book.ByModel:
		return failure.Usagef("--judge: %q is neither rubric nor model", s.Judge)
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
	if err := swarmed.Affordable(s.Runner, s.Budget); err != nil && s.Runner != runner.Command {
		return err
	}
	if !b.quiet {
		s.Reviews = review.Defaults()
	}
	if s.Verify, err = ops.Commands(b.verify, s.Programs); err != nil {
		return failure.New(failure.Usage, fmt.Errorf("--verify: %w", err), text.HintOf(err))
	}
	return nil
}
