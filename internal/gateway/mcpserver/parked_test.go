package mcpserver

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/audit"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/gateway/work"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/skill"
	"mycelium/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking is a server whose tool asks the client one thing.
type asking struct{}

func (asking) Start(context.Context, []string) error { return nil }

func (asking) Subscribe(context.Context, string, string, func([]byte)) (func(), error) {
	return func() {}, nil
}

func (asking) Do(ctx context.Context, _ policy.Scope, _, _, _ string, _ []byte, peer gate.Peer) (result, rpcErr []byte, err error) {
	return peer.Ask(ctx, "elicitation/create", []byte(`{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}`))
}

// newServer is a server with one tool, ask, and a session that may use it.
func newServer(t testing.TB) (*Server, *gate.Gate, *session.Session) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(audit.Options{
		Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "key"),
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "myc.db"))
	if err != nil {
		t.Fatal(err)
	}
	defs := []policy.Definition{{
		Item: policy.Item{Server: "docs", Name: "ask"}, Raw: []byte(`{"name":"ask","inputSchema":{"type":"object"}}`),
	}}
	lib := skill.Validate([]skill.Skill{
		{Grant: policy.Grant{Name: "reader", AllowedRoles: []string{"guest"}, AllowedTools: []string{"docs__*"}}, Description: "Reads."},
	}, skill.Catalog{Definitions: defs})
	pol, problems := policy.New(policy.Source{Catalog: defs, Grants: lib.Grants(), Roles: []policy.Role{{ID: "guest"}}, Dir: dir, Home: dir})
	for _, p := range problems {
		if !p.Warning {
			t.Fatalf("policy: %+v", p)
		}
	}
	g, err := gate.New(gate.Options{
		Backends: asking{}, Log: log, DB: db, Dir: dir, Home: dir, Reload: func(context.Context) error { return nil },
		World: view.World{Policy: pol, Skills: lib, Definitions: defs, Servers: map[string]view.Server{"docs": {}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	sess, err := g.Sessions.Open(t.Context(), session.Spec{Role: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	w := work.New()
	t.Cleanup(func() { w.Close(); g.Close(); _ = log.Close(); _ = db.Close() })
	return New(g, "1", w, slog.New(slog.DiscardHandler)), g, sess
}

// However a parked call ends, the server forgets it.
func TestParkedCallsAreForgotten(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *Server, *gate.Gate, *session.Session){
		"time": func(*testing.T, *Server, *gate.Gate, *session.Session) { time.Sleep(gate.Patience + time.Second) }, // of the bubble's clock
		"session": func(t *testing.T, _ *Server, g *gate.Gate, sess *session.Session) {
			if err := g.Sessions.End(t.Context(), sess.ID); err != nil {
				t.Fatal(err)
			}
		},
		"close": func(_ *testing.T, s *Server, _ *gate.Gate, _ *session.Session) { s.work.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, g, sess := newServer(t)
				kept := func() int {
					s.parked.mu.Lock()
					defer s.parked.mu.Unlock()
					return len(s.parked.byID) + len(s.parked.bySession)
				}
				m := rpc.Message{ID: []byte("1"), Method: "tools/call", Params: []byte(
					`{"name":"docs__ask","_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}`)}
				c, bad := ModernClient(sess, "mcp-stdio", m, v20260728)
				if bad != nil {
					t.Fatal(bad)
				}
				reply, _ := s.Serve(t.Context(), Link{Client: c}, m)
				if !strings.Contains(string(reply.Result), `"resultType":"input_required"`) || kept() != 2 {
					t.Fatalf("the call is not parked: %s %s", reply.Result, reply.Error)
				}
				end(t, s, g, sess)
				synctest.Wait()
				if kept() > 0 {
					t.Error("the call is still parked")
				}
			})
		})
	}
}

// BenchmarkFront is what the gateway itself adds to a call: reading the message, its names and _meta, and writing the answer.
func BenchmarkFront(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"docs__ask","arguments":{"text":"` +
		strings.Repeat("0123456789abcde ", 56) + `"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("0123456789abcde ", 64) + `"}]}`)
	l := Link{Client: &Client{version: v20260728}}
	s, _, _ := newServer(b)
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		m, bad := rpc.Parse(bytes.Clone(line))
		if bad == nil {
			_, bad = s.request(Link{}, m, policy.Tool)
		}
		if bad != nil {
			b.Fatal(bad)
		}
		out = rpc.Message{ID: m.ID, Result: completed(l, result, false)}.Append(out[:0])
	}
}
