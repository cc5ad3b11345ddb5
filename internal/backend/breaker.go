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

// The breaker of a server opens when so many calls in a row got no answer, for so long; then one call may try.
const (
	tripAfter = 5
	openFor   = 10 * time.Second
)

// breaker keeps calls from a server that does not answer: a call that would wait for its time-out is refused at once instead. What counts
// against a server are calls that ran into their time-out, and calls that could not be delivered although the connection stands. An error
// that the server answers with is an answer. The end of a process is not counted: its restarts have a back-off of their own.
type breaker struct {
	name   string
	logger *slog.Logger

	mu    sync.Mutex
	b     *gobreaker.TwoStepCircuitBreaker[struct{}]
	until time.Time // when the next call may try; good while open
	why   error     // the last failure
}

// The states of a breaker, as status shows them.
const (
	breakerClosed   = "closed"    // calls pass
	breakerOpen     = "open"      // calls are refused
	breakerHalfOpen = "half-open" // the next call, or the one that is under way, decides
)

func newBreaker(name string, logger *slog.Logger) *breaker {
	b := &breaker{name: name, logger: logger}
	b.reset()
	return b
}

// reset forgets what was counted.
func (b *breaker) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: b.name, MaxRequests: 1, Timeout: openFor,
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		OnStateChange: b.turned,
		IsExcluded:    func(err error) bool { return errors.Is(err, errNoVerdict) },
	})
	b.until, b.why = time.Time{}, nil
}

func (b *breaker) current() *gobreaker.TwoStepCircuitBreaker[struct{}] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b
}

// turned is told of every change of state, from within a call of the library.
func (b *breaker) turned(_ string, _, to gobreaker.State) {
	b.mu.Lock()
	if to == gobreaker.StateOpen {
		b.until = time.Now().Add(openFor) // the clock that the library reads
	}
	why := b.why
	b.mu.Unlock()
	b.logger.Warn("breaker of a server", "server", b.name, "is", to.String(), "error", why)
}

// open refuses at once while the breaker is open, without taking part in the count.
func (b *breaker) open() error {
	if b.current().State() == gobreaker.StateOpen {
		return b.refusal(gobreaker.ErrOpenState)
	}
	return nil
}

// allow admits a call; done takes its verdict: nil for an answer, errNoVerdict where it says nothing of the server, else a failure.
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

// errNoVerdict is the outcome of a call that says nothing of its server: the caller went away, or it was never sent.
var errNoVerdict = errors.New("no verdict")

func (b *breaker) refusal(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &openError{why: b.why}
	if errors.Is(err, gobreaker.ErrOpenState) {
		e.until = b.until
	}
	return e
}

// openError is a call that was not sent because the calls before it got no answer.
type openError struct {
	until time.Time // zero: another call is trying just now
	why   error
}

func (e *openError) Error() string {
	when := "one call is trying whether it does again"
	if !e.until.IsZero() {
		when = "no call is sent before " + clock(e.until)
	}
	return fmt.Sprintf("it did not answer the last calls (%s); %s", e.why, when)
}

// Hint is that of the last failure.
func (e *openError) Hint() string { return text.HintOf(e.why) }

// clock writes a moment for people: its time with zone, and how far away it is.
func clock(t time.Time) string {
	return fmt.Sprintf("%s (in %v)", t.Local().Format("15:04:05 MST"), max(0, time.Until(t)).Round(100*time.Millisecond))
}

// lastFailure says why the breaker opened.
func (b *breaker) lastFailure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Errorf("it did not answer the last calls: %w", b.why)
}

// state is the state for status, with the time of the next try while it is open.
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
