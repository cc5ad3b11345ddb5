package swarm

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// begin is what `myc swarm init` was asked for.
type begin struct {
	task     string
	verify   []string
	settings book.Settings
	command  string
}

func (a *app) initCmd() *cobra.Command {
	var b begin
	c := &cobra.Command{Use: "init [PLAN]", Short: "Begin a session from a plan", Args: base.ArgRange(0, 1, "a file"),
		Long: "PLAN is Markdown (.md), features as data (.yaml, .json), or a list in words; - reads it from the input. With --task the list is\n" +
			"given in words. Nothing is started: myc swarm auto does that. The session works on a branch of its own, which begins at the\n" +
			"commit that is checked out; what is not committed there is not in it.",
		Example: "  myc swarm init plan.md --verify \"go test ./...\"\n  myc swarm init --task \"- add a parser\n- add a printer\" --workers 2",
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
	f.IntVar(&b.settings.Workers, "workers", 3, "workers at once, 1 to 10")
	f.IntVar(&b.settings.Retries, "retries", 3, "how often a feature is tried again")
	f.Float64Var(&b.settings.Budget, "budget", 0, "pause when all workers together have cost this many `USD`; 0: no limit")
	f.StringVar(&b.settings.Role, "role", "", "role of workers whose feature names none (default: session.agentRole)")
	f.StringVarP(&b.settings.Model, "model", "m", "", "model of the workers")
	f.StringVar(&b.settings.Runner, "runner", runnerClaude, "claude, or command")
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
	case !slices.Contains([]string{runnerClaude, runnerCommand}, s.Runner):
		return failure.Usagef("--runner: %q is not one of claude, command", s.Runner)
	case (s.Runner == runnerCommand) != (b.command != ""):
		return failure.Usagef("--runner command and --command go together")
	}
	if b.command != "" {
		if s.Command, err = words(b.command); err != nil {
			return err
		}
	}
	for _, v := range b.verify {
		argv, err := words(v)
		if err != nil {
			return err
		}
		s.Verify = append(s.Verify, argv)
	}
	return nil
}

// maxPlan bounds a plan on the input, in bytes.
const maxPlan = 1 << 20

// plan reads the plan.
func (a *app) plan(task string, args []string) (plan.Plan, []policy.Problem, error) {
	switch {
	case (task != "") == (len(args) > 0):
		return plan.Plan{}, nil, failure.Usagef("name a file with the plan, or give it with --task")
	case task != "":
		p, problems := plan.FromTask(task, nil)
		return p, problems, nil
	case args[0] == "-":
		b, err := io.ReadAll(io.LimitReader(a.In, maxPlan))
		if err != nil {
			return plan.Plan{}, nil, fmt.Errorf("read the plan from the input: %w", err)
		}
		p, problems := plan.FromTask(string(b), nil)
		return p, problems, nil
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return plan.Plan{}, nil, failure.New(failure.Usage, fmt.Errorf("read the plan: %w", err), "")
	}
	p, problems := plan.Read(args[0], b)
	return p, problems, nil
}

// refuse prints what is wrong with a plan.
func (a *app) refuse(problems []policy.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	for _, p := range problems {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
	return failure.New(failure.Config, fmt.Errorf("%s in the plan", text.Count(len(problems), "problem")), "")
}

// settle finds the roles of the workers, and refuses roles that do not exist.
func (a *app) settle(o *opened, b *begin, p plan.Plan) error {
	if b.settings.Role == "" {
		b.settings.Role = o.project.File.Session.RoleOfAgent()
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	for _, f := range p.Features {
		role := f.Role
		if role == "" {
			role = b.settings.Role
		}
		if role == "" {
			return failure.Hint(fmt.Errorf("feature %s has no role, so its worker could use nothing", f.ID), "--role, or session.agentRole in mycelium.yaml")
		}
		if !slices.Contains(v.Policy.Roles(), role) {
			hint := "myc roles lists them"
			if near := text.Nearest(role, v.Policy.Roles()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return failure.Hint(fmt.Errorf("feature %s: there is no role %q", f.ID, role), hint)
		}
	}
	return nil
}

func (a *app) planCmd() *cobra.Command {
	return &cobra.Command{Use: "plan [FILE]", Short: "Check a plan, or show that of the session, as a schedule", Args: base.ArgRange(0, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.with(c.Context(), "see the plan", func(_ *opened, s *book.Session) error { return a.picture(s) })
			}
			p, problems, err := a.plan("", args)
			if err == nil {
				err = a.refuse(problems)
			}
			if err != nil {
				return err
			}
			s := &book.Session{Settings: book.Settings{Workers: 3}}
			for _, f := range p.Features {
				s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
			}
			return a.picture(s)
		}}
}

func (a *app) mergeCmd() *cobra.Command {
	var into string
	c := &cobra.Command{Use: "merge [FEATURE]", Short: "Take what has landed into your branch, or let a feature land that waits",
		Args: base.ArgRange(0, 1, "a feature"),
		Long: "Without an argument your branch is moved forward to that of the session, if it has not moved since. With a feature that waits\n" +
			"because it changes files that govern agents, that feature may land.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), "merge", func(o *opened, s *book.Session) error {
				if len(args) > 0 {
					return a.accept(c.Context(), o, s, args[0])
				}
				return a.handOver(c.Context(), o, s, into)
			})
		}}
	c.Flags().StringVar(&into, "into", "", "the `BRANCH` that is moved (default: the one that was checked out at init)")
	return c
}

// handOver moves the person's branch forward.
func (a *app) handOver(ctx context.Context, o *opened, s *book.Session, into string) error {
	if into == "" {
		into = s.Target
	}
	if into == "" {
		return failure.Usagef("no branch was checked out at init: name one with --into")
	}
	g, err := o.ground(ctx, s.ID)
	if err != nil {
		return err
	}
	tip, err := g.HandOver(ctx, into)
	if err != nil {
		return err
	}
	if _, err := o.Change(ctx, s.ID, "", func(*book.Session) ([]book.Event, error) {
		return []book.Event{{Kind: "session", Text: fmt.Sprintf("a person took it into %s, at %.12s", into, tip)}}, nil
	}); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is at %.12s now\n", into, tip)
	if s.Open() {
		return nil
	}
	return g.End(ctx)
}

// accept lets a feature land that changes governing files.
func (a *app) accept(ctx context.Context, o *opened, s *book.Session, feature string) error {
	if _, err := find(s, feature); err != nil {
		return err
	}
	_, err := o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		f, err := s.Feature(feature)
		if err != nil {
			return nil, err
		}
		t := f.Last()
		if f.State != book.Waiting || t == nil || t.Tip == "" {
			return nil, fmt.Errorf("feature %s does not wait to be merged: it is %s", feature, strings.ReplaceAll(string(f.State), "_", " "))
		}
		f.State, f.Reason, f.Accepted = book.Queued, "", t.Tip
		return []book.Event{{Kind: "feature", Feature: feature, Attempt: t.N, Text: "a person lets it land"}}, nil
	})
	return err
}
