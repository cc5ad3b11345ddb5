package approvals

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
)

func (a *app) approvalsModeCmd() *cobra.Command {
	return base.Row(a.App, api.ApprovalsMode,
		"local: the agent's own terminal asks. remote: the queue, a chat for example. auto: the queue if somebody watches it; else a\n"+
			"chat, unless somebody has typed at this machine within approval.idle; else the agent's own terminal. What\n"+
			"is set here or in a chat holds until somebody sets what the files say (approval.mode). myc status says who is asked now.",
		"  myc approvals mode\n  myc approvals mode remote",
		func(_ context.Context, _ api.ModeParams, r api.ModeReply) error {
			fmt.Fprintln(a.Out, r.Mode)
			return nil
		})
}

func (a *app) approvalsResetCmd() *cobra.Command {
	return base.Row(a.App, api.ApprovalsReset,
		"Calls that were approved or denied for the rest of the session are asked about again. Rules that were written stay.",
		"  myc approvals reset s-1a2b",
		func(_ context.Context, p api.ResetParams, _ api.ResetReply) error {
			fmt.Fprintf(a.Out, "The answers for the rest of %s are forgotten.\n", p.Session)
			return nil
		})
}

func (a *app) approvalsTokenCmd() *cobra.Command {
	return base.Row(a.App, api.ApprovalsToken,
		"Print a token with which an HTTP client on this machine lists and answers requests (/api/approvals of the daemon). Keep\n"+
			"the token where no agent can read it: whoever has it can approve calls.",
		"  myc approvals token\n  myc approvals token --revoke",
		func(_ context.Context, p api.TokenParams, r api.TokenReply) error {
			if p.Revoke {
				fmt.Fprintln(a.Err, "myc: the operator's token no longer works")
				return nil
			}
			fmt.Fprintln(a.Out, r.Token)
			fmt.Fprintln(a.Err, "The token is shown only now, and the token before it no longer works. Send it to /api/approvals: "+
				"Authorization: Bearer TOKEN")
			return nil
		})
}
