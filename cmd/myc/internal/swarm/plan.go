package swarm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

func planCmd(a *app) *cobra.Command {
	var programs []string
	c := &cobra.Command{Use: "plan [FILE]", Short: "Check a plan, or show that of the session, as a schedule", Args: base.ArgRange(0, 1,
		"a file"),
		Example: "  myc swarm plan plan.md\n  myc swarm plan add \"translate the messages\" --depends parser",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.with(c.Context(), "see the plan", func(_ *opened, s *book.Session) error { return a.picture(s) })
			}
			p, problems, err := a.plan("", args, programs)
			if err == nil {
				err = a.refuse(problems)
			}
			if err != nil {
				return err
			}
			s := &book.Session{Settings: book.Settings{Workers: defaultWorkers}}
			for _, f := range p.Features {
				s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
			}
			return a.picture(s)
		}}
	allowFlag(c, &programs)
	c.AddCommand(planAddCmd(a), planDependCmd(a))
	return c
}

func planAddCmd(a *app) *cobra.Command {
	var f plan.Feature
	var after string
	c := &cobra.Command{Use: "add DESCRIPTION", Short: "Add a feature to the session", Args: base.ArgRange(1, 1, "a description"),
		Example: "  myc swarm plan add \"translate the messages\" --id i18n --depends parser,printer",
		RunE: func(c *cobra.Command, args []string) error {
			f.Description = args[0]
			return a.replan(c, "add a feature", func(p plan.Plan) (plan.Plan, string, error) {
				p, err := p.Add(f, after)
				return p, "a person added a feature: " + f.Description, err
			})
		}}
	c.Flags().StringVar(&f.ID, "id", "", "its id (default: feature-N)")
	c.Flags().StringVar(&after, "after", "", "the `FEATURE` behind which it stands (default: the last)")
	c.Flags().StringSliceVar(&f.DependsOn, "depends", nil, "the `FEATURES` that must have landed before")
	c.Flags().StringVar(&f.Role, "role", "", "role of its worker")
	return c
}

func planDependCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "depend FEATURE [ON]...", Short: "Say what must have landed before a feature; nothing: it waits for none",
		Args: base.ArgRange(1, 1000, "a feature, and features"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.replan(c, "change dependencies", func(p plan.Plan) (plan.Plan, string, error) {
				p, err := p.Depend(args[0], args[1:])
				return p, args[0] + " depends on " + base.OrDash(strings.Join(args[1:], ", ")) + " now", err
			})
		}}
}

// replan changes the plan of the session. What a worker has begun keeps its dependencies.
func (a *app) replan(c *cobra.Command, act string, f func(plan.Plan) (p plan.Plan, what string, err error)) error {
	return a.changed(c.Context(), act, func(s *book.Session) ([]book.Event, error) {
		if err := reopenable(s); err != nil {
			return nil, err
		}
		p, what, err := f(swarm.PlanOf(s))
		if err != nil {
			return nil, err
		}
		old := s.Features
		s.Features = nil
		for _, n := range p.Features {
			i := slices.IndexFunc(old, func(f *book.Feature) bool { return f.ID == n.ID })
			if i < 0 {
				s.Features = append(s.Features, &book.Feature{Feature: n, State: book.Pending})
				continue
			}
			if len(old[i].Attempts) > 0 && !slices.Equal(old[i].DependsOn, n.DependsOn) {
				return nil, failure.Hint(fmt.Errorf("feature %s has been given to a worker already", n.ID),
					"add a feature that depends on it")
			}
			old[i].Feature = n
			s.Features = append(s.Features, old[i])
		}
		if s.State == book.Completed || s.State == book.Faulty {
			s.State = book.Going
		}
		return []book.Event{{Kind: "plan", Text: what}}, nil
	})
}
