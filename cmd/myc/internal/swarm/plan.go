package swarm

import (
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
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
				return a.With(c.Context(), "see the plan", func(_ *open.Swarm, s *book.Session) error { return a.picture(s) })
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
	c.AddCommand(planAddCmd(a), planDependCmd(a), planCompeteCmd(a), planShowCmd(a), planChooseCmd(a), planRouteCmd(a), planContextCmd(a))
	return c
}

func planAddCmd(a *app) *cobra.Command {
	var f plan.Feature
	var after string
	c := &cobra.Command{Use: "add DESCRIPTION", Short: "Add a feature to the session", Args: base.ArgRange(1, 1, "a description"),
		Example: "  myc swarm plan add \"translate the messages\" --id i18n --depends parser,printer",
		RunE: func(c *cobra.Command, args []string) error {
			f.Description = args[0]
			return a.With(c.Context(), "add a feature", func(o *open.Swarm, s *book.Session) error {
				_, err := o.Add(c.Context(), s.ID, f, after)
				return err
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
			return a.With(c.Context(), "change dependencies", func(o *open.Swarm, s *book.Session) error {
				return o.Depend(c.Context(), s.ID, args[0], args[1:])
			})
		}}
}
