package approval

import (
	"context"
	"errors"
	"mycelium/internal/policy/sign"
	"sync/atomic"
	"testing"
)

// TestConsult: Consult returns what the model is sure of and nothing else, and no watcher sees the request.
func TestConsult(t *testing.T) {
	for name, test := range map[string]struct {
		verdict          Verdict
		err              error
		allowed, settled bool
	}{
		"allows":    {verdict: Verdict{Allow: true, By: "small", Reason: "harmless"}, allowed: true, settled: true},
		"denies":    {verdict: Verdict{Deny: true, By: "small", Reason: "no"}, settled: true},
		"passes on": {verdict: Verdict{Opinion: "not sure"}},
		"both":      {verdict: Verdict{Allow: true, Deny: true}},
		"fails":     {verdict: Verdict{Allow: true}, err: errors.New("overloaded")},
	} {
		t.Run(name, func(t *testing.T) {
			var shown Request
			q := newQueue(t, Options{Judge: judges(func(_ context.Context, r Request) (Verdict, error) {
				shown = r
				return test.verdict,
					test.err
			})})
			a, settled := q.Consult(t.Context(), question(makeIt))
			if settled != test.settled || a.Allow != test.allowed || settled &&
				(a.Via != "model" || a.By != "small" || a.Reason != test.verdict.Reason || a.Digest != shown.Digest) {
				t.Errorf("%v %+v", settled, a)
			}
			if shown.Tool != "agent__Bash" || shown.Kind != Call || shown.Deadline.IsZero() || shown.ID == "" {
				t.Errorf("the judge is shown %+v", shown)
			}
			if list, _ := q.List(t.Context()); len(list) != 0 {
				t.Errorf("%d requests wait", len(list))
			}
			if _, err := q.Show(t.Context(), shown.ID); !errors.Is(err, ErrUnknown) {
				t.Errorf("the request is kept: %v", err)
			}
		})
	}
}

// TestConsultRemembers: an answer for the rest of a session settles the request without the model. It does not hold in another session.
func TestConsultRemembers(t *testing.T) {
	var judged atomic.Int32
	q := newQueue(t, Options{Judge: judges(func(context.Context, Request) (Verdict, error) { judged.Add(1); return Verdict{}, nil })})
	for _, allow := range []bool{true, false} {
		r := question(makeIt)
		r.Session = map[bool]string{true: "yes", false: "no"}[allow]
		c := ask(t.Context(), q, r)
		if _, err := q.Settle(t.Context(), seen(t, q, "waits", waiting(1)).ID,
			Answer{Allow: allow, For: map[bool]For{true: Session, false: Never}[allow], By: "kimu", Via: "terminal"}, sign.None); err != nil {
			t.Fatal(err)
		}
		got(t, c)
		before := judged.Load()
		if a, settled := q.Consult(t.Context(), r); !settled || a.Allow != allow || a.By != "kimu" || judged.Load() != before {
			t.Errorf("%v: %v %+v, asked %d times", allow, settled, a, judged.Load()-before)
		}
	}
	if a, settled := q.Consult(t.Context(), question(makeIt)); settled {
		t.Errorf("another session's answer holds: %+v", a)
	}
}

// TestConsultEnds: Consult settles no request after the deadline of its context or on a closed queue.
func TestConsultEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := newQueue(t, Options{Judge: judges(func(context.Context, Request) (Verdict, error) { cancel(); return Verdict{Allow: true}, nil })})
	if a, settled := q.Consult(ctx, question(makeIt)); settled {
		t.Errorf("%+v", a)
	}
	q.Suspend()
	if a, settled := q.Consult(t.Context(), question(makeIt)); settled {
		t.Errorf("%+v", a)
	}
	if a, settled := newQueue(t, Options{}).Consult(t.Context(), question(makeIt)); settled {
		t.Errorf("without a judge: %+v", a)
	}
}
