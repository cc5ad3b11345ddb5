package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/backend/redact"
	"mycelium/internal/rawjson"
)

// The first request to a server: of the legacy revisions, and of the modern one.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
)

// probeWait is how long a server has for its answer to server/discover before it gets initialize as well. Some servers of the legacy
// revisions do not answer a method that they do not know.
const probeWait = 3 * time.Second

// Handshake finds the revision that a server speaks. A server that speaks several is spoken to in the modern one, so server/discover comes
// first: a server that gets initialize first may stay with the legacy revisions. known is what the server said when it was last asked. A
// server that is known not to have server/discover gets initialize first.
//
// A legacy server may break when server/discover comes first. Then IsBroken reports true, and the server needs a new connection.
func (c *Conn) Handshake(ctx context.Context, known catalog.About) error {
	h, overHTTP := c.transport.(*httpTransport)
	if known.NoDiscovery || overHTTP && h.target.SSE {
		err := handshake{c}.legacyFirst(ctx)
		// A server of another version may have learned the modern revision: it is asked at the next start.
		c.about.NoDiscovery = !c.modern && (known.Info == nil || bytes.Equal(known.Info, c.About().Info))
		return err
	}
	err := handshake{c}.modernFirst(ctx)
	c.about.NoDiscovery = !c.modern
	if err != nil && !overHTTP && ctx.Err() == nil && !IsKeeperFailure(err) {
		return &brokenError{err}
	}
	return err
}

// brokenError is a failed handshake with a process that got server/discover first.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// IsBroken reports whether a handshake may have failed because the server does not bear server/discover as its first message.
func IsBroken(err error) bool {
	var e *brokenError
	return errors.As(err, &e)
}

// refusedError is a failed handshake of the legacy revisions. The server may be of the modern revision.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

func isRefused(err error) bool {
	var e *refusedError
	return errors.As(err, &e)
}

// handshake is what finds the revision of a connection.
type handshake struct{ *Conn }

// modernFirst asks with server/discover. If the answer is an error, initialize follows. If none comes in time, initialize is sent as well.
func (c handshake) modernFirst(ctx context.Context) error {
	discovered, stop := c.begin(ctx, Call{Method: methodDiscover})
	defer stop()
	late := time.NewTimer(probeWait)
	defer late.Stop()
	select {
	case d := <-discovered:
		derr := c.discovered(d)
		var login *oauth.AuthorizationError
		if derr == nil || errors.As(derr, &login) || ctx.Err() != nil {
			return derr
		}
		return orDiscovery(c.initialize(ctx), derr)
	case <-late.C:
		return c.both(ctx, discovered)
	}
}

// both asks with initialize while the answer to server/discover is still to come. The first good answer counts.
func (c handshake) both(ctx context.Context, discovered <-chan reply) error {
	initialized, stop := c.begin(ctx, c.initializeCall(LatestLegacy))
	defer stop()
	select {
	case d := <-discovered:
		_, derr := readDiscovery(d)
		if derr == nil {
			stop()
			return c.discovered(d)
		}
		return orDiscovery(c.initialized(ctx, <-initialized), derr)
	case i := <-initialized:
		err := c.initialized(ctx, i)
		if !isRefused(err) {
			return err
		}
		return orDiscovery(err, c.discovered(<-discovered))
	}
}

// legacyFirst asks with initialize. After any error answer it tries the discovery of the modern revision.
func (c handshake) legacyFirst(ctx context.Context) error {
	err := c.initialize(ctx)
	if !isRefused(err) {
		return err
	}
	discovered, stop := c.begin(ctx, Call{Method: methodDiscover})
	defer stop()
	return orDiscovery(err, c.discovered(<-discovered))
}

// orDiscovery is the outcome of a handshake in which initialize had the outcome err and server/discover derr. A refusal stands only if
// server/discover failed too.
func orDiscovery(err, derr error) error {
	switch {
	case !isRefused(err):
		return err
	case derr == nil:
		return nil
	}
	return fmt.Errorf("%w (and server/discover failed: %w)", err, derr)
}

