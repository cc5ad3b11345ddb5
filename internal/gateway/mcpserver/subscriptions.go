package mcpserver

import (
	"context"
	"errors"
	"sync"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
)

// maxSubscriptions bounds the resources to which one client, or one listen, is subscribed.
const maxSubscriptions = 256

var errTooManySubscriptions = errors.New(
	"too many subscriptions on this connection (the limit is 256); end some with resources/unsubscribe")

// subscriptions are those of one client or listen to resources.
type subscriptions struct {
	mu   sync.Mutex
	open map[policy.Item]func() // the functions that stop them
	over bool
}

// add keeps a subscription, in the place of one to the same resource. It returns false after end, or if there are too many.
func (u *subscriptions) add(it policy.Item, stop func()) bool {
	u.mu.Lock()
	before, replaced := u.open[it]
	if u.over || !replaced && len(u.open) >= maxSubscriptions {
		u.mu.Unlock()
		return false
	}
	if u.open == nil {
		u.open = map[policy.Item]func(){}
	}
	u.open[it] = stop
	u.mu.Unlock()
	if replaced {
		before()
	}
	return true
}

// full reports whether a subscription to the resource would be refused.
func (u *subscriptions) full(it policy.Item) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.over || u.open[it] == nil && len(u.open) >= maxSubscriptions
}

func (u *subscriptions) remove(it policy.Item) {
	u.mu.Lock()
	stop := u.open[it]
	delete(u.open, it)
	u.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// review ends the subscriptions to resources that the session may no longer read.
func (u *subscriptions) review(g *gate.Gate, sess *session.Session) {
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

// end stops all subscriptions. Later ones are refused.
func (u *subscriptions) end() {
	u.mu.Lock()
	open := u.open
	u.open, u.over = nil, true
	u.mu.Unlock()
	for _, stop := range open {
		stop()
	}
}

// subscribe serves resources/subscribe. Notices of changes go where the client's other notices go.
func (s *Server) subscribe(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	r, bad := s.request(l, m, policy.Resource)
	if bad != nil {
		return nil, bad.Raw()
	}
	r.Surface = l.surface
	c := l.Client
	tell := func(params []byte) { c.tell("notifications/resources/updated", params) }
	if err := s.subscribeTo(ctx, l, r, &c.subscriptions, tell); err != nil {
		return refused(l, r, err)
	}
	return []byte("{}"), nil
}

// subscribeTo subscribes to one resource, and adds the subscription to u.
func (s *Server) subscribeTo(ctx context.Context, l Link, r gate.Request, u *subscriptions, tell func(params []byte)) error {
	if u.full(r.Item) {
		r.Invalid = errTooManySubscriptions.Error()
	}
	stop, err := s.gate.Subscribe(ctx, l.session, r, tell)
	if err != nil {
		return err
	}
	if !u.add(r.Item, stop) {
		stop()
		return errTooManySubscriptions
	}
	return nil
}

// unsubscribe serves resources/unsubscribe. A subscription that does not exist is no error: the answer tells nothing about the resource.
func (s *Server) unsubscribe(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	r, bad := s.request(l, m, policy.Resource)
	if bad != nil {
		return nil, bad.Raw()
	}
	l.subscriptions.remove(r.Item)
	return []byte("{}"), nil
}
