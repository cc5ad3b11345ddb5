package swarm

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/drive"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/review"
	"mycelium/internal/text"
)

func reviewCmd(a *app) *cobra.Command {
	var types []string
	var force bool
	c := &cobra.Command{Use: "review", Short: "Have what has landed reviewed, and mend what was found", Args: base.NoArgs,
		Long: "A reviewer is a worker that only reads. There is one for the code and one for the architecture. They begin by themselves\n" +
			"when nothing is left to be done, unless the settings say otherwise. This command begins them now, and drives the session\n" +
			"until they have ended, if nobody drives it. What they find changes nothing until you choose it: myc swarm review implement.",
		Example: "  myc swarm review --type code\n  myc swarm review show\n  myc swarm review implement 0 2",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "have the swarm reviewed", func(o *open.Swarm, s *book.Session) error {
				return a.review(c.Context(), o, s, types, force)
			})
		}}
	c.Flags().StringSliceVar(&types, "type", nil, "code or architecture (default: those of the settings)")
	c.Flags().BoolVar(&force, "force", false, "review again what was reviewed")
	drive.WorkerFlags(a.App, c)
	c.AddCommand(reviewStatusCmd(a), reviewShowCmd(a), reviewImplementCmd(a), reviewSettingsCmd(a))
	return c
}

// review has what has landed reviewed.
func (a *app) review(ctx context.Context, o *open.Swarm, s *book.Session, types []string, force bool) error {
	if err := s.CheckClosed(); err != nil {
		return err
	}
	driver, err := o.Driver(ctx, s.ID)
	if err != nil {
		return err
	}
	if s, err = o.Review(ctx, s.ID, types, force); err != nil {
		return err
	}
	if driver != "" {
		fmt.Fprintf(a.Out, "The reviews begin: %s drives the session. myc swarm review show has what they find\n", text.OneLine(driver))
		return nil
	}
	return a.auto(ctx, o, s, false)
}

func reviewStatusCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Show how far the reviews are", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "see the reviews", func(_ *open.Swarm, s *book.Session) error {
				if a.JSON {
					return a.PrintJSON(review.Last(s))
				}
				a.Facts([][]string{{"reviews", review.Settings(s.Settings.Reviews)}, {"overall", base.OrDash(string(s.Overall()))}})
				var rows [][]string
				for _, r := range review.Last(s).Reviews {
					said := r.Reason
					found := ""
					if r.Findings != nil {
						said, found = r.Findings.Summary, review.Result(r)
					}
					rows = append(rows, []string{review.Label(r.Type), words(r.State), strconv.Itoa(r.N), base.OrDash(found), fmt.Sprintf("$%.2f", r.Cost),
						base.OrDash(text.Flatten(said))})
				}
				fmt.Fprintln(a.Out)
				a.Table(base.Column{Name: "REVIEW"}, base.Column{Name: "STATE"}, base.Column{Name: "TRY"}, base.Column{Name: "FOUND"},
					base.Column{Name: "COST", Drop: 1}, base.Column{Name: "WHAT", Least: 20}).Print(rows...)
				return nil
			})
		}}
}

func reviewShowCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "show", Short: "Show what the reviews found", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "see the reviews", func(_ *open.Swarm, s *book.Session) error {
				if a.JSON {
					return a.PrintJSON(review.Last(s))
				}
				all := review.Last(s)
				if len(all.Reviews) == 0 {
					return failure.New(failure.NotFound, fmt.Errorf("nothing was reviewed"), "myc swarm review begins it")
				}
				issues, err := review.Issues(s, review.Choice{Min: book.Info})
				if err != nil {
					return err
				}
				for _, r := range all.Reviews {
					head, body := review.Told(r, issues)
					fmt.Fprintf(a.Out, "%s\n%s\n", a.Paint(base.Bold, head), body)
				}
				return nil
			})
		}}
}
