package tools

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/policy"
)

func (a *app) callCmd() *cobra.Command {
	var p api.CallParams
	var args string
	c := &cobra.Command{
		Use: "call TOOL", Short: "Call one tool",
		Example: `  myc call files__read_file --role guest --args '{"path":"README.md"}'`,
		Args:    base.ArgRange(1, 1, "one tool name"),
		RunE: func(c *cobra.Command, rest []string) error {
			p.Tool = rest[0]
			p.Args = []byte(strings.TrimSpace(args))
			return a.call(c.Context(), p)
		},
	}
	c.Flags().StringVar(&args, "args", "{}", "arguments, a JSON object; - reads stdin")
	base.AskFlag(c.Flags(), &p.Ask)
	c.Flags().StringVar(&p.Role, "role", "", "role of the call (default: session.defaultRole)")
	c.Flags().StringSliceVar(&p.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	return c
}

func (a *app) call(ctx context.Context, p api.CallParams) error {
	if string(p.Args) == "-" {
		b, err := io.ReadAll(a.In)
		if err != nil {
			return fmt.Errorf("read arguments from stdin: %w", err)
		}
		p.Args = b
	}
	if _, err := policy.ParseArgs(p.Args); err != nil {
		return failure.Usagef("call: --args: %w", err)
	}
	if p.Ask == "" && base.StdinIsTerminal(a.In) && a.NeedPerson("wait") == nil {
		p.Ask = approval.AskWait // the person who is here sees where to answer
	}
	if p.Token == "" {
		p.Token = a.Getenv(hook.TokenVar)
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	c.TellWaiting(a.Err, p.Tool)
	r, err := base.Call(ctx, c, api.Call, p)
	if err != nil {
		return err
	}
	if len(r.Error) > 0 {
		if r.Denied {
			if err := a.RefusedBroken(ctx, c, p.Tool); err != nil {
				return err
			}
		}
		return a.callError(r)
	}
	return a.callOutput(r.Result, r.Denied)
}
