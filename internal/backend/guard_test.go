package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// at waits until a server has so many calls at work and waiting.
func at(t testing.TB, p *Pool, active, waiting int) {
	t.Helper()
	waitFor(t, func() bool { s := p.Status()[0]; return s.Active == active && s.Waiting == waiting })
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "late") // the first call is not answered
	s.Concurrency, s.Queue = 1, 1
	p := newPool(t, Options{}, s)
	ctx := testContext(t)
	hung, release := context.WithCancel(ctx)
	defer release()
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := ask(hung, t, p, "s", nil); first <- err }()
	waitFor(t, func() bool { return p.entry("s").conn.Busy() == 1 }) // it is on its way, before its end can be
	at(t, p, 1, 0)
	go func() { _, err := ask(ctx, t, p, "s", nil); second <- err }()
	at(t, p, 1, 1)
	const full = `server "s": it is busy: 1 calls are running and 1 wait (hint: try again later; concurrency and queue in its entry set ` +
		`the limits)`
	if _, err := ask(ctx, t, p, "s", nil); err == nil || text.Describe(err) != full {
		t.Errorf("error %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ask(gone, t, p, "s", nil); err == nil {
		t.Error("who is gone is served")
	}
	if n := p.Status()[0].Refused; n == 0 {
		t.Error("status counts no refusal")
	}
	release()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("who waited: %v", err)
	}
	at(t, p, 0, 0)
}

func TestACallWaitsForItsTurnNoLongerThanItsTimeout(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "late")
	s.Concurrency = 1
	p := newPool(t, Options{}, s)
	ctx := testContext(t)
	hung, release := context.WithCancel(ctx)
	defer release()
	first := make(chan error, 1)
	go func() { _, err := ask(hung, t, p, "s", nil); first <- err }()
	at(t, p, 1, 0)
	s.Timeout = Duration(50 * time.Millisecond)
	if err := p.Reconfigure([]Server{s}); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, t, p, "s", nil); err == nil || !strings.Contains(err.Error(), "it is busy: the call waited 50ms for its turn") {
		t.Errorf("error %v", err)
	}
	release()
	<-first
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker("s", slog.New(slog.DiscardHandler))
		fail := func() {
			t.Helper()
			done, err := b.allow()
			if err != nil {
				t.Fatal(err)
			}
			done(errors.New("it did not answer"))
		}
		for range tripAfter - 1 {
			fail()
		}
		for range 10 { // those who went away say nothing of the server, in neither direction
			done, err := b.allow()
			if err != nil {
				t.Fatal(err)
			}
			done(errNoVerdict)
		}
		if state, _ := b.state(); state != breakerClosed {
			t.Fatalf("it is %s after %d failures", state, tripAfter-1)
		}
		fail()
		state, until := b.state()
		if state != breakerOpen || !until.Equal(time.Now().Add(openFor)) {
			t.Errorf("it is %s until %v", state, until)
		}
		want := "the last 5 calls or more in a row got no answer (the last: it did not answer); no call is sent before " + until.Local().Format("15:04:05 MST") +
			" (in 10s)"
		if err := b.open(); err == nil || err.Error() != want {
			t.Errorf("error %v", err)
		}
		if _, err := b.allow(); err == nil || err.Error() != want {
			t.Errorf("error %v", err)
		}
		for _, answer := range []error{errors.New("again"), nil} {
			time.Sleep(openFor + time.Millisecond)
			done, err := b.allow()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.allow(); err == nil || !strings.Contains(err.Error(), "one call is trying whether it answers again") {
				t.Errorf("error %v", err)
			}
			done(answer)
		}
		if state, until := b.state(); state != breakerClosed || !until.IsZero() {
			t.Errorf("after an answer it is %s until %v", state, until)
		}
		for range tripAfter {
			fail()
		}
		b.reset()
		if state, _ := b.state(); state != breakerClosed {
			t.Errorf("after a reset it is %s", state)
		}
	})
}

// A server that hangs is called until its breaker opens, and then nobody waits for it.
func TestCallsOfAServerThatHangs(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "late")
	s.Timeout = Duration(50 * time.Millisecond)
	s.Concurrency = 1
	p := newPool(t, Options{}, s)
	e := p.entry("s")
	for range tripAfter { // the fake answers the second call: what counts is that five in a row are not
		done, err := e.breaker.allow()
		if err != nil {
			t.Fatal(err)
		}
		done(&noAnswerError{"it did not answer tools/call within 50ms"})
	}
	ctx := testContext(t)
	_, err := ask(ctx, t, p, "s", nil)
	var open *breakerOpenError
	if !errors.As(err, &open) || open.until.IsZero() {
		t.Fatalf("error %v", err)
	}
	st := p.Status()[0]
	if st.Breaker != breakerOpen || st.Retry.IsZero() || st.State != StateIdle ||
		!strings.Contains(st.Error, "it did not answer tools/call within 50ms") {
		t.Errorf("status %+v", st)
	}
	if err := p.Learn(ctx, "s"); err != nil { // a person wants to know
		t.Fatal(err)
	}
	if st := p.Status()[0]; st.Breaker != breakerClosed || st.State != StateReady {
		t.Errorf("status %+v", st)
	}
}

