package base

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"mycelium/internal/text"
)

// Progress tells a person at a terminal what a long step does, on one line that goes away when the step is over. Where the error output is
// no terminal it writes nothing. A nil Progress counts nothing.
type Progress struct {
	noun  string // what Step counts
	steps atomic.Int64
	stop  chan struct{}
	gone  chan struct{}
}

// Tell begins to tell of a step, until its End. The first line comes after a second, so that a short step shows none. noun is what
// [Progress.Step] counts, in the singular.
func Tell(w io.Writer, what, noun string) *Progress {
	if !OutputIsTerminal(w) {
		return nil
	}
	ticks := time.NewTicker(time.Second)
	return tell(w, what, noun, ticks.C, ticks.Stop)
}

// tell writes a line at each tick.
func tell(w io.Writer, what, noun string, ticks <-chan time.Time, done func()) *Progress {
	p := &Progress{noun: noun, stop: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(p.gone)
		defer done()
		seconds := 0
		for {
			select {
			case <-ticks:
				seconds++
				fmt.Fprintf(w, "\r\x1b[K%s … %s%d s", what, p.counted(), seconds)
			case <-p.stop:
				if seconds > 0 {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			}
		}
	}()
	return p
}

// counted says how many steps were done.
func (p *Progress) counted() string {
	if n := p.steps.Load(); n > 0 {
		return text.Count(int(n), p.noun) + ", "
	}
	return ""
}

// Step counts one.
func (p *Progress) Step() {
	if p != nil {
		p.steps.Add(1)
	}
}

// End takes the line away. Nothing is written afterwards. End is called once.
func (p *Progress) End() {
	if p != nil {
		close(p.stop)
		<-p.gone
	}
}
