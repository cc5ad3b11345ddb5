package project

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Print what each change of the files does, and for which role",
		Long: "Watch the project's files. After each change, print which tools each role gained and lost, or what is wrong. A running\n" +
			"daemon reloads the files by itself; if a file is broken, it keeps the last policy that loaded.",
		Example: "  myc watch", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.watch(c.Context()) },
	}
}

// watchEvent is one change as JSON Lines.
type watchEvent struct {
	Time    time.Time            `json:"time"`
	OK      bool                 `json:"ok"`
	Changed []project.RoleChange `json:"changed"`
	Problem []base.ProblemShape  `json:"problems"`

	Sessions []sessionLoss `json:"sessions,omitempty"` // live sessions that lose tools
}

// sessionLoss is what a live session loses.
type sessionLoss struct {
	ID   string   `json:"id"`
	Role string   `json:"role"`
	Lost []string `json:"lost"`
}

// losses returns what the live sessions of the daemon lose between two views. Without a daemon there are none.
func (a *app) losses(ctx context.Context, next, last *project.View) (out []sessionLoss) {
	c, err := a.Running(ctx)
	if err != nil || c == nil {
		return nil
	}
	defer c.Close()
	live, err := base.Call(ctx, c, api.SessionList, api.None{})
	if err != nil {
		return nil
	}
	for _, s := range live {
		if lost := project.Lost(last.Policy, next.Policy, s.Role, s.Skills); len(lost) > 0 {
			out = append(out, sessionLoss{s.ID, s.Role, lost})
		}
	}
	return out
}

func (a *app) watch(ctx context.Context) error {
	a.OnDisk = true
	last, err := a.OpenView()
	if err != nil {
		return err
	}
	defer last.Close()
	if err := a.printWatch(ctx, last, nil); err != nil {
		return err
	}
	var failed error
	err = config.Watch(ctx, last.Project, func() {
		next, err := a.OpenView()
		if err != nil {
			failed = err
			return
		}
		defer next.Close() // the view stays readable for the comparison after this
		if err := a.printWatch(ctx, next, last); err != nil {
			failed = err
		}
		if next.Broken() == "" {
			last = next // the next view is compared with the last good one
		}
	})
	if ctx.Err() != nil {
		return nil // the person has ended it
	}
	if failed != nil {
		return failed
	}
	return err
}

// printWatch prints what is new in next compared with last. Without last it prints the state at the start.
func (a *app) printWatch(ctx context.Context, next, last *project.View) error {
	e := watchEvent{Time: time.Now(), OK: next.Broken() == "", Changed: []project.RoleChange{}, Problem: []base.ProblemShape{}}
	problems := append(slices.Clone(next.Problems), next.Names()...)
	for _, p := range problems {
		e.Problem = append(e.Problem, base.ShapeOf(p))
	}
	if last != nil && e.OK {
		e.Changed = slices.DeleteFunc(next.Changes(last.Policy, next.Policy),
			func(r project.RoleChange) bool { return len(r.Added)+len(r.Removed) == 0 })
		e.Sessions = a.losses(ctx, next, last)
	}
	if a.JSON {
		return a.PrintLine(e)
	}
	stamp := e.Time.Format(time.TimeOnly)
	switch {
	case last == nil:
		fmt.Fprintf(a.Out, "%s watching %s (%s, %s)\n", stamp, next.Project.Dir, text.Count(len(next.Policy.Roles()), "role"),
			text.Count(len(next.Skills.Grants()), "skill"))
	case !e.OK:
		fmt.Fprintf(a.Out, "%s a file is broken: the last policy that loaded stays in force\n", stamp)
	case len(e.Changed) == 0:
		fmt.Fprintf(a.Out, "%s reloaded: no tool changed for anyone\n", stamp)
	default:
		fmt.Fprintf(a.Out, "%s reloaded\n", stamp)
	}
	for _, d := range e.Changed {
		for _, t := range d.Added {
			fmt.Fprintf(a.Out, "  %s + %s\n", d.Role, t)
		}
		for _, t := range d.Removed {
			fmt.Fprintf(a.Out, "  %s - %s\n", d.Role, t)
		}
	}
	for _, s := range e.Sessions {
		fmt.Fprintf(a.Out, "  session %s (%s) loses %s\n", s.ID, s.Role, strings.Join(s.Lost, ", "))
	}
	for _, p := range problems {
		fmt.Fprintf(a.Out, "  %s\n", project.ProblemText(p))
	}
	return nil
}
