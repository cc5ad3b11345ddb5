package device

import (
	"sync"
	"time"
)

// bounds say how many sign-ins may fail within a time before none is tried any more until that time has passed. The first slows a program
// that guesses, the second locks it out. A link has 256 random bits, so neither is what keeps it from being guessed.
var bounds = [...]struct {
	failures int
	within   time.Duration
}{{5, time.Minute}, {20, 15 * time.Minute}}

// Attempts counts the sign-ins that failed, of all callers together: on this machine they cannot be told apart.
type Attempts struct {
	mu     sync.Mutex
	failed []time.Time // the oldest first
}

// Wait returns how long no sign-in is tried; 0: one may be.
func (a *Attempts) Wait(now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range bounds {
		if n := len(a.failed); n >= b.failures {
			wait = max(wait, a.failed[n-b.failures].Add(b.within).Sub(now))
		}
	}
	return wait
}

// Fail counts a sign-in that failed.
func (a *Attempts) Fail(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = append(a.failed, now)
	if most := bounds[len(bounds)-1].failures; len(a.failed) > most {
		a.failed = a.failed[len(a.failed)-most:]
	}
}
