// Package flow limits how much a server may send unasked.
package flow

import (
	"io"
	"time"
)

// How much a server may send unasked, in bytes a second and at once. More stays in its pipe, so that a flood slows its sender down and
// costs nobody else memory or processor time. Answers, and progress that a caller asked for, are not counted.
const (
	UnaskedRate  = 4 << 20
	UnaskedBurst = 32 << 20 // more than one message of the largest size
	noteCost     = 512      // the cost of handling one message, in bytes
	StderrRate   = 4 << 20
	StderrBurst  = 16 << 20
)

// Throttle limits the rate at which a stream is read (a token bucket). It belongs to the goroutine that reads.
type Throttle struct {
	r     io.Reader
	dead  <-chan struct{} // ends every wait
	rate  float64         // bytes a second
	burst float64
	left  float64
	at    time.Time
}

// New returns a reader of a stream that gives rate bytes a second, and burst at once. The end of dead ends every wait.
func New(r io.Reader, dead <-chan struct{}, rate, burst int) *Throttle {
	return &Throttle{r: r, dead: dead, rate: float64(rate), burst: float64(burst), left: float64(burst)}
}

// Read reads from the stream. It waits first if too much was read.
func (f *Throttle) Read(p []byte) (int, error) {
	if f.left < 0 {
		f.wait()
	}
	n, err := f.r.Read(p)
	f.left -= float64(n)
	return n, err
}

// wait waits until the reader is within its rate again.
func (f *Throttle) wait() {
	now := time.Now()
	if !f.at.IsZero() {
		f.left = min(f.burst, f.left+now.Sub(f.at).Seconds()*f.rate)
	}
	f.at = now
	if f.left >= 0 {
		return
	}
	// A little longer than needed, so that a flood does not cost one wake-up for each write.
	t := time.NewTimer(time.Duration(-f.left/f.rate*float64(time.Second)) + 10*time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.dead:
		f.left = f.burst // the rest is read at full speed
	}
}

// Account refunds the cost of a message that somebody waited for. Other messages cost more than their bytes.
func (f *Throttle) Account(yes bool, size int) {
	if yes {
		f.left = min(f.burst, f.left+float64(size)+1)
	} else {
		f.left -= noteCost
	}
}
