// Package session has the commands about live sessions.
package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc session`.
func Command(a *base.App) *cobra.Command { return (&app{a}).sessionCmd() }

func (a *app) sessionCmd() *cobra.Command {
	c := &cobra.Command{Use: "session", Short: "Create, list and end sessions",
		Example: "  myc session new --role guest --may developer", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.sessionList(c.Context()) }}
	c.AddCommand(a.sessionNewCmd(),
		&cobra.Command{Use: "list", Short: "List live sessions", Example: "  myc session list --json", Args: base.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return a.sessionList(c.Context()) }},
		&cobra.Command{Use: "show ID", Short: "Show a session", Example: "  myc session show s-1a2b",
			Args: base.ArgRange(1, 1, "one session id"),
			RunE: func(c *cobra.Command, args []string) error { return a.sessionShow(c.Context(), args[0]) }},
		base.Row(a.App, api.SessionSetRole, "", "  myc session set-role s-1a2b developer",
			func(_ context.Context, _ api.SessionRole, r api.Session) error { return a.changed(r) }),
		&cobra.Command{Use: "skills ID [+SKILL] [-SKILL]", Short: "Activate (+) and deactivate (-) skills of a session",
			Example: "  myc session skills s-1a2b +editor -reader",
			Args:    cobra.MinimumNArgs(1), DisableFlagParsing: true,
			RunE: func(c *cobra.Command, args []string) error { return a.sessionSkills(c, args) }},
		base.Row(a.App, api.SessionEnd, "", "  myc session end s-1a2b",
			func(context.Context, api.SessionRef, op.None) error { return nil }))
	return c
}

// sessions returns the live sessions.
func (a *app) sessions(ctx context.Context) ([]session.Summary, error) {
	return base.Operate(ctx, a.App, api.SessionList, op.None{})
}

func (a *app) sessionList(ctx context.Context) error {
	infos, err := a.sessions(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(infos)
	}
	names := a.agentNames(ctx)
	var rows [][]string
	for _, i := range infos {
		rows = append(rows, []string{i.ID, base.OrDash(cmp.Or(names[i.ID], i.Name)), base.OrDash(i.Role),
			base.OrDash(strings.Join(i.Roles, ", ")),
			base.OrDash(strings.Join(i.Skills, ", ")), expires(i)})
	}
	a.Table(base.Column{Name: "ID"}, base.Column{Name: "NAME", Least: 10, Drop: 1}, base.Column{Name: "ROLE", Least: 8},
		base.Column{Name: "MAY", Least: 8, Drop: 4}, base.Column{Name: "SKILLS", Least: 12, Drop: 3}, base.Column{Name: "EXPIRES", Drop: 2}).
		Print(rows...)
	return nil
}

func (a *app) sessionShow(ctx context.Context, id string) error {
	infos, err := a.sessions(ctx)
	if err != nil {
		return err
	}
	for _, i := range infos {
		if i.ID != id {
			continue
		}
		if a.JSON {
			return a.PrintJSON(i)
		}
		rows := [][]string{{"session", i.ID}, {"name", base.OrDash(i.Name)}, {"principal", i.Principal}, {"role", base.OrDash(i.Role)},
			{"may take", base.OrDash(strings.Join(i.Roles, ", "))}, {"active skills", base.OrDash(strings.Join(i.Skills, ", "))},
			{"created", i.Created.Local().Format(time.DateTime)}, {"expires", expires(i)}}
		for _, l := range i.Limits {
			rows = append(rows, []string{"limit", limitText(l)})
		}
		a.Facts(rows)
		return nil
	}
	return failure.Hint(fmt.Errorf("session: no live session has the id %q", id), "myc session list shows them")
}

// changed prints a session that was changed.
func (a *app) changed(r api.Session) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Out, "%s: role %s, skills %s\n", r.ID, base.OrDash(r.Role), base.OrDash(strings.Join(r.Skills, ", ")))
	return nil
}

// sessionSkills reads +NAME and -NAME itself, because the flag parser would take -NAME for a flag, and so also the global flags.
func (a *app) sessionSkills(c *cobra.Command, args []string) error {
	p := api.ChangeParams{}
	for len(args) > 0 {
		arg := args[0]
		taken, err := base.TakeFlag(c.InheritedFlags(), args)
		switch {
		case err != nil:
			return failure.Usagef("session skills: %v", err)
		case taken > 0:
			args = args[taken:]
			continue
		case arg == "--help" || arg == "-h":
			return c.Help()
		case len(arg) > 1 && arg[0] == '+':
			p.Add = append(p.Add, arg[1:])
		case len(arg) > 1 && arg[0] == '-' && arg[1] != '-':
			p.Remove = append(p.Remove, arg[1:])
		case p.ID == "" && arg != "" && arg[0] != '-':
			p.ID = arg
		default:
			return failure.Usagef("session skills: %q is neither +SKILL nor -SKILL", arg)
		}
		args = args[1:]
	}
	if p.ID == "" {
		return failure.Usagef("session skills: which session?")
	}
	if err := a.Find(project.NeedsProject); err != nil {
		return err
	}
	r, err := base.Operate(c.Context(), a.App, api.SessionChange, p)
	if err != nil {
		return err
	}
	return a.changed(r)
}
