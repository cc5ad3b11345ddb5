package audit

import "testing"

// A call counts once, by the last decision about it; calls of other sessions, and those before the position, do not count.
func TestTallyOf(t *testing.T) {
	o := options(t)
	l := openLog(t, o)
	say := func(session, id string, k Kind, effect, outcome string) {
		add(t, l, Record{ID: id, Kind: k, Session: session, Tool: "a__b", Effect: effect, Outcome: outcome})
	}
	say("s", "before", Decided, "allow", "")
	from, err := Back(o, 0)
	if err != nil {
		t.Fatal(err)
	}
	say("s", "1", Decided, "allow", "")
	say("s", "1", Outcome, "", "ok")
	say("s", "2", Decided, "ask", "")
	say("s", "2", Decided, "allow", "")
	say("s", "3", Decided, "ask", "")
	say("s", "3", Decided, "deny", "")
	say("s", "4", Decided, "deny", "")
	say("other", "5", Decided, "deny", "")
	say("s", "6", Decided, "ask", "") // answered in the agent's own terminal
	say("s", "6", Outcome, "", "ok")
	got, err := TallyOf(t.Context(), o, from, "s")
	if want := (Tally{Allowed: 3, Asked: 3, Denied: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
