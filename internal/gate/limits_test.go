package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// limited is the world of three with limits.
func limited(l map[string]policy.Limit) plan {
	p := three()
	p.limits = l
	return p
}

// try makes a call and returns the refusal, nil for none.
func (h *house) try(s *session.Session, tool string) *DeniedError {
	h.t.Helper()
	_, err := h.Call(h.t.Context(), s, request(tool, `{}`))
	if err == nil {
		return nil
	}
	return denied(h.t, err)
}

// TestLimitOfARole: A44. All sessions of a role count together; the refusal says when to try again, and the record by which
// limit it came about.
func TestLimitOfARole(t *testing.T) {
	time0 := newClock()
	h := buildWith(t, limited(map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: 3, PerHour: 5}}}), nil, time0.now)
	a, b, other := h.enter("guest"), h.enter("guest"), h.enter("developer")
	for i, s := range []*session.Session{a, b, a} {
		if d := h.try(s, "files__read_file"); d != nil {
			t.Fatalf("call %d: %v", i, d)
		}
		time0.add(10 * time.Second)
	}
	d := h.try(b, "files__read_file")
	if d == nil || d.Decision.Rule != "limit:guest.perMinute" || d.Decision.Effect != policy.Deny || d.Decision.Unknown {
		t.Fatalf("the fourth call: %+v", d)
	}
	if want := "Role guest has used up its 3 calls per minute; try again in 31 s"; d.Decision.Reason != want {
		t.Errorf("reason %q, want %q", d.Decision.Reason, want)
	}
	if d.RetryAfter != 31*time.Second { // the first token comes back a minute after its call, at the end of the second in which it was made
		t.Errorf("to be tried again in %v", d.RetryAfter)
	}
	if r := h.last(audit.Decided); r["effect"] != "deny" || r["rule"] != "limit:guest.perMinute" || r["decidedBy"] != "limit" ||
		r["args"] == nil {
		t.Errorf("recorded as %v", r)
	}
	if d := h.try(other, "files__read_file"); d != nil {
		t.Errorf("a role without limits is refused: %v", d)
	}
	time0.add(d.RetryAfter - time.Nanosecond)
	if h.try(a, "files__read_file") == nil {
		t.Error("allowed before the time that was said")
	}
	time0.add(time.Nanosecond)
	if d := h.try(a, "files__read_file"); d != nil {
		t.Errorf("refused at the time that was said: %v", d)
	}
	time0.add(time.Minute)
	if d := h.try(a, "files__read_file"); d != nil {
		t.Errorf("the fifth of the hour: %v", d)
	}
	if d := h.try(a, "files__read_file"); d == nil || d.Decision.Rule != "limit:guest.perHour" || d.RetryAfter < 57*time.Minute ||
		!strings.Contains(d.Decision.Reason, "try again in 59 min") {
		t.Errorf("the sixth of the hour: %+v", d)
	}
	if n := len(h.back.seen()); n != 6 {
		t.Errorf("%d calls reached servers", n)
	}
}

// TestLimitOfASession: AX12. Each session counts for itself, and a session keeps its count over role switches.
func TestLimitOfASession(t *testing.T) {
	h := buildWith(t, limited(map[string]policy.Limit{"guest": {Session: policy.SessionLimit{Rates: policy.Rates{PerDay: 2}}}}), nil,
		newClock().now)
	a, b := h.enter("guest", "developer"), h.enter("guest")
	for range 2 {
		if d := h.try(a, "files__read_file"); d != nil {
			t.Fatal(d)
		}
	}
	d := h.try(a, "files__read_file")
	if d == nil || d.Decision.Rule != "limit:guest.session.perDay" ||
		!strings.Contains(d.Decision.Reason, "This session has used up its 2 calls per day; try again in 25 h") {
		t.Fatalf("the third call: %+v", d)
	}
	if d := h.try(b, "files__read_file"); d != nil {
		t.Errorf("another session: %v", d)
	}
	for _, role := range []string{"developer", "guest"} {
		if _, err := h.Sessions.SetRole(t.Context(), a, role, session.ByAgent); err != nil {
			t.Fatal(err)
		}
		if d := h.try(a, "files__read_file"); (d != nil) != (role == "guest") {
			t.Errorf("as %s: %v", role, d)
		}
	}
}

