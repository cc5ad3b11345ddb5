package swarm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
)

// collecting is what `myc swarm gc` is told.
type collecting struct {
	older               string
	unmerged, dry, sure bool
}

func gcCmd(a *app) *cobra.Command {
	var w collecting
	c := &cobra.Command{Use: "gc [SESSION]", Short: "Remove what git keeps of sessions that are closed, and that is needed no more",
		Args: base.ArgRange(0, 1, "a session"),
		Long: "Git keeps the commits of workers, snapshots and undo points of each session under refs/mycelium/. Nothing removes them but\n" +
			"this command: of sessions that were merged or given up, and that are older than --older-than; or of the one that you name,\n" +
			"whatever its age. What has something that is in no branch and no tag of yours stays, and so does the work of attempts that did\n" +
			"not land. To remove that too, name the session, with --unmerged. Git frees the space when it collects its garbage.",
		Example: "  myc swarm gc --dry-run\n  myc swarm gc --older-than 7d\n  myc swarm gc smig1x2yz --unmerged",
		RunE: func(c *cobra.Command, args []string) error {
			o, err := a.Open(c.Context(), "remove what the swarm keeps")
			if err != nil {
				return err
			}
			defer o.Close()
			return a.collect(c.Context(), o, args, w)
		}}
	c.Flags().StringVar(&w.older, "older-than", "30d", "an age such as 7d or 12h, since anything was done with the session")
	c.Flags().BoolVar(&w.unmerged, "unmerged", false, "of the session that is named, also what is nowhere else")
	c.Flags().BoolVarP(&w.dry, "dry-run", "n", false, "only show what would be removed, and what stays")
	c.Flags().BoolVarP(&w.sure, "yes", "y", false, "with --unmerged: do not ask")
	return c
}

// collect shows what may go, and removes it.
func (a *app) collect(ctx context.Context, o *open.Swarm, args []string, w collecting) error {
	all, err := remains(ctx, o, args, w)
	if err != nil {
		return err
	}
	if w.unmerged && !w.dry && !w.sure {
		ask := fmt.Sprintf("Remove %s of session %s? What is in no branch of yours is lost then.", text.Count(len(all[0].Gone), "ref"), args[0])
		if !a.Confirm(ask) {
			return failure.Hint(errors.New("nothing was removed"), "--dry-run shows it; --yes removes it without a question")
		}
	}
	if !w.dry {
		for _, r := range all {
			if err := o.Remove(ctx, r); err != nil {
				return err
			}
		}
	}
	if a.JSON {
		return a.PrintJSON(collected{!w.dry, all})
	}
	if len(all) == 0 {
		fmt.Fprintf(a.Out, "git keeps nothing of sessions that were closed, and with which nothing was done for %s\n", text.OneLine(w.older))
		return nil
	}
	a.remains(all, w.dry, len(args) > 0)
	if len(args) > 0 {
		a.refs(all[0], w.dry)
	}
	return nil
}

// collected is what was removed, or would be, for programs.
type collected struct {
	Removed  bool          `json:"removed"`
	Sessions []ops.Remains `json:"sessions"`
}

// remains are what git keeps of the session that is named, else of those that are old.
func remains(ctx context.Context, o *open.Swarm, args []string, w collecting) ([]ops.Remains, error) {
	if len(args) == 0 {
		before, err := base.ParseTime(w.older)
		if err != nil || w.older == "" {
			return nil, failure.Usagef("--older-than: %q is no age such as 30d or 12h", w.older)
		}
		if w.unmerged {
			return nil, failure.Usagef("--unmerged is of one session: name it")
		}
		return o.Remains(ctx, before)
	}
	s, err := o.Read(ctx, args[0])
	if err != nil {
		return nil, failure.New(failure.NotFound, err, "myc swarm gc --dry-run --older-than 0h lists those of which git keeps something")
	}
	r, err := o.RemainsOf(ctx, s, w.unmerged)
	return []ops.Remains{r}, err
}

// remains prints what goes and what stays of sessions.
func (a *app) remains(all []ops.Remains, dry, named bool) {
	goes := "REMOVED"
	if dry {
		goes = "WOULD GO"
	}
	var rows [][]string
	stay := 0
	for _, r := range all {
		stay += len(r.Stay)
		rows = append(rows, []string{r.Session, words(r.State), r.Changed.Local().Format(time.DateOnly), strconv.Itoa(len(r.Gone)),
			size(r.Bytes), strconv.Itoa(len(r.Stay))})
	}
	a.Table(base.Column{Name: "SESSION"}, base.Column{Name: "STATE"}, base.Column{Name: "LAST CHANGE", Drop: 1}, base.Column{Name: goes},
		base.Column{Name: "SIZE"}, base.Column{Name: "STAY"}).Print(rows...)
	if stay > 0 && !named {
		fmt.Fprintln(a.Out, "\nWhat stays has something that is nowhere else: myc swarm gc SESSION --dry-run shows it")
	}
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// refs prints each ref of a session: what was removed as the command that brings it back while git has the commit.
func (a *app) refs(r ops.Remains, dry bool) {
	list := func(title, before string, refs []ground.Kept) {
		if len(refs) > 0 {
			fmt.Fprintf(a.Out, "\n%s\n", title)
		}
		for _, k := range refs {
			fmt.Fprintf(a.Out, "  %s%s %s\n", before, k.Ref, k.Commit)
		}
	}
	if dry {
		list("Would go:", "", r.Gone)
	} else {
		list("Removed. Until git collects its garbage, this brings them back:", "git update-ref ", r.Gone)
	}
	list("Stays, because it has something that is nowhere else (--unmerged removes it):", "", r.Stay)
}
