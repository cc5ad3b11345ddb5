package gate

import (
	"context"
	"database/sql"
	"errors"
	"mycelium/internal/policy/sign"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// asking is a house whose policy asks about writes.
type asking struct {
	*house
	plan  plan
	queue *approval.Queue
}

func writesAsk() plan {
	p := three()
	p.rules = []policy.Rule{{Name: "ask-writes", Action: "ask", Tool: policy.Names{"files__write_file"}, Reason: "Writes are reviewed."}}
	return p
}

func buildAsking(t *testing.T, p plan, o approval.Options) *asking {
	t.Helper()
	h := build(t, p)
	o.DB = h.db
	q, err := approval.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	h.asks, h.control.Asks = q, true
	return &asking{h, p, q}
}

// result is how a call ended.
type called struct {
	reply Reply
	err   error
}

// call makes a call in the background.
func (h *asking) call(ctx context.Context, s *session.Session, r Request) <-chan called {
	out := make(chan called, 1)
	go func() {
		reply, err := h.Call(ctx, s, r)
		out <- called{reply, err}
	}()
	return out
}

// waits returns the request that waits.
func (h *asking) waits() approval.Request {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	var found approval.Request
	h.queue.Watch(ctx, func(r approval.Request) {
		if r.State == approval.Pending {
			found = r
			cancel()
		}
	})
	if found.ID == "" {
		h.t.Fatal("nothing waits")
	}
	return found
}

func (h *asking) answer(id string, a approval.Answer) {
	h.t.Helper()
	if a.By == "" {
		a.By, a.Via = "kimu", "terminal"
	}
	if _, err := h.queue.Settle(h.t.Context(), id, a, sign.Sure); err != nil {
		h.t.Fatal(err)
	}
}

func ended(t *testing.T, c <-chan called) called {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(time.Minute):
		t.Fatal("the call hangs")
	}
	return called{}
}

const writing = `{"path":"a.txt","content":"x","token":"geheim"}`

func TestCallWaitsForItsAnswer(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	s := h.enter("developer")
	c := h.call(t.Context(), s, request("files__write_file", writing))
	r := h.waits()
	if len(h.back.seen()) != 0 {
		t.Fatal("it runs beside its question")
	}
	if r.Tool != "files__write_file" || r.Role != "developer" || r.Session != s.ID || r.Rule != "ask-writes" ||
		r.Reason != "Writes are reviewed." ||
		r.Dir != h.dir || r.Risk == "" || !strings.Contains(string(r.Args), `"content":"x"`) || strings.Contains(string(r.Args), "geheim") {
		t.Errorf("people see %+v %s", r, r.Args)
	}
	if last := h.last(audit.Decided); last["effect"] != "ask" || last["id"] != r.Call || last["decidedBy"] != "policy" {
		t.Errorf("the record of the question: %v", last)
	}
	h.answer(r.ID, approval.Answer{Allow: true})
	if e := ended(t, c); e.err != nil || len(h.back.seen()) != 1 {
		t.Fatalf("%+v, servers saw %v", e, h.back.seen())
	}
	last := h.last(audit.Decided)
	if last["effect"] != "allow" || last["id"] != r.Call || last["decidedBy"] != "person" ||
		!strings.Contains(last["reason"].(string), "kimu via terminal") {
		t.Errorf("the record of the answer: %v", last)
	}
	if out := h.last(audit.Outcome); out["id"] != r.Call || out["outcome"] != "ok" {
		t.Errorf("the outcome: %v", out)
	}
}

func TestCallIsDenied(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{Deadline: 20 * time.Millisecond})
	s := h.enter("developer")
	_, err := h.Call(t.Context(), s, request("files__write_file", writing))
	if d := denied(t, err); !strings.Contains(d.Error(), "nobody answered in time") || d.Decision.Effect != policy.Deny {
		t.Errorf("%+v", d)
	}
	if last := h.last(audit.Decided); last["effect"] != "deny" || last["decidedBy"] != "deadline" {
		t.Errorf("%v", last)
	}
	if len(h.back.seen()) != 0 {
		t.Error("it ran")
	}
}

