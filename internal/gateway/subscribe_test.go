package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/gate/control"
	"mycelium/internal/gate/view"
)

const (
	subscribeA = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"docs+file:///a.md"}}`
	listenA    = `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen",` +
		`"params":{"notifications":{"resourceSubscriptions":["docs+file:///a.md"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	updatedA = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"docs+file:///a.md","x":1.0`
)

// A change of a resource is told to its subscribers only, with the URI that clients use. When a session may no longer see the resource,
// its subscription ends at the server, too.
func TestResourceUpdates(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	old, modern, other := dial(t, s, b.open("guest")), dial(t, s, b.open("guest")), dial(t, s, b.open("guest"))
	old.initialize(v20250618)
	other.initialize(v20251125)
	if got := old.ask(subscribeA); !strings.Contains(got, `"result":{}`) {
		t.Fatal(got)
	}
	if n := len(callRecords(t, b, "docs__file:///a.md")); n != 2 {
		t.Errorf("the subscription has %d records", n)
	}
	if !b.updated("docs", "file:///a.md") {
		t.Fatal("nobody has subscribed")
	}
	if got := old.recv(); got != updatedA+`}}` {
		t.Errorf("got %s", got)
	}
	modern.ask(listenA)
	b.updated("docs", "file:///a.md")
	if got := modern.recv(); got != updatedA+`,"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}` {
		t.Errorf("got %s", got)
	}
	if got := other.ask(`{"jsonrpc":"2.0","id":3,"method":"ping"}`); !strings.Contains(got, `"id":3`) {
		t.Errorf("another session was told: %s", got)
	}
	b.Swap(compile(t, t.TempDir(), control.Definitions()))
	for got := ""; !strings.Contains(got, "resources/list_changed"); {
		got = old.recv()
	}
	if b.updated("docs", "file:///a.md") {
		t.Error("the subscription was not ended")
	}
}

// Subscriptions end with their link.
func TestSubscriptionsEnd(t *testing.T) {
	b := newWorld(t)
	w := newWebOf(t, b, b.server(Options{}))
	w.initialize()
	w.do(t.Context(), http.MethodPost, subscribeA).Body.Close()
	if !b.updated("docs", "file:///a.md") {
		t.Fatal("nobody has subscribed")
	}
	res := w.do(t.Context(), http.MethodGet, "", "Accept", "text/event-stream")
	if got := string(events(t, res.Body)().Data); got != updatedA+`}}` {
		t.Errorf("got %s", got)
	}
	w.do(t.Context(), http.MethodDelete, "").Body.Close()
	w.server.Close()
	if b.updated("docs", "file:///a.md") {
		t.Error("the subscription outlived its link")
	}
}

// A link can have at most 256 subscriptions.
func TestSubscriptionsAreBounded(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.initialize(v20250618)
	ask := func(i int) string {
		return p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"docs+file:///%d"}}`, i, i))
	}
	for i := range 256 {
		if got := ask(i); !strings.Contains(got, `"result":{}`) {
			t.Fatal(got)
		}
	}
	if got := ask(256); !strings.Contains(got, "too many subscriptions") {
		t.Errorf("got %s", got)
	}
	if got := ask(1); !strings.Contains(got, `"result":{}`) {
		t.Errorf("the same again: %s", got)
	}
}

// The level that a client of the old era sets reaches the servers with each of its calls.
func TestLogLevelReachesServers(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.initialize(v20250618)
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}`)
	p.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"docs__echo","arguments":{},"_meta":{"traceparent":"00-1"}}}`)
	want := `docs tools/call {"name":"echo","arguments":{},"_meta":{"traceparent":"00-1","io.modelcontextprotocol/logLevel":"warning"}}`
	if got := b.seen(); !slices.Contains(got, want) {
		t.Errorf("the servers saw %q", got)
	}
}

// One server may have tools without a prefix. If a name is ambiguous, the prefix wins.
func TestBareServer(t *testing.T) {
	b := newWorld(t)
	bare := b.plain
	bare.Bare = "docs"
	b.Swap(bare)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.initialize(v20250618)
	for i, c := range []struct{ method, params, want string }{
		{"tools/list", `{}`, `"name":"echo"`},
		{"resources/list", `{}`, `"uri":"file:///a.md"`},
		{"resources/templates/list", `{}`, `"uriTemplate":"file:///{path}"`},
		{"prompts/list", `{}`, `"name":"summarize"`},
		{"tools/call", `{"name":"echo","arguments":{}}`, `{\"name\":\"echo\",\"arguments\":{}}`},
		{"tools/call", `{"name":"docs__echo","arguments":{}}`, `{\"name\":\"echo\",\"arguments\":{}}`},
		{"tools/call", `{"name":"mycelium-router__get_context","arguments":{}}`, `"isError":false`},
		{"tools/call", `{"name":"secret__tool"}`, `Unknown tool: secret__tool`},
		{"tools/call", `{"name":"absent"}`, `Unknown tool: absent`},
		{"tools/call", `{"name":"agent__Bash"}`, `Unknown tool: agent__Bash`},
		{"resources/read", `{"uri":"file:///a.md"}`, `"text":"A"`},
		{"prompts/get", `{"name":"summarize"}`, `"text":"P"`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"summarize"},"argument":{"name":"a","value":""}}`, `\"name\":\"summarize\"`},
	} {
		if got := p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, c.method, c.params)); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s", c.method, c.params, got)
		}
	}
	p.ask(`{"jsonrpc":"2.0","id":50,"method":"resources/subscribe","params":{"uri":"file:///a.md"}}`)
	b.updated("docs", "file:///a.md")
	if got := p.recv(); !strings.Contains(got, `"uri":"file:///a.md"`) {
		t.Errorf("got %s", got)
	}
	taken := b.plain
	taken.Definitions = append(slices.Clone(taken.Definitions),
		define(0, "docs", "secret__tool", ""), define(0, "docs", "agent__Bash", ""), define(0, "docs", "un__known", ""))
	if got := view.Collisions(taken, "docs"); !slices.Equal(got, []string{"secret__tool", "agent__Bash"}) {
		t.Errorf("collisions: %q", got)
	}
}

// A resource in quarantine is absent for subscribers as for readers.
func TestSubscribeToQuarantined(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.initialize(v20250618)
	ask := func(uri string) string {
		return p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`, uri))
	}
	absent := strings.ReplaceAll(ask("secret+file:///held"), "secret+", "docs+")
	if got := ask("docs+file:///held"); got != absent || !strings.Contains(got, "Resource not found") {
		t.Errorf("got %s, want %s", got, absent)
	}
}
