package mcpclient

import "time"

// stopwatch is a timer that can be paused. Paused time does not count.
type stopwatch struct {
	c     <-chan time.Time // nil: it never fires
	timer *time.Timer
	rest  time.Duration // left at the last start
	since time.Time     // the last start; zero: it is paused
}

// startStopwatch starts a stopwatch. With the limit 0 it never fires.
func startStopwatch(limit time.Duration) stopwatch {
	k := stopwatch{rest: limit}
	if limit > 0 {
		k.timer, k.since = time.NewTimer(limit), time.Now()
		k.c = k.timer.C
	}
	return k
}

func (k *stopwatch) stop() {
	if k.timer != nil && !k.since.IsZero() {
		k.timer.Stop()
		k.rest -= time.Since(k.since)
		k.since = time.Time{}
	}
}

func (k *stopwatch) start() {
	if k.timer != nil && k.since.IsZero() {
		k.since = time.Now()
		k.timer.Reset(max(k.rest, 0))
	}
}
