package sandbox

import (
	"context"
	"time"

	"mycelium/internal/atomicfile"
)

// A command that lasts, such as a server, is looked after while it runs: what it makes and would govern must not wait for its end. The time
// between two looks is at least leastPause, and so long that they take one part in pauseParts of it.
const (
	leastPause = time.Second
	pauseParts = 20
)

// watch puts away what a running command makes and would govern, until stop is called. Then it sends what it put away. What it cannot put
// away the end of the run tries again, and says why.
func (w *work) watch(c *Command) (moved <-chan []string, stop func()) {
	out, ended := make(chan []string, 1), make(chan struct{})
	if !c.guards() {
		out <- nil
		return out, func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all []string
		defer func() { out <- all }()
		pause := time.NewTimer(leastPause)
		defer pause.Stop()
		for {
			select {
			case <-ended:
				return
			case <-pause.C:
			}
			began := time.Now()
			all = append(all, w.once(c)...)
			pause.Reset(max(leastPause, pauseParts*time.Since(began)))
		}
	}()
	return out, func() { close(ended); <-done }
}

// once looks once, unless another run begins or ends at this moment. The configurations of new repositories wait for the end: git may be
// about to write them.
func (w *work) once(c *Command) []string {
	turn, err := atomicfile.TryLock(c.Scratch + ".lock")
	if err != nil {
		return nil
	}
	defer func() { _ = turn.Unlock() }()
	now, err := c.look(context.Background(), w.before)
	if err != nil {
		return nil
	}
	now.Configs = nil
	left, _ := c.putAway(context.Background(), now, w.before)
	return left.Quarantined
}