func TestPersonDenies(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	s := h.enter("developer")
	c := h.call(t.Context(), s, request("files__write_file", writing))
	h.answer(h.waits().ID, approval.Answer{Reason: "not on a Friday", For: approval.Never})
	if d := denied(t, ended(t, c).err); !strings.Contains(d.Error(), "Not approved by kimu, for the rest of this session: not on a Friday") {
		t.Errorf("%v", d)
	}
	// What a person wants instead reaches the agent, without the number of an account.
	other := request("files__write_file", `{"path":"b.txt","content":"y"}`)
	c = h.call(t.Context(), s, other)
	const words = "Use a pull request with title ABC instead"
	h.answer(h.waits().ID, approval.Answer{By: "kimu (telegram 4711)", Reason: "told to do something else", Text: words})
	if got := denied(t, ended(t, c).err).Error(); !strings.Contains(got, "Not approved by kimu: "+words) || strings.Contains(got, "4711") {
		t.Errorf("%s", got)
	}
	// Never: nobody is asked again.
	if _, err := h.Call(t.Context(), s, request("files__write_file", writing)); !strings.Contains(denied(t, err).Error(), "not on a Friday") {
		t.Errorf("%v", err)
	}
	if last := h.last(audit.Decided); last["effect"] != "deny" || last["decidedBy"] != "person" {
		t.Errorf("%v", last)
	}
	if len(h.back.seen()) != 0 {
		t.Error("it ran")
	}
}

func TestModelDecides(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{Judge: judgeFunc(func(r approval.Request) approval.Verdict {
		return approval.Verdict{Allow: strings.Contains(string(r.Args), "good"), Deny: strings.Contains(string(r.Args), "bad"), By: "small-1",
			Reason: "I read it"}
	})})
	s := h.enter("developer")
	if _, err := h.Call(t.Context(), s, request("files__write_file", `{"path":"good"}`)); err != nil {
		t.Fatal(err)
	}
	if last := h.last(audit.Decided); last["decidedBy"] != "model" || !strings.Contains(last["reason"].(string), "small-1 via model") {
		t.Errorf("%v", last)
	}
	if _, err := h.Call(t.Context(), s, request("files__write_file", `{"path":"bad"}`)); !strings.Contains(denied(t, err).Error(),
		"I read it") {
		t.Errorf("%v", err)
	}
	if len(h.back.seen()) != 1 {
		t.Errorf("%v", h.back.seen())
	}
}

type judgeFunc func(approval.Request) approval.Verdict

func (f judgeFunc) Judge(_ context.Context, r approval.Request) (approval.Verdict, error) {
	return f(r), nil
}

// nobodyReached is who can be asked where nobody can.
func nobodyReached() approval.Reach { return approval.Reach{Mode: approval.Auto} }

// TestDoesNotWait: where the agent's own terminal asks, or nobody is asked, a call is refused at once. Who started the session has the last
// word.
func TestDoesNotWait(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	h.reach = nobodyReached
	r := request("files__write_file", writing)
	r.Asks, r.Terminal = approval.AskReached, true
	s := h.enter("developer")
	_, err := h.Call(t.Context(), s, r)
	if d := denied(t, err); d.Decision.Effect != policy.Ask || !d.AtTerminal || d.Error() != "Writes are reviewed." {
		t.Errorf("%+v", d)
	}
	if list, _ := h.queue.List(t.Context()); len(list) != 0 {
		t.Error("somebody was asked")
	}
	if last := h.last(audit.Decided); last["effect"] != "ask" {
		t.Errorf("%v", last)
	}
	r.Terminal = false // nobody is asked anywhere: the record says that this is a denial
	for _, c := range []struct{ session, call approval.WhenAsked }{{"", approval.AskReached}, {"", approval.AskDeny},
		{approval.AskReached, ""}, {approval.AskReached, approval.AskWait}, {approval.AskDeny, approval.AskWait}} {
		s, err := h.Sessions.Open(t.Context(), session.Spec{Role: "developer", Asks: c.session})
		if err != nil {
			t.Fatal(err)
		}
		r.Asks = c.call
		_, err = h.Call(t.Context(), s, r)
		if d := denied(t, err); d.Decision.Effect != policy.Ask || d.AtTerminal || !strings.Contains(d.Error(), "--ask wait") {
			t.Errorf("%+v: %+v", c, d)
		}
		if last := h.last(audit.Decided); last["effect"] != "deny" || !strings.Contains(last["reason"].(string), "--ask wait") {
			t.Errorf("%+v: %v", c, last)
		}
	}
	if list, _ := h.queue.List(t.Context()); len(list) != 0 {
		t.Error("somebody was asked")
	}
}

