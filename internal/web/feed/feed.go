// Package feed hands events to readers, some of which are slow or come back. Each event has a number. A reader that names the last one
// that it has seen gets those after it; a reader that is too slow, or comes back too late, is told to look at everything anew.
package feed

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// The bounds of a feed. An event is small: it names what changed, and does not show it.
const (
	maxKept   = 256 // events that a reader which comes back can still get
	maxQueued = 64  // events that wait for one reader
)

// Event says that something has changed.
type Event struct {
	ID   string // unique in all processes, in the order of the events of one process
	Kind string
	Data string // one line
}

// Feed is one sequence of events. It is safe for concurrent use.
type Feed struct {
	epoch string // of this process: the ids of another one mean nothing here

	mu      sync.Mutex
	last    int
	kept    []Event // the newest last
	readers map[*Reader]struct{}
}

// New returns an empty feed.
func New() *Feed { return &Feed{epoch: rand.Text()[:8], readers: map[*Reader]struct{}{}} }

// Reader gets the events of a feed. Events is closed when the reader was too slow; it reads the feed anew then.
type Reader struct {
	Events <-chan Event
	// Behind reports that events were lost between the last one that the reader had seen and the first that it gets.
	Behind bool

	events chan Event
	feed   *Feed
}

// Publish hands an event to every reader. It never waits for one: a reader whose queue is full loses its place.
func (f *Feed) Publish(kind, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	e := Event{ID: fmt.Sprintf("%s-%d", f.epoch, f.last), Kind: kind, Data: data}
	f.kept = append(f.kept, e)
	if len(f.kept) > maxKept {
		f.kept = append(f.kept[:0:0], f.kept[1:]...)
	}
	for r := range f.readers {
		select {
		case r.events <- e:
		default:
			f.drop(r)
		}
	}
}

// Read returns a reader of the events after the one with id last; "": of those to come. The caller closes it.
func (f *Feed) Read(last string) *Reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &Reader{events: make(chan Event, maxQueued), feed: f}
	r.Events = r.events
	f.readers[r] = struct{}{}
	if last == "" {
		return r
	}
	missed, ok := f.after(last)
	if r.Behind = !ok || len(missed) > maxQueued; r.Behind {
		return r
	}
	for _, e := range missed {
		r.events <- e
	}
	return r
}

// after returns the events after the one with this id; false if some of them are gone. The lock is held.
func (f *Feed) after(id string) ([]Event, bool) {
	number, ours := strings.CutPrefix(id, f.epoch+"-")
	n, err := strconv.Atoi(number)
	first := f.last - len(f.kept) // the number before the oldest that is kept
	if !ours || err != nil || n < first || n > f.last {
		return nil, false
	}
	return f.kept[n-first:], true
}

// Last is the id of the newest event, also before the first one.
func (f *Feed) Last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("%s-%d", f.epoch, f.last)
}

// Close ends a reader.
func (r *Reader) Close() {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.feed.drop(r)
}

// drop ends a reader, unless it has ended. The lock is held.
func (f *Feed) drop(r *Reader) {
	if _, on := f.readers[r]; on {
		delete(f.readers, r)
		close(r.events)
	}
}
