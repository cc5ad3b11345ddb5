package approvals

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op/cli"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) keepCmd() *cobra.Command {
	c := cli.Command(api.ApprovalsKeep, func(c *cobra.Command, p api.KeepParams) error { return a.approvalsKeep(c.Context(), p) })
	c.Long = "Write an allow rule for a call that a person has allowed once, also when it has run: so a question is ended where it was asked.\n" +
		"The status line of an agent and myc approvals approve name the ID. The rule allows this very call, of a tool other than the shell\n" +
		"that reaches hosts any call to those hosts, or what --as says. --look only says what it would have answered in the last 7 days.\n" +
		"A call about which a rule of yours asks cannot be kept: change that rule (myc edit rules)."
	c.Example = "  myc approvals keep k3m9\n  myc approvals keep k3m9 --as host --look"
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
