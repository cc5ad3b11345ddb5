package approval

import "testing"

// TestWhereACallIsAsked: one rule says where a call is asked about that needs an approval, and why nowhere.
func TestWhereACallIsAsked(t *testing.T) {
	for _, c := range []struct {
		asks     WhenAsked
		mode     Mode
		terminal bool
		answers  bool
		notices  bool
		want     Place
	}{
		{AskWait, Auto, false, false, false, InQueue},
		{AskWait, Local, false, false, false, InQueue},
		{AskDeny, Remote, false, true, true, Nowhere},
		{AskReached, Auto, false, false, false, Nowhere},
		{AskReached, Auto, false, true, false, InQueue},
		{AskReached, Auto, false, false, true, InQueue},
		{AskReached, Auto, true, false, false, AtTerminal},
		{AskReached, Auto, true, false, true, AtTerminal}, // who sits there need not look at the notice
		{AskReached, Auto, true, true, false, InQueue},
		{AskReached, Local, true, true, true, AtTerminal},
		{AskReached, Local, false, true, true, Nowhere},
		{AskReached, Remote, false, false, false, InQueue},
		{AskReached, Remote, true, false, false, InQueue},
		{"", "", false, false, false, Nowhere},
	} {
		got, why := c.asks.Where(Reach{Mode: c.mode, Answers: c.answers, Notices: c.notices}, c.terminal)
		if got != c.want || (why != "") != (got == Nowhere) {
			t.Errorf("%+v: %d %q", c, got, why)
		}
	}
}
