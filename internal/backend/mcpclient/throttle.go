package mcpclient

import (
	"io"
	"time"
)

// How much a server may send unasked, in bytes a second and at once. More stays in its pipe, so that a flood slows its sender down and
// costs nobody else memory or processor time. Answers, and progress that a caller asked for, are not counted.
const (
	unaskedRate  = 4 << 20
	unaskedBurst = 32 << 20 // more than one message of the largest size
	noteCost     = 512      // the cost of handling one message, in bytes
	stderrRate   = 4 << 20
	stderrBurst  = 16 << 20
)

// throttle limits the rate at which a stream is read (a token bucket). It belongs to the goroutine that reads.
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

// Read reads from the stream. It waits first if too much was read.
func (f *throttle) Read(p []byte) (int, error) {
	if f.left < 0 {
		f.wait()
	}
	n, err := f.r.Read(p)
	f.left -= float64(n)
	return n, err
}

// wait waits until the reader is within its rate again.
func (f *throttle) wait() {
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

// account refunds the cost of a message that somebody waited for. Other messages cost more than their bytes.
func (f *throttle) account(yes bool, size int) {
	if yes {
		f.left = min(f.burst, f.left+float64(size)+1)
	} else {
		f.left -= noteCost
	}
}
