package backend

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The times between starts of one server. A server that was up for steady before it ended is started again at once.
const (
	firstRespite = time.Second
	mostRespite  = time.Minute
	steady       = 30 * time.Second
)

// respite is the time that a server is left alone after it did not start, or ended soon after its start: twice as long with each failure, and never the
// same for two servers, so that those that fail together do not come back together.
type respite struct {
	failures int       // in a row
	until    time.Time // no start before it
	why      error     // the last failure
	started  bool      // it did start, and ended by itself
}

// failed counts a failure.
func (r *respite) failed(now time.Time, why error, started bool) {
	r.failures++
	most := min(firstRespite<<min(r.failures-1, 16), mostRespite)
	r.until, r.why, r.started = now.Add(most/2+rand.N(most/2+1)), why, started //nolint:gosec // jitter, no secret
}

// rest is how long a start has to wait; the error is for those who should not wait that long. After the first end of a server that had started
// the moment is waited for: most often somebody killed it, or it was updated.
func (r *respite) rest(now time.Time) (time.Duration, error) {
	wait := r.until.Sub(now)
	if r.failures == 0 || wait <= 0 {
		return 0, nil
	}
	if r.started && r.failures == 1 {
		return wait, nil
	}
	return 0, &respiteError{until: r.until, failures: r.failures, why: r.why}
}

// respiteError is a need that came while a server is left alone.
type respiteError struct {
	until    time.Time
	failures int
	why      error
}

func (e *respiteError) Error() string {
	var login *AuthorizationError
	if errors.As(e.why, &login) {
		return login.Error() // no time mends that
	}
	how := "it failed"
	if e.failures > 1 {
		how = fmt.Sprintf("it failed %d times in a row", e.failures)
	}
	return fmt.Sprintf("%s and is not started again before %s: %v", how, clock(e.until), e.why)
}

func (e *respiteError) Unwrap() error { return e.why }