// TestLimitOfATool: AX12's other half: every figure of a tool is counted, of one name and of a pattern.
func TestLimitOfATool(t *testing.T) {
	time0 := newClock()
	h := buildWith(t, limited(map[string]policy.Limit{"guest": {Tools: map[string]policy.Rates{
		"files__read_file": {PerHour: 2}, "files__list_*": {PerMinute: 1},
	}}}), nil, time0.now)
	s := h.enter("guest")
	for i, want := range []string{"", "", "limit:guest.tools.files__read_file.perHour"} {
		if d := h.try(s, "files__read_file"); (d == nil) != (want == "") || d != nil && d.Decision.Rule != want {
			t.Errorf("call %d: %+v", i, d)
		}
		time0.add(2 * time.Minute)
	}
	for i, want := range []string{"", "limit:guest.tools.files__list_*.perMinute"} {
		if d := h.try(s, "files__list_directory"); (d == nil) != (want == "") || d != nil && d.Decision.Rule != want {
			t.Errorf("list %d: %+v", i, d)
		}
	}
}

// TestLimitsHideNothing: what is hidden or absent is answered as ever, however often, and is not counted; neither are control
// tools, nor calls that the policy refuses.
func TestLimitsHideNothing(t *testing.T) {
	p := limited(map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: 1},
		Tools: map[string]policy.Rates{"files__write_file": {PerMinute: 1}, "nowhere__*": {PerMinute: 1}}}})
	p.rules = []policy.Rule{{Name: "no", Action: "deny", Tool: policy.Names{"files__list_directory"},
		Args: map[string]policy.Values{"x": {{Literal: new(string)}}}}}
	h := build(t, p)
	s := h.enter("guest")
	unknown := DeniedError{Asked: "X", Decision: policy.Decision{Unknown: true, Reason: "Unknown tool: X"}}
	for range 3 {
		for _, name := range []string{"files__write_file", "nowhere__tool", "files__no_such_tool"} {
			r := request(name, `{}`)
			r.Asked = "X"
			_, err := h.Call(t.Context(), s, r)
			if d := denied(t, err); !reflect.DeepEqual(*d, unknown) {
				t.Errorf("%s: %+v", name, d)
			}
		}
		if _, err := h.Call(t.Context(), s, request("files__list_directory", `{"x":""}`)); denied(t, err).Decision.Rule != "no" {
			t.Errorf("a denied call: %v", err)
		}
		answer, _ := h.ask(s, "mycelium-router__get_context", `{}`)
		if got := fmt.Sprint(answer["limits"]); got != "[map[limit:perMinute max:1 of:role used:0]]" {
			t.Errorf("get_context tells of %s", got)
		}
	}
	if d := h.try(s, "files__read_file"); d != nil {
		t.Errorf("the first call that counts: %v", d)
	}
}

// TestContextShowsLimits: what is used, of what, and when it comes back.
func TestContextShowsLimits(t *testing.T) {
	h := buildWith(t, limited(map[string]policy.Limit{"guest": {
		Rates: policy.Rates{PerMinute: 2, Concurrent: 3}, Tools: map[string]policy.Rates{"files__read_*": {PerDay: 9}},
		Session: policy.SessionLimit{Rates: policy.Rates{PerHour: 100}},
	}}), nil, newClock().now)
	s := h.enter("guest")
	h.try(s, "files__read_file")
	h.try(s, "files__read_file")
	answer, _ := h.ask(s, "mycelium-router__get_context", `{}`)
	want := "[map[limit:perMinute max:2 of:role retryAfterMs:61000 used:2 warning:true] map[limit:concurrent max:3 of:role used:0] " +
		"map[limit:perDay max:9 of:role tools:files__read_* used:2] map[limit:perHour max:100 of:session used:2]]"
	if got := fmt.Sprint(answer["limits"]); got != want {
		t.Errorf("limits are\n%s\nwant\n%s", got, want)
	}
}

