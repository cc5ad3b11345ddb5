package approvals

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) keepCmd() *cobra.Command {
	var p api.KeepParams
	var as string
	c := &cobra.Command{
		Use: "keep ID", Short: "Keep an approval that was given once: the call is not asked about again", Args: base.ArgRange(1, 1, "one request id"),
		Long: "Write an allow rule for a call that a person has allowed once, also when it has run: so a question is ended where it was asked.\n" +
			"The status line of an agent and myc approvals approve name the ID. The rule allows this very call, of a tool other than the shell\n" +
			"that reaches hosts any call to those hosts, or what --as says. --look only says what it would have answered in the last 7 days.\n" +
			"A call about which a rule of yours asks cannot be kept: change that rule (myc edit rules).",
		Example: "  myc approvals keep k3m9\n  myc approvals keep k3m9 --as host --look",
		RunE: func(c *cobra.Command, args []string) error {
			p.ID, p.As = args[0], approval.As(as)
			return a.approvalsKeep(c.Context(), p)
		},
	}
	c.Flags().StringVar(&as, "as", "", "what is kept: call, program, host, folder or tool")
	c.Flags().StringVar(&p.Reason, "reason", "", "the reason, which stands above the rule")
	c.Flags().BoolVar(&p.Look, "look", false, "write nothing: say what the rule would allow")
	c.Flags().BoolVar(&p.Sure, "sure", false, "you have read what the call would do; a critical call needs it")
	return c
}

func (a *app) approvalsKeep(ctx context.Context, p api.KeepParams) error {
	look := p
	look.Look = true
	r, err := base.Operate(ctx, a.App, api.ApprovalsKeep, look)
	if err != nil {
		return err
	}
	if !p.Look {
		d := r.Request.Demand()
		if !p.Sure && d.Any() && base.StdinIsTerminal(a.In) {
			a.showRequest(r.Request)
			if p.Sure = a.Confirm("\n" + d.Asks() + " [y/N] "); !p.Sure {
				return failure.New(failure.Denied, errors.New("approvals keep: nothing was written"), "")
			}
		}
		p.ID, p.As, p.Digest = r.Request.ID, r.As, r.Request.Digest
		if r, err = base.Operate(ctx, a.App, api.ApprovalsKeep, p); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	verb := "would be allowed"
	if r.Rule != "" {
		verb = "is allowed from now on"
	}
	fmt.Fprintf(a.Out, "%s: %s %s: %s; %s\n", r.Request.ID, text.OneLine(r.Request.Tool), verb, text.OneLine(r.Words), r.Questions)
	if r.Rule != "" {
		fmt.Fprintf(a.Out, "written: rule %s\n", r.Rule)
	}
	return nil
}

// tellKeep says how an approval that was just given once is kept. It says nothing if it cannot be.
func (a *app) tellKeep(ctx context.Context, r approval.Request) {
	if r.Keepable() != "" || r.Answer.For != approval.Once {
		return
	}
	if k, err := base.Operate(ctx, a.App, api.ApprovalsKeep, api.KeepParams{ID: r.ID, Look: true}); err == nil {
		fmt.Fprintf(a.Err, "myc: to be asked no more: myc approvals keep %s (%s; %s)\n", r.ID, text.OneLine(k.Words), k.Questions)
	}
}
