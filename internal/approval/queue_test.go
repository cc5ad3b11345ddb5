package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"mycelium/internal/policy/sign"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/store"
)

// question returns a call in the session of the test.
func question(args string) Request {
	return Request{
		Session: "s1", Principal: "local", Role: "developer", Tool: "agent__Bash", Args: []byte(args), Rule: "asks", Dir: "/p", Risk: policy.High,
		Facts: policy.Facts{Dir: "/p", Parts: []policy.Part{{Program: "make"}}},
	}
}

const makeIt = `{"command":"make it"}`

func yes(by string) Answer { return Answer{Allow: true, By: by, Via: "terminal"} }

func newQueue(t *testing.T, o Options) *Queue {
	t.Helper()
	q, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func openDB(t *testing.T, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite://"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// answered is the result of an Ask.
type answered struct {
	answer Answer
	err    error
}

// ask calls Ask in the background.
func ask(ctx context.Context, q *Queue, r Request) <-chan answered {
	out := make(chan answered, 1)
	go func() {
		a, err := q.Ask(ctx, r)
		out <- answered{a, err}
	}()
	return out
}

// seen waits until a request meets a condition.
func seen(t *testing.T, q *Queue, what string, ok func(Request) bool) Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var found Request
	q.Watch(ctx, func(r Request) {
		if ok(r) {
			found = r
			cancel()
		}
	})
	if found.ID == "" {
		t.Fatalf("no request that is %s", what)
	}
	return found
}

func waiting(n int) func(Request) bool {
	return func(r Request) bool { return r.State == Pending && r.Waiting == n }
}

func got(t *testing.T, c <-chan answered) Answer {
	t.Helper()
	select {
	case a := <-c:
		if a.err != nil {
			t.Fatalf("Ask: %v", a.err)
		}
		return a.answer
	case <-time.After(time.Minute):
		t.Fatal("nobody was told of the answer")
	}
	return Answer{}
}

func TestFirstAnswerWins(t *testing.T) {
	q := newQueue(t, Options{DB: openDB(t, filepath.Join(t.TempDir(), "q.db"))})
	c := ask(t.Context(), q, question(makeIt))
	r := seen(t, q, "waiting", waiting(1))
	if r.Digest == "" || r.Deadline.Sub(r.Created) != DefaultDeadline || string(r.Args) != makeIt {
		t.Errorf("the request is %+v", r)
	}
	const people = 16
	errs := make([]error, people)
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			a := yes(fmt.Sprint("person ", i))
			a.Allow = i%2 == 0
			_, errs[i] = q.Settle(context.Background(), r.ID, a, sign.None)
		})
	}
	wg.Wait()
	a := got(t, c)
	won := 0
	for i, err := range errs {
		var late *LateError
		switch {
		case err == nil:
			won++
			if a.By != fmt.Sprint("person ", i) || a.Allow != (i%2 == 0) {
				t.Errorf("%d won, and the call heard %+v", i, a)
			}
		case !errors.As(err, &late):
			t.Errorf("answer %d: %v", i, err)
		case late.Request.Answer.By != a.By || !strings.Contains(err.Error(), a.By):
			t.Errorf("answer %d heard that %v won, but it was %s", i, err, a.By)
		}
	}
	if won != 1 {
		t.Errorf("%d answers won", won)
	}
	if list, _ := q.List(t.Context()); len(list) != 0 {
		t.Errorf("still pending: %+v", list)
	}
}

func TestDeadlineDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := New(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		began := time.Now()
		c := ask(context.Background(), q, question(makeIt))
		synctest.Wait()
		list, _ := q.List(context.Background())
		a := (<-c).answer
		if waited := time.Since(began); waited != 300*time.Second || a.Allow || a.By != ByDeadline {
			t.Errorf("after %s: %+v", waited, a)
		}
		_, err = q.Settle(context.Background(), list[0].ID, yes("late"), sign.None)
		var late *LateError
		if !errors.As(err, &late) || late.Request.State != Expired || !strings.Contains(err.Error(), "in time, so it was denied") {
			t.Errorf("a late answer: %v", err)
		}
		if r, err := q.Show(context.Background(), list[0].ID); err != nil || r.State != Expired || r.Answer.Allow {
			t.Errorf("shown: %+v %v", r, err)
		}

		// An earlier deadline of the caller counts; a later one does not.
		r := question(makeIt)
		r.Deadline = time.Now().Add(10 * time.Second)
		began = time.Now()
		if a, err := q.Ask(context.Background(), r); err != nil || a.By != ByDeadline || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %+v %v", time.Since(began), a, err)
		}
		r.Deadline, began = time.Now().Add(time.Hour), time.Now()
		if a, err := q.Ask(context.Background(), r); err != nil || a.By != ByDeadline || time.Since(began) != 300*time.Second {
			t.Errorf("after %s: %+v %v", time.Since(began), a, err)
		}
	})
}

func TestWithoutDeadlineItWaitsForItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := New(context.Background(), Options{Deadline: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		ctx, cancel := context.WithCancel(context.Background())
		c := ask(ctx, q, question(makeIt))
		time.Sleep(48 * time.Hour)
		list, _ := q.List(context.Background())
		if len(list) != 1 || !list[0].Deadline.IsZero() {
			t.Fatalf("%+v", list)
		}
		cancel()
		if a := <-c; !errors.Is(a.err, context.Canceled) {
			t.Errorf("%+v", a)
		}
	})
}

func TestAnswerWithoutADigestThatWasShown(t *testing.T) {
	q := newQueue(t, Options{})
	c := ask(t.Context(), q, question(makeIt))
	r := seen(t, q, "waiting", waiting(1))
	a := yes("kimu")
	a.Digest = "other"
	if _, err := q.Settle(t.Context(), r.ID, a, sign.None); !errors.Is(err, ErrDigest) {
		t.Errorf("an answer to another call: %v", err)
	}
	if _, err := q.Settle(t.Context(), "nothing", yes("kimu"), sign.None); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown id: %v", err)
	}
	for _, bad := range []Answer{{Allow: true, For: Never, By: "x"}, {For: Rule, By: "x"}, {For: "always", By: "x"}, {Allow: true},
		{Allow: true, For: Rule, By: "x"}} {
		if _, err := q.Settle(t.Context(), r.ID, bad, sign.None); err == nil {
			t.Errorf("taken: %+v", bad)
		}
	}
	a.Digest = r.Digest
	if _, err := q.Settle(t.Context(), r.ID, a, sign.None); err != nil {
		t.Error(err)
	}
	if a := got(t, c); !a.Allow || a.For != Once {
		t.Errorf("%+v", a)
	}
}

