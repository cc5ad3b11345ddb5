package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
)

func (a *app) sessionNewCmd() *cobra.Command {
	var p api.SessionParams
	var ttl time.Duration
	var card string
	c := &cobra.Command{Use: "new", Short: "Create a session, and print its token once", Args: base.NoArgs,
		Example: "  myc session new --role guest --may developer --ttl 1h --json\n  myc session new --card partner.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if p.TTL = int64(ttl); card != "" {
				text, err := base.ReadFile(card)
				if err != nil {
					return err
				}
				p.Card = string(text)
			}
			return a.sessionNew(c.Context(), p)
		}}
	c.Flags().StringVar(&p.Role, "role", "", "first role (default: session.defaultRole)")
	c.Flags().StringSliceVar(&p.May, "may", nil, "further roles that the session may take")
	c.Flags().StringVar(&card, "card", "", "file with an agent card (A2A), which decides the role")
	c.Flags().StringSliceVar(&p.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	c.Flags().DurationVar(&ttl, "ttl", 12*time.Hour, "lifetime of the session")
	c.Flags().StringVar(&p.Name, "name", "", "a name for the session")
	return c
}

func (a *app) sessionNew(ctx context.Context, p api.SessionParams) error {
	if p.TTL <= 0 {
		return failure.Usagef("session new: --ttl must be longer than 0")
	}
	r, err := base.Operate(ctx, a.App, api.SessionNew, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.Facts([][]string{{"session", r.ID}, {"role", base.OrDash(r.Role)}, {"skills", base.OrDash(strings.Join(r.Skills, ", "))},
		{"expires", r.Expires.Local().Format(time.DateTime)}, {"token", r.Token}})
	fmt.Fprintln(a.Err, "The token is shown only now. Give it to one client: Authorization: Bearer TOKEN, or "+
		""+hook.TokenVar+"=TOKEN for myc mcp.")
	return nil
}
