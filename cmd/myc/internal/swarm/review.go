package swarm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/failure"
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
	c.Flags().BoolVar(&a.Anywhere, "unsafe-program", false, "run a myc that lies where an agent may write")
	c.AddCommand(reviewStatusCmd(a), reviewShowCmd(a), reviewImplementCmd(a), reviewSettingsCmd(a))
	return c
}

// review has what has landed reviewed.
func (a *app) review(ctx context.Context, o *open.Swarm, s *book.Session, types []string, force bool) error {
	if err := s.CheckClosed(); err != nil {
		return err
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return err
	}
	tip, err := g.Tip(ctx)
	if err != nil {
		return err
	}
	driver, err := o.Driver(ctx, s.ID)
	if err != nil {
		return err
	}
	if s, err = o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		return review.Ask(s, string(tip), types, force)
	}); err != nil {
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
					return a.PrintJSON(reviewed(s))
				}
				a.Facts([][]string{{"reviews", review.Settings(s.Settings.Reviews)}, {"overall", base.OrDash(string(s.Overall()))}})
				var rows [][]string
				for _, r := range reviewed(s).Reviews {
					said := r.Reason
					if r.Findings != nil {
						said = r.Findings.Summary
					}
					rows = append(rows, []string{review.Label(r.Type), words(r.State), strconv.Itoa(r.N), found(r), fmt.Sprintf("$%.2f", r.Cost),
						base.OrDash(text.Flatten(said))})
				}
				fmt.Fprintln(a.Out)
				a.Table(base.Column{Name: "REVIEW"}, base.Column{Name: "STATE"}, base.Column{Name: "TRY"}, base.Column{Name: "FOUND"},
					base.Column{Name: "COST", Drop: 1}, base.Column{Name: "WHAT", Least: 20}).Print(rows...)
				return nil
			})
		}}
}

// found is what a review found, in two words.
func found(r *book.Review) string {
	if r.Findings == nil {
		return base.OrDash("")
	}
	return string(r.Findings.Severity) + ", " + text.Count(len(r.Findings.Issues), "issue")
}

// reviews are the last reviews as commands print them for programs.
type reviews struct {
	Settings book.Reviews   `json:"settings"`
	Overall  book.Severity  `json:"overall,omitempty"`
	Reviews  []*book.Review `json:"reviews"`
}

func reviewed(s *book.Session) reviews {
	out := reviews{Settings: s.Settings.Reviews, Overall: s.Overall(), Reviews: []*book.Review{}}
	for _, t := range review.Names() {
		if r := s.Review(t); r != nil {
			out.Reviews = append(out.Reviews, r)
		}
	}
	return out
}

func reviewShowCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "show", Short: "Show what the reviews found", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "see the reviews", func(_ *open.Swarm, s *book.Session) error {
				if a.JSON {
					return a.PrintJSON(reviewed(s))
				}
				all := reviewed(s)
				if len(all.Reviews) == 0 {
					return failure.New(failure.NotFound, fmt.Errorf("nothing was reviewed"), "myc swarm review begins it")
				}
				issues, err := review.Issues(s, review.Choice{Min: book.Info})
				if err != nil {
					return err
				}
				for _, r := range all.Reviews {
					a.findings(r, issues)
				}
				return nil
			})
		}}
}

// findings prints one review.
func (a *app) findings(r *book.Review, issues []review.Found) {
	fmt.Fprintf(a.Out, "%s of the %s, of %.12s: %s\n", a.Paint(base.Bold, "Review"), r.Type, r.Base, found(r))
	if r.Findings == nil {
		fmt.Fprintf(a.Out, "  %s\n\n", text.OneLine(strings.TrimSpace(words(r.State)+" "+r.Reason)))
		return
	}
	fmt.Fprintf(a.Out, "  %s\n", text.Flatten(r.Findings.Summary))
	for _, i := range issues {
		if i.Type == r.Type {
			a.issue(i)
		}
	}
	for _, s := range r.Findings.Recommendations {
		fmt.Fprintf(a.Out, "  - %s\n", text.Flatten(s))
	}
	for _, s := range r.Notes {
		fmt.Fprintf(a.Out, "  (%s)\n", text.OneLine(s))
	}
	fmt.Fprintln(a.Out)
}

// issue prints one issue, with the number by which it is chosen.
func (a *app) issue(i review.Found) {
	where := ""
	if i.File != "" {
		where = " " + i.File
		if i.Line > 0 {
			where += ":" + strconv.Itoa(i.Line)
		}
	}
	if i.Feature != "" {
		where += " (mended by " + i.Feature + ")"
	}
	fmt.Fprintf(a.Out, "  %d  %s, %s%s: %s\n", i.Index, i.Severity, i.Category, text.OneLine(where), text.Flatten(i.Message))
	if i.Suggestion != "" {
		fmt.Fprintf(a.Out, "     → %s\n", text.Flatten(i.Suggestion))
	}
}
