package backend

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"mycelium/internal/text"
)

// The breaker of a server opens after tripAfter calls in a row without an answer, for openFor. Then one call may try.
const (
	tripAfter = 5
	openFor   = 10 * time.Second
)

// breaker is the circuit breaker of a server: a call that would run into its time-out is refused at once. Failures are calls that ran into
// their time-out, and calls that could not be delivered although the connection stands. An error answer of the server is no failure. The
// exit of a process is not counted: restarts have a backoff of their own.
type breaker struct {
	name   string
	logger *slog.Logger

	mu    sync.Mutex
	b     *gobreaker.TwoStepCircuitBreaker[struct{}]
	until time.Time // when the next call may try; valid while open
	why   error     // the last failure
}

// The states of a breaker, as status shows them.
const (
	breakerClosed   = "closed"    // calls pass
	breakerOpen     = "open"      // calls are refused
	breakerHalfOpen = "half-open" // the next call, or the call that is under way, decides
)

func newBreaker(name string, logger *slog.Logger) *breaker {
	b := &breaker{name: name, logger: logger}
	b.reset()
	return b
}

// reset closes the breaker and sets its counts to 0.
func (b *breaker) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: b.name, MaxRequests: 1, Timeout: openFor,
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		OnStateChange: b.stateChanged,
		IsExcluded:    func(err error) bool { return errors.Is(err, errNoVerdict) },
	})
	b.until, b.why = time.Time{}, nil
}

func (b *breaker) current() *gobreaker.TwoStepCircuitBreaker[struct{}] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b
}

// stateChanged is called by the library at every change of state.
func (b *breaker) stateChanged(_ string, _, to gobreaker.State) {
	b.mu.Lock()
	if to == gobreaker.StateOpen {
		b.until = time.Now().Add(openFor) // the clock that the library reads
	}
	why := b.why
	b.mu.Unlock()
	b.logger.Warn("breaker of a server", "server", b.name, "is", to.String(), "error", why)
}

// open refuses a call while the breaker is open. It does not change the counts.
func (b *breaker) open() error {
	if b.current().State() == gobreaker.StateOpen {
		return b.refusal(gobreaker.ErrOpenState)
	}
	return nil
}

// allow admits a call. done takes its outcome: nil for an answer, errNoVerdict if the outcome says nothing about the server, or a failure.
func (b *breaker) allow() (done func(error), err error) {
	c := b.current()
	settle, err := c.Allow()
	if err != nil {
		return nil, b.refusal(err)
	}
	return func(verdict error) {
		if verdict != nil && !errors.Is(verdict, errNoVerdict) {
			b.mu.Lock()
			b.why = verdict
			b.mu.Unlock()
		}
		settle(verdict)
	}, nil
}

// errNoVerdict is the outcome of a call that says nothing about its server: the caller went away, or the call was never sent.
var errNoVerdict = errors.New("no verdict")

func (b *breaker) refusal(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &breakerOpenError{why: b.why}
	if errors.Is(err, gobreaker.ErrOpenState) {
		e.until = b.until
	}
	return e
}

// breakerOpenError is a call that was not sent because the calls before it got no answer.
type breakerOpenError struct {
	until time.Time // zero: another call is trying just now
	why   error
}

func (e *breakerOpenError) Error() string {
	when := "one call is trying whether it answers again"
	if !e.until.IsZero() {
		when = "no call is sent before " + clock(e.until)
	}
	return fmt.Sprintf("the last %d calls or more in a row got no answer (the last: %s); %s", tripAfter, e.why, when)
}

// Hint is that of the last failure.
func (e *breakerOpenError) Hint() string { return text.HintOf(e.why) }

// clock writes a moment for people: its time with zone, and how far away it is.
func clock(t time.Time) string {
	return fmt.Sprintf("%s (in %v)", t.Local().Format("15:04:05 MST"), max(0, time.Until(t)).Round(100*time.Millisecond))
}

// failure says why the breaker opened.
func (b *breaker) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Errorf("the last %d calls or more in a row got no answer; the last: %w", tripAfter, b.why)
}

// state is the state for status, and the time of the next try while the breaker is open.
func (b *breaker) state() (string, time.Time) {
	switch b.current().State() {
	case gobreaker.StateOpen:
		b.mu.Lock()
		defer b.mu.Unlock()
		return breakerOpen, b.until
	case gobreaker.StateHalfOpen:
		return breakerHalfOpen, time.Time{}
	default:
		return breakerClosed, time.Time{}
	}
}