func TestEqualCallsShareOneRequest(t *testing.T) {
	q := newQueue(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	one, two, three := ask(t.Context(), q, question(makeIt)), ask(t.Context(), q, question(`{ "command" : "make it" }`)),
		ask(ctx, q, question(makeIt))
	seen(t, q, "one of three", waiting(3))
	leave()
	if a := <-three; !errors.Is(a.err, context.Canceled) {
		t.Errorf("who left heard %+v", a)
	}
	r := seen(t, q, "one of two", waiting(2))
	if list, _ := q.List(t.Context()); len(list) != 1 {
		t.Fatalf("%d requests", len(list))
	}
	if _, err := q.Settle(t.Context(), r.ID, yes("kimu"), sign.None); err != nil {
		t.Fatal(err)
	}
	if a, b := got(t, one), got(t, two); !a.Allow || a != b {
		t.Errorf("%+v and %+v", a, b)
	}
	// An answer for once does not hold for the next request.
	four := ask(t.Context(), q, question(makeIt))
	again := seen(t, q, "a new one", waiting(1))
	if again.ID == r.ID {
		t.Error("the answer held for a later call")
	}
	_, _ = q.Settle(t.Context(), again.ID, Answer{By: "kimu"}, sign.None)
	got(t, four)
}

func TestWithdrawn(t *testing.T) {
	q := newQueue(t, Options{})
	ctx, leave := context.WithCancelCause(t.Context())
	c := ask(ctx, q, question(makeIt))
	r := seen(t, q, "waiting", waiting(1))
	gone := errors.New("gone home")
	leave(gone)
	if a := <-c; !errors.Is(a.err, gone) {
		t.Errorf("%+v", a)
	}
	seenLate := func() error {
		_, err := q.Settle(t.Context(), r.ID, yes("kimu"), sign.None)
		return err
	}
	if err := seenLate(); err == nil || !strings.Contains(err.Error(), "the caller no longer waits") {
		t.Errorf("an answer for nobody: %v", err)
	}
	// The next caller gets a new request.
	again := ask(t.Context(), q, question(makeIt))
	r2 := seen(t, q, "a new one", waiting(1))
	_, _ = q.Settle(t.Context(), r2.ID, Answer{By: "kimu", Reason: "no"}, sign.None)
	if a := got(t, again); a.Allow || a.Reason != "no" {
		t.Errorf("%+v", a)
	}
}

func TestAnswersForASession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.db")
	for _, allow := range []bool{true, false} {
		q := newQueue(t, Options{DB: openDB(t, path)})
		c := ask(t.Context(), q, question(makeIt))
		r := seen(t, q, "waiting", waiting(1))
		if _, err := q.Settle(t.Context(), r.ID, Answer{Allow: allow, For: Session, By: "kimu", Via: "terminal"}, sign.None); err != nil {
			t.Fatal(err)
		}
		got(t, c)
		same := func(q *Queue) {
			t.Helper()
			if a, err := q.Ask(t.Context(), question(makeIt)); err != nil || a.Allow != allow || a.By != "kimu" {
				t.Errorf("the same call again: %+v %v", a, err)
			}
		}
		same(q)
		q.Close()
		q = newQueue(t, Options{DB: openDB(t, path)}) // the daemon starts again
		same(q)
		for what, change := range map[string]func(*Request){
			"session": func(r *Request) { r.Session = "s2" }, "principal": func(r *Request) { r.Principal = "local/child" },
			"tool": func(r *Request) { r.Tool = "agent__Write" }, "arguments": func(r *Request) { r.Args = []byte(`{"command":"make it "}`) },
			"rule": func(r *Request) { r.Rule = "other" }, "folder": func(r *Request) { r.Dir = "/q" },
			"what it does": func(r *Request) {
				r.Facts.Parts = []policy.Part{{Program: "make", Effects: []string{policy.EffectWrittenHere}}}
			},
		} {
			other := question(makeIt)
			change(&other)
			if !allow && what == "what it does" { // a denial holds whatever the files have become
				if a, err := q.Ask(t.Context(), other); err != nil || a.Allow {
					t.Errorf("denied, and %s has changed: %+v %v", what, a, err)
				}
				continue
			}
			c := ask(t.Context(), q, other)
			r := seen(t, q, "asked for another "+what, waiting(1))
			_, _ = q.Settle(t.Context(), r.ID, Answer{By: "kimu"}, sign.None)
			got(t, c)
		}
		if err := q.Reset(t.Context(), "s1"); err != nil {
			t.Fatal(err)
		}
		c = ask(t.Context(), q, question(makeIt))
		r = seen(t, q, "asked again after a reset", waiting(1))
		_, _ = q.Settle(t.Context(), r.ID, Answer{By: "kimu"}, sign.None)
		got(t, c)
		q.Close()
	}
}

