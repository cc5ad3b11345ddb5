package mcpserver

import (
	"sync/atomic"

	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Client is one peer as the protocol knows it: a stdio connection, a legacy HTTP link, or a single modern request.
type Client struct {
	session *session.Session
	surface string                             // for the record
	tell    func(method string, params []byte) // sends notices that belong to no request; nil for a modern request
	version string                             // the revision that is spoken; empty before initialize
	level   atomic.Int32                       // least level of the log lines that it wants; 0: it did not say

	name          string        // what it calls itself
	capabilities  []byte        // that it declared: at initialize, or in this request
	questions     questions     // ours to it; only in the era with a handshake
	subscriptions subscriptions // to resources; only in the era with a handshake
}

// NewClient returns a client of the era with a handshake, before initialize. tell sends it notices that belong to no request. Close
// gives back what it subscribes to.
func NewClient(sess *session.Session, surface string, tell func(method string, params []byte)) *Client {
	return &Client{session: sess, surface: surface, tell: tell}
}

// ModernClient returns the client of one request of the modern era, which names version, or what the request lacks.
func ModernClient(sess *session.Session, surface string, m rpc.Message, version string) (*Client, *rpc.Error) {
	if bad := checkModern(m, version); bad != nil {
		return nil, bad
	}
	capabilities := rawjson.Path(m.Params, "_meta", metaCapabilities)
	return &Client{
		session: sess, surface: surface, version: version, capabilities: capabilities,
		name: rawjson.TextAt(m.Params, "_meta", metaClientInfo, "name"),
	}, nil
}

// searches reports whether the client has a search of its own over the tools that it is listed. It is the client's word, and decides
// about lists only. Claude Code defers long lists itself (its tool ToolSearch); docs/decisions/0096 has what was measured.
func (c *Client) searches() bool { return c.name == "claude-code" }

// Modern reports whether the client speaks a revision without a handshake.
func (c *Client) Modern() bool { return IsModern(c.version) }

// Answer hands over the client's answer to a question of ours.
func (c *Client) Answer(m rpc.Message) { c.questions.settle(m) }

// CannotUse ends the question that has an id, because the client's answer to it cannot be used. It reports whether there is such a question.
func (c *Client) CannotUse(id []byte, why *rpc.Error) bool { return c.questions.fail(id, why) }

// Close ends the client's subscriptions.
func (c *Client) Close() { c.subscriptions.end() }

// Streams reports whether notices or questions may go to the client before m is answered.
func (c *Client) Streams(m rpc.Message) bool {
	return c.wanted(m) != nil || !c.Modern() && mayAsk(m.Method) && canBeAsked(c.capabilities)
}

// Link is where the notices and questions of one request go while it is served.
type Link struct {
	*Client
	Only   string                             // the one server that is served, with bare names; empty: all
	Notice func(method string, params []byte) // nil: the answer is all that can be sent
	Send   func(rpc.Message) bool             // sends a question or its cancellation; nil: the client cannot be asked here
	Gone   <-chan struct{}                    // closed when the client no longer reads its questions; may be nil
}
