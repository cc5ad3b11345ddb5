package swarm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/failure"
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
				var ids []string
				if _, err := o.Change(c.Context(), s.ID, "", func(s *book.Session) (events []book.Event, err error) {
					ids, events, err = review.Implement(s, choice)
					return events, err
				}); err != nil {
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
		a.issue(i)
	}
	if len(found) == 0 {
		fmt.Fprintln(a.Out, "No issue is that severe.")
		return nil
	}
	fmt.Fprintln(a.Out, "\nNext: myc swarm review implement INDEX… makes features of some, --all of these")
	return nil
}

func reviewSettingsCmd(a *app) *cobra.Command {
	var to book.Reviews
	c := &cobra.Command{Use: "settings", Short: "Show or change which reviews the session has", Args: base.NoArgs,
		Example: "  myc swarm review settings\n  myc swarm review settings --architecture=false\n  myc swarm review settings --enabled=false",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "change the reviews", func(o *open.Swarm, s *book.Session) (err error) {
				if c.Flags().NFlag() > 0 {
					if s, err = o.Change(c.Context(), s.ID, "", func(s *book.Session) ([]book.Event, error) {
						return review.Configure(s, changedReviews(c, s.Settings.Reviews, to)), nil
					}); err != nil {
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
	f.BoolVar(&to.Enabled, "enabled", true, "there are reviews")
	f.BoolVar(&to.Code, "code", true, "of the code")
	f.BoolVar(&to.Architecture, "architecture", true, "of the architecture")
	f.BoolVar(&to.SkipOnFailure, "skip-on-failure", false, "none where a feature has failed")
	f.BoolVar(&to.AutoTrigger, "auto", true, "they begin by themselves when nothing is left to be done")
	return c
}

// changedReviews are the settings with those changed whose flags were given.
func changedReviews(c *cobra.Command, r, to book.Reviews) book.Reviews {
	for name, of := range map[string]func(*book.Reviews) *bool{
		"enabled": func(r *book.Reviews) *bool { return &r.Enabled }, "code": func(r *book.Reviews) *bool { return &r.Code },
		"architecture":    func(r *book.Reviews) *bool { return &r.Architecture },
		"skip-on-failure": func(r *book.Reviews) *bool { return &r.SkipOnFailure },
		"auto":            func(r *book.Reviews) *bool { return &r.AutoTrigger },
	} {
		if c.Flags().Changed(name) {
			*of(&r) = *of(&to)
		}
	}
	return r
}
