package backend

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/rawjson"
)

// maxSubscriptions bounds the subscriptions to resources of one server. Each holds a goroutine, and a stream to a server of the modern
// revision.
const maxSubscriptions = 1000

// Subscribe subscribes to one resource of a server. tell gets the raw params of each notifications/resources/updated; it must neither wait
// nor call stop, and is not called after stop has returned. Subscribers of the same resource share one subscription at the server. ctx
// limits the attempt only; the subscription lasts until stop is called.
//
// When the connection to the server ends, the server is started again and the subscription is renewed. Every subscriber then gets an
// update, because one may have been missed. A server may report a resource below the subscribed one; the params then have its uri.
func (p *Pool) Subscribe(ctx context.Context, server, uri string, tell func(params []byte)) (stop func(), err error) {
	e := p.entry(server)
	switch {
	case e == nil:
		return nil, fmt.Errorf("server %q: %w", server, ErrUnknownServer)
	case e.builtin != nil:
		return nil, fmt.Errorf("server %q: %w", server, mcpclient.ErrNoSubscriptions)
	}
	// no subscription to what cannot be read
	if err := e.checkHeld("resources/read", rawjson.Set(nil, "uri", rawjson.Quote(uri))); err != nil {
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

// subject identifies a subscription.
type subject struct{ server, uri string }

// subscriptions are the subscriptions of a pool.
type subscriptions struct {
	mu     sync.Mutex
	all    map[subject]*subscription // the latest of each subject, until it has ended
	linger time.Duration             // how long a subscription outlives its last listener; 0: lingerTime
}

// lingerTime is how long a subscription outlives its last listener. A client that comes back at once finds it. Besides, a server that
// identifies subscribers by their connection, like that of the SDK, would confuse the end of the old one with the new one.
const lingerTime = time.Second

// subscription is a subscription at a server, for all listeners that share it.
type subscription struct {
	subject
	pool  *Pool
	ctx   context.Context // ends with the last listener, or with the pool
	end   context.CancelFunc
	after <-chan struct{} // closed when the subscription before it has ended; nil: there was none
	ready chan struct{}   // closed when the first attempt is over
	err   error           // of that attempt; valid when ready is closed
	done  chan struct{}   // closed when it has ended

	mu             sync.Mutex
	wasEstablished bool // it was established once
	listeners      map[*func([]byte)]struct{}
}

// join adds a listener to a subscription, and starts the subscription if there is none.
func (all *subscriptions) join(p *Pool, at subject, tell *func([]byte)) (*subscription, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.all[at]
	if s != nil && s.ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listeners[tell] = struct{}{}
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
	next := &subscription{
		subject: at, pool: p, ready: make(chan struct{}), done: make(chan struct{}), listeners: map[*func([]byte)]struct{}{tell: {}},
	}
	if s != nil {
		next.after = s.done
	}
	next.ctx, next.end = context.WithCancel(p.ctx)
	if !p.tasks.start(func() { all.run(next) }) {
		next.end()
		return nil, errRemoved
	}
	if all.all == nil {
		all.all = map[subject]*subscription{}
	}
	all.all[at] = next
	return next, nil
}

// leave removes a listener. The subscription ends some time after its last listener; leave does not wait for that.
func (all *subscriptions) leave(s *subscription, tell *func([]byte)) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, tell)
	if len(s.listeners) == 0 {
		time.AfterFunc(cmp.Or(all.linger, lingerTime), func() { all.expire(s) })
	}
}

// expire ends a subscription that has no listeners.
func (all *subscriptions) expire(s *subscription) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) == 0 {
		s.end()
	}
}

// updated passes on an update of a server of the legacy revisions, whose notifications name only the uri.
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
		s.notify(params)
	}
}

// missed notifies the listeners of a server of the legacy revisions after its stream of notices was closed for a while: updates may have
// been missed.
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
			s.notify(s.params())
		default: // it is not established yet
		}
	}
}

// covers reports whether uri is the subscribed resource, or a resource below it.
func covers(subscribed, uri string) bool {
	rest, ok := strings.CutPrefix(uri, subscribed)
	return ok && (rest == "" || strings.HasSuffix(subscribed, "/") || strings.ContainsAny(rest[:1], "/?#"))
}

// notify tells every listener.
func (s *subscription) notify(params []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	for tell := range s.listeners {
		(*tell)(params)
	}
}

// run makes a subscription, and makes it again whenever it is lost, until it has no listeners.
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
		<-s.after // its last request must not reach the server after our first one
	}
	for wait := time.Second; s.ctx.Err() == nil; wait = min(2*wait, 30*time.Second) {
		begin, reconfigured := time.Now(), s.pool.isReconfigured() // before the attempt, so that a change during it ends the wait
		err := s.subscribeOnce()
		if !s.wasEstablished {
			s.err = cmp.Or(err, s.ctx.Err())
			s.end()
			close(s.ready)
			return
		}
		if time.Since(begin) > time.Minute {
			wait = time.Second
		}
		s.pool.logger.Info("subscription lost", "server", s.server, "uri", s.uri, "error", err)
		s.waitRetry(wait, reconfigured)
	}
}

// waitRetry waits before the next attempt. A change of the configuration ends the wait.
func (s *subscription) waitRetry(wait time.Duration, reconfigured <-chan struct{}) {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-reconfigured:
	case <-s.ctx.Done():
	}
}

// subscribeOnce makes the subscription once and returns when it is over.
func (s *subscription) subscribeOnce() error {
	e := s.pool.entry(s.server)
	if e == nil {
		return ErrUnknownServer
	}
	c, _, err := e.connect(s.ctx)
	if err != nil {
		return err
	}
	return c.Subscribe(s.ctx, mcpclient.Subscription{URI: s.uri, Owner: s.pool.ctx, Established: s.established, Updated: s.notify})
}

// established records that the subscription stands. If it wasEstablished before, updates may have been missed.
func (s *subscription) established() {
	s.mu.Lock()
	before := s.wasEstablished
	s.wasEstablished = true
	s.mu.Unlock()
	if !before {
		close(s.ready)
		return
	}
	s.notify(s.params())
}

// params name the resource.
func (s *subscription) params() []byte { return rawjson.Set(nil, "uri", rawjson.Quote(s.uri)) }
