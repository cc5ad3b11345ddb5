package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
)

// keepers keeps what it was offered to keep.
type keepers struct {
	offered []approval.Request
	answers []approval.Answer
	refuses bool
	kept    map[string]bool
}

func (k *keepers) Offer(_ context.Context, r approval.Request, a approval.Answer) (Offer, error) {
	k.offered, k.answers = append(k.offered, r), append(k.answers, a)
	if k.refuses {
		return Offer{}, nil
	}
	return Offer{ID: "k3m9", Words: "this call", Past: "it would have answered 7 of the 12 questions of the last 7 days"}, nil
}

func (k *keepers) Kept(_ context.Context, id string) bool { return k.kept[id] }

// TestOfferAfterAYes: after a yes at the agent's own terminal the agent and the status line name the command that keeps it, until it is
// kept, another answer comes or the time is over. After a call that nobody was asked about, one that the person refused and one that cannot
// be kept they do not.
func TestOfferAfterAYes(t *testing.T) {
	h := build(t, coder())
	k := &keepers{kept: map[string]bool{}}
	h.Keep = k
	now := time.Now()
	h.Now = func() time.Time { return now }
	ask := func(id, command string) {
		t.Helper()
		e := bash(id, command)
		e.Interactive = true
		if a := h.send(e); a.Verdict != harness.Ask {
			t.Fatalf("%s: %+v", command, a)
		}
	}
	ran := func(id, command string) string {
		t.Helper()
		e := bash(id, command)
		e.Kind, e.Interactive = harness.PostTool, true
		return h.send(e).Context
	}
	const command = "to be asked no more: myc approvals keep k3m9 (it would have answered 7 of the 12 questions of the last 7 days)"

	h.send(harness.Event{Kind: harness.SessionStart})
	if got := ran("t0", "make"); got != "" || len(k.offered) != 0 {
		t.Errorf("nobody was asked: %q", got)
	}
	ask("t1", "make")
	if got := h.line("r1"); strings.Contains(got, "keep") {
		t.Errorf("before the answer: %q", got)
	}
	if got := ran("t1", "make"); !strings.Contains(got, "myc approvals keep k3m9 (it allows this call; it would have answered 7 of the 12") ||
		!strings.Contains(got, "Only they can run that") {
		t.Errorf("the agent is told %q", got)
	}
	if len(k.offered) != 1 || k.offered[0].Tool != "agent__Bash" || k.answers[0].Via != "Claude Code's own dialog" || !k.answers[0].Allow {
		t.Fatalf("%+v %+v", k.offered, k.answers)
	}
	if got := h.line("r1"); !strings.HasPrefix(got, "mycelium: "+command+" · developer") {
		t.Errorf("the person is told %q", got)
	}
	if got := h.line("r2"); strings.Contains(got, "keep") {
		t.Errorf("of another run: %q", got)
	}
	if got := ran("t1", "make"); got != "" || len(k.offered) != 1 {
		t.Errorf("the same end again: %q", got)
	}
	now = now.Add(offerFor + time.Second)
	if got := h.line("r1"); strings.Contains(got, "keep") {
		t.Errorf("later: %q", got)
	}

	ask("t2", "make all")
	ran("t2", "make all")
	k.kept["k3m9"] = true
	if got := h.line("r1"); strings.Contains(got, "keep") {
		t.Errorf("after it was kept: %q", got)
	}
	k.kept = nil
	ask("t3", "make no")
	h.send(harness.Event{Kind: harness.Stop}) // refused
	if len(k.offered) != 2 {
		t.Errorf("a refusal is offered: %+v", k.offered)
	}
	k.refuses = true
	ask("t4", "make that cannot be kept")
	if got := ran("t4", "make that cannot be kept"); got != "" || strings.Contains(h.line("r1"), "keep") {
		t.Errorf("it cannot be kept: %q, %q", got, h.line("r1"))
	}
	h.Rate = func(context.Context) string { return "asked 0.8 times an active hour" }
	if got := h.line("r1"); !strings.Contains(got, "· asked 0.8 times an active hour") {
		t.Errorf("%q", got)
	}
}
