package mcpclient

import (
	"io"
	"time"
)

// How much a server may say that nobody asked for, in bytes a second and at once. What it says beyond that stays in its pipe, so that
// a flood costs the flooder its time, and nobody else memory or processor. Answers, and progress that a caller asked for, are not counted.
const (
	unaskedRate  = 4 << 20
	unaskedBurst = 32 << 20 // more than one message of the largest size
	noteCost     = 512      // what handling one message is worth, in bytes
	stderrRate   = 4 << 20
	stderrBurst  = 16 << 20
)

// throttle slows the reading of a stream down to a rate. It belongs to the goroutine that reads.
type throttle struct {
	r     io.Reader
	dead  <-chan struct{} // ends every wait
	rate  float64         // bytes a second
	burst float64
	left  float64
	at    time.Time
}

func newThrottle(r io.Reader, dead <-chan struct{}, rate, burst int) *throttle {
	return &throttle{r: r, dead: dead, rate: float64(rate), burst: float64(burst), left: float64(burst)}
}

// Read reads from the stream, when the reader has not read too much.
func (f *throttle) Read(p []byte) (int, error) {
	if f.left < 0 {
		f.wait()
	}
	n, err := f.r.Read(p)
	f.left -= float64(n)
	return n, err
}

// wait waits until as much as was read too much may be read again.
func (f *throttle) wait() {
	now := time.Now()
	if !f.at.IsZero() {
		f.left = min(f.burst, f.left+now.Sub(f.at).Seconds()*f.rate)
	}
	f.at = now
	if f.left >= 0 {
		return
	}
	// Some more than is needed, so that the flooder does not cost a wake-up for each of its writes.
	t := time.NewTimer(time.Duration(-f.left/f.rate*float64(time.Second)) + 10*time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.dead:
		f.left = f.burst // the end is read at full speed
	}
}

// account gives back what a message cost that somebody waited for; other messages cost more than their bytes.
func (f *throttle) account(yes bool, size int) {
	if yes {
		f.left = min(f.burst, f.left+float64(size)+1)
	} else {
		f.left -= noteCost
	}
}
