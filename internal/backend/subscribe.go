package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/rawjson"
)

// maxSubscriptions bounds the resources of one server that are subscribed to at once. Each holds a goroutine, and a stream towards a
// server of the modern revision.
const maxSubscriptions = 1000

// Subscribe asks a server to tell of every change of one resource: tell gets the raw params of notifications/resources/updated, must
// neither wait nor call stop, and is not called after stop has returned. Several subscribers of one resource share one subscription at
// the server. ctx is that of the attempt only; the subscription lasts until stop.
//
// When the connection to the server ends, the server is started again and the subscription made anew, and every subscriber is told that
// the resource was updated, because it may have been meanwhile. A server may tell of a resource below the one that was subscribed to: the
// uri in the params is then another.
func (p *Pool) Subscribe(ctx context.Context, server, uri string, tell func(params []byte)) (stop func(), err error) {
	e := p.entry(server)
	switch {
	case e == nil:
		return nil, fmt.Errorf("server %q: %w", server, ErrUnknownServer)
	case e.builtin != nil:
		return nil, fmt.Errorf("server %q: %w", server, errNoSubscriptions)
	}
	if err := e.screen("resources/read", rawjson.Set(nil, "uri", rawjson.Quote(uri))); err != nil { // what cannot be read is not listened to either
		return nil, fmt.Errorf("server %q: %w", server, err)
	}
	s, err := p.subs.join(p, subject{server, uri}, &tell)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", server, err)
	}
	select {
	case <-s.ready:
		err = s.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.subs.leave(s, &tell)
		return nil, fmt.Errorf("server %q: %w", server, err)
	}
	return func() { p.subs.leave(s, &tell) }, nil
}

var errNoSubscriptions = errors.New("it does not offer subscriptions to resources (resources.subscribe is not among its capabilities)")

// subject is what is subscribed to.
type subject struct{ server, uri string }

// subscriptions are those of a pool.
type subscriptions struct {
	mu     sync.Mutex
	all    map[subject]*subscription // the latest of each subject, until it has ended
	linger time.Duration             // how long one stays when nobody listens any more; 0: second
}

// second is how long a subscription outlives its last listener. A client that comes back at once finds it standing; and a server that
// knows its subscribers by their connection, as that of the SDK does, would take the end of the old one for that of the new one.
const second = time.Second

// subscription is one at a server, for all who share it.
type subscription struct {
	subject
	pool  *Pool
	ctx   context.Context // ends when nobody listens any more, or with the pool
	end   context.CancelFunc
	after <-chan struct{} // closed when the one before it has ended; nil: there was none
	ready chan struct{}   // closed when the first attempt is over
	err   error           // of it; good after ready
	done  chan struct{}   // closed when it has ended

	mu    sync.Mutex
	stood bool // whether it was made once
	ears  map[*func([]byte)]struct{}
}

// join adds a listener to a subscription, beginning it where there is none.
func (all *subscriptions) join(p *Pool, at subject, tell *func([]byte)) (*subscription, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.all[at]
	if s != nil && s.ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ears[tell] = struct{}{}
		return s, nil
	}
	n := 0
	for other := range all.all {
		if other.server == at.server {
			n++
		}
	}
	if n >= maxSubscriptions {
		return nil, fmt.Errorf("%d of its resources are subscribed to, and no more can be", n)
	}
	next := &subscription{subject: at, pool: p, ready: make(chan struct{}), done: make(chan struct{}), ears: map[*func([]byte)]struct{}{tell: {}}}
	if s != nil {
		next.after = s.done
	}
	next.ctx, next.end = context.WithCancel(p.ctx)
	if !p.crew.launch(func() { all.run(next) }) {
		next.end()
		return nil, errRemoved
	}
	if all.all == nil {
		all.all = map[subject]*subscription{}
	}
	all.all[at] = next
	return next, nil
}

// leave takes a listener out. Some time after the last one the subscription ends; that is not waited for.
func (all *subscriptions) leave(s *subscription, tell *func([]byte)) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ears, tell)
	if len(s.ears) == 0 {
		time.AfterFunc(cmp.Or(all.linger, second), func() { all.expire(s) })
	}
}

// expire ends a subscription that nobody listens to.
func (all *subscriptions) expire(s *subscription) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ears) == 0 {
		s.end()
	}
}

// updated passes on what a server of the old revisions tells, where the subscription is known by the uri only.
func (all *subscriptions) updated(server string, params []byte) {
	uri, ok := rawjson.Text(rawjson.Member(params, "uri"))
	if !ok {
		return
	}
	var concerned []*subscription
	all.mu.Lock()
	for at, s := range all.all {
		if at.server == server && covers(at.uri, uri) {
			concerned = append(concerned, s)
		}
	}
	all.mu.Unlock()
	for _, s := range concerned {
		s.tell(params)
	}
}

// missed tells all who listen to a server of the old revisions that something may have been missed: its stream of notices was not open.
func (all *subscriptions) missed(server string) {
	var concerned []*subscription
	all.mu.Lock()
	for at, s := range all.all {
		if at.server == server {
			concerned = append(concerned, s)
		}
	}
	all.mu.Unlock()
	for _, s := range concerned {
		select {
		case <-s.ready:
			s.tell(s.params())
		default: // it is being made
		}
	}
}

