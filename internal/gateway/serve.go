package gateway

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// client is one peer as the protocol knows it: a stdio connection, a legacy HTTP link, or one modern request.
type client struct {
	session *gate.Session
	surface string       // for the record: mcp-stdio or mcp-http
	version string       // the revision that is spoken; empty before initialize
	level   atomic.Int32 // least level of the log lines that it wants; 0: it did not say

	capabilities []byte                             // that it declared: at initialize, or in this request
	asks         asks                               // questions of ours to it; only in the era with a handshake
	subs         subs                               // resources that it subscribed to; only in the era with a handshake
	told         func(method string, params []byte) // says what belongs to no request; set before initialize is served
}

func (c *client) modern() bool { return c.version >= v20260728 }

// link is where the notices of one request go while it is served. notice may be nil: then the answer is all that fits.
type link struct {
	*client
	notice func(method string, params []byte)
	send   func(rpc.Message) bool // a request of ours, or its end, to a client of the era with a handshake; nil: it cannot be asked here
	gone   <-chan struct{}        // closed when the client has left where it would read what it is asked; may be nil
}

// surfaces, for the record.
const (
	surfaceStdio = "mcp-stdio"
	surfaceHTTP  = "mcp-http"
)

// handler answers one method: a raw result, or a raw error object.
type handler func(s *Server, ctx context.Context, l link, m rpc.Message) (result, refusal []byte)

// An era is a set of revisions in which a method exists.
type era uint8

const (
	legacyEra era = 1 << iota
	modernEra
	bothEras = legacyEra | modernEra
)

// route is the table of the methods that we serve.
func route(method string) (handler, era) {
	switch method {
	case "tools/call":
		return (*Server).callTool, bothEras
	case "tools/list":
		return (*Server).listTools, bothEras
	case "resources/list":
		return (*Server).listResources, bothEras
	case "resources/templates/list":
		return (*Server).listTemplates, bothEras
	case "resources/read":
		return (*Server).readResource, bothEras
	case "prompts/list":
		return (*Server).listPrompts, bothEras
	case "prompts/get":
		return (*Server).prompt, bothEras
	case "skills/list":
		return (*Server).listSkills, bothEras
	case "skills/get":
		return (*Server).getSkill, bothEras
	case "completion/complete":
		return (*Server).complete, bothEras
	case "tasks/get", "tasks/cancel":
		return (*Server).task, bothEras
	case "tasks/result":
		return (*Server).task, legacyEra
	case "tasks/update":
		return (*Server).task, modernEra
	case "resources/subscribe":
		return (*Server).subscribe, legacyEra
	case "resources/unsubscribe":
		return (*Server).unsubscribe, legacyEra
	case "ping":
		return (*Server).ping, legacyEra
	case "logging/setLevel":
		return (*Server).setLevel, legacyEra
	case "initialize":
		return (*Server).initialize, legacyEra
	case "server/discover":
		return (*Server).discover, modernEra
	case "subscriptions/listen":
		return (*Server).listen, modernEra
	}
	return nil, 0
}

// serve answers one request, for every transport and revision. false: the request was cancelled, nothing may be said.
func (s *Server) serve(ctx context.Context, l link, m rpc.Message) (reply rpc.Message, ok bool) {
	defer func() {
		// A fault of ours must end as a refusal, and must not take the other clients with it.
		if v := recover(); v != nil {
			s.log.Error("panic while serving", "method", m.Method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			reply, ok = refuse(m.ID, &rpc.Error{Code: rpc.CodeInternal, Message: "internal error"}), true
		}
	}()
	h, eras := route(m.Method)
	now := legacyEra
	if l.modern() {
		now = modernEra
	}
	if eras&now == 0 {
		return refuse(m.ID, methodNotFound(m.Method)), true
	}
	if l.version == "" && m.Method != "initialize" && m.Method != "ping" {
		return refuse(m.ID, invalidRequest("initialize comes first")), true
	}
	result, bad := h(s, ctx, l, m)
	if ctx.Err() != nil && m.Method != "subscriptions/listen" {
		return rpc.Message{}, false
	}
	if bad != nil {
		return rpc.Message{ID: m.ID, Error: bad}, true
	}
	if result == nil {
		return rpc.Message{}, false
	}
	return rpc.Message{ID: m.ID, Result: result}, true
}

func refuse(id []byte, e *rpc.Error) rpc.Message {
	if id == nil {
		id = []byte("null")
	}
	return rpc.Message{ID: id, Error: e.Raw()}
}

func methodNotFound(method string) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "method not found: " + method}
}

