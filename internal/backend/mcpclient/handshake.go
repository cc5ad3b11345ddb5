package mcpclient

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/rawjson"
)

// noticeAcknowledged is the first message on a stream of notices. We also use it when a stream of the legacy revisions opens.
const noticeAcknowledged = "notifications/subscriptions/acknowledged"

// noticeUpdated reports that a resource has changed.
const noticeUpdated = "notifications/resources/updated"

// methodListen is the request whose answer comes when its stream ends.
const methodListen = "subscriptions/listen"

// clientCapabilities are the capabilities that we declare in the handshake of the legacy revisions, and in the modern one with the requests
// by which a server describes itself. Clients with different capabilities share a connection and a catalog, so we declare all that we can
// pass on. A question that its client cannot answer gets the error of a client without the capability. The extension is MCP Apps: its
// servers decide by it whether to offer apps.
const clientCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{},` +
	`"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// describes reports whether a request asks a server what it is and has, for all clients.
func (r Call) describes() bool {
	return r.Peer == nil && (r.Method == methodDiscover || strings.HasSuffix(r.Method, "/list"))
}

// setAbout keeps what a server said of itself.
func (c *Conn) setAbout(result, info []byte) {
	c.about = catalog.About{Version: c.version, Capabilities: catalog.Object(rawjson.Member(result, "capabilities")),
		Info: catalog.Object(info)}
	c.about.Instructions = rawjson.TextAt(result, "instructions")
	c.calls.batches.Store(c.version == "2025-03-26")
	c.calls.extended.Store(c.about.Declares("extensions") || c.about.Declares("experimental") || c.about.Declares("tasks"))
}

// About is what the server said of itself, without secrets.
func (c *Conn) About() catalog.About {
	a := c.about
	a.Instructions = c.secrets.Known(a.Instructions)
	a.Capabilities, a.Info = c.secrets.JSON(a.Capabilities), c.secrets.JSON(a.Info)
	return a
}

// Listening is closed when the stream of notices is open, or when the server is known to have none.
func (c *Conn) Listening() <-chan struct{} { return c.listening }

// listenWait is how long calls wait for the server to open the stream of notices. Some servers send the head of the answer only with
// the first notice.
const listenWait = 500 * time.Millisecond

// AwaitListening waits until the stream of notices is open or the server is known to have none. Before that, the server can report no
// change of its lists. Besides, some servers of the legacy revisions send the questions of a call there over HTTP: a question that came
// before would reach nobody, and its call would run into its time-out. The server has listenWait from the moment in which our request was
// sent; sending takes longer on a busy machine.
func (c *Conn) AwaitListening(ctx context.Context) {
	var late <-chan time.Time
	for sent := c.listenSent; ; {
		select {
		case <-sent:
			t := time.NewTimer(listenWait)
			defer t.Stop()
			sent, late = nil, t.C
			continue
		case <-c.Listening():
		case <-late:
		case <-c.Done():
		case <-ctx.Done():
		}
		return
	}
}

// Listen opens the stream of notices, on which a server reports changed lists, if that is not the connection itself. It returns when the
// connection or ctx ends, or when the server has no such stream.
func (c *Conn) Listen(ctx context.Context) {
	defer c.setListening()
	sent := sync.OnceFunc(func() { close(c.listenSent) })
	if h, ok := c.transport.(*httpTransport); ok && !c.modern {
		h.listen(sent)
		return
	}
	wants := func(l *listCapability) string { return strconv.FormatBool(l != nil && l.ListChanged) }
	if !c.modern || wants(c.caps.Tools)+wants(c.caps.Prompts)+wants(c.caps.Resources) == "falsefalsefalse" {
		return
	}
	params := []byte(`{"notifications":{"toolsListChanged":` + wants(c.caps.Tools) + `,"promptsListChanged":` + wants(c.caps.Prompts) +
		`,"resourcesListChanged":` + wants(c.caps.Resources) + `}}`)
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		sent()
		_, bad, _ := c.Request(ctx, Call{Method: methodListen, Params: params})
		select {
		case <-c.transport.done():
			return
		default:
		}
		if bad != nil || sleep(ctx, wait) != nil {
			return
		}
	}
}
