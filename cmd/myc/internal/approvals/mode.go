package approvals

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
)

func (a *app) approvalsModeCmd() *cobra.Command {
	return &cobra.Command{
		Use: "mode [auto|local|remote]", Short: "Show or set who is asked about the calls of agents", Args: base.ArgRange(0, 1, "one mode"),
		Long: "local: the agent's own terminal asks. remote: the queue, a chat for example. auto: the queue if somebody watches it; else a\n" +
			"chat, unless somebody has typed at this machine within approval.idle; else the agent's own terminal. What\n" +
			"is set here or in a chat holds until somebody sets what the files say (approval.mode). myc status says who is asked now.",
		Example:   "  myc approvals mode\n  myc approvals mode remote",
		ValidArgs: []string{"auto", "local", "remote"},
		RunE: func(c *cobra.Command, args []string) error {
			var p api.ModeParams
			if len(args) == 1 {
				if p.Mode = approval.Mode(args[0]); !p.Mode.Known() {
					return failure.Usagef("approvals mode: %q is not one of auto, local, remote", args[0])
				}
			}
			return a.approvalsMode(c.Context(), p)
		}}
}

func (a *app) approvalsMode(ctx context.Context, p api.ModeParams) error {
	mode, err := base.Operate(ctx, a.App, api.ApprovalsMode, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]approval.Mode{"mode": mode})
	}
	fmt.Fprintln(a.Out, mode)
	return nil
}

func (a *app) approvalsResetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "reset SESSION", Short: "Forget the answers for the rest of a session", Example: "  myc approvals reset s-1a2b",
		Args: base.ArgRange(1, 1, "one session id"),
		Long: "Calls that were approved or denied for the rest of the session are asked about again. Rules that were written stay.",
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := base.Operate(c.Context(), a.App, api.ApprovalsReset, api.ChangeParams{ID: args[0]}); err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"reset": args[0]})
			}
			fmt.Fprintf(a.Out, "The answers for the rest of %s are forgotten.\n", args[0])
			return nil
		}}
}
