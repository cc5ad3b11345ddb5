package node

import (
	"context"
	"slices"
	"strings"
	"time"

	"mycelium/internal/audit/index"
	"mycelium/internal/find"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

const (
	taughtBack     = 90 * 24 * time.Hour // three half-lives: what is older counts an eighth at most
	maxSearches    = 500                 // the newest ones
	maxTaughtCalls = 500                 // of one session
)

// taught returns the calls of tools that followed a search of their session, oldest first. The arguments are those of the log: redacted.
func taught(ctx context.Context, x *index.Index, now time.Time) ([]find.Use, error) {
	searches, err := x.Query(ctx, index.Query{Tool: view.FindTool().String(), Effect: "allow", Since: now.Add(-taughtBack), Limit: maxSearches})
	if err != nil {
		return nil, err
	}
	first := map[string]time.Time{}
	var sessions []string
	for _, e := range searches { // the newest first
		if _, known := first[e.Session]; !known {
			sessions = append(sessions, e.Session)
		}
		first[e.Session] = e.Time
	}
	var out []find.Use
	for _, id := range sessions {
		calls, err := x.Query(ctx, index.Query{Session: id, Effect: "allow", Since: first[id], Limit: maxTaughtCalls})
		if err != nil {
			return nil, err
		}
		slices.Reverse(calls)
		out = append(out, uses(calls)...)
	}
	slices.SortStableFunc(out, func(a, b find.Use) int { return a.At.Compare(b.At) })
	return out, nil
}

// uses returns what the calls of one session teach, which are in the order of time.
func uses(calls []index.Entry) (out []find.Use) {
	request, asked := "", time.Time{}
	for _, e := range calls {
		server, name, _ := strings.Cut(e.Tool, "__")
		switch {
		case e.Tool == view.FindTool().String():
			request, asked = rawjson.TextAt(e.Args, "query"), e.Time
		case request == "" || e.Time.Sub(asked) > session.Follows || server == policy.AgentServer || view.IsOwn(server) || name == "":
		default:
			out = append(out, find.Use{Request: request, Server: server, Name: name, At: e.Time})
		}
	}
	return out
}
