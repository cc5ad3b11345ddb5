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
	"mycelium/internal/op"
	"mycelium/internal/text"
)

func (a *app) watchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Print what each change of the files does, and for which role",
		Long: "Watch the project's files. After each change, print which tools each role gains and loses, or what is wrong: of files that\n" +
			"wait for `myc trust`, what they would change, and once they are accepted, what came into force. A running daemon reloads\n" +
			"the files by itself; if a file is broken, it keeps the last policy that loaded.",
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
	Waits    bool          `json:"waits,omitzero"`     // it has no effect before a person accepts it
}

// sessionLoss is what a live session loses.
type sessionLoss struct {
	ID   string   `json:"id"`
	Role string   `json:"role"`
	Lost []string `json:"lost"`
}

// losses returns what the live sessions of the daemon lose in next compared with last. Without a daemon there are none.
func (a *app) losses(ctx context.Context, next, last *project.View) (out []sessionLoss) {
	c, err := a.Running(ctx)
	if err != nil || c == nil {
		return nil
	}
	defer c.Close()
	live, err := base.Call(ctx, c, api.SessionList, op.None{})
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
	last, disk, err := viewsToWatch(a)
	if err != nil {
		return err
	}
	defer last.Close()
	disk.Close()
	if err := a.printWatch(watchEvent{OK: disk.Broken() == ""}, disk, "watching"); err != nil {
		return err
	}
	var failed error
	err = config.Watch(ctx, last.Project, func() {
		next, disk, err := viewsToWatch(a)
		if err != nil {
			failed = err
			return
		}
		defer next.Close() // the view stays readable for the comparison after this
		defer disk.Close()
		if err := printChange(ctx, a, last, next, disk); err != nil {
			failed = err
		}
		last = next
	})
	if ctx.Err() != nil {
		return nil // the person has ended it
	}
	if failed != nil {
		return failed
	}
	return err
}

// viewsToWatch opens what is in force, and the files as they are on disk.
func viewsToWatch(a *app) (force, disk *project.View, err error) {
	if force, err = a.OpenView(); err != nil {
		return nil, nil, err
	}
	read := *a.App
	read.OnDisk = true
	if disk, err = read.OpenView(); err != nil {
		force.Close()
		return nil, nil, err
	}
	return force, disk, nil
}

// printChange prints what came into force since last, and what files that wait would change.
func printChange(ctx context.Context, a *app, last, next, disk *project.View) error {
	c, err := next.Project.Candidate()
	waits := err == nil && len(c.Changes) > 0
	changed := changesBetween(last, next)
	if len(changed) > 0 || !waits {
		e := watchEvent{OK: next.Broken() == "", Changed: changed, Sessions: a.losses(ctx, next, last)}
		if err := a.printWatch(e, next, "in force"); err != nil || !waits {
			return err
		}
	}
	e := watchEvent{OK: disk.Broken() == "", Waits: true}
	if e.OK {
		e.Changed, e.Sessions = changesBetween(next, disk), a.losses(ctx, disk, next)
	}
	return a.printWatch(e, disk, "waits for myc trust")
}

// changesBetween returns which roles gain or lose tools.
func changesBetween(last, next *project.View) []project.RoleChange {
	return slices.DeleteFunc(next.Changes(last.Policy, next.Policy),
		func(r project.RoleChange) bool { return len(r.Added)+len(r.Removed) == 0 })
}

// printWatch prints an event, with what is wrong with the files of a view.
func (a *app) printWatch(e watchEvent, v *project.View, what string) error {
	e.Time, e.Changed, e.Problem = time.Now(), append([]project.RoleChange{}, e.Changed...), []base.ProblemShape{}
	problems := append(slices.Clone(v.Problems), v.Names()...)
	for _, p := range problems {
		e.Problem = append(e.Problem, base.ShapeOf(p))
	}
	if a.JSON {
		return a.PrintLine(e)
	}
	said, loses := what, "loses"
	switch {
	case what == "watching":
		said = fmt.Sprintf("watching %s (%s, %s)", v.Project.Dir, text.Count(len(v.Policy.Roles()), "role"),
			text.Count(len(v.Skills.Grants()), "skill"))
	case !e.OK:
		said = "a file is broken: the last policy that loaded stays in force"
	case len(e.Changed) == 0:
		said += ": no tool changes for anyone"
	}
	if e.Waits {
		loses = "would lose"
	}
	fmt.Fprintf(a.Out, "%s %s\n", e.Time.Format(time.TimeOnly), said)
	for _, d := range e.Changed {
		for _, t := range d.Added {
			fmt.Fprintf(a.Out, "  %s + %s\n", d.Role, t)
		}
		for _, t := range d.Removed {
			fmt.Fprintf(a.Out, "  %s - %s\n", d.Role, t)
		}
	}
	for _, s := range e.Sessions {
		fmt.Fprintf(a.Out, "  session %s (%s) %s %s\n", s.ID, s.Role, loses, strings.Join(s.Lost, ", "))
	}
	for _, p := range problems {
		fmt.Fprintf(a.Out, "  %s\n", project.ProblemText(p))
	}
	return nil
}