// covers reports whether uri is the resource that was subscribed to, or one below it.
func covers(subscribed, uri string) bool {
	rest, ok := strings.CutPrefix(uri, subscribed)
	return ok && (rest == "" || strings.HasSuffix(subscribed, "/") || strings.ContainsAny(rest[:1], "/?#"))
}

// tell tells everybody who listens.
func (s *subscription) tell(params []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	for tell := range s.ears {
		(*tell)(params)
	}
}

// run makes a subscription, and makes it anew whenever it is lost, until nobody listens.
func (all *subscriptions) run(s *subscription) {
	defer func() {
		all.mu.Lock()
		if all.all[s.subject] == s {
			delete(all.all, s.subject)
		}
		all.mu.Unlock()
		close(s.done)
	}()
	if s.after != nil {
		<-s.after // its last word to the server must not come after our first
	}
	for wait := time.Second; s.ctx.Err() == nil; wait = min(2*wait, 30*time.Second) {
		begin := time.Now()
		err := s.hold()
		if !s.stood {
			s.err = cmp.Or(err, s.ctx.Err())
			s.end()
			close(s.ready)
			return
		}
		if time.Since(begin) > time.Minute {
			wait = time.Second
		}
		s.pool.logger.Info("subscription lost", "server", s.server, "uri", s.uri, "error", err)
		s.rest(wait)
	}
}

// rest waits before the next attempt; another configuration ends the wait.
func (s *subscription) rest(wait time.Duration) {
	s.pool.mu.Lock()
	renewed := s.pool.renewed
	s.pool.mu.Unlock()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-renewed:
	case <-s.ctx.Done():
	}
}

// hold makes the subscription once and returns when it is over.
func (s *subscription) hold() error {
	e := s.pool.entry(s.server)
	if e == nil {
		return ErrUnknownServer
	}
	c, _, err := e.need(s.ctx)
	if err != nil {
		return err
	}
	if c.caps.Resources == nil || !c.caps.Resources.Subscribe {
		return errNoSubscriptions
	}
	if c.modern {
		return s.listen(c)
	}
	_, bad, err := c.request(s.ctx, call{method: "resources/subscribe", params: s.params(), limit: DefaultCall})
	switch {
	case errors.Is(err, errLate):
		return fmt.Errorf("it did not answer resources/subscribe within %v", DefaultCall)
	case err != nil:
		return errors.New(c.secrets.text("resources/subscribe failed: " + err.Error()))
	case bad != nil:
		return &refusedSubscription{bad}
	}
	s.made()
	select {
	case <-c.link.gone():
		return c.calls.reason()
	case <-s.ctx.Done():
	}
	if s.pool.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(s.pool.ctx, 5*time.Second)
		defer cancel()
		_, _, _ = c.request(ctx, call{method: "resources/unsubscribe", params: s.params()})
	}
	return nil
}

// refusedSubscription is what a server answered to the wish.
type refusedSubscription struct{ raw []byte }

func (e *refusedSubscription) Error() string { return "it refuses the subscription: " + excerpt(e.raw) }

// made notes that the subscription stands. Where it stood before, something may have been missed.
func (s *subscription) made() {
	s.mu.Lock()
	again := s.stood
	s.stood = true
	s.mu.Unlock()
	if !again {
		close(s.ready)
		return
	}
	s.tell(s.params())
}

// params name the resource.
func (s *subscription) params() []byte { return rawjson.Set(nil, "uri", rawjson.Quote(s.uri)) }

// listen is the subscription at a server of the modern revision: a request whose notifications are the news. One for each resource,
// because the filter of a stream cannot be changed.
func (s *subscription) listen(c *conn) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	late := time.AfterFunc(DefaultCall, func() { cancel(fmt.Errorf("it did not acknowledge the subscription within %v", DefaultCall)) })
	defer late.Stop()
	uri := rawjson.Quote(s.uri)
	params := append(append([]byte(`{"notifications":{"resourceSubscriptions":[`), uri...), "]}}"...)
	_, bad, err := c.request(ctx, call{method: methodListen, params: params, peer: &ear{s: s, acknowledged: func(ok bool) {
		late.Stop()
		if !ok {
			cancel(errors.New("it does not offer a subscription to this resource"))
			return
		}
		s.made()
	}}})
	switch {
	case bad != nil:
		return &refusedSubscription{bad}
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return errors.New(c.secrets.text(err.Error()))
	}
	return errors.New("the server ended the subscription")
}

// ear hears the notifications of one stream of news.
type ear struct {
	s            *subscription
	acknowledged func(ok bool)
}

// Capabilities are none.
func (*ear) Capabilities() []byte { return nil }

// Ask has nobody to ask.
func (*ear) Ask(context.Context, string, []byte) (result, rpcErr []byte, err error) {
	return nil, nil, errors.New("this is a subscription")
}

// Notify takes what comes on the stream.
func (h *ear) Notify(method string, params []byte) {
	switch method {
	case noticeListening:
		var agreed []string
		_ = json.Unmarshal(rawjson.Path(params, "notifications", "resourceSubscriptions"), &agreed)
		h.acknowledged(slices.Contains(agreed, h.s.uri))
	case noticeUpdated:
		h.s.tell(unlabelled(params))
	}
}

// unlabelled takes the id of our own stream out of params.
func unlabelled(params []byte) []byte {
	meta := rawjson.Set(rawjson.Member(params, "_meta"), metaSubscription, nil)
	if string(meta) == "{}" {
		meta = nil
	}
	return rawjson.Set(params, "_meta", meta)
}
