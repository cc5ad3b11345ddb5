package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mycelium/internal/config"
)

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Reload on change, and print what changed for whom",
		Long: "Watches the project's files. After each change it says which tools each role gained and lost, or what is wrong;\n" +
			"a running daemon reloads by itself, and keeps the last good policy when a file is broken.",
		Example: "  myc watch", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.watch(c.Context()) },
	}
}

// watchEvent is one change as JSON Lines.
type watchEvent struct {
	Time    time.Time      `json:"time"`
	OK      bool           `json:"ok"`
	Changed []previewRow   `json:"changed"`
	Problem []problemShape `json:"problems"`
}

func (a *app) watch(ctx context.Context) error {
	last, err := a.look()
	if err != nil {
		return err
	}
	defer last.close()
	if err := a.printWatch(last, nil); err != nil {
		return err
	}
	var failed error
	err = config.Watch(ctx, last.project, func() {
		next, err := a.look()
		if err != nil {
			failed = err
			return
		}
		defer next.close() // only its files are open, and nothing of it is used after this
		if err := a.printWatch(next, last); err != nil {
			failed = err
		}
		if !brokenFiles(next.project, next.problems) {
			last = next // the last good one is what the next is compared with
		}
	})
	if ctx.Err() != nil {
		return nil // ended by the person
	}
	if failed != nil {
		return failed
	}
	return err
}

// printWatch says what is new in next against last; nil last: the state at the start.
func (a *app) printWatch(next, last *view) error {
	e := watchEvent{Time: time.Now(), OK: !brokenFiles(next.project, next.problems), Changed: []previewRow{}, Problem: []problemShape{}}
	for _, p := range next.problems {
		e.Problem = append(e.Problem, problemShape{p.File, p.Line, p.Message, p.Hint})
	}
	if last != nil && e.OK {
		e.Changed = slices.DeleteFunc(next.changes(last.policy, next.policy), func(r previewRow) bool { return len(r.Added)+len(r.Removed) == 0 })
	}
	if a.json {
		return a.printLine(e)
	}
	stamp := e.Time.Format(time.TimeOnly)
	switch {
	case last == nil:
		fmt.Fprintf(a.out, "%s watching %s (%d roles, %d skills)\n", stamp, next.project.Dir, len(next.policy.Roles()), len(next.skills.Grants()))
	case !e.OK:
		fmt.Fprintf(a.out, "%s a file is broken: the last good policy stays in force\n", stamp)
	case len(e.Changed) == 0:
		fmt.Fprintf(a.out, "%s reloaded: no tool changed for anyone\n", stamp)
	default:
		fmt.Fprintf(a.out, "%s reloaded\n", stamp)
	}
	for _, d := range e.Changed {
		for _, t := range d.Added {
			fmt.Fprintf(a.out, "  %s + %s\n", d.Role, t)
		}
		for _, t := range d.Removed {
			fmt.Fprintf(a.out, "  %s - %s\n", d.Role, t)
		}
	}
	for _, p := range next.problems {
		fmt.Fprintf(a.out, "  %s\n", problemText(p))
	}
	return nil
}
