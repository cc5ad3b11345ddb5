package swarm

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
)

func featureCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "show FEATURE", Short: "Show a feature, and what git knows of its work", Args: base.ArgRange(1, 1, "a feature"),
		Long: "What has landed is shown by its commits, files and lines, and the SHA-256 of the difference. Of work that has not\n" +
			"landed, the files are shown that were not committed, and whether its branch was there.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "see a feature", func(_ *open.Swarm, s *book.Session) error {
				f, err := ops.Find(s, args[0])
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(f)
				}
				a.feature(f)
				return nil
			})
		}}
}

// feature prints a feature.
func (a *app) feature(f *book.Feature) {
	rows := [][]string{{"feature", f.ID}, {"what", text.Flatten(f.Description)}, {"state", words(f.State)}}
	if f.Reason != "" {
		rows = append(rows, []string{"why", text.Flatten(f.Reason)})
	}
	p := f.Proof
	if t := f.Last(); t != nil {
		rows = append(rows, []string{"attempts", fmt.Sprint(len(f.Attempts))})
		p = cmp.Or(p, t.Proof)
	}
	if f.TakenBack != "" {
		rows = append(rows, []string{"taken back", "by " + f.TakenBack})
	}
	if p != nil {
		rows = append(rows, proofRows(p)...)
	}
	a.Facts(rows)
}

// proofRows are what git knows of work.
func proofRows(p *book.Proof) [][]string {
	branch := "was there, and the worktree on it"
	if !p.Branch {
		branch = "was not there, or the worktree not on it"
	}
	rows := [][]string{{"before", p.Before}, {"after", p.After}, {"branch", branch},
		{"changed", fmt.Sprintf("%s, %s added, %d deleted", text.Count(p.Changed, "file"), text.Count(p.Added, "line"), p.Deleted)}}
	var names []string
	for _, f := range p.Files {
		name := text.OneLine(f.Path)
		if f.Binary {
			name += " (binary)"
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		rows = append(rows, []string{"files", few(names, p.Changed)})
	}
	if n := len(p.Uncommitted); n > 0 {
		rows = append(rows, []string{"uncommitted", few(p.Uncommitted, n)})
	}
	return append(rows, []string{"diff", "sha256:" + p.Diff})
}

// mostShown is how many files are shown (requirements, CT2).
const mostShown = 5

// few are the first names of so many.
func few(names []string, of int) string {
	shown := text.OneLine(strings.Join(names[:min(len(names), mostShown)], ", "))
	if of > mostShown {
		shown += fmt.Sprintf(" and %d more", of-mostShown)
	}
	return shown
}
