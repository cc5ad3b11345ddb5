package mcpclient

import "context"

// Peer is the client of one call: what a server says and asks while it is at work on that call goes there. The methods are
// safe for concurrent use until the call has returned.
//
// It is an alias, so that it is one type with the gate.Peer of the same shape: the two rooms do not import each other.
type Peer = interface {
	// Capabilities are those that the client declared, a raw JSON object; nil: none. What it did not declare it is not asked.
	Capabilities() []byte
	// Notify passes a progress notification, a log line or a notification of an extension on. It never waits. params carry the
	// client's own progress token. It may still be called when the call has returned, for what outlives a call
	// (notifications/elicitation/complete, and those of a task); a client that is gone then is told nothing.
	Notify(method string, params []byte)
	// Ask passes a request of the server on (elicitation/create, sampling/createMessage, roots/list) and waits for the client's
	// answer, the raw result or the raw error object. err: nobody can be asked, the client is gone, or ctx ended.
	Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error)
}