// reply is the answer to a request of the handshake.
type reply struct {
	result []byte
	bad    []byte // an error answer of the server, raw
	err    error
}

// begin sends a request of the handshake. Its answer comes on the channel. stop abandons the request and waits for its end.
func (c handshake) begin(ctx context.Context, r Call) (answer <-chan reply, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	got, ended := make(chan reply, 1), make(chan struct{})
	go func() {
		defer close(ended)
		var a reply
		a.result, a.bad, a.err = c.Request(ctx, r)
		got <- a
	}()
	return got, func() { cancel(); <-ended }
}

// initializeCall is the first request of the legacy revisions.
func (c handshake) initializeCall(version string) Call {
	return Call{Method: methodInitialize, Params: []byte(`{"protocolVersion":"` + version + `","capabilities":` + clientCapabilities +
		`,"clientInfo":` + string(c.ClientInfo) + `}`)}
}

// initialize does the handshake of the legacy revisions.
func (c handshake) initialize(ctx context.Context) error {
	answer, stop := c.begin(ctx, c.initializeCall(LatestLegacy))
	defer stop()
	return c.initialized(ctx, <-answer)
}

// initialized handles the answer to initialize. If it refuses the version and names older ones, one of them is tried.
func (c handshake) initialized(ctx context.Context, a reply) error {
	next := supported(a.bad)
	i := slices.IndexFunc(LegacyVersions, func(v string) bool { return v != LatestLegacy && slices.Contains(next, v) })
	if i >= 0 && !slices.Contains(next, ModernVersion) {
		a.result, a.bad, a.err = c.Request(ctx, c.initializeCall(LegacyVersions[i]))
	}
	if a.err != nil {
		return a.err
	}
	if a.bad != nil {
		return &refusedError{"it answers initialize with error " + redact.Excerpt(a.bad)}
	}
	return c.agree(ctx, a.result)
}

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

// agree takes the revision that a server answered initialize with.
func (c handshake) agree(ctx context.Context, result []byte) error {
	var r struct {
		Version      string       `json:"protocolVersion"`
		Capabilities capabilities `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("its answer to initialize is not understood: %w", err)
	}
	if !slices.Contains(LegacyVersions, r.Version) {
		return &refusedError{fmt.Sprintf("it answers initialize with the protocol revision %.20q; we speak %s and %v",
			r.Version, ModernVersion, LegacyVersions)}
	}
	c.version, c.caps = r.Version, r.Capabilities
	c.setAbout(result, rawjson.Member(result, "serverInfo"))
	c.transport.setVersion(c.version)
	err := c.transport.notify(ctx, "notifications/initialized", nil)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusBadRequest {
		// A server that knows only the modern revision answers initialize with a version that it then refuses.
		return &refusedError{"it refuses the protocol revision " + r.Version + " that it answered initialize with"}
	}
	return err
}

// readDiscovery reads the answer to server/discover. The error says why the server cannot be spoken to in the modern revision.
func readDiscovery(a reply) (caps capabilities, err error) {
	if a.err != nil {
		return caps, a.err
	}
	if a.bad != nil {
		return caps, fmt.Errorf("error %s", redact.Excerpt(a.bad))
	}
	var r struct {
		Versions     []string     `json:"supportedVersions"`
		Capabilities capabilities `json:"capabilities"`
	}
	if err := json.Unmarshal(a.result, &r); err != nil {
		return caps, fmt.Errorf("its answer is not understood: %w", err)
	}
	if !slices.Contains(r.Versions, ModernVersion) {
		return caps, fmt.Errorf("it speaks %.200q only", r.Versions)
	}
	return r.Capabilities, nil
}

// discovered handles the answer to server/discover. Without an error the connection is of the modern revision.
func (c handshake) discovered(a reply) error {
	caps, err := readDiscovery(a)
	if err != nil {
		return err
	}
	c.version, c.modern, c.caps = ModernVersion, true, caps
	c.calls.modern.Store(true)
	c.transport.setVersion(c.version)
	c.setAbout(a.result, rawjson.Path(a.result, "_meta", metaServer))
	return nil
}