func TestSessionOver(t *testing.T) {
	q := newQueue(t, Options{})
	c := ask(t.Context(), q, question(makeIt))
	other := question(makeIt)
	other.Session = "s2"
	d := ask(t.Context(), q, other)
	seen(t, q, "of s2", func(r Request) bool { return r.Session == "s2" })
	seen(t, q, "of s1", func(r Request) bool { return r.Session == "s1" })
	if err := q.Forget(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if a := got(t, c); a.Allow || a.By != BySession {
		t.Errorf("%+v", a)
	}
	if list, _ := q.List(t.Context()); len(list) != 1 || list[0].Session != "s2" {
		t.Errorf("%+v", list)
	}
	q.Suspend()
	if a := <-d; !errors.Is(a.err, ErrClosed) {
		t.Errorf("%+v", a)
	}
}

func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.db")
	first := newQueue(t, Options{DB: openDB(t, path)})
	c := ask(t.Context(), first, question(makeIt))
	r := seen(t, first, "waiting", waiting(1))
	first.Close()
	if a := <-c; !errors.Is(a.err, ErrClosed) {
		t.Fatalf("who waited when the daemon ended heard %+v", a)
	}
	if _, err := first.Ask(t.Context(), question(makeIt)); !errors.Is(err, ErrClosed) {
		t.Errorf("a queue that is closed: %v", err)
	}
	if _, err := first.Settle(t.Context(), r.ID, yes("kimu"), sign.None); !errors.Is(err, ErrClosed) {
		t.Errorf("a queue that is closed: %v", err)
	}

	second := newQueue(t, Options{DB: openDB(t, path)})
	list, _ := second.List(t.Context())
	if len(list) != 1 || list[0].ID != r.ID || list[0].Waiting != 0 || list[0].Digest != r.Digest || string(list[0].Args) != makeIt ||
		!list[0].Deadline.Equal(r.Deadline.Round(0)) {
		t.Fatalf("after the restart: %+v", list)
	}
	c = ask(t.Context(), second, question(makeIt))
	if again := seen(t, second, "waiting again", waiting(1)); again.ID != r.ID {
		t.Errorf("it is another request: %s, was %s", again.ID, r.ID)
	}
	if _, err := second.Settle(t.Context(), r.ID, yes("kimu"), sign.None); err != nil {
		t.Fatal(err)
	}
	if a := got(t, c); !a.Allow {
		t.Errorf("%+v", a)
	}
	second.Close()
	third := newQueue(t, Options{DB: openDB(t, path)})
	if r, err := third.Show(t.Context(), r.ID); err != nil || r.State != Allowed || r.Answer.By != "kimu" {
		t.Errorf("shown by a later daemon: %+v %v", r, err)
	}
	var late *LateError
	if _, err := third.Settle(t.Context(), r.ID, yes("other"), sign.None); !errors.As(err, &late) {
		t.Errorf("answered again: %v", err)
	}
}

// A caller may come back after the answer. The answer is for one call and for a limited time.
func TestAnsweredWhileTheCallerWasAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.db")
	first := newQueue(t, Options{DB: openDB(t, path)})
	ask(t.Context(), first, question(makeIt))
	r := seen(t, first, "waiting", waiting(1))
	first.Close()
	second := newQueue(t, Options{DB: openDB(t, path)})
	if _, err := second.Settle(t.Context(), r.ID, yes("kimu"), sign.None); err != nil {
		t.Fatal(err)
	}
	if a, err := second.Ask(t.Context(), question(makeIt)); err != nil || !a.Allow || a.By != "kimu" {
		t.Errorf("who came back heard %+v %v", a, err)
	}
	c := ask(t.Context(), second, question(makeIt))
	next := seen(t, second, "a new one", waiting(1))
	if next.ID == r.ID {
		t.Error("the answer held twice")
	}
	_, _ = second.Settle(t.Context(), next.ID, Answer{By: "kimu"}, sign.None)
	got(t, c)
}

