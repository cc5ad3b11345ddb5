// Package unanswered finds the calls about which an agent's own terminal was asked, and of which the log has no answer and no outcome. A
// process that did not ask itself learns so what is open.
package unanswered

import (
	"context"
	"maps"
	"slices"

	"mycelium/internal/audit"
)

// most is how many lines from the end of the log are searched. It is far more than one turn of an agent writes, and they are read in a few
// milliseconds, for which a person who sends a prompt does not wait.
const most = 2000

// Calls returns the decisions of a session on a surface that ask and that nothing has followed, oldest first.
func Calls(ctx context.Context, o audit.Options, session, surface string) ([]audit.Record, error) {
	from, err := audit.Back(o, most)
	if err != nil {
		return nil, err
	}
	open := map[string]audit.Line{}
	for line, err := range audit.Scan(ctx, o, from) {
		switch {
		case err != nil:
			return nil, err
		case line.Session != session || line.Surface != surface:
		case line.Kind == audit.Decided && line.Effect == "ask":
			open[line.ID] = line
		case line.Kind == audit.Decided, line.Kind == audit.Outcome:
			delete(open, line.ID)
		}
	}
	var calls []audit.Record
	bySeq := func(a, b audit.Line) int { return int(a.Seq - b.Seq) }
	for _, l := range slices.SortedFunc(maps.Values(open), bySeq) {
		at := audit.Position{Segment: l.Segment, Offset: l.Offset - int64(l.Length)}
		for whole, err := range audit.Read(ctx, o, at, false) { // with the agent's own id of the call, which a scan leaves out
			if err != nil {
				return nil, err
			}
			calls = append(calls, whole.Record)
			break
		}
	}
	return calls, ctx.Err()
}