// TestLimitWarning: at four fifths the operator is told, in the log and in the audit, once until half of it is free again.
func TestLimitWarning(t *testing.T) {
	var said bytes.Buffer
	time0 := newClock()
	h := buildWith(t, limited(map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: 10}}}),
		slog.New(slog.NewTextHandler(&said, nil)), time0.now)
	s := h.enter("guest")
	warnings := func() []string {
		var out []string
		for _, r := range h.records(audit.Session) {
			if r["decidedBy"] == "limit" {
				out = append(out, r["note"].(string))
			}
		}
		return out
	}
	for n := 1; n <= 10; n++ {
		h.try(s, "files__read_file")
		if got := len(warnings()); got != min(1, n/8) {
			t.Errorf("after %d calls %d warnings", n, got)
		}
	}
	time0.add(2 * time.Minute)
	for range 8 {
		h.try(s, "files__read_file")
	}
	if got, want := warnings(), []string{"limit guest.perMinute: 8 of 10 used", "limit guest.perMinute: 8 of 10 used"}; !slices.Equal(got,
		want) {
		t.Errorf("recorded %q", got)
	}
	if n := strings.Count(said.String(), "a limit is nearly used up"); n != 2 {
		t.Errorf("the operator's log: %s", said.String())
	}
}

// TestConcurrency: never more calls under way than a limit has slots, over all sessions of the role; a slot comes back however
// the call ends; a call that found none did not count.
func TestConcurrency(t *testing.T) {
	h := build(t, limited(map[string]policy.Limit{"guest": {Rates: policy.Rates{Concurrent: 2, PerMinute: 4},
		Session: policy.SessionLimit{Rates: policy.Rates{Concurrent: 1}}}}))
	a, b, c := h.enter("guest"), h.enter("guest"), h.enter("guest")
	inside, out := make(chan bool), make(chan string)
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		inside <- true
		switch how := <-out; how {
		case "panic":
			panic("boom")
		case "error":
			return nil, nil, errors.New("gone")
		case "cancel":
			return nil, nil, context.Canceled
		}
		return []byte(`{"content":[]}`), nil, nil
	}
	var calls sync.WaitGroup
	begin := func(s *session.Session) {
		calls.Go(func() { _, _ = h.Call(t.Context(), s, request("files__read_file", `{}`)) })
		<-inside
	}
	begin(a)
	d := h.try(a, "files__read_file")
	if d == nil || d.Decision.Rule != "limit:guest.session.concurrent" || d.RetryAfter != time.Second {
		t.Fatalf("a second call of the session: %+v", d)
	}
	const want = "This session has 1 calls under way, as many as it may have at once; try again when one of them has ended"
	if d.Decision.Reason != want {
		t.Errorf("reason %q", d.Decision.Reason)
	}
	begin(b)
	if d := h.try(c, "files__read_file"); d == nil || d.Decision.Rule != "limit:guest.concurrent" {
		t.Fatalf("a third call of the role: %+v", d)
	}
	if r := h.last(audit.Decided); r["effect"] != "deny" || r["decidedBy"] != "limit" {
		t.Errorf("recorded as %v", r)
	}
	for _, how := range []string{"panic", "error"} {
		out <- how
	}
	calls.Wait()
	for _, how := range []string{"cancel", "well"} { // the third and fourth of the minute: those that were refused did not count
		begin(a)
		out <- how
		calls.Wait()
	}
	if d := h.try(a, "files__read_file"); d == nil || d.Decision.Rule != "limit:guest.perMinute" {
		t.Errorf("the fifth call: %+v", d)
	}
	for _, u := range a.Summary().Limits {
		if u.Limit == "concurrent" && u.Used != 0 {
			t.Errorf("%d slots are taken", u.Used)
		}
	}
}

// TestLimitsFollowTheWorld: a change of a figure holds at once and keeps what was counted; a role without limits has none.
func TestLimitsFollowTheWorld(t *testing.T) {
	with := func(n policy.Count) plan {
		return limited(map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: n}}})
	}
	h := build(t, with(3))
	s := h.enter("guest")
	h.try(s, "files__read_file")
	h.try(s, "files__read_file")
	h.Swap(with(2).world(t, h.dir))
	if h.try(s, "files__read_file") == nil {
		t.Error("a lower figure does not hold, or what was counted is lost")
	}
	h.Swap(with(4).world(t, h.dir))
	for i, refused := range []bool{false, false, true} {
		if d := h.try(s, "files__read_file"); (d != nil) != refused {
			t.Errorf("call %d under a higher figure: %v", i, d)
		}
	}
	h.Swap(three().world(t, h.dir))
	if d := h.try(s, "files__read_file"); d != nil {
		t.Errorf("without limits: %v", d)
	}
}

