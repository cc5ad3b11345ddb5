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
		Use: "token", Short: "The operator's token for the HTTP API; shown once, the one before is void", Args: base.NoArgs,
		Long: "With this token /api/approvals of the daemon lists and answers what waits, from this machine only. Keep it where no " +
			"agent reads:\n" +
			"whoever has it approves calls.",
		Example: "  myc approvals token\n  myc approvals token --revoke",
		RunE: func(c *cobra.Command, _ []string) error {
			token, err := base.Operate(c.Context(), a.App, api.ApprovalsToken, p)
			if err != nil {
				return err
			}
			switch {
			case p.Revoke:
				fmt.Fprintln(a.Err, "myc: the operator's token is void")
				return nil
			case a.JSON:
				return a.PrintJSON(map[string]string{"token": token})
			}
			fmt.Fprintln(a.Out, token)
			fmt.Fprintln(a.Err, "The token is shown this once, and the one before is void: Authorization: Bearer TOKEN at /api/approvals.")
			return nil
		},
	}
	c.Flags().BoolVar(&p.Revoke, "revoke", false, "no token answers any more")
	return c
}
