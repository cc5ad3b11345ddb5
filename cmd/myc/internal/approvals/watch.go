package approvals

import (
	"context"
	"fmt"
	"os/user"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/approval/terminal"
	"mycelium/internal/node/api"
	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

func (a *app) approvalsWatchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Answer requests on the whole screen, as they come", Args: base.NoArgs,
		Long: "Show the requests that wait, with their arguments and with a diff of edits, and take answers by single keys. On a pipe,\n" +
			"or with --json, print one line for each request that arrives and each that is settled.",
		Example: "  myc approvals watch\n  myc approvals watch --json | jq .tool",
		RunE:    func(c *cobra.Command, _ []string) error { return a.approvalsWatch(c.Context()) },
	}
}

func (a *app) approvalsWatch(ctx context.Context) error {
	if err := a.NeedPerson(api.ApprovalsWatch.Act); err != nil {
		return err
	}
	if err := a.CheckTrust(); err != nil {
		return err
	}
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	files := a.files()
	if files != "" {
		dir += " · " + files
	}
	if !a.wholeScreen() {
		if files != "" {
			fmt.Fprintln(a.Err, "myc: "+files)
		}
		return a.watchRequests(ctx, func(r approval.Request) {
			if a.JSON {
				_ = a.PrintLine(r) // a closed pipe ends the program at the next write
				return
			}
			fmt.Fprintf(a.Out, "%s %s %s %s\n", r.ID, r.State, text.OneLine(r.Tool), text.Cell(terminal.Gist(r), 120))
		})
	}
	o := Options(ctx, a.App)
	o.Title = dir
	return terminal.Watch(ctx, a.In, a.Out, a.Environ, o)
}

// Options say how the requests of this project are watched and answered at a terminal.
func Options(ctx context.Context, b *base.App) terminal.Options {
	a := &app{b}
	return terminal.Options{
		By: currentUser(), Plain: a.Getenv("NO_COLOR") != "" || a.NoColor,
		Preview: func(_ approval.Request, c approval.Candidate) string { return a.preview(ctx, c) },
		Watch:   func(ctx context.Context, tell func(approval.Request)) error { return a.watchRequests(ctx, tell) },
		Settle: func(ctx context.Context, id string, n approval.Answer, s sign.Sign) (approval.Request, error) {
			return base.Operate(ctx, a.App, api.ApprovalsAnswer,
				api.Answer{ID: id, Allow: &n.Allow, For: n.For, As: n.As, Reason: n.Reason, Text: n.Text, Digest: n.Digest, Sure: s != sign.None})
		},
	}
}

// wholeScreen reports whether both input and output are a terminal.
func (a *app) wholeScreen() bool {
	return !a.JSON && base.StdinIsTerminal(a.In) && base.OutputIsTerminal(a.Out)
}

func currentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// watchRequests calls tell with every request until ctx is done. If the daemon dies, it attaches to another one, and starts it if
// necessary.
func (a *app) watchRequests(ctx context.Context, tell func(approval.Request)) error {
	for ctx.Err() == nil {
		c, err := a.Attach(ctx)
		if err == nil {
			err = base.WatchApprovals(ctx, c, api.WatchParams{}, tell)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
