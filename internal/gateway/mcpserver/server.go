// Package mcpserver answers MCP requests: every method, over every transport, in both eras of the protocol. It decides nothing. Each
// use of a tool, resource or prompt goes through the gate as raw bytes and comes back as raw bytes. A transport makes the [Client]
// and the [Link] of a request, and writes what [Server.Serve] returns.
package mcpserver

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"mycelium/internal/gate"
	"mycelium/internal/gateway/work"
	"mycelium/internal/rpc"
)

// Server answers MCP requests.
type Server struct {
	gate    *gate.Gate
	version string // of the program, for serverInfo
	log     *slog.Logger
	work    *work.Group // calls that outlive the request that made them
	sealer  sealer
	parked  parkedCalls
}

// New returns a server whose calls go through g and run in w.
func New(g *gate.Gate, version string, w *work.Group, log *slog.Logger) *Server {
	return &Server{gate: g, version: version, log: log, work: w, sealer: newSealer()}
}

// handler answers one method: a raw result, or a raw error object.
type handler func(s *Server, ctx context.Context, l Link, m rpc.Message) (result, refusal []byte)

// An era is a set of revisions in which a method exists.
type era uint8

const (
	legacyEra era = 1 << iota
	modernEra
	bothEras = legacyEra | modernEra
)

// route finds a method in the table of those that we serve.
func route(method string) (handler, era) {
	switch method {
	case "tools/call":
		return (*Server).callTool, bothEras
	case "resources/read":
		return (*Server).readResource, bothEras
	case "prompts/get":
		return (*Server).renderPrompt, bothEras
	case "tools/list":
		return (*Server).listTools, bothEras
	case "resources/list":
		return (*Server).listResources, bothEras
	case "prompts/list":
		return (*Server).listPrompts, bothEras
	case "resources/templates/list":
		return (*Server).listTemplates, bothEras
	case "skills/list":
		return (*Server).listSkills, bothEras
	case "skills/get":
		return (*Server).readSkill, bothEras
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

// Serve answers one request. ok is false if the request was cancelled: then there is nothing to send.
func (s *Server) Serve(ctx context.Context, l Link, m rpc.Message) (reply rpc.Message, ok bool) {
	defer func() {
		// A fault of ours must end as a refusal, and must not take the other clients with it.
		if v := recover(); v != nil {
			s.log.Error("panic while serving", "method", m.Method, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			reply, ok = rpc.Refuse(m.ID, &rpc.Error{Code: rpc.CodeInternal, Message: "internal error"}), true
		}
	}()
	h, eras := route(m.Method)
	now := legacyEra
	if l.Modern() {
		now = modernEra
	}
	if eras&now == 0 {
		return rpc.Refuse(m.ID, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "method not found: " + m.Method}), true
	}
	if l.version == "" && m.Method != "initialize" && m.Method != "ping" {
		return rpc.Refuse(m.ID, rpc.InvalidRequest("initialize comes first")), true
	}
	result, refusal := h(s, ctx, l, m)
	switch {
	case ctx.Err() != nil && m.Method != "subscriptions/listen":
		return rpc.Message{}, false
	case refusal != nil:
		return rpc.Message{ID: m.ID, Error: refusal}, true
	}
	return rpc.Message{ID: m.ID, Result: result}, result != nil
}
