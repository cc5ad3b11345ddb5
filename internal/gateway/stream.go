package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"mycelium/internal/rpc"
)

const (
	ringSize  = 256         // events of one stream that can be sent again
	graceTime = time.Minute // for a client to resume a lost stream before its open questions end
)

// stream is a sequence of messages to an HTTP client: those of one POST, or the notices of a legacy link that belong to no request. A
// push never waits; the HTTP handler that follows the stream writes. A stream with an id keeps its last events after they were written,
// so that a client that lost its connection can resume it.
type stream struct {
	id    string // empty: not resumable
	claim *rpc.Claim

	mu      sync.Mutex
	events  [][]byte
	size    int // bytes of events, which claim holds
	handed  int // bytes of events that a reader took, and that are not kept; claim holds them until the reader comes again
	base    int // index of events[0]; indices start at 0
	done    bool
	changed chan struct{} // closed by every push
	holder  chan struct{} // closed when another handler takes over the stream

	followers int           // HTTP handlers that follow it
	grace     *time.Timer   // runs while there is no follower; after a long finished stream, until its events are forgotten
	abandoned chan struct{} // closed when the grace time is over
}

// newStream makes a stream. Its events count for the claim, which the caller releases.
func newStream(id string, claim *rpc.Claim) *stream {
	return &stream{id: id, claim: claim, changed: make(chan struct{}), abandoned: make(chan struct{})}
}

// join notes a handler that follows the stream, and leave notes its end. A client that does not resume the stream within the grace time
// will not answer the questions that it got there.
func (t *stream) join() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followers++
	if t.grace != nil && !t.done && t.grace.Stop() {
		t.grace = nil
	}
}

func (t *stream) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followers--
	switch {
	case t.followers > 0 || t.grace != nil:
	case !t.done:
		t.grace = time.AfterFunc(graceTime, func() { close(t.abandoned) })
	case t.size > maxCopied: // its client has a minute to come back for it
		t.grace = time.AfterFunc(graceTime, t.forget)
	}
}

// forget drops the events of a stream that nobody resumes, and gives their memory back.
func (t *stream) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.base += len(t.events)
	t.events, t.size = nil, 0
	t.claim.Release()
}

// close ends a stream that nobody follows any more, and gives its memory back.
func (t *stream) close() {
	t.finish()
	t.mu.Lock()
	if t.grace != nil {
		t.grace.Stop()
	}
	t.mu.Unlock()
	t.forget()
}

// answer pushes the answer, which is the last event.
func (t *stream) answer(reply rpc.Message) { t.push(hold(t.claim, reply).Append(nil), true) }

// push appends an event. After the last one, which is the answer and whose memory is held already, the stream is done. When the ring is
// full, push drops the oldest event. The ring is bounded by the number of its events and by their bytes (maxNotices and one event),
// because a server chooses their length. push drops an event for which there is no memory, and reports false.
func (t *stream) push(data []byte, last bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || !last && t.claim.Hold(len(data)) != nil {
		return false
	}
	for len(t.events) > 0 && (len(t.events) >= ringSize || t.size >= maxNotices) {
		t.size -= len(t.events[0])
		t.claim.Give(len(t.events[0]))
		t.events[0] = nil
		t.events = t.events[1:]
		t.base++
	}
	t.events = append(t.events, data)
	t.size += len(data)
	if t.done = last; last && t.grace != nil && t.grace.Stop() {
		t.grace = nil
		if t.size > maxCopied {
			t.grace = time.AfterFunc(graceTime, t.forget)
		}
	}
	t.signal()
	return true
}

// finish ends the stream without a last event.
func (t *stream) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	t.signal()
}

func (t *stream) signal() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// notice pushes a notification.
func (t *stream) notice(method string, params []byte) {
	t.push(rpc.Message{Method: method, Params: params}.Append(nil), false)
}

// send pushes a request of ours, or its cancellation.
func (t *stream) send(m rpc.Message) bool {
	return t.push(m.Append(nil), false)
}

// read returns the events from index next on, the index of the first of them, whether the stream is done, and a channel that closes at
// the next push.
func (t *stream) read(next int) (events [][]byte, first int, done bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = max(next, t.base)
	n := min(max(first-t.base, 0), len(t.events))
	events = slices.Clone(t.events[n:]) // a push meanwhile may drop events from the ring
	t.claim.Give(t.handed)
	t.handed = 0
	if t.id == "" { // it is not resumable: events that were read are not needed again
		t.base += len(t.events)
		t.handed = t.size
		t.events, t.size = nil, 0
	}
	return events, first, t.done, t.changed
}

// first waits for the first event, but no longer than clients and proxies wait for a header. If the first event is also the last one,
// it is returned. ok is false if ctx ended before.
func (t *stream) first(ctx context.Context) (only []byte, ok bool) {
	limit := time.NewTimer(heartbeat)
	defer limit.Stop()
	for {
		t.mu.Lock()
		events, done, changed := t.events, t.done, t.changed
		t.mu.Unlock()
		switch {
		case done && len(events) == 1:
			return events[0], true
		case len(events) > 0 || done:
			return nil, true
		}
		select {
		case <-changed:
		case <-limit.C:
			return nil, true
		case <-ctx.Done():
			return nil, false
		}
	}
}

// finished reports whether the stream is done.
func (t *stream) finished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// keeps reports whether every event after index last is still kept.
func (t *stream) keeps(last int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return last+1 >= t.base && last < t.base+len(t.events)
}

// take makes the caller the only handler that writes the stream. The channel closes when another handler takes it.
func (t *stream) take() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holder != nil {
		close(t.holder)
	}
	t.holder = make(chan struct{})
	return t.holder
}
