package gateway

import (
	"context"
	"errors"
	"sync"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
)

// maxSubs bounds the resources that one link, or one listen, is subscribed to.
const maxSubs = 256

var errTooManySubs = errors.New("too many subscriptions on this connection (the limit is 256); end some with resources/unsubscribe")

// subs are the subscriptions of one link or listen.
type subs struct {
	mu   sync.Mutex
	open map[policy.Item]func() // how each is stopped
	over bool
}

// add keeps a subscription; what was there of the same resource is replaced. false: the link is over, or has too many.
func (u *subs) add(it policy.Item, stop func()) bool {
	u.mu.Lock()
	before, again := u.open[it]
	if u.over || !again && len(u.open) >= maxSubs {
		u.mu.Unlock()
		return false
	}
	if u.open == nil {
		u.open = map[policy.Item]func(){}
	}
	u.open[it] = stop
	u.mu.Unlock()
	if again {
		before()
	}
	return true
}

// full reports whether another resource would be one too many.
func (u *subs) full(it policy.Item) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.over || u.open[it] == nil && len(u.open) >= maxSubs
}

func (u *subs) remove(it policy.Item) {
	u.mu.Lock()
	stop := u.open[it]
	delete(u.open, it)
	u.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// review ends the subscriptions to what the session may no longer read.
func (u *subs) review(g *gate.Gate, sess *gate.Session) {
	u.mu.Lock()
	var gone []policy.Item
	for it := range u.open {
		if !g.MayRead(sess, it) {
			gone = append(gone, it)
		}
	}
	u.mu.Unlock()
	for _, it := range gone {
		u.remove(it)
	}
}

// end stops all, and takes no more.
func (u *subs) end() {
	u.mu.Lock()
	open := u.open
	u.open, u.over = nil, true
	u.mu.Unlock()
	for _, stop := range open {
		stop()
	}
}

// subscribe serves resources/subscribe: notices of changes go to where the link's other notices go.
func (s *Server) subscribe(ctx context.Context, l link, m rpc.Message) (result, refusal []byte) {
	r, bad := s.request(m, policy.Resource)
	if bad != nil {
		return nil, bad.Raw()
	}
	r.Surface = l.surface
	c := l.client
	tell := func(params []byte) { c.told("notifications/resources/updated", params) }
	if err := s.subscribeTo(ctx, l, r, &c.subs, tell); err != nil {
		return refused(l, r, err)
	}
	return []byte("{}"), nil
}

// subscribeTo subscribes to one resource for whoever owns u.
func (s *Server) subscribeTo(ctx context.Context, l link, r gate.Request, u *subs, tell func(params []byte)) error {
	if u.full(r.Item) {
		r.Invalid = errTooManySubs.Error()
	}
	stop, err := s.gate.Subscribe(ctx, l.session, r, tell)
	if err != nil {
		return err
	}
	if !u.add(r.Item, stop) {
		stop()
		return errTooManySubs
	}
	return nil
}

// unsubscribe serves resources/unsubscribe. To end what does not exist is no error, and says nothing about what does.
func (s *Server) unsubscribe(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	r, bad := s.request(m, policy.Resource)
	if bad != nil {
		return nil, bad.Raw()
	}
	l.subs.remove(r.Item)
	return []byte("{}"), nil
}
