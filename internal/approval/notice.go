package approval

import (
	"context"
	"sync"
	"time"

	"mycelium/internal/credential"
)

// NoticeKind is the kind of a notice.
type NoticeKind string

// The kinds of notices.
const (
	Started     NoticeKind = "started"      // an agent's session began
	Completed   NoticeKind = "completed"    // it ended well
	Errored     NoticeKind = "errored"      // it ended with an error
	Aborted     NoticeKind = "aborted"      // a person or a limit ended it
	DenialAlert NoticeKind = "denial-alert" // several calls in a row were denied
	BudgetAlert NoticeKind = "budget-alert" // a budget is nearly or fully used
	Waits       NoticeKind = "waits"        // an agent asks at its own terminal
	Delivered   NoticeKind = "delivered"    // a text that was kept for an agent was typed, or cannot be
	Stuck       NoticeKind = "stuck"        // a worker of the swarm goes in circles, or is silent
	GuardAlert  NoticeKind = "guard-alert"  // what guards the agents was changed, or did not see a call
)

// Notice is a message to people that needs no answer.
type Notice struct {
	Kind    NoticeKind `json:"kind"`
	Session string     `json:"session,omitempty"`
	Agent   string     `json:"agent,omitempty"` // claude, codex …
	Label   string     `json:"label,omitempty"` // what people call the session
	Text    string     `json:"text,omitempty"`  // surfaces shorten it
	Turns   int        `json:"turns,omitempty"`
	Cost    float64    `json:"cost,omitempty"` // US dollars of the session so far; 0: not known
	Time    time.Time  `json:"time"`
	// Request is the call that the agent's own terminal asks about; only of [Waits]. Its id begins with [TerminalPrefix]: the queue does not
	// have it.
	Request *Request `json:"request,omitzero"`
	// Project is the name of the project, on a surface that shows several; the surface sets it. Empty: it shows one.
	Project string `json:"-"`
}

// Board passes notices from those who post them to those who watch. The zero value is ready; a nil board drops notices.
type Board struct {
	mu       sync.Mutex
	watchers map[*subscriber[Notice]]struct{}
}

// NoticeLength is how much of a notice's text is shown, in characters.
const NoticeLength = 300

// MaxNotices bounds the notices that wait for one watcher. The oldest are dropped first.
const MaxNotices = 100

// Post gives a notice to every watcher, with secrets masked. It does not wait for the watchers.
func (b *Board) Post(n Notice) {
	if b == nil {
		return
	}
	if n.Request != nil {
		masked := n.Request.masked()
		n.Request = &masked
	}
	n.Label, n.Text = credential.Mask(n.Label), credential.Mask(n.Text)
	if n.Time.IsZero() {
		n.Time = time.Now()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watchers {
		w.change(func(queued []Notice) []Notice {
			return append(queued[max(0, len(queued)-MaxNotices+1):], n)
		})
	}
}

// Watch calls f for every notice that is posted from now on, one after the other, until ctx is done. If ready is not nil, Watch closes it
// as soon as no notice can be missed.
func (b *Board) Watch(ctx context.Context, ready chan<- struct{}, f func(Notice)) {
	w := newSubscriber[Notice]()
	b.mu.Lock()
	if b.watchers == nil {
		b.watchers = map[*subscriber[Notice]]struct{}{}
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
	w.deliver(ctx, f)
}