// TestASessionKeepsWhatBecomesOfItsCalls: what becomes of the calls of a minted session that need an approval outlasts a restart.
func TestASessionKeepsWhatBecomesOfItsCalls(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	_, token, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "developer", Asks: approval.AskDeny})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	h.open(h.plan)
	s, err := h.Sessions.Authenticate(t.Context(), token)
	if err != nil || s.Asks != approval.AskDeny {
		t.Errorf("%+v %v", s, err)
	}
}

// TestModelDecidesWithoutWaiting: where the agent's own terminal asks, the model is asked before it, and what people said for the session
// holds. The rest stays a question of the terminal, and nobody else hears of it.
func TestModelDecidesWithoutWaiting(t *testing.T) {
	var h *asking
	h = buildAsking(t, writesAsk(), approval.Options{Judge: judgeFunc(func(r approval.Request) approval.Verdict {
		if strings.Contains(string(r.Args), "frozen") { // what becomes forbidden while it thinks stays forbidden
			p := writesAsk()
			p.rules = append(p.rules, policy.Rule{Name: "no-writes", Action: "deny", Tool: policy.Names{"files__write_file"},
				Args: map[string]policy.Values{"path": {{Literal: new("frozen")}}}, Reason: "Frozen."})
			h.Swap(p.world(t, h.dir))
		}
		return approval.Verdict{Allow: strings.Contains(string(r.Args), "good") || strings.Contains(string(r.Args), "frozen"),
			Deny: strings.Contains(string(r.Args), "bad"), By: "small-1", Reason: "I read it"}
	})})
	h.reach = nobodyReached
	s := h.enter("developer")
	write := func(path string) error {
		r := request("files__write_file", `{"path":"`+path+`"}`)
		r.Asks, r.Terminal = approval.AskReached, true
		_, err := h.Call(t.Context(), s, r)
		return err
	}
	if err := write("good"); err != nil {
		t.Fatal(err)
	}
	if last := h.last(audit.Decided); last["effect"] != "allow" || last["decidedBy"] != "model" ||
		!strings.Contains(last["reason"].(string), "small-1 via model") || last["args"] == nil {
		t.Errorf("%v", last)
	}
	if d := denied(t, write("bad")); d.Decision.Effect != policy.Deny || !strings.Contains(d.Error(), "I read it") {
		t.Errorf("%+v", d)
	}
	if d := denied(t, write("other")); d.Decision.Effect != policy.Ask || d.Error() != "Writes are reviewed." {
		t.Errorf("%+v", d)
	}
	if last := h.last(audit.Decided); last["effect"] != "ask" || last["decidedBy"] != "policy" {
		t.Errorf("%v", last)
	}
	c := h.call(t.Context(), s, request("files__write_file", `{"path":"kept"}`))
	h.answer(h.waits().ID, approval.Answer{Allow: true, For: approval.Session, By: "kimu", Via: "terminal"})
	if got := ended(t, c); got.err != nil {
		t.Fatal(got.err)
	}
	if err := write("kept"); err != nil {
		t.Error(err)
	}
	if last := h.last(audit.Decided); last["decidedBy"] != "person" {
		t.Errorf("%v", last)
	}
	if d := denied(t, write("frozen")); d.Decision.Effect != policy.Deny || d.Error() != "Frozen." {
		t.Errorf("%+v", d)
	}
	if list, _ := h.queue.List(t.Context()); len(list) != 0 {
		t.Error("somebody was asked")
	}
	if len(h.back.seen()) != 3 {
		t.Errorf("%v", h.back.seen())
	}
}

