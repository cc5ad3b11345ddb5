package base

import (
	"context"
	"fmt"
	"io"
	"strings"

	"mycelium/internal/config/restart"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// RefusedBroken returns why a tool was refused, if no tool is there at all because a file does not load: then the tool is not unknown.
// Otherwise it is nil, and what is wrong besides was said, as by [App.WarnBroken].
func (a *App) RefusedBroken(ctx context.Context, c *Client, tool string) error {
	s, err := Call(ctx, c, api.Status, op.None{})
	if err != nil {
		s = api.StatusReply{} // the refusal itself is said anyway
	}
	if s.Problem == "" || s.Tools.Visible > 0 {
		a.warn(s)
		return nil
	}
	a.WarnDamage(s)
	return failure.New(failure.Denied, fmt.Errorf("%s is refused: %s", tool, text.Visible(s.Problem)),
		"myc doctor says how to mend it")
}

// WarnBroken says on stderr that a file does not load or that no call runs, which may be why something is hidden or refused.
func (a *App) WarnBroken(ctx context.Context, c *Client) {
	if s, err := Call(ctx, c, api.Status, op.None{}); err == nil {
		a.warn(s)
	}
}

func (a *App) warn(s api.StatusReply) {
	a.WarnDamage(s)
	if s.Problem != "" {
		fmt.Fprintf(a.Err, "myc: warning: a file does not load: %s\n", text.Visible(s.Problem))
	}
}

// TellRestart has a running daemon read what was just accepted. It says on stderr why the daemon goes on with what was in force before, and
// which keys wait for a restart.
func (a *App) TellRestart(ctx context.Context) {
	c, err := a.Running(ctx)
	if err != nil {
		warnOld(a.Err, err)
	}
	if err != nil || c == nil {
		return
	}
	defer c.Close()
	short, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	if _, err := Call(short, c, api.Reload, op.None{}); err != nil {
		warnOld(a.Err, err)
		return
	}
	if s, err := Call(short, c, api.Status, op.None{}); err == nil && len(s.Restart) > 0 {
		fmt.Fprintf(a.Err, "myc: without effect before a restart of the daemon: %s\nhint: %s\n", strings.Join(s.Restart, ", "),
			restart.How(s.Daemon.Addr != ""))
	}
}

// warnOld says that a daemon did not take what was accepted.
func warnOld(w io.Writer, err error) {
	fmt.Fprintf(w, "myc: warning: this was accepted, and the daemon may go on with what was in force before: %s\n"+
		"hint: myc status shows whether it does; myc stop -f ends it, and the next one begins with what was accepted\n",
		text.Visible(err.Error()))
}

// WarnDamage says on stderr why no call runs.
func (a *App) WarnDamage(s api.StatusReply) {
	for _, d := range s.Damage {
		fmt.Fprintf(a.Err, "myc: warning: no call runs: %s\n", text.Visible(d))
	}
}
