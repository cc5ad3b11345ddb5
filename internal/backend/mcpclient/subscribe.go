package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/redact"
	"mycelium/internal/rawjson"
)

// ErrNoSubscriptions means that a server does not offer subscriptions to resources.
var ErrNoSubscriptions = errors.New("it does not offer subscriptions to resources (resources.subscribe is not among its capabilities)")

// subscribeLimit is how long a server may take to accept a subscription.
const subscribeLimit = 60 * time.Second

// Subscription is the wish to be told of the updates of one resource.
type Subscription struct {
	URI         string
	Owner       context.Context     // while it lasts, the server is told when the subscription is not wanted any more
	Established func()              // is called when the subscription stands
	Updated     func(params []byte) // gets updates of the modern revision; those of legacy ones go to Options.Updated
}

// Subscribe subscribes to one resource, and returns when the subscription has ended: because ctx ended (nil), or because the server
// refused or ended it, or the connection ended.
func (c *Conn) Subscribe(ctx context.Context, s Subscription) error {
	if c.caps.Resources == nil || !c.caps.Resources.Subscribe {
		return ErrNoSubscriptions
	}
	if c.modern {
		return c.subscribeModern(ctx, s)
	}
	params := rawjson.Set(nil, "uri", rawjson.Quote(s.URI))
	_, bad, err := c.Request(ctx, Call{Method: "resources/subscribe", Params: params, Limit: subscribeLimit})
	switch {
	case errors.Is(err, ErrTimeout):
		return fmt.Errorf("it did not answer resources/subscribe within %v", subscribeLimit)
	case err != nil:
		return fmt.Errorf("resources/subscribe failed: %w", c.secrets.Error(err))
	case bad != nil:
		return &refusedSubscription{bad}
	}
	s.Established()
	select {
	case <-c.Done():
		return c.Err()
	case <-ctx.Done():
	}
	if s.Owner.Err() == nil {
		bounded, cancel := context.WithTimeout(s.Owner, 5*time.Second)
		defer cancel()
		_, _, _ = c.Request(bounded, Call{Method: "resources/unsubscribe", Params: params})
	}
	return nil
}

// refusedSubscription is the error that a server answered with.
type refusedSubscription struct{ raw []byte }

func (e *refusedSubscription) Error() string {
	return "it refuses the subscription: " + redact.Excerpt(e.raw)
}

// subscribeModern subscribes at a server of the modern revision: by a request whose notifications are the updates. One for each resource,
// because the filter of a stream cannot be changed.
func (c *Conn) subscribeModern(ctx context.Context, s Subscription) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(subscribeLimit, func() { cancel(fmt.Errorf("it did not acknowledge the subscription within %v", subscribeLimit)) })
	defer late.Stop()
	uri := rawjson.Quote(s.URI)
	params := append(append([]byte(`{"notifications":{"resourceSubscriptions":[`), uri...), "]}}"...)
	_, bad, err := c.Request(ctx, Call{Method: methodListen, Params: params, Peer: &streamPeer{s: s, acknowledged: func(ok bool) {
		late.Stop()
		if !ok {
			cancel(errors.New("it does not offer a subscription to this resource"))
			return
		}
		s.Established()
	}}})
	switch {
	case bad != nil:
		return &refusedSubscription{bad}
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.secrets.Error(err)
	}
	return errors.New("the server ended the subscription")
}

// streamPeer takes the notifications of one subscription stream.
type streamPeer struct {
	s            Subscription
	acknowledged func(ok bool)
}

// Capabilities returns nil: a subscription cannot be asked.
func (*streamPeer) Capabilities() []byte { return nil }

// Ask fails.
func (*streamPeer) Ask(context.Context, string, []byte) (result, rpcErr []byte, err error) {
	return nil, nil, errors.New("this is a subscription")
}

// Notify takes what comes on the stream.
func (p *streamPeer) Notify(method string, params []byte) {
	switch method {
	case noticeAcknowledged:
		var agreed []string
		_ = json.Unmarshal(rawjson.Path(params, "notifications", "resourceSubscriptions"), &agreed)
		p.acknowledged(slices.Contains(agreed, p.s.URI))
	case noticeUpdated:
		p.s.Updated(unlabelled(params))
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
