package approval

import (
	"context"
	"sync"
	"time"

	"mycelium/internal/credential"
)

// NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notices.
const (
	Started     NoticeKind = "started"      // an agent's session began
	Completed   NoticeKind = "completed"    // it ended well
	Errored     NoticeKind = "errored"      // it ended with an error
	Aborted     NoticeKind = "aborted"      // a person or a limit ended it
	DenialAlert NoticeKind = "denial-alert" // several calls in a row were denied
	BudgetAlert NoticeKind = "budget-alert" // most of a budget is used, or all of it
	Waits       NoticeKind = "waits"        // an agent waits for its person at its own terminal
)

// Notice tells people something that needs no answer.
type Notice struct {
	Kind    NoticeKind `json:"kind"`
	Session string     `json:"session,omitempty"`
	Agent   string     `json:"agent,omitempty"` // claude, codex …
	Label   string     `json:"label,omitempty"` // what people call the session
	Text    string     `json:"text,omitempty"`  // its words; surfaces cut what is too long for them
	Turns   int        `json:"turns,omitempty"`
	Cost    float64    `json:"cost,omitempty"` // US dollars of the session so far; 0: not known
	Time    time.Time  `json:"time"`
}

// Board is where notices are posted and watched. The zero value works; a nil one takes notices and shows them to nobody.
type Board struct {
	mu       sync.Mutex
	watchers map[*noticeQueue]struct{}
}

// NoticeLength is how much of a notice's text is shown, in characters (E22).
const NoticeLength = 300

// MaxNotices bounds what waits for one watcher that is slow or cannot reach its people: the oldest go first.
const MaxNotices = 100

type noticeQueue struct {
	more    chan struct{} // holds one: something waits
	waiting []Notice
}

// Post tells every watcher, without what has the form of a secret. It never waits for them.
func (b *Board) Post(n Notice) {
	if b == nil {
		return
	}
	n.Label, n.Text = credential.Mask(n.Label), credential.Mask(n.Text)
	if n.Time.IsZero() {
		n.Time = time.Now()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watchers {
		if len(w.waiting) == MaxNotices {
			w.waiting = w.waiting[1:]
		}
		w.waiting = append(w.waiting, n)
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// Watch calls f for every notice that is posted from now on, one after the other, until ctx ends; it returns then. ready, if it is not
// nil, is closed as soon as nothing is missed any more.
func (b *Board) Watch(ctx context.Context, ready chan<- struct{}, f func(Notice)) {
	w := &noticeQueue{more: make(chan struct{}, 1)}
	b.mu.Lock()
	if b.watchers == nil {
		b.watchers = map[*noticeQueue]struct{}{}
	}
	b.watchers[w] = struct{}{}
	b.mu.Unlock()
	if ready != nil {
		close(ready)
	}
	defer func() {
		b.mu.Lock()
		delete(b.watchers, w)
		b.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.more:
		}
		b.mu.Lock()
		some := w.waiting
		w.waiting = nil
		b.mu.Unlock()
		for _, n := range some {
			if ctx.Err() != nil {
				return
			}
			f(n)
		}
	}
}
