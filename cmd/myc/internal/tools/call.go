package tools

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

func (a *app) callCmd() *cobra.Command {
	var p api.CallParams
	var args string
	c := &cobra.Command{
		Use: "call TOOL", Short: "Call one tool",
		Example: `  myc call files__read_file --role guest --args '{"path":"README.md"}'`,
		Args:    callArgs,
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

// callArgs accepts one tool name. Where more words follow, it says how arguments are given, with the pairs name=value among them.
func callArgs(c *cobra.Command, args []string) error {
	if len(args) < 2 {
		return base.ArgRange(1, 1, "one tool name")(c, args)
	}
	given := map[string]string{}
	for _, pair := range args[1:] {
		if name, value, ok := strings.Cut(strings.TrimLeft(pair, "-"), "="); ok && name != "" {
			given[name] = value
		}
	}
	if len(given) == 0 {
		given["name"] = "value"
	}
	object, err := json.Marshal(given, json.Deterministic(true))
	if err != nil {
		object = []byte(`{"name":"value"}`)
	}
	return failure.New(failure.Usage, fmt.Errorf("call: wants one tool name, and its arguments as a JSON object in --args"),
		"myc call "+harness.ShellWord(args[0])+" --args "+harness.ShellWord(string(object)))
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
	for {
		err := a.callOnce(ctx, p)
		if failure.Of(err).Kind != failure.Ending || ctx.Err() != nil {
			return err
		}
		// The daemon ended while the call waited for an approval: the next one has its request.
	}
}

// callOnce calls a tool. The failure is Ending if the daemon ended before the call ran.
func (a *app) callOnce(ctx context.Context, p api.CallParams) error {
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
		return a.callError(r, a.near(ctx, c, p, r))
	}
	return a.callOutput(r.Result, r.Denied)
}

// near is the tool of the session that a person probably meant by one that is not there, or "". An agent hears of no other tool: its
// refusal is that of the gateway.
func (a *app) near(ctx context.Context, c *base.Client, p api.CallParams, r api.CallReply) string {
	unknown := r.Denied && strings.HasPrefix(rawjson.TextAt(r.Error, "message"), "Unknown tool")
	if !unknown || p.Token != "" || a.NeedPerson("see other tools") != nil {
		return ""
	}
	rows, err := base.Call(ctx, c, api.Tools, api.ToolsParams{SessionParams: p.SessionParams})
	if err != nil {
		return "" // the refusal itself is said
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
		if _, bare, _ := strings.Cut(row.Name, "__"); bare == p.Tool {
			return row.Name
		}
	}
	return text.Nearest(p.Tool, names)
}
