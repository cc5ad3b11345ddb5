package telegram

import (
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
)

// TestOutcomeIsTrue: the message says what became of the agent's call, whatever a person pressed.
func TestOutcomeIsTrue(t *testing.T) {
	f := renderer{now: time.Now, zone: time.UTC}
	for name, test := range map[string]struct {
		r        approval.Request
		want, no string
	}{
		"approved, and the policy denies": {approval.Request{Kind: approval.Call, State: approval.Allowed, Answer: &approval.Answer{Allow: true,
			By: "kimu", Overruled: "no pushes"}}, "❌ Denied by the policy, although approved", "✅"},
		"a stop that nobody answered": {approval.Request{Kind: approval.Stop, State: approval.Expired,
			Answer: &approval.Answer{By: approval.ByDeadline, Time: time.Now()}}, "so it was let stop", "denied"},
		"a call that nobody answered": {approval.Request{Kind: approval.Call, State: approval.Expired,
			Answer: &approval.Answer{By: approval.ByDeadline, Time: time.Now()}}, "so it was denied", "stop"},
	} {
		if got := f.outcome(test.r); !strings.Contains(got, test.want) || strings.Contains(got, test.no) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
