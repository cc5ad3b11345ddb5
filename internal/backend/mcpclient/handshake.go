package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/redact"
	"mycelium/internal/rawjson"
)

// noticeAcknowledged is the first message on a stream of notices, and stands for the opening of the old revisions' one.
const noticeAcknowledged = "notifications/subscriptions/acknowledged"

// noticeUpdated tells that a resource is another.
const noticeUpdated = "notifications/resources/updated"

// methodListen is the request whose answer comes when its stream ends.
const methodListen = "subscriptions/listen"

// Handshake finds the revision that a server speaks. initialize goes first, because nearly every server in the field knows it and many
// stay silent at a method that they do not know; whatever error a server has for it is a reason to try the modern discovery.
func (c *Conn) Handshake(ctx context.Context) error {
	version := LatestLegacy
	bad, err := c.initialize(ctx, version)
	if bad != nil {
		next := supported(bad)
		i := slices.IndexFunc(LegacyVersions, func(v string) bool { return v != version && slices.Contains(next, v) })
		if i >= 0 && !slices.Contains(next, ModernVersion) {
			bad, err = c.initialize(ctx, LegacyVersions[i])
		}
	}
	if bad != nil {
		err = &refusedError{"it answers initialize with error " + redact.Excerpt(bad)}
	}
	var refused *refusedError
	if !errors.As(err, &refused) {
		return err
	}
	if derr := c.discover(ctx); derr != nil {
		return fmt.Errorf("%w (and server/discover failed: %w)", err, derr)
	}
	return nil
}

// refusedError is a handshake of the old revisions that led nowhere, so that the server may be one of the modern revision.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

// supported reads the versions that an unsupported-version error offers.
func supported(raw []byte) []string {
	var e struct {
		Data struct {
			Supported []string `json:"supported"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	return e.Data.Supported
}

// initialize does the handshake of the old revisions. An error answer of the server is returned as it is.
func (c *Conn) initialize(ctx context.Context, version string) (bad []byte, err error) {
	params := []byte(`{"protocolVersion":"` + version + `","capabilities":` + declared + `,"clientInfo":` + string(c.ClientInfo) + `}`)
	result, bad, err := c.Request(ctx, Call{Method: "initialize", Params: params})
	if err != nil || bad != nil {
		return bad, err
	}
	var r struct {
		Version      string       `json:"protocolVersion"`
		Capabilities capabilities `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, fmt.Errorf("its answer to initialize is not understood: %w", err)
	}
	if !slices.Contains(LegacyVersions, r.Version) {
		return nil, &refusedError{fmt.Sprintf("it answers initialize with the protocol revision %.20q (hint: we speak %s and %v)", r.Version, ModernVersion, LegacyVersions)}
	}
	c.version, c.caps = r.Version, r.Capabilities
	c.introduced(result, rawjson.Member(result, "serverInfo"))
	c.transport.setVersion(c.version)
	err = c.transport.notify(ctx, "notifications/initialized", nil)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusBadRequest {
		// A server of the modern revision only answers initialize with a version that it then refuses.
		return nil, &refusedError{"it refuses the protocol revision " + r.Version + " that it answered initialize with"}
	}
	return nil, err
}

// declared is what we say that a client of the old revisions can do. One connection serves many clients, which can do different things, so
// that everything is declared that we can pass on; a question that its client cannot answer gets the error of a client without the
// capability. The extension is that of MCP Apps, whose servers ask the handshake whether to offer any.
const declared = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{},` +
	`"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// discover does what the modern revision has instead of a handshake.
func (c *Conn) discover(ctx context.Context) error {
	c.version, c.modern = ModernVersion, true
	c.calls.modern.Store(true)
	c.transport.setVersion(c.version)
	result, bad, err := c.Request(ctx, Call{Method: "server/discover"})
	if err != nil {
		return err
	}
	if bad != nil {
		return fmt.Errorf("error %s", redact.Excerpt(bad))
	}
	var r struct {
		Versions     []string     `json:"supportedVersions"`
		Capabilities capabilities `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("its answer is not understood: %w", err)
	}
	if !slices.Contains(r.Versions, ModernVersion) {
		return fmt.Errorf("it speaks %.200q only", r.Versions)
	}
	c.caps = r.Capabilities
	c.introduced(result, rawjson.Path(result, "_meta", metaServer))
	return nil
}

// introduced keeps what a server said of itself.
func (c *Conn) introduced(result, info []byte) {
	c.about = catalog.About{Version: c.version, Capabilities: catalog.Object(rawjson.Member(result, "capabilities")), Info: catalog.Object(info)}
	c.about.Instructions = rawjson.TextAt(result, "instructions")
	c.calls.batches.Store(c.version == "2025-03-26")
	c.calls.extended.Store(c.about.Declares("extensions") || c.about.Declares("experimental") || c.about.Declares("tasks"))
}

// About is what the server said of itself, for others to see.
func (c *Conn) About() catalog.About {
	a := c.about
	a.Instructions = c.secrets.Text(a.Instructions)
	a.Capabilities, a.Info = c.secrets.JSON(a.Capabilities), c.secrets.JSON(a.Info)
	return a
}

// Listening is closed when the stream of notices is open, or when the server is known to have none.
func (c *Conn) Listening() <-chan struct{} { return c.listening }

// AsksOnNotices reports whether the server may send the questions of a call on the stream of notices, as some servers of the old
// revisions do over HTTP.
func (c *Conn) AsksOnNotices() bool {
	_, ok := c.transport.(*httpTransport)
	return ok && !c.modern
}

// Listen opens the stream on which a server tells of changed lists, where that is not the connection itself. It returns when the
// connection or ctx ends, or the server has no such stream.
func (c *Conn) Listen(ctx context.Context) {
	defer c.setListening()
	if h, ok := c.transport.(*httpTransport); ok && !c.modern {
		h.listen()
		return
	}
	wants := func(l *listCapability) string { return strconv.FormatBool(l != nil && l.ListChanged) }
	if !c.modern || wants(c.caps.Tools)+wants(c.caps.Prompts)+wants(c.caps.Resources) == "falsefalsefalse" {
		return
	}
	params := []byte(`{"notifications":{"toolsListChanged":` + wants(c.caps.Tools) + `,"promptsListChanged":` + wants(c.caps.Prompts) +
		`,"resourcesListChanged":` + wants(c.caps.Resources) + `}}`)
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
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
