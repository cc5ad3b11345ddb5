// Package peertest is a client that servers can ask, for tests.
package peertest

import (
	"context"
	"slices"
	"sync"

	"mycelium/internal/rawjson"
)

// Everything is the capabilities of a client that has all of them.
const Everything = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

// Person is a client that can be asked. It implements mcpclient.Peer.
type Person struct {
	Caps   string // raw JSON
	Answer func(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error)

	mu       sync.Mutex
	received []string
}

// Capabilities are the declared ones.
func (p *Person) Capabilities() []byte { return []byte(p.Caps) }

// Notify keeps a notification.
func (p *Person) Notify(method string, params []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, method+string(params))
}

// Notices are the notifications so far, each with its method before its params.
func (p *Person) Notices() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.received)
}

// Ask answers as the test wants.
func (p *Person) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	return p.Answer(ctx, method, params)
}

// Answers are those of a person who accepts everything.
func Answers(_ context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	switch {
	case method == "roots/list":
		return []byte(`{"roots":[{"uri":"file:///home/x","name":"x"}]}`), nil, nil
	case method == "sampling/createMessage":
		return []byte(`{"role":"assistant","model":"m","content":{"type":"text","text":"hello"}}`), nil, nil
	case string(rawjson.Member(params, "mode")) == `"url"`:
		return []byte(`{"action":"accept"}`), nil, nil
	}
	return []byte(`{"action":"accept","content":{"name":"Ann"}}`), nil, nil
}
