package backend

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"mycelium/internal/backend/oauth"
)

// The times between starts of one server. A server that ran for stableAfter before it ended is started again at once.
const (
	backoffMin  = time.Second
	backoffMax  = time.Minute
	stableAfter = 30 * time.Second
)

// run is one run of a server, which ended by itself.
type run struct {
	started  bool          // false: it did not become ready
	lasted   time.Duration // from when it was ready
	answered int64         // calls that it answered
}

// backoff delays the next start of a server that did not start, or that ended soon after its start. The delay doubles with each
// failure in a row. A run that answered calls ends the row: its end is the first failure of the next one. The delay is random, so that
// servers that fail together do not come back together.
type backoff struct {
	failures int       // in a row
	ended    int       // how many of them are runs that had started
	until    time.Time // no start before it
	err      error     // the last failure
	last     run
}

// failed counts a failure.
func (b *backoff) failed(now time.Time, err error, last run) {
	if last.answered > 0 {
		b.failures, b.ended = 0, 0
	}
	b.failures++
	if last.started {
		b.ended++
	}
	most := min(backoffMin<<min(b.failures-1, 16), backoffMax)
	b.until, b.err, b.last = now.Add(most/2+rand.N(most/2+1)), err, last //nolint:gosec // jitter, no secret
}

// delay is how long a start has to wait. The error is for callers that should not wait that long. They do wait after the first end of
// a server that had started: most often somebody killed or updated it.
func (b *backoff) delay(now time.Time) (time.Duration, error) {
	wait := b.until.Sub(now)
	if b.failures == 0 || wait <= 0 {
		return 0, nil
	}
	if b.last.started && b.failures == 1 {
		return wait, nil
	}
	return 0, &backoffError{*b}
}

// backoffError means that a server was needed while its backoff lasted.
type backoffError struct{ backoff }

func (e *backoffError) Error() string {
	var login *oauth.AuthorizationError
	if errors.As(e.err, &login) {
		return login.Error() // waiting does not help
	}
	return fmt.Sprintf("%s and is not started again before %s: %v", e.happened(), clock(e.until), e.err)
}

// happened says what failed, and how often.
func (e *backoffError) happened() string {
	switch n := e.failures; {
	case n == 1: // a server that had started is waited for
		return "it did not start"
	case e.ended == 0:
		return fmt.Sprintf("it did not start %d times in a row", n)
	case e.ended == n:
		return fmt.Sprintf("it ended soon after its start %d times in a row, the last time after %v, without an answer to a call,", n,
			e.last.lasted.Round(10*time.Millisecond))
	default:
		return fmt.Sprintf("%d times in a row it did not start, or ended soon after its start without an answer to a call,", n)
	}
}

func (e *backoffError) Unwrap() error { return e.err }
