package mcpclient

import "context"

// Peer is the client of one call. The notifications and questions of a server that belong to the call go there. The methods are safe for
// concurrent use until the call has returned.
//
// It is an alias, so that it is one type with the gate.Peer of the same shape: the two rooms do not import each other.
type Peer = interface {
	// Capabilities are the capabilities that the client declared, a raw JSON object; nil: none. A client is asked only what it declared.
	Capabilities() []byte
	// Notify passes on a progress notification, a log line or a notification of an extension. It never waits. params carry the
	// client's own progress token. Notify may be called after the call has returned, for what outlives a call
	// (notifications/elicitation/complete, and the notifications of a task). A client that is gone by then gets nothing.
	Notify(method string, params []byte)
	// Ask passes on a request of the server (elicitation/create, sampling/createMessage, roots/list) and waits for the client's
	// answer, the raw result or the raw error object. err: the client cannot be asked, is gone, or ctx ended.
	Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error)
}