// What becomes forbidden while a call waits stays forbidden, whatever people answer.
func TestPolicyChangesWhileACallWaits(t *testing.T) {
	deny := policy.Rule{Name: "no-writes", Action: "deny", Tool: policy.Names{"files__write_file"},
		Args: map[string]policy.Values{"path": {{Literal: new("a.txt")}}}, Reason: "Frozen."}
	hide := three()
	hide.skills[1].AllowedTools = []string{"files__read_file"}
	for name, test := range map[string]struct {
		change func(*asking, *session.Session)
		want   string
	}{
		"a rule denies": {func(h *asking, _ *session.Session) {
			p := h.plan
			p.rules = append(slices.Clone(p.rules), deny)
			h.Swap(p.world(t, h.dir))
		}, "Frozen."},
		"it is hidden": {func(h *asking, _ *session.Session) { h.Swap(hide.world(t, h.dir)) }, "Unknown tool: files__write_file"},
		"another role": {func(h *asking, s *session.Session) {
			if _, err := h.Sessions.SetRole(t.Context(), s, "guest", session.ByOperator); err != nil {
				t.Error(err)
			}
		}, "Unknown tool: files__write_file"},
	} {
		t.Run(name, func(t *testing.T) {
			var gate *Gate
			h := buildAsking(t, writesAsk(), approval.Options{
				Overruled: func(ctx context.Context, r approval.Request) string { return gate.Overruled(ctx, r) },
			})
			gate = h.Gate
			s := h.enter("developer", "guest")
			c := h.call(t.Context(), s, request("files__write_file", writing))
			id := h.waits().ID
			test.change(h, s)
			h.answer(id, approval.Answer{Allow: true})
			if r, err := h.queue.Show(t.Context(), id); err != nil || r.Answer.Overruled == "" { // who approves is told
				t.Errorf("%+v %v", r.Answer, err)
			}
			if d := denied(t, ended(t, c).err); !strings.Contains(d.Error(), test.want) {
				t.Errorf("%v, want %s", d, test.want)
			}
			if len(h.back.seen()) != 0 {
				t.Error("it ran")
			}
			if last := h.last(audit.Decided); last["effect"] != "deny" {
				t.Errorf("%v", last)
			}
		})
	}
}

