package telegram

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
)

// outbox sends notices and keeps the messages of requests up to date.
type outbox struct {
	queue  Queue
	kept   messages
	views  *views
	client *client
	render renderer
	kinds  []approval.NoticeKind // notices to send; empty: all
	now    func() time.Time
	noting sync.RWMutex // held for reading from before a message that takes replies is sent until it is recorded

	mu      sync.Mutex
	due     []string // requests whose messages may have to change, in order
	notices []approval.Notice
	wake    chan struct{} // holds one value: something is due

	away sync.WaitGroup // requests of projects that cannot be asked now
}

// touch marks the messages of requests as due for an update.
func (o *outbox) touch(ids ...string) {
	o.mu.Lock()
	for _, id := range ids {
		if !slices.Contains(o.due, id) {
			o.due = append(o.due, id)
		}
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// post queues a notice. The oldest notices are dropped when too many wait.
func (o *outbox) post(n approval.Notice) {
	if len(o.kinds) > 0 && !slices.Contains(o.kinds, n.Kind) {
		return
	}
	o.mu.Lock()
	if len(o.notices) == approval.MaxNotices {
		o.notices = o.notices[1:]
	}
	o.notices = append(o.notices, n)
	o.mu.Unlock()
	o.touch()
}

// next takes the next request or notice. Requests come before notices.
func (o *outbox) next() (id string, n *approval.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.due) > 0:
		id, o.due = o.due[0], o.due[1:]
	case len(o.notices) > 0:
		first := o.notices[0]
		n, o.notices = &first, o.notices[1:]
	}
	return id, n
}

// putBack puts what next returned to the front again, so that the order stays.
func (o *outbox) putBack(id string, n *approval.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id != "" && !slices.Contains(o.due, id) {
		o.due = slices.Insert(o.due, 0, id)
	} else if n != nil {
		o.notices = slices.Insert(o.notices, 0, *n)
	}
}

// run sends until ctx is done, one message after the other. It reads the state of a request from the queue and not from an event, so
// events may come in any order, twice, or never.
func (o *outbox) run(ctx context.Context) {
	var wait time.Duration
	for ctx.Err() == nil {
		id, n := o.next()
		if id == "" && n == nil {
			select {
			case <-ctx.Done():
			case <-o.wake:
			}
			continue
		}
		err := lingering(ctx, func(ctx context.Context) error {
			if id != "" {
				return o.refresh(ctx, id)
			}
			about := sent{session: n.Session}
			if n.Request != nil {
				about.request = n.Request.ID
			}
			return o.sendFor(ctx, about, func() (int, error) { return o.client.send(ctx, noticePage(*n), nil) })
		})
		var away *AwayError
		if errors.As(err, &away) {
			o.touchLater(ctx, id, away.Back)
			err = nil
		}
		if err == nil {
			wait = 0
			continue
		}
		var retry bool
		if wait, retry = backoff(err, wait); !retry {
			o.client.warn("a message was not taken", err)
			wait = 0
			continue
		}
		o.putBack(id, n)
		sleep(ctx, wait)
	}
}

// refresh makes the messages of a request show its state.
func (o *outbox) refresh(ctx context.Context, id string) error {
	r, err := o.queue.Show(ctx, id)
	if err != nil && !errors.Is(err, approval.ErrUnknown) {
		return err
	}
	known := err == nil
	all, err := o.kept.of(ctx, id)
	if err != nil {
		return err
	}
	p := (&page{}).text("This request is not known any more.")
	if known {
		p, _ = o.render.request(r, o.views.of(id))
	}
	final := !known || r.State != approval.Pending
	if len(all) == 0 && !final {
		message, err := o.client.send(ctx, p, nil)
		if err != nil {
			return err
		}
		// If this fails, a tap on the message restores the record: its buttons name the request.
		return o.kept.add(ctx, sent{chat: o.client.chat, message: message, request: id, session: r.Session, shown: p.digest()}, o.now())
	}
	for _, s := range all {
		if s.shown == p.digest() {
			continue
		}
		if err := o.client.edit(ctx, s, p); err != nil {
			if _, retry := backoff(err, 0); retry {
				return err
			}
			o.client.warn("a message could not be changed", err) // a person deleted it
		}
		s.shown = p.digest()
		if err := o.kept.shows(ctx, s, final); err != nil {
			return err
		}
	}
	if final {
		o.views.retire(id)
	}
	return nil
}

// touchLater touches a request when a project can be asked again.
func (o *outbox) touchLater(ctx context.Context, id string, back <-chan struct{}) {
	o.away.Go(func() {
		select {
		case <-ctx.Done():
		case <-back:
			o.touch(id)
		}
	})
}

// sendFor sends a message about a session, or about a question of its own terminal, and records it: replies to the message go there.
func (o *outbox) sendFor(ctx context.Context, about sent, send func() (message int, err error)) error {
	o.noting.RLock()
	defer o.noting.RUnlock()
	message, err := send()
	if err != nil || message == 0 || about.session == "" {
		return err
	}
	about.chat, about.message = o.client.chat, message
	return o.kept.add(ctx, about, o.now())
}

// find returns the message that a text replies to. A person can reply before a message is recorded: find looks again for a message that
// is unknown, and whose buttons name no request, when every message under way is recorded.
func (o *outbox) find(ctx context.Context, m *models.Message, to int) (s sent, ok bool, err error) {
	if s, ok, err = o.kept.at(ctx, m.Chat.ID, to); ok || err != nil || requestUnder(m.ReplyToMessage) != "" {
		return s, ok, err
	}
	o.noting.Lock()
	defer o.noting.Unlock()
	return o.kept.at(ctx, m.Chat.ID, to)
}

// restore records a message of the bot that is missing from the database: a crash came between sending and recording it.
func (o *outbox) restore(ctx context.Context, id, session string, chat int64, message int) {
	if _, ok, err := o.kept.at(ctx, chat, message); err != nil || ok || message == 0 {
		return
	}
	if err := o.kept.add(ctx, sent{chat: chat, message: message, request: id, session: session}, o.now()); err != nil {
		o.client.warn("a message was not recorded", err)
		return
	}
	o.touch(id)
}
