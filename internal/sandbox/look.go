package sandbox

import (
	"errors"
	"io/fs"
	"time"
)

// A command that lasts, such as a server, is looked after while it runs: what it makes and would govern must not wait for its end. The time
// between two looks is at least leastPause, and so long that they take one part in pauseParts of it.
const (
	leastPause = time.Second
	pauseParts = 20
)

// look puts away what a running command makes and would govern, until stop is called. Then it sends what it put away. What it cannot put
// away the end of the run tries again, and says why.
func (w *work) look(c *Command) (moved <-chan []string, stop func()) {
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
			more, err := c.putAway(w.guarded)
			if err == nil || errors.Is(err, fs.ErrNotExist) { // another run of the project was first
				all = append(all, more...)
			}
			pause.Reset(max(leastPause, pauseParts*time.Since(began)))
		}
	}()
	return out, func() { close(ended); <-done }
}
