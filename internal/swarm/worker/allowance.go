package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrSpent is the cause of a context that ended because the time of a worker is spent.
var ErrSpent = errors.New("the time of its budget is spent")

// Allowance is the time that a worker may work. Time in which it is paused does not count. A nil Allowance has no end.
type Allowance struct {
	mu     sync.Mutex
	left   time.Duration
	since  time.Time   // when the timer was set
	timer  *time.Timer // nil: paused
	cancel context.CancelCauseFunc
}

// Allow returns a context that ends once so much time is spent, with the cause [ErrSpent]. Without a time it never does, and the
// allowance is nil.
func Allow(ctx context.Context, d time.Duration) (context.Context, *Allowance) {
	if d <= 0 {
		return ctx, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a := &Allowance{left: d, cancel: cancel}
	a.Pause(false)
	return ctx, a
}

// Pause stops the clock, or has it go on.
func (a *Allowance) Pause(stop bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case stop && a.timer != nil:
		a.timer.Stop()
		a.left -= time.Since(a.since)
		a.timer = nil
	case !stop && a.timer == nil:
		a.since = time.Now()
		a.timer = time.AfterFunc(a.left, func() { a.cancel(ErrSpent) })
	}
}

// End releases the allowance and its context.
func (a *Allowance) End() {
	if a == nil {
		return
	}
	a.Pause(true)
	a.cancel(nil)
}
