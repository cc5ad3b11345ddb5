package backend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/rawjson"
)

// noticeListening is the first message on a stream of notices, and stands for the opening of the old revisions' one.
const noticeListening = "notifications/subscriptions/acknowledged"

// noticeUpdated tells that a resource is another.
const noticeUpdated = "notifications/resources/updated"

// methodListen is the request whose answer comes when its stream ends.
const methodListen = "subscriptions/listen"

// handshake finds the revision that a server speaks. initialize goes first, because nearly every server in the field knows it and many
// stay silent at a method that they do not know; whatever error a server has for it is a reason to try the modern discovery.
func (c *conn) handshake(ctx context.Context) error {
	version := latestLegacy
	bad, err := c.initialize(ctx, version)
	if bad != nil {
		next := supported(bad)
		i := slices.IndexFunc(legacyVersions, func(v string) bool { return v != version && slices.Contains(next, v) })
		if i >= 0 && !slices.Contains(next, modernVersion) {
			bad, err = c.initialize(ctx, legacyVersions[i])
		}
	}
	if bad != nil {
		err = &refusedError{"it answers initialize with error " + excerpt(bad)}
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
func (c *conn) initialize(ctx context.Context, version string) (bad []byte, err error) {
	params := []byte(`{"protocolVersion":"` + version + `","capabilities":` + declared + `,"clientInfo":` + string(c.client) + `}`)
	result, bad, err := c.request(ctx, call{method: "initialize", params: params})
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
	if !slices.Contains(legacyVersions, r.Version) {
		return nil, &refusedError{fmt.Sprintf("it answers initialize with the protocol revision %.20q (hint: we speak %s and %v)", r.Version, modernVersion, legacyVersions)}
	}
	c.version, c.caps = r.Version, r.Capabilities
	c.introduced(result, rawjson.Member(result, "serverInfo"))
	c.link.speak(c.version)
	err = c.link.notify(ctx, "notifications/initialized", nil)
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
func (c *conn) discover(ctx context.Context) error {
	c.version, c.modern = modernVersion, true
	c.calls.modern.Store(true)
	c.link.speak(c.version)
	result, bad, err := c.request(ctx, call{method: "server/discover"})
	if err != nil {
		return err
	}
	if bad != nil {
		return fmt.Errorf("error %s", excerpt(bad))
	}
	var r struct {
		Versions     []string     `json:"supportedVersions"`
		Capabilities capabilities `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("its answer is not understood: %w", err)
	}
	if !slices.Contains(r.Versions, modernVersion) {
		return fmt.Errorf("it speaks %.200q only", r.Versions)
	}
	c.caps = r.Capabilities
	c.introduced(result, rawjson.Path(result, "_meta", metaServer))
	return nil
}

// introduced keeps what a server said of itself.
func (c *conn) introduced(result, info []byte) {
	c.said = About{Version: c.version, Capabilities: object(rawjson.Member(result, "capabilities")), Info: object(info)}
	c.said.Instructions = rawjson.TextAt(result, "instructions")
	c.calls.batches.Store(c.version == "2025-03-26")
	c.calls.extended.Store(c.said.Declares("extensions") || c.said.Declares("experimental") || c.said.Declares("tasks"))
}

// about is what the server said of itself, for others to see.
func (c *conn) about() About {
	a := c.said
	a.Instructions = c.secrets.text(a.Instructions)
	a.Capabilities, a.Info = c.secrets.json(a.Capabilities), c.secrets.json(a.Info)
	return a
}

// hearing is how long the first calls wait for the stream of notices of a server that keeps its opening waiting.
const hearing = 500 * time.Millisecond

// awaitHearing waits until the stream of notices stands or is known not to exist. In the old revisions some servers send their questions
// there, also those of a call: one that was asked before nobody would hear, and the call would wait for its time-out.
func (c *conn) awaitHearing(ctx context.Context) {
	if _, ok := c.link.(*httpLink); !ok || c.modern {
		return
	}
	t := time.NewTimer(hearing)
	defer t.Stop()
	select {
	case <-c.heard:
	case <-t.C:
	case <-c.link.gone():
	case <-ctx.Done():
	}
}

// hear opens the stream on which a server tells of changed lists, where that is not the connection itself. It returns when the
// connection or ctx ends, or the server has no such stream.
func (c *conn) hear(ctx context.Context) {
	if h, ok := c.link.(*httpLink); ok && !c.modern {
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
		_, bad, _ := c.request(ctx, call{method: methodListen, params: params})
		select {
		case <-c.link.gone():
			return
		default:
		}
		if bad != nil || pause(ctx, wait) != nil {
			return
		}
	}
}
