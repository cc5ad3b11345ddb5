package approvals

import (
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
)

func (a *app) approvalsTokenCmd() *cobra.Command {
	var p api.TokenParams
	c := &cobra.Command{
		Use: "token", Short: "Make a token for the HTTP API; the token before it stops working", Args: base.NoArgs,
		Long: "Print a token with which an HTTP client on this machine lists and answers requests (/api/approvals of the daemon). Keep\n" +
			"the token where no agent can read it: whoever has it can approve calls.",
		Example: "  myc approvals token\n  myc approvals token --revoke",
		RunE: func(c *cobra.Command, _ []string) error {
			token, err := base.Operate(c.Context(), a.App, api.ApprovalsToken, p)
			if err != nil {
				return err
			}
			switch {
			case p.Revoke:
				fmt.Fprintln(a.Err, "myc: the operator's token no longer works")
				return nil
			case a.JSON:
				return a.PrintJSON(map[string]string{"token": token})
			}
			fmt.Fprintln(a.Out, token)
			fmt.Fprintln(a.Err, "The token is shown only now, and the token before it no longer works. Send it to /api/approvals: "+
				"Authorization: Bearer TOKEN")
			return nil
		},
	}
	c.Flags().BoolVar(&p.Revoke, "revoke", false, "stop the present token, and make no new one")
	return c
}
