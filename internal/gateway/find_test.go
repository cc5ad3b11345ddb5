package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// named is a client that says its name, in either era.
func (b *world) named(t *testing.T, s *Server, sess *session.Session, version, name string) mcpserver.Link {
	t.Helper()
	if mcpserver.IsModern(version) {
		m := rpc.Message{Params: fmt.Appendf(nil, `{"_meta":{"%s":{},"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"}}}`,
			metaCapabilities, name)}
		c, bad := mcpserver.ModernClient(sess, surfaceHTTP, m, version)
		if bad != nil {
			t.Fatal(bad)
		}
		return mcpserver.Link{Client: c}
	}
	l := mcpserver.Link{Client: mcpserver.NewClient(sess, surfaceStdio, func(string, []byte) {})}
	reply, _ := s.mcp.Serve(t.Context(), l, rpc.Message{ID: []byte("0"), Method: "initialize", Params: fmt.Appendf(nil,
		`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":"1"}}`, version, name)})
	if reply.Result == nil {
		t.Fatalf("initialize: %s", reply.Error)
	}
	return l
}

// toolsOf lists the tools of a client that are not the gate's own.
func toolsOf(t *testing.T, s *Server, l mcpserver.Link) []string {
	t.Helper()
	reply, _ := s.mcp.Serve(t.Context(), l, rpc.Message{ID: []byte("1"), Method: "tools/list"})
	names := []string{}
	for raw := range rawjson.Elements(rawjson.Member(reply.Result, "tools")) {
		if n := rawjson.TextAt(raw, "name"); !strings.HasPrefix(n, "mycelium-") {
			names = append(names, n)
		}
	}
	return names
}

// TestToolSearch: in every revision, a list leaves out what was neither found nor used, for every client that has no search of its own.
func TestToolSearch(t *testing.T) {
	t.Parallel()
	var more []policy.Definition
	for i := range 40 {
		more = append(more, define(policy.Tool, "docs", fmt.Sprintf("page%d", i),
			`"description":"Turns a page.","inputSchema":{"type":"object"},`))
	}
	b := newWorld(t, more...)
	s := b.server(Options{})
	for _, version := range versions() {
		sess := b.open("guest")
		if got := toolsOf(t, s, b.named(t, s, sess, version, "claude-code")); len(got) != 49 {
			t.Errorf("%s: Claude Code is listed %d tools", version, len(got))
		}
		l := b.named(t, s, sess, version, "a client")
		before := toolsOf(t, s, l)
		if slices.Contains(before, "docs__notify") || len(before) > 1 {
			t.Errorf("%s: listed before a search: %v", version, before)
		}
		reply, _ := s.mcp.Serve(t.Context(), l, rpc.Message{ID: []byte("2"), Method: "tools/call",
			Params: []byte(`{"name":"mycelium-router__find_tool","arguments":{"query":"notify","limit":1}}`)})
		if !strings.Contains(string(reply.Result), "docs__notify") {
			t.Errorf("%s: found %s %s", version, reply.Result, reply.Error)
		}
		if got := toolsOf(t, s, l); !slices.Contains(got, "docs__notify") {
			t.Errorf("%s: listed after a search: %v", version, got)
		}
		reply, _ = s.mcp.Serve(t.Context(), l, rpc.Message{ID: []byte("3"), Method: "tools/call",
			Params: []byte(`{"name":"docs__echo","arguments":{}}`)})
		if !strings.Contains(string(reply.Result), `"content"`) {
			t.Errorf("%s: a tool that is not listed: %s %s", version, reply.Result, reply.Error)
		}
	}
}
