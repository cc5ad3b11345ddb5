package mcpclient

import "time"

// stopwatch tells when a time is used up. It can be stopped and started again; stopped time does not count.
type stopwatch struct {
	c     <-chan time.Time // nil: never
	timer *time.Timer
	rest  time.Duration // at the last start
	since time.Time     // of the last start; zero: it is stopped
}

// startWatch starts a stopwatch; 0: it never tells.
func startWatch(limit time.Duration) stopwatch {
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
