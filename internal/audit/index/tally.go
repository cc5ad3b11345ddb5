package index

import (
	"context"

	"mycelium/internal/audit"
)

// Tally counts the calls of a session by how they ended.
type Tally struct {
	Allowed, Asked, Denied int // a call that was asked counts as allowed or denied too, by its answer
}

// TallyOf counts the calls of a session that are decided behind a position of the log. It reads the log itself and needs no database.
func TallyOf(ctx context.Context, o audit.Options, from audit.Position, session string) (Tally, error) {
	last := map[string]string{} // the effect of the last decision about a call
	asked := map[string]bool{}
	for l, err := range audit.Read(ctx, o, from, false) {
		if err != nil {
			return Tally{}, err
		}
		switch {
		case l.Session != session:
		case l.Kind == audit.Decided:
			last[l.ID] = l.Effect
			asked[l.ID] = asked[l.ID] || l.Effect == "ask"
		case l.Kind == audit.Outcome && l.Outcome == "denied":
			last[l.ID] = "deny"
		case l.Kind == audit.Outcome && last[l.ID] == "ask": // it ran: the person at the agent's own terminal allowed it
			last[l.ID] = "allow"
		}
	}
	var t Tally
	for id, effect := range last {
		switch effect {
		case "allow":
			t.Allowed++
		case "deny":
			t.Denied++
		}
		if asked[id] {
			t.Asked++
		}
	}
	return t, ctx.Err()
}