func TestOrphansExpire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.db")
	first := newQueue(t, Options{DB: openDB(t, path), Deadline: time.Hour})
	ask(t.Context(), first, question(makeIt))
	r := seen(t, first, "waiting", waiting(1))
	first.Close()
	// A daemon that starts after the deadline expires the request at once.
	second := newQueue(t, Options{DB: openDB(t, path), Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	x, err := second.Show(t.Context(), r.ID)
	for limit := time.Now().Add(time.Minute); err == nil && x.State == Pending && time.Now().Before(limit); {
		x, err = second.Show(t.Context(), r.ID)
	}
	if err != nil || x.State != Expired {
		t.Fatalf("%+v %v", x, err)
	}
	if x.ID != r.ID || x.Answer.By != ByDeadline {
		t.Errorf("%+v", x)
	}
}

func TestOrphanExpiresBeforeItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := New(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		e := &entry{r: question(makeIt), done: make(chan struct{}), announced: make(chan struct{})}
		close(e.announced)
		e.r.ID, e.r.State, e.r.Deadline = "orphan", Pending, time.Now().Add(300*time.Second)
		e.r.Digest = e.r.Sum(e.r.Args)
		e.bound = e.r.Bound()
		q.mu.Lock()
		q.takeOver(e, Pending)
		q.mu.Unlock()
		time.Sleep(rejoinTime - time.Second)
		if r, _ := q.Show(context.Background(), "orphan"); r.State != Pending {
			t.Errorf("too early: %+v", r)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if r, _ := q.Show(context.Background(), "orphan"); r.State != Expired || r.Answer.By != ByCaller {
			t.Errorf("%+v", r)
		}
	})
}

