package swarm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/review"
)

func reviewImplementCmd(a *app) *cobra.Command {
	var choice review.Choice
	var least string
	c := &cobra.Command{Use: "implement [INDEX]...", Short: "Make features of issues that the reviews found", Args: base.ArgRange(0, 1000,
		"the numbers of issues"),
		Long: "Without a number and without --all the issues are listed. Each file, or each category, becomes a feature fix-N, whose worker\n" +
			"is told the issues. The session goes on with them: myc swarm auto.",
		Example: "  myc swarm review implement --min-severity error\n  myc swarm review implement 0 2\n" +
			"  myc swarm review implement --all --type code",
		RunE: func(c *cobra.Command, args []string) error {
			choice.Min = book.Level(least)
			for _, arg := range args {
				n, err := strconv.Atoi(arg)
				if err != nil {
					return failure.Usagef("%q is no number of an issue", arg)
				}
				choice.Indices = append(choice.Indices, n)
			}
			return a.With(c.Context(), "have issues mended", func(o *open.Swarm, s *book.Session) error {
				if !choice.All && len(choice.Indices) == 0 {
					return a.issues(s, choice)
				}
				ids, err := o.Implement(c.Context(), s.ID, choice)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Out, "%s\nNext: myc swarm auto has them worked off\n", strings.Join(ids, ", "))
				return nil
			})
		}}
	f := c.Flags()
	f.BoolVar(&choice.All, "all", false, "all that the other flags leave, and that no feature mends yet")
	f.StringVar(&least, "min-severity", string(book.Warning), "the least severity: info, warning or error")
	f.StringVar(&choice.Type, "type", "", "code or architecture (default: both)")
	f.StringVar(&choice.By, "by", "file", "what makes a feature of several issues: file, or category")
	return c
}

// issues lists the issues that a choice leaves.
func (a *app) issues(s *book.Session, c review.Choice) error {
	found, err := review.Issues(s, c)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(found)
	}
	for _, i := range found {
		fmt.Fprint(a.Out, i.Told())
	}
	if len(found) == 0 {
		fmt.Fprintln(a.Out, "No issue is that severe.")
		return nil
	}
	fmt.Fprintln(a.Out, "\nNext: myc swarm review implement INDEX… makes features of some, --all of these")
	return nil
}

func reviewSettingsCmd(a *app) *cobra.Command {
	d := review.Defaults()
	c := &cobra.Command{Use: "settings", Short: "Show or change which reviews the session has", Args: base.NoArgs,
		Example: "  myc swarm review settings\n  myc swarm review settings --architecture=false\n  myc swarm review settings --enabled=false",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "change the reviews", func(o *open.Swarm, s *book.Session) (err error) {
				if c.Flags().NFlag() > 0 {
					if s, err = o.Configure(c.Context(), s.ID, changed(c, d)); err != nil {
						return err
					}
				}
				if a.JSON {
					return a.PrintJSON(s.Settings.Reviews)
				}
				fmt.Fprintf(a.Out, "reviews: %s\n", review.Settings(s.Settings.Reviews))
				return nil
			})
		}}
	f := c.Flags()
	f.BoolVar(&d.Enabled, "enabled", d.Enabled, "there are reviews")
	f.BoolVar(&d.Code, "code", d.Code, "of the code")
	f.BoolVar(&d.Architecture, "architecture", d.Architecture, "of the architecture")
	f.BoolVar(&d.SkipOnFailure, "skip-on-failure", d.SkipOnFailure, "none where a feature has failed")
	f.BoolVar(&d.AutoTrigger, "auto", d.AutoTrigger, "they begin by themselves when nothing is left to be done")
	return c
}

// changed is the change that the flags ask for that were given.
func changed(c *cobra.Command, to book.Reviews) review.Change {
	given := func(name string, value *bool) *bool {
		if c.Flags().Changed(name) {
			return value
		}
		return nil
	}
	return review.Change{Enabled: given("enabled", &to.Enabled), Code: given("code", &to.Code),
		Architecture: given("architecture", &to.Architecture), SkipOnFailure: given("skip-on-failure", &to.SkipOnFailure),
		AutoTrigger: given("auto", &to.AutoTrigger)}
}