// TestLimitsOutliveARestart: issue 11. What was counted for a role, for a session with a credential and for one that comes again under
// another id is counted after a restart; a session that only its process knew is over.
func TestLimitsOutliveARestart(t *testing.T) {
	p := limited(map[string]policy.Limit{
		"guest":     {Rates: policy.Rates{PerDay: 6}, Session: policy.SessionLimit{Rates: policy.Rates{PerDay: 2}}},
		"developer": {Session: policy.SessionLimit{Rates: policy.Rates{PerDay: 1}}},
	})
	time0 := newClock()
	h := buildWith(t, p, nil, time0.now)
	open := func(spec session.Spec) *session.Session {
		t.Helper()
		s, err := h.Sessions.Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	_, token, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "guest", TTL: 48 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	again := session.Spec{Name: "anonymous", Role: "guest", Counts: "anonymous"}
	for round, want := range []string{"", "", "limit:guest.session.perDay"} {
		minted, err := h.Sessions.Authenticate(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*session.Session{minted, open(again)} {
			if d := h.try(s, "files__read_file"); (d == nil) != (want == "") || d != nil && d.Decision.Rule != want {
				t.Errorf("round %d: %+v", round, d)
			}
		}
		if d := h.try(h.enter("developer"), "files__read_file"); d != nil {
			t.Errorf("round %d: a new session: %v", round, d)
		}
		h.restart(p)
	}
	fresh := h.enter("guest")
	for i, want := range []string{"", "", "limit:guest.perDay"} {
		if d := h.try(fresh, "files__read_file"); (d == nil) != (want == "") || d != nil && d.Decision.Rule != want {
			t.Errorf("call %d after four of the role: %+v", i, d)
		}
		fresh = h.enter("guest")
	}
	time0.add(24*time.Hour + 24*time.Minute)
	if d := h.try(fresh, "files__read_file"); d != nil {
		t.Errorf("a day later: %v", d)
	}
}

// TestManyCallers: under load no more calls than tokens get through, and never more at once than slots.
func TestManyCallers(t *testing.T) {
	h := buildWith(t, limited(map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: 50, Concurrent: 4}}}), nil, newClock().now)
	var mu sync.Mutex
	running, most := 0, 0
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		return []byte(`{"content":[]}`), nil, nil
	}
	var callers sync.WaitGroup
	for range 8 {
		s := h.enter("guest")
		callers.Go(func() {
			for range 40 {
				_, err := h.Call(t.Context(), s, request("files__read_file", `{}`))
				if d := (*DeniedError)(nil); err != nil && !errors.As(err, &d) {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if n := len(h.back.seen()); n != 50 || most > 4 {
		t.Errorf("%d calls got through, %d at once", n, most)
	}
}

// BenchmarkLimits is what limits add to a call: none at all, a role with one figure, and a role with a figure of every kind; counted in
// memory, and in the files that all processes of a project share.
func BenchmarkLimits(b *testing.B) {
	rates := policy.Rates{PerMinute: policy.MaxCount, PerHour: policy.MaxCount, PerDay: policy.MaxCount, Concurrent: 1000}
	all := policy.Limit{Rates: rates, Tools: map[string]policy.Rates{"files__*": rates}, Session: policy.SessionLimit{Rates: rates}}
	for _, c := range []struct {
		name   string
		limits map[string]policy.Limit
		folder string
	}{
		{"none", nil, b.TempDir()},
		{"one/memory", map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: policy.MaxCount}}}, ""},
		{"one/shared", map[string]policy.Limit{"guest": {Rates: policy.Rates{PerMinute: policy.MaxCount}}}, b.TempDir()},
		{"all/memory", map[string]policy.Limit{"guest": all}, ""},
		{"all/shared", map[string]policy.Limit{"guest": all}, b.TempDir()},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := limit.New(limit.Options{Folder: c.folder})
			bounds := limited(c.limits).world(b, "/").Policy.Bounds("guest")
			counters := l.Session("s")
			call := limit.Call{Bounds: bounds, Session: &counters, Item: request("files__read_file", `{}`).Item}
			b.ReportAllocs()
			for b.Loop() {
				call.At = time.Now()
				refused, _ := l.Pass(call)
				held, full := l.Enter(call, true)
				if refused != nil || full != nil {
					b.Fatal("refused", refused, full)
				}
				l.Leave(held)
			}
		})
	}
}
