package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/model/fake"
)

// boxOfTools is a project with a server of 61 tools that its guest may use.
func boxOfTools(t *testing.T, toolSearch string) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, toolSearch: %s}\n"+
			"mcpServers: {box: {command: %q, args: [healthy], env: {TOOLS: \"60\"}}}\n", toolSearch, hostileServer(t)),
		"skills/box/SKILL.yaml": "name: box\ndescription: Looks into the box.\nallowedRoles: [guest]\nallowedTools: [box__*]\n",
	})
	p.must("serve", "--background", "--addr", "127.0.0.1:0")
	p.must("tools", "--role", "guest") // Claude Code waits for a server only so long, and the first list waits for the catalog
	return p
}

// TestToolSearchInClaude: the real Claude Code, which defers tools itself, is listed all of them by default. With toolSearch: on it is
// listed none, finds one with find_tool, is told that the list changed, and calls it.
func TestToolSearchInClaude(t *testing.T) {
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	for _, builtin := range []string{"", "ToolSearch"} {
		p := boxOfTools(t, "auto")
		s := fake.New(fake.Step{Text: "done"})
		got := p.agent(s, p.gateway(), builtin)
		turns := s.Turns()
		s.Close()
		if got.Result != "done" || len(turns) == 0 {
			t.Fatalf("Claude Code says %+v after %d turns", got, len(turns))
		}
		first := turns[0]
		tools := offered(first)
		t.Logf("auto, own tools %q: %d tools in the request, %d bytes of it in all, ToolSearch %v", builtin, len(tools), len(first.Raw),
			slices.Contains(tools, "ToolSearch"))
		if text := string(first.Raw); !strings.Contains(text, "box__tool_041") {
			t.Errorf("own tools %q: the model hears nothing of a tool that it may use", builtin)
		}
		if l := p.status().Tools.Schemas; l.Listed != l.All {
			t.Errorf("saved by deferral for Claude Code: %+v", l)
		}
	}

	p := boxOfTools(t, "on")
	const tool = "box__tool_041"
	saved := ""
	steps := []fake.Step{use("mycelium-router__find_tool", map[string]any{"query": "look for records of kind 41", "limit": 3})}
	for range 60 { // Claude Code lists again beside the conversation
		steps = append(steps, fake.Step{Func: func(r fake.Request) fake.Step {
			switch {
			case strings.HasPrefix(results(r), "[error=false] ") && !strings.Contains(results(r), `{"`):
				saved = p.must("status")
				return fake.Step{Text: "done"}
			case slices.Contains(offered(r), tool):
				return use(tool, map[string]any{"query": "x"})
			}
			return use("mycelium-router__get_context", map[string]any{})
		}})
	}
	s := fake.New(steps...)
	defer s.Close()
	if got := p.agent(s, p.gateway(), ""); got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	t.Logf("on: %d turns, the first request has %d bytes", len(turns), len(turns[0].Raw))
	if got := offered(turns[0]); len(got) != 0 {
		t.Errorf("listed before a search: %v", got)
	}
	if got := offered(turns[len(turns)-1]); !slices.Contains(got, tool) || len(got) > 3 {
		t.Errorf("listed at the end: %v", got)
	}
	if !regexp.MustCompile(`schemas +[0-9]+ of [0-9]+ tokens listed, [67][0-9] % saved, in 1 session`).MatchString(saved) {
		t.Errorf("status says %s", saved)
	}
	if got := p.must("audit", "query", "--tool", tool); !strings.Contains(got, tool) {
		t.Errorf("the call is not on record: %s", got)
	}
}

// TestFindToolInBothEras: a client of the SDK finds a tool with find_tool, is listed it from then on, and calls it: in the revisions with a
// handshake and in the one without, over stdio and over HTTP, with a token and without, where every request stands alone.
func TestFindToolInBothEras(t *testing.T) {
	t.Parallel()
	const tool = "box__tool_041"
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, way := range []string{"stdio", "alone", "token", "anonymous"} {
			t.Run(way+"/"+version, func(t *testing.T) {
				p := newProject(t, map[string]string{
					"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, toolSearch: on}\nserver: {anonymous: guest}\n"+
						"mcpServers: {box: {command: %q, args: [healthy], env: {TOOLS: \"60\"}}}\n", hostileServer(t)),
					"skills/box/SKILL.yaml": "name: box\ndescription: Looks into the box.\nallowedRoles: [guest]\nallowedTools: [box__*]\n",
				})
				p.must("tools", "sync")
				var tr mcp.Transport
				switch way {
				case "stdio":
					tr = p.stdio()
				case "alone":
					tr = p.stdio("--alone")
				case "token":
					tr = p.http(p.serve(), p.mint("--role", "guest").Token)
				case "anonymous":
					tr = &mcp.StreamableClientTransport{Endpoint: p.serve()}
				}
				f := p.dial(tr, version)
				if slices.Contains(f.tools(p), tool) {
					t.Errorf("listed before a search")
				}
				found, err := f.call(p, "mycelium-router__find_tool", map[string]any{"query": "look for records of kind 41", "limit": 3})
				if err != nil || !strings.Contains(found, tool) {
					t.Fatalf("found %s, %v", found, err)
				}
				if got := f.tools(p); !slices.Contains(got, tool) {
					t.Errorf("listed after the search: %v", got)
				}
				if said, err := f.call(p, tool, map[string]any{"query": "x"}); err != nil {
					t.Errorf("called: %s %v", said, err)
				}
			})
		}
	}
}