func (s *Server) ping(context.Context, link, rpc.Message) (result, refusal []byte) {
	return []byte("{}"), nil
}

// initialize agrees on a revision: the one that the client asks for if we speak it, else our newest one with a handshake.
func (s *Server) initialize(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	if l.version != "" {
		return nil, invalidRequest("already initialized").Raw()
	}
	if err := rpc.CheckCase(m.Params, "protocolVersion", "capabilities", "clientInfo"); err != nil {
		return nil, err.Raw()
	}
	version, ok := rawjson.Text(rawjson.Member(m.Params, "protocolVersion"))
	if !ok || version == "" {
		return nil, invalidParams(`"protocolVersion" must be a string`).Raw()
	}
	if !legacy(version) {
		version = v20251125
	}
	l.version = version
	if c := rawjson.Member(m.Params, "capabilities"); isObject(c) {
		l.capabilities = c
	}
	b := []byte(`{"protocolVersion":`)
	b = append(b, rawjson.Quote(version)...)
	b = s.describe(b, l)
	b = append(b, `,"serverInfo":`...)
	return append(s.info(b), '}'), nil
}

// discover is the modern era's way to ask who we are.
func (s *Server) discover(_ context.Context, l link, _ rpc.Message) (result, refusal []byte) {
	b := []byte(`{"supportedVersions":[`)
	for i, v := range versions() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rawjson.Quote(v)...)
	}
	b = s.describe(append(b, ']'), l)
	return s.modernTail(b), nil
}

// describe appends capabilities and instructions: what we serve ourselves, and what the servers in view declared and we carry.
// What is not declared here is not served.
func (s *Server) describe(b []byte, l link) []byte {
	shared := s.withSkills(s.gate.Capabilities(l.session), l)
	b = append(b, `,"capabilities":{"tools":{"listChanged":true},"resources":{`...)
	if rawjson.Member(shared, "subscribe") != nil {
		b = append(b, `"subscribe":true,`...)
	}
	b = append(b, `"listChanged":true},"prompts":{"listChanged":true},"logging":{}`...)
	for _, key := range [...]string{"completions", "tasks", "extensions", "experimental"} {
		if v := rawjson.Member(shared, key); v != nil && (key != "tasks" || l.version == v20251125) {
			b = append(append(append(append(b, `,"`...), key...), `":`...), v...)
		}
	}
	b = append(b, '}')
	if text := s.gate.Instructions(l.session); text != "" {
		b = append(b, `,"instructions":`...)
		b = append(b, rawjson.Quote(text)...)
	}
	return b
}

func (s *Server) info(b []byte) []byte {
	b = append(b, `{"name":"mycelium","version":`...)
	return append(append(b, rawjson.Quote(s.version)...), '}')
}

// modernTail closes a result of our own for a modern client: complete, not to be kept, and from us.
func (s *Server) modernTail(b []byte) []byte {
	b = append(b, `,"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"`+metaServerInfo+`":`...)
	return append(s.info(b), `}}`...)
}

// completed adds to a backend's result what a modern client needs and the result lacks. Results for older clients pass as they are.
func completed(l link, result []byte, cacheable bool) []byte {
	if !l.modern() || !isObject(result) {
		return result
	}
	add := func(key, value string) {
		if rawjson.Member(result, key) == nil {
			result = rawjson.Set(result, key, []byte(value))
		}
	}
	add("resultType", `"complete"`)
	if cacheable {
		add("ttlMs", `0`)
		add("cacheScope", `"private"`)
	}
	return result
}