func TestFull(t *testing.T) {
	q := newQueue(t, Options{})
	for i := range maxPerSession {
		ask(t.Context(), q, question(fmt.Sprintf(`{"command":"make %d"}`, i)))
		seen(t, q, "waiting", func(r Request) bool { return strings.Contains(string(r.Args), fmt.Sprintf("make %d\"", i)) })
	}
	if _, err := q.Ask(t.Context(), question(`{"command":"one more"}`)); !errors.Is(err, ErrFull) {
		t.Errorf("one more in the session: %v", err)
	}
	other := question(makeIt)
	other.Session = "s2"
	c := ask(t.Context(), q, other)
	r := seen(t, q, "of another session", func(r Request) bool { return r.Session == "s2" })
	_, _ = q.Settle(t.Context(), r.ID, yes("kimu"), sign.None)
	got(t, c)
	if _, err := q.Ask(t.Context(), question(`{"command":"`+strings.Repeat("x", maxArgs)+`"}`)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	for i := len(q.open); i < maxPending; i++ {
		r := question(makeIt)
		r.Session = fmt.Sprint("more", i)
		ask(t.Context(), q, r)
		seen(t, q, "waiting", func(q Request) bool { return q.Session == r.Session })
	}
	other.Session = "last"
	if _, err := q.Ask(t.Context(), other); !errors.Is(err, ErrFull) {
		t.Errorf("one more in all: %v", err)
	}
}

// breakWrites makes every write to the table fail, as a full disk would.
func breakWrites(t *testing.T, db *store.DB, when string) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`CREATE TRIGGER full BEFORE ` + when + ` ON approvals BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeKeptIsNotApproved(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "q.db"))
	q := newQueue(t, Options{DB: db})
	c := ask(t.Context(), q, question(makeIt))
	r := seen(t, q, "waiting", waiting(1))
	breakWrites(t, db, "UPDATE")
	if _, err := q.Settle(t.Context(), r.ID, yes("kimu"), sign.None); err == nil || !strings.Contains(err.Error(), "still waits") {
		t.Errorf("an approval that cannot be kept: %v", err)
	}
	if r, _ := q.Show(t.Context(), r.ID); r.State != Pending {
		t.Errorf("it is %s", r.State)
	}
	// A denial stands.
	if _, err := q.Settle(t.Context(), r.ID, Answer{By: "kimu"}, sign.None); err == nil {
		t.Error("nobody is told that the denial was not kept")
	}
	if a := got(t, c); a.Allow {
		t.Errorf("%+v", a)
	}
	breakWrites2 := `CREATE TRIGGER full2 BEFORE INSERT ON approvals BEGIN SELECT RAISE(ABORT, 'disk full'); END`
	if err := db.Tx(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(breakWrites2); return err }); err != nil {
		t.Fatal(err)
	}
	if a, err := q.Ask(t.Context(), question(makeIt)); err == nil || a.Allow {
		t.Errorf("asked without being kept: %+v", a)
	}
	if list, _ := q.List(t.Context()); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestRuleAnswers(t *testing.T) {
	var mu sync.Mutex
	var written []string
	fail := true
	q := newQueue(t, Options{WriteRule: func(_ context.Context, r Request, a Answer) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if fail {
			return "", errors.New("the file is broken")
		}
		written = append(written, a.By)
		return "approved-" + r.ID, nil
	}})
	c := ask(t.Context(), q, question(makeIt))
	r := seen(t, q, "waiting", waiting(1))
	a := Answer{Allow: true, For: Rule, By: "kimu", Via: "terminal"}
	if _, err := q.Settle(t.Context(), r.ID, a, sign.None); err == nil || !strings.Contains(err.Error(), "the file is broken") {
		t.Errorf("a rule that cannot be written: %v", err)
	}
	mu.Lock()
	fail = false
	mu.Unlock()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = q.Settle(context.Background(), r.ID, a, sign.None) })
	}
	wg.Wait()
	if a := got(t, c); !a.Allow || a.Rule != "approved-"+r.ID {
		t.Errorf("%+v", a)
	}
	if len(written) != 1 {
		t.Errorf("%d rules were written", len(written))
	}
}

// judges is a judge for tests.
type judges func(ctx context.Context, r Request) (Verdict, error)

func (m judges) Judge(ctx context.Context, r Request) (Verdict, error) { return m(ctx, r) }

func TestJudgeFirst(t *testing.T) {
	for name, test := range map[string]struct {
		verdict Verdict
		err     error
		allow   bool
		opinion string // of a request that is passed on; empty: the model settles it
	}{
		"allows":    {verdict: Verdict{Allow: true, By: "small", Reason: "harmless"}, allow: true},
		"denies":    {verdict: Verdict{Deny: true, By: "small", Reason: "no"}},
		"passes on": {verdict: Verdict{Opinion: "not sure"}, opinion: "not sure"},
		"both":      {verdict: Verdict{Allow: true, Deny: true, Reason: "odd"}, opinion: "odd"},
		"fails":     {verdict: Verdict{Allow: true}, err: errors.New("overloaded"), opinion: "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, Options{Judge: judges(func(context.Context, Request) (Verdict, error) { return test.verdict, test.err })})
			c := ask(t.Context(), q, question(makeIt))
			if test.opinion != "" {
				r := seen(t, q, "passed on", waiting(1))
				if !strings.Contains(r.Opinion, test.opinion) {
					t.Errorf("people are told %q", r.Opinion)
				}
				_, _ = q.Settle(t.Context(), r.ID, Answer{Allow: test.allow, By: "kimu", Via: "terminal"}, sign.None)
			}
			a := got(t, c)
			if a.Allow != test.allow || (a.Via == "model") != (test.opinion == "") {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestAPersonNeedNotWaitForTheJudge(t *testing.T) {
	ended := make(chan error, 1)
	q := newQueue(t, Options{Judge: judges(func(ctx context.Context, _ Request) (Verdict, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return Verdict{Allow: true, By: "late"}, nil
	})})
	c := ask(t.Context(), q, question(makeIt))
	var list []Request
	for len(list) == 0 {
		list, _ = q.List(t.Context())
	}
	if _, err := q.Settle(t.Context(), list[0].ID, Answer{By: "kimu", Reason: "no"}, sign.None); err != nil {
		t.Fatal(err)
	}
	if a := got(t, c); a.Allow || a.By != "kimu" {
		t.Errorf("%+v", a)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWatchTellsOfAll(t *testing.T) {
	q := newQueue(t, Options{})
	if q.Watched() {
		t.Error("nobody watches yet")
	}
	one := ask(t.Context(), q, question(makeIt))
	seen(t, q, "waiting", waiting(1))
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan Request, 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.Watch(ctx, func(r Request) { heard <- r })
	}()
	r := <-heard // the request that waited before
	if r.State != Pending || !q.Watched() {
		t.Errorf("%+v", r)
	}
	_, _ = q.Settle(t.Context(), r.ID, yes("kimu"), sign.None)
	got(t, one)
	if s := <-heard; s.ID != r.ID || s.State != Allowed || s.Answer.By != "kimu" {
		t.Errorf("%+v", s)
	}
	two := ask(t.Context(), q, question(`{"command":"two"}`))
	n := <-heard
	if n.State != Pending || n.ID == r.ID {
		t.Errorf("%+v", n)
	}
	_, _ = q.Settle(t.Context(), n.ID, Answer{By: "kimu"}, sign.None)
	got(t, two)
	cancel()
	<-ended
	if q.Watched() {
		t.Error("nobody watches any more")
	}
}

func TestDigests(t *testing.T) {
	r := question(makeIt)
	sum := func(args string) string { return r.Sum([]byte(args)) }
	if sum(`{"a":1,"b":[2]}`) != sum(`{ "b":[2], "a":1 }`) {
		t.Error("the order of keys counts")
	}
	for _, pair := range [][2]string{{`{"a":1}`, `{"a":1.0}`}, {`{"a":"1"}`, `{"a":1}`}, {`{"a":[1,2]}`, `{"a":[2,1]}`}, {`{}`, `{"a":null}`},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`}} {
		if sum(pair[0]) == sum(pair[1]) {
			t.Errorf("%s and %s are one", pair[0], pair[1])
		}
	}
	one, two := r, r
	one.Principal, one.Tool, two.Principal, two.Tool = "ab", "c", "a", "bc"
	if one.Sum(nil) == two.Sum(nil) {
		t.Error("principal and tool run into each other")
	}
	ids := map[string]bool{}
	for range 1000 {
		id := newID()
		if len(id) != idLength || strings.Trim(id, idLetters) != "" || ids[id] {
			t.Fatalf("id %q", id)
		}
		ids[id] = true
	}
}

