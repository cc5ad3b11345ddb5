package index

import (
	"testing"

	"mycelium/internal/audit"
)

// A call counts once, by the last decision about it; calls of other sessions, and those before the position, do not count.
func TestTallyOf(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	say := func(session, id string, k audit.Kind, effect, outcome string) {
		add(t, l, audit.Record{ID: id, Kind: k, Session: session, Tool: "a__b", Effect: effect, Outcome: outcome})
	}
	say("s", "before", audit.Decided, "allow", "")
	from, err := audit.Back(o, 0)
	if err != nil {
		t.Fatal(err)
	}
	say("s", "1", audit.Decided, "allow", "")
	say("s", "1", audit.Outcome, "", "ok")
	say("s", "2", audit.Decided, "ask", "")
	say("s", "2", audit.Decided, "allow", "")
	say("s", "3", audit.Decided, "ask", "")
	say("s", "3", audit.Decided, "deny", "")
	say("s", "4", audit.Decided, "deny", "")
	say("other", "5", audit.Decided, "deny", "")
	say("s", "6", audit.Decided, "ask", "") // answered in the agent's own terminal
	say("s", "6", audit.Outcome, "", "ok")
	got, err := TallyOf(t.Context(), o, from, "s")
	if want := (Tally{Allowed: 3, Asked: 3, Denied: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