func TestTimeoutsOpenTheBreaker(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "never")
	s.Timeout = Duration(30 * time.Millisecond)
	p := newPool(t, Options{}, s)
	ctx := testContext(t)
	for range tripAfter {
		if _, err := ask(ctx, t, p, "s", nil); err == nil || !strings.Contains(err.Error(), "it did not answer tools/call within 30ms") {
			t.Fatalf("error %v", err)
		}
	}
	if _, err := ask(ctx, t, p, "s", nil); err == nil || !strings.Contains(err.Error(), "no call is sent before ") {
		t.Errorf("error %v", err)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	why := errors.New("no reason")
	var r backoff
	if wait, err := r.delay(now); wait != 0 || err != nil {
		t.Error(wait, err)
	}
	ended := run{started: true, lasted: 2 * time.Second}
	r.failed(now, why, ended) // it had started: the moment is waited for
	if wait, err := r.delay(now); err != nil || wait < backoffMin/2 || wait > backoffMin {
		t.Error(wait, err)
	}
	most := backoffMin
	for i := 2; i < 40; i++ {
		r.failed(now, why, ended)
		most = min(2*most, backoffMax)
		_, err := r.delay(now)
		var rest *backoffError
		if !errors.As(err, &rest) || rest.failures != i || rest.until.Before(now.Add(most/2)) || rest.until.After(now.Add(most)) {
			t.Fatalf("after %d failures: %v", i, err)
		}
		if !errors.Is(err, why) ||
			!strings.Contains(err.Error(), fmt.Sprintf("it ended soon after its start %d times in a row, the last time after 2s, without an "+
				"answer to a call, and is not started again before ", i)) {
			t.Errorf("error %v", err)
		}
	}
	if wait, err := r.delay(now.Add(backoffMax)); wait != 0 || err != nil {
		t.Error(wait, err)
	}
	var once backoff
	once.failed(now, why, run{}) // it never started: who needs it is told at once
	if _, err := once.delay(now); err == nil || !strings.HasPrefix(err.Error(), "it did not start and is not started again before ") {
		t.Errorf("who needs a server that did not start has to wait: %v", err)
	}
	once.failed(now, why, run{})
	if _, err := once.delay(now); err == nil || !strings.HasPrefix(err.Error(), "it did not start 2 times in a row and is not") {
		t.Error(err)
	}
	once.failed(now, why, ended)
	if _, err := once.delay(now); err == nil || !strings.HasPrefix(err.Error(), "3 times in a row it did not start, or ended soon after its start "+
		"without an answer to a call, and is not") {
		t.Error(err)
	}
	once.failed(now, why, run{started: true, lasted: 2 * time.Second, answered: 100}) // it worked: that is no failure in a row
	if wait, err := once.delay(now); err != nil || wait > backoffMin || once.failures != 1 {
		t.Error(wait, err)
	}
}

// A server that answers calls and dies again and again has not failed in a row: it is started again, and each next call waits for that.
func TestServerThatAnswersAndDies(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	p := newPool(t, Options{}, play(t, "s", "play-fake", "mortal", starts))
	ctx := testContext(t)
	for range 4 {
		for range 100 {
			if got, err := ask(ctx, t, p, "s", nil); err != nil || got != fakeResult {
				t.Fatalf("%s, %v", got, err)
			}
		}
		_, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t","arguments":{"die":1}}`), nil)
		if err == nil || !strings.Contains(err.Error(), "exit status 7") || strings.Contains(err.Error(), "in a row") {
			t.Fatal(err)
		}
	}
	if n := countLines(t, starts); n != 4 {
		t.Errorf("%d starts", n)
	}
}

// A server that ends with each call is not started in a tight loop, and who needs it meanwhile is told when it will be.
func TestServerThatDiesIsLeftAlone(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	p := newPool(t, Options{}, play(t, "s", "play-fake", "dies", starts))
	ctx := testContext(t)
	told := 0
	for range 100 {
		if _, err := ask(ctx, t, p, "s", nil); err == nil {
			t.Fatal("an answer")
		} else if strings.Contains(err.Error(), "is not started again before ") {
			told++
		}
	}
	if n := countLines(t, starts); n > 4 || n < 2 || told < 90 {
		t.Errorf("%d starts, %d calls were told when the next one is", n, told)
	}
	waitFor(t, func() bool { s := p.Status()[0]; return s.State == StateFailed && !s.Retry.IsZero() && s.Restarts > 0 })
	e := p.entry("s")
	e.mu.Lock()
	failures := e.backoff.failures
	e.mu.Unlock()
	if failures < 2 {
		t.Errorf("%d failures are counted", failures)
	}
}

// One that was up for long is started at once.
func TestServerThatWasFineForLong(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	p := newPool(t, Options{}, play(t, "s", "play-fake", "dies", starts))
	ctx := testContext(t)
	e := p.entry("s")
	for i := range 5 {
		if err := p.Start(ctx, []string{"s"}); err != nil {
			t.Fatal(i, err)
		}
		e.mu.Lock()
		e.ready = e.ready.Add(-stableAfter)
		e.mu.Unlock()
		if _, err := ask(ctx, t, p, "s", nil); err == nil || !strings.Contains(err.Error(), "exit status 7") {
			t.Fatal(err)
		}
	}
	if n := countLines(t, starts); n != 5 {
		t.Errorf("%d starts", n)
	}
}
