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

// backoff delays the next start of a server that did not start, or that ended soon after its start. The delay doubles with each
// failure. It is random, so that servers that fail together do not come back together.
type backoff struct {
	failures int       // in a row
	until    time.Time // no start before it
	err      error     // the last failure
	started  bool      // the server did start, and ended by itself
}

// failed counts a failure.
func (b *backoff) failed(now time.Time, err error, started bool) {
	b.failures++
	most := min(backoffMin<<min(b.failures-1, 16), backoffMax)
	b.until, b.err, b.started = now.Add(most/2+rand.N(most/2+1)), err, started //nolint:gosec // jitter, no secret
}

// delay is how long a start has to wait. The error is for callers that should not wait that long. They do wait after the first end of
// a server that had started: most often somebody killed or updated it.
func (b *backoff) delay(now time.Time) (time.Duration, error) {
	wait := b.until.Sub(now)
	if b.failures == 0 || wait <= 0 {
		return 0, nil
	}
	if b.started && b.failures == 1 {
		return wait, nil
	}
	return 0, &backoffError{until: b.until, failures: b.failures, err: b.err}
}

// backoffError means that a server was needed while its backoff lasted.
type backoffError struct {
	until    time.Time
	failures int
	err      error
}

func (e *backoffError) Error() string {
	var login *oauth.AuthorizationError
	if errors.As(e.err, &login) {
		return login.Error() // waiting does not help
	}
	how := "it failed"
	if e.failures > 1 {
		how = fmt.Sprintf("it failed %d times in a row", e.failures)
	}
	return fmt.Sprintf("%s and is not started again before %s: %v", how, clock(e.until), e.err)
}

func (e *backoffError) Unwrap() error { return e.err }