func TestSessionEndsWhileACallWaits(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	s, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "developer", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	c := h.call(t.Context(), s, request("files__write_file", writing))
	id := h.waits().ID
	if err := h.Sessions.End(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if e := ended(t, c); !errors.Is(e.err, session.ErrNoSession) {
		t.Errorf("%v", e.err)
	}
	var late *approval.LateError
	if _, err := h.queue.Settle(t.Context(), id, approval.Answer{Allow: true, By: "kimu"}, sign.Sure); !errors.As(err, &late) {
		t.Errorf("answered for a session that is over: %v", err)
	}
	if len(h.back.seen()) != 0 {
		t.Error("it ran")
	}
}

func TestCallerGoesAway(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	c := h.call(ctx, h.enter("developer"), request("files__write_file", writing))
	r := h.waits()
	cancel()
	if d := denied(t, ended(t, c).err); !strings.Contains(d.Error(), "withdrawn") {
		t.Errorf("%v", d)
	}
	if r, err := h.queue.Show(t.Context(), r.ID); err != nil || r.State != approval.Expired {
		t.Errorf("%+v %v", r, err)
	}
	if last := h.last(audit.Decided); last["effect"] != "deny" || last["decidedBy"] != "caller" || last["id"] != r.Call {
		t.Errorf("%v", last)
	}
}

// Nobody is asked about a call that a limit refuses, and one that waits holds up no other.
func TestRatesBeforeAndSlotsAfterTheQuestion(t *testing.T) {
	p := writesAsk()
	p.limits = map[string]policy.Limit{"developer": {Rates: policy.Rates{PerMinute: 2, Concurrent: 1}}}
	h := buildAsking(t, p, approval.Options{})
	s := h.enter("developer")
	c := h.call(t.Context(), s, request("files__write_file", writing))
	id := h.waits().ID
	if _, err := h.Call(t.Context(), s, request("files__read_file", `{"path":"x"}`)); err != nil {
		t.Fatalf("a waiting call takes the slot: %v", err)
	}
	other := request("files__write_file", `{"path":"b"}`)
	if _, err := h.Call(t.Context(), s, other); denied(t, err).RetryAfter == 0 {
		t.Errorf("asked before the limit: %v", err)
	}
	if list, _ := h.queue.List(t.Context()); len(list) != 1 {
		t.Errorf("%d questions", len(list))
	}
	h.answer(id, approval.Answer{Allow: true})
	if e := ended(t, c); e.err != nil {
		t.Error(e.err)
	}
}

func TestFullQueueRefuses(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	s := h.enter("developer")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting []<-chan called
	for i := range 16 {
		waiting = append(waiting, h.call(ctx, s, request("files__write_file", `{"path":"`+strings.Repeat("x", i+1)+`"}`)))
	}
	for n := 0; n < 16; {
		list, err := h.queue.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n = len(list)
	}
	_, err := h.Call(t.Context(), s, request("files__write_file", `{"path":"one more"}`))
	if d := denied(t, err); !strings.Contains(d.Error(), "Too many calls wait") {
		t.Errorf("%v", d)
	}
	_, err = h.Call(t.Context(), h.enter("developer"), request("files__write_file", `{"path":"`+strings.Repeat("x", 300<<10)+`"}`))
	if d := denied(t, err); !strings.Contains(d.Error(), "too large") {
		t.Errorf("%v", d)
	}
	cancel()
	for _, c := range waiting {
		denied(t, ended(t, c).err)
	}
	if len(h.back.seen()) != 0 {
		t.Error("one ran")
	}
}

// A question that cannot be recorded or kept is not asked; an answer that cannot be recorded lets nothing run.
func TestApprovalsFailClosed(t *testing.T) {
	t.Run("log", func(t *testing.T) {
		h := buildAsking(t, writesAsk(), approval.Options{})
		s := h.enter("developer")
		c := h.call(t.Context(), s, request("files__write_file", writing))
		id := h.waits().ID
		if err := h.log.Close(); err != nil {
			t.Fatal(err)
		}
		h.answer(id, approval.Answer{Allow: true})
		if d := denied(t, ended(t, c).err); d.Decision.Rule != "audit" {
			t.Errorf("%v", d)
		}
		_, err := h.Call(t.Context(), s, request("files__write_file", `{"path":"b"}`))
		if d := denied(t, err); d.Decision.Rule != "audit" {
			t.Errorf("%v", d)
		}
		if list, _ := h.queue.List(t.Context()); len(list) != 0 || len(h.back.seen()) != 0 {
			t.Errorf("asked %v, ran %v", list, h.back.seen())
		}
	})
	t.Run("database", func(t *testing.T) {
		h := buildAsking(t, writesAsk(), approval.Options{})
		s := h.enter("developer")
		if err := h.db.Tx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`CREATE TRIGGER full BEFORE INSERT ON approvals BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		_, err := h.Call(t.Context(), s, request("files__write_file", writing))
		if d := denied(t, err); !strings.Contains(d.Error(), "nobody could be asked") {
			t.Errorf("%v", d)
		}
		if len(h.back.seen()) != 0 {
			t.Error("it ran")
		}
	})
}

// What goes on with a call that was approved is not asked about again (decision 9).
func TestContinuationKeepsItsApproval(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{})
	s := h.enter("developer")
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		return []byte(`{"resultType":"input_required","inputRequests":{}}`), nil, nil
	}
	c := h.call(t.Context(), s, request("files__write_file", writing))
	h.answer(h.waits().ID, approval.Answer{Allow: true})
	first := ended(t, c)
	if first.err != nil || first.reply.Open == "" {
		t.Fatalf("%+v", first)
	}
	h.back.answer = nil
	again := request("files__write_file", writing)
	again.Continues = first.reply.Open
	if _, err := h.Call(t.Context(), s, again); err != nil {
		t.Fatal(err)
	}
	if last := h.last(audit.Decided); last["note"] != "continuation" || last["effect"] != "allow" {
		t.Errorf("%v", last)
	}
	// It is over: the next call is a new one.
	c = h.call(t.Context(), s, request("files__write_file", writing))
	h.answer(h.waits().ID, approval.Answer{})
	denied(t, ended(t, c).err)
	if openQuestion(s, first.reply.Open) {
		t.Error("the approval is still noted")
	}
}

// An old client that wants progress hears every ten seconds that its call waits.
func TestProgressWhileACallWaits(t *testing.T) {
	if got := string(waitingProgress([]byte(`"t"`), 3)); got != `{"progressToken":"t","progress":0.000003,"message":"Waiting for an `+
		`approval. A person answers it with: myc approvals watch"}` {
		t.Error(got)
	}
	for params, want := range map[string]string{`{"_meta":{"progressToken":7}}`: "7", `{"_meta":{}}`: "", `{}`: "", `[]`: "", "": "",
		`{"_meta":{"progressToken":"x"}}`: `"x"`} {
		if got := progressToken([]byte(params)); string(got) != want {
			t.Errorf("%s: %s", params, got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var heard atomic.Int64
		a := &Admission{Request: Request{Params: []byte(`{"_meta":{"progressToken":7}}`)}, session: &session.Session{}}
		a.Peer = listener(func(method string, params []byte) {
			if heard.Add(1); method != "notifications/progress" || !strings.Contains(string(params), `"progressToken":7`) {
				t.Errorf("%s %s", method, params)
			}
		})
		settled, over := make(chan struct{}), make(chan struct{})
		go func() {
			a.keepTelling(settled, func(error) {})
			close(over)
		}()
		time.Sleep(35 * time.Second)
		if heard.Load() != 3 {
			t.Errorf("heard %d times in 35 s", heard.Load())
		}
		close(settled)
		<-over
		time.Sleep(time.Minute)
		if heard.Load() != 3 {
			t.Error("told after the answer")
		}
	})
}

func openQuestion(s *session.Session, id string) bool {
	_, asked := s.Calls.Question(id)
	return asked
}

// client is a client that can be asked.
type client struct {
	capabilities string
	answer       func(ctx context.Context, params string) (string, error)
}

func (c client) Capabilities() []byte      { return []byte(c.capabilities) }
func (c client) Notify(_ string, _ []byte) {}
func (c client) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	if method != "elicitation/create" {
		return nil, nil, errors.New("asked for " + method)
	}
	text, err := c.answer(ctx, string(params))
	return []byte(text), nil, err
}

func TestClientIsAskedInPlace(t *testing.T) {
	const forms = `{"elicitation":{}}`
	accept := func(text string) func(context.Context, string) (string, error) {
		return func(_ context.Context, params string) (string, error) {
			if !strings.Contains(params, `files__write_file`) || !strings.Contains(params, `\\u202e`) || strings.Contains(params, "geheim") {
				t.Errorf("the client is shown %s", params)
			}
			return `{"action":"accept","content":{"answer":"` + text + `"}}`, nil
		}
	}
	nobody := func(context.Context, string) (string, error) {
		t.Error("asked")
		return "", errors.New("asked")
	}
	for name, test := range map[string]struct {
		capabilities string
		off          bool
		answer       func(context.Context, string) (string, error)
		want         string // of the refusal; empty: it runs
		again        string // of the same call again; "-": asked again
	}{
		"once":    {forms, false, accept(sayOnce), "", "-"},
		"session": {forms, false, accept(saySession), "", ""},
		"no":      {forms, false, accept(sayNo), "Not approved by the client of", "-"},
		"never":   {forms, false, accept(sayNever), "for the rest of this session", "for the rest of this session"},
		"declined": {forms, false, func(context.Context, string) (string, error) { return `{"action":"decline"}`, nil },
			"Not approved by the client of", "-"},
		"dismissed": {forms, false, func(context.Context, string) (string, error) { return `{"action":"cancel"}`, nil },
			"nobody answered in time", "-"},
		"odd": {forms, false, accept("yes"), "nobody answered in time", "-"},
		"empty": {forms, false, func(context.Context, string) (string, error) { return `{"action":"accept"}`, nil },
			"nobody answered in time", "-"},
		"no object": {forms, false, func(context.Context, string) (string, error) { return `7`, nil }, "nobody answered in time", "-"},
		"fails": {forms, false, func(context.Context, string) (string, error) { return "", errors.New("gone") }, "nobody answered in time",
			"-"},
		"too late": {forms, false, func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return `{"action":"accept","content":{"answer":"allow once"}}`, nil
		}, "nobody answered in time", "-"},
		"not forms":      {`{"elicitation":{"url":{}}}`, false, nobody, "nobody answered in time", "-"},
		"not declared":   {`{"sampling":{}}`, false, nobody, "nobody answered in time", "-"},
		"not configured": {forms, true, nobody, "nobody answered in time", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			deadline := time.Minute
			if strings.Contains(test.want, "in time") {
				deadline = 50 * time.Millisecond
			}
			h := buildAsking(t, writesAsk(), approval.Options{Deadline: deadline})
			w := h.World()
			w.AskClient = !test.off
			h.Swap(w)
			s := h.enter("developer")
			r := request("files__write_file", `{"path":"a.txt","content":"`+"\u202e"+`x","token":"geheim"}`)
			asked := 0
			r.Peer = client{test.capabilities, func(ctx context.Context, params string) (string, error) {
				asked++
				return test.answer(ctx, params)
			}}
			for i, want := range []string{test.want, test.again} {
				if want == "-" {
					want = test.want
				}
				_, err := h.Call(t.Context(), s, r)
				if want == "" && err != nil {
					t.Errorf("call %d: %v", i, err)
				} else if want != "" && !strings.Contains(denied(t, err).Error(), want) {
					t.Errorf("call %d: %v, want %s", i, err, want)
				}
			}
			if test.capabilities == forms && !test.off && (asked == 2) != (test.again == "-") {
				t.Errorf("asked %d times", asked)
			}
			if ran := len(h.back.seen()); (ran > 0) != (test.want == "") {
				t.Errorf("it ran %d times", ran)
			}
		})
	}
}

// promotion: confirm asks people whether an agent may activate a skill, with the answers of every other question (decision 8).
func TestPromotionIsConfirmed(t *testing.T) {
	p := three()
	p.start, p.promote = []string{"reader"}, "confirm"
	h := buildAsking(t, p, approval.Options{})
	s := h.enter("admin")
	change := func(args string) <-chan called {
		return h.call(t.Context(), s, request("mycelium-router__set_active_skills", args))
	}
	says := func(c <-chan called, want string) {
		t.Helper()
		if e := ended(t, c); e.err != nil || !strings.Contains(string(e.reply.Result), want) {
			t.Errorf("%s %v, want %s", e.reply.Result, e.err, want)
		}
	}
	c := change(`{"add":["editor"]}`)
	r := h.waits()
	if string(r.Args) != `{"skills":["editor"]}` || r.Reason != "The agent wants to activate: editor" ||
		r.Tool != "mycelium-router__set_active_skills" {
		t.Errorf("people see %+v %s", r, r.Args)
	}
	h.answer(r.ID, approval.Answer{Reason: "later"})
	says(c, "Not approved by kimu: later")
	if last := h.last(audit.Decided); last["effect"] != "deny" || last["decidedBy"] != "person" || last["rule"] != approval.PromotionRule {
		t.Errorf("%v", last)
	}
	if last := h.last(audit.Outcome); last["outcome"] != "denied" {
		t.Errorf("what was not approved ends as %v", last)
	}
	if got := s.Scope().Skills; !slices.Equal(got, []string{"reader"}) {
		t.Errorf("active %v", got)
	}
	c = change(`{"skills":["editor","reader"]}`)
	h.answer(h.waits().ID, approval.Answer{Allow: true})
	says(c, `"activated":["editor"]`)
	if last := h.last(audit.Decided); last["effect"] != "allow" || last["decidedBy"] != "person" {
		t.Errorf("%v", last)
	}
	// Never is for the rest of the session; what is active, hidden, or the operator's alone is no question.
	c = change(`{"add":["keeper"]}`)
	h.answer(h.waits().ID, approval.Answer{For: approval.Never})
	says(c, "for the rest of this session")
	says(change(`{"add":["keeper"]}`), "for the rest of this session")
	says(change(`{"add":["editor"]}`), `"activated":[]`)
	says(change(`{"add":["nothing"]}`), "Unknown skill: nothing")
	if list, _ := h.queue.List(t.Context()); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// An approval whose call finds no slot is not lost: the call that is tried again runs without another question, once.
func TestApprovalWithoutASlot(t *testing.T) {
	p := writesAsk()
	p.limits = map[string]policy.Limit{"developer": {Rates: policy.Rates{Concurrent: 1}}}
	h := buildAsking(t, p, approval.Options{})
	s := h.enter("developer")
	began, end := make(chan struct{}), make(chan struct{})
	h.back.answer = func(_ context.Context, _ policy.Scope, _, _ string, params []byte) ([]byte, []byte, error) {
		if strings.Contains(string(params), "read_file") {
			close(began)
			<-end
		}
		return []byte(`{}`), nil, nil
	}
	reading := h.call(t.Context(), s, request("files__read_file", `{"path":"x"}`))
	<-began
	c := h.call(t.Context(), s, request("files__write_file", writing))
	h.answer(h.waits().ID, approval.Answer{Allow: true})
	if d := denied(t, ended(t, c).err); d.RetryAfter == 0 {
		t.Errorf("%+v", d)
	}
	close(end)
	ended(t, reading)
	if _, err := h.Call(t.Context(), s, request("files__write_file", writing)); err != nil {
		t.Errorf("tried again: %v", err)
	}
	if last := h.last(audit.Decided); last["decidedBy"] != "person" || last["effect"] != "allow" {
		t.Errorf("%v", last)
	}
	c = h.call(t.Context(), s, request("files__write_file", writing))
	h.answer(h.waits().ID, approval.Answer{}) // it was for one call
	denied(t, ended(t, c).err)
}

// TestClientBringsTheSign: the form about a critical call has a field for the second sign, and without it the client's answer settles nothing.
func TestClientBringsTheSign(t *testing.T) {
	h := buildAsking(t, writesAsk(), approval.Options{Deadline: -1})
	done := make(chan approval.Answer, 1)
	go func() {
		a, _ := h.queue.Ask(t.Context(), approval.Request{Risk: policy.Critical, Session: "s", Principal: "p", Tool: "agent__Bash"})
		done <- a
	}()
	r := h.waits()
	for _, c := range []struct {
		content string
		state   approval.State
	}{
		{`"answer":"allow once"`, approval.Pending}, {`"answer":"allow once","sure":false`, approval.Pending},
		{`"answer":"allow once","sure":"yes"`, approval.Pending}, {`"answer":"allow once","sure":true`, approval.Allowed},
	} {
		h.askClient(t.Context(), client{`{"elicitation":{}}`, func(_ context.Context, params string) (string, error) {
			if !strings.Contains(params, `"sure"`) || !strings.Contains(params, "I have read what it would do") {
				t.Errorf("the form: %s", params)
			}
			return `{"action":"accept","content":{` + c.content + `}}`, nil
		}}, r)
		if now, err := h.queue.Show(t.Context(), r.ID); err != nil || now.State != c.state {
			t.Errorf("%s: %s, %v", c.content, now.State, err)
		}
	}
	if a := <-done; !a.Allow || a.Sign != sign.Sure {
		t.Errorf("%+v", a)
	}
}