func FuzzSum(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":2}`, `[`, "\xff", `{"a":1,"a":2}`, `{"a":1e400}`} {
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		r := Request{Kind: Call, Tool: "t"}
		before, first := string(a), r.Sum(a)
		if first != r.Sum([]byte(before)) || string(a) != before {
			t.Errorf("%q: not the same twice, or changed", a)
		}
		if r.Digest = r.Sum(b); r.Digest == "" || r.Bound() == (&Request{Kind: Call, Tool: "t", Session: "x", Digest: r.Digest}).Bound() {
			t.Errorf("%q", b)
		}
	})
}

// An approval of a question without text is refused, and the question still waits. A reason counts as the text.
func TestQuestionWantsWords(t *testing.T) {
	q := newQueue(t, Options{})
	answered := make(chan Answer, 1)
	go func() {
		a, err := q.Ask(t.Context(), Request{Kind: Question, Call: "c", Session: "s", Tool: "agent__AskUserQuestion"})
		if err != nil {
			t.Error(err)
		}
		answered <- a
	}()
	r := seen(t, q, "the question waits", func(r Request) bool { return r.State == Pending })
	if _, err := q.Settle(t.Context(), r.ID, Answer{Allow: true, For: Once, By: "p"}, sign.None); !errors.Is(err, ErrNoWords) {
		t.Errorf("without a word: %v", err)
	}
	if _, err := q.Settle(t.Context(), r.ID, Answer{Allow: true, For: Once, By: "p", Reason: "青"}, sign.None); err != nil {
		t.Fatal(err)
	}
	if a := <-answered; a.Text != "青" {
		t.Errorf("the agent reads %q", a.Text)
	}
}
