package base

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/pflag"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/node/client"
	"mycelium/internal/text"
)

// AskFlag adds --ask, which says what becomes of calls that need an approval.
func AskFlag(flags *pflag.FlagSet, to *approval.WhenAsked) {
	flags.Var((*whenAsked)(to), "ask", "a call that needs an approval: wait for it, or deny at once (default: wait where somebody can be "+
		"reached, else deny)")
}

// whenAsked is the value of --ask.
type whenAsked approval.WhenAsked

func (w *whenAsked) String() string { return string(*w) }
func (w *whenAsked) Type() string   { return "wait|deny" }
func (w *whenAsked) Set(s string) error {
	if when := approval.WhenAsked(s); when != approval.AskWait && when != approval.AskDeny {
		return fmt.Errorf("--ask: %q is not one of wait, deny", s)
	}
	*w = whenAsked(s)
	return nil
}

// SayWaiting says on w, which is stderr, that a call waits for an approval, how long it waits at most, and where it is answered.
func SayWaiting(w io.Writer, tool, id string, deadline time.Time) {
	long := "for as long as this program runs"
	if !deadline.IsZero() {
		long = "for " + time.Until(deadline).Round(time.Second).String() + " at most"
	}
	fmt.Fprintf(w, "myc: %s waits for an approval, %s; answer it with myc approvals watch, or myc approvals approve %s\n",
		text.OneLine(tool), long, id)
}

// TellWaiting makes the client say on stderr that its call of a tool waits.
func (c *Client) TellWaiting(stderr io.Writer, tool string) {
	c.conn.Told = func(method string, params []byte) {
		var w api.Waiting
		if method == api.CallWaits && json.Unmarshal(params, &w) == nil {
			SayWaiting(stderr, tool, w.ID, w.Deadline)
		}
	}
}

// WatchApprovals calls tell with each request that waits, and again when it is settled, until the connection ends or ctx is done. It
// closes the client.
func WatchApprovals(ctx context.Context, c *Client, p api.WatchParams, tell func(approval.Request)) error {
	defer c.Close()
	return client.Watch(ctx, c.conn, p, tell)
}
