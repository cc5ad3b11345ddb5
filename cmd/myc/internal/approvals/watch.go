package approvals

import (
	"bufio"
	"context"
	"fmt"
	"os/user"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
)

func (a *app) approvalsWatchCmd() *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Answer requests as they come, on the whole screen", Args: base.NoArgs,
		Long: "Shows what waits, with the arguments as they are and a diff of edits, and takes answers by single keys. On a pipe, or with\n" +
			"--json, it prints one line for each request that comes and each that is settled.",
		Example: "  myc approvals watch\n  myc approvals watch --json | jq .tool",
		RunE:    func(c *cobra.Command, _ []string) error { return a.approvalsWatch(c.Context()) },
	}
}

func (a *app) approvalsWatch(ctx context.Context) error {
	if err := a.NeedPerson("watch approvals"); err != nil {
		return err
	}
	if err := a.FirstUse(); err != nil {
		return err
	}
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	if !a.wholeScreen() {
		return a.watchRequests(ctx, dir, func(r approval.Request) {
			if a.JSON {
				_ = a.PrintLine(r) // where nobody reads any more the next write ends the program
				return
			}
			fmt.Fprintf(a.Out, "%s %s %s %s\n", r.ID, r.State, approval.OneLine(r.Tool), base.FirstLine(approval.Gist(r), 120))
		})
	}
	return approval.WatchTerminal(ctx, a.In, a.Out, a.Environ, approval.TerminalOptions{
		Title: dir, By: whoAmI(), Plain: a.Getenv("NO_COLOR") != "" || a.NoColor,
		Watch: func(ctx context.Context, tell func(approval.Request)) error { return a.watchRequests(ctx, dir, tell) },
		Settle: func(ctx context.Context, id string, n approval.Answer) (r approval.Request, err error) {
			p := api.AnswerParams{ID: id, Allow: n.Allow, For: n.For, Reason: n.Reason, Text: n.Text, Digest: n.Digest}
			return r, a.Operate(ctx, "answer an approval", "approvals/answer", p, &r)
		},
	})
}

// wholeScreen reports whether a full-screen list can be shown: keys come from a terminal, and there is one to draw on.
func (a *app) wholeScreen() bool {
	return !a.JSON && base.StdinIsTerminal(a.In) && base.OutputIsTerminal(a.Out)
}

func whoAmI() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// watchRequests tells of every request until ctx ends, also over the death of the daemon: it attaches again, and starts one where none runs.
func (a *app) watchRequests(ctx context.Context, dir string, tell func(approval.Request)) error {
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return err
	}
	argv, env, err := a.Detached(dir, "serve", "--auto")
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		c, err := daemon.Attach(ctx, paths, argv, env)
		if err == nil {
			err = watchOnce(ctx, c, tell)
		}
		if err != nil && ctx.Err() == nil {
			return base.Answered(err)
		}
	}
	return nil
}

// watchOnce tells until the daemon ends, which is no error.
func watchOnce(ctx context.Context, c *daemon.Client, tell func(approval.Request)) error {
	defer c.Close()
	conn, err := c.Stream(ctx, "approvals/watch", nil, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxRequestLine)
	for lines.Scan() {
		var r approval.Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("watch approvals: read a request: %w", err)
		}
		tell(r)
	}
	return nil // however it ended: whether the daemon is found again is said by the next attempt
}

// maxRequestLine bounds one request on the way to a terminal, in bytes: its arguments are bounded by the queue.
const maxRequestLine = 8 << 20
