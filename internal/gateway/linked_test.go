package gateway

import (
	"fmt"
	"strings"
	"testing"

	"mycelium/internal/gate"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// TestLinksInResultsAreRead: in every revision, a client reads the URI that it got in a result, under the name in which it came, from the
// server that gave it, as far as the policy admits it. Nobody takes over what another server lists.
func TestLinksInResultsAreRead(t *testing.T) {
	t.Parallel()
	b := newWorld(t, define(policy.Tool, "docs", "link", `"inputSchema":{"type":"object"},`))
	s := b.server(Options{})
	for _, version := range versions() {
		sess := b.open("developer")
		l := b.named(t, s, sess, version, "a client")
		ask := func(l mcpserver.Link, method, params string) string {
			reply, _ := s.mcp.Serve(t.Context(), l, rpc.Message{ID: []byte("1"), Method: method, Params: []byte(params)})
			return string(reply.Result) + string(reply.Error)
		}
		read := func(l mcpserver.Link, uri string) (answer, asked string) {
			before := len(b.seen())
			answer = ask(l, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
			if now := b.seen(); len(now) > before {
				asked = now[len(now)-1]
			}
			return answer, asked
		}
		const linked, embedded, foreign = "file:///b.md", "file:///deep/c.md", "demo://y"
		for _, uri := range []string{linked, embedded, foreign} {
			if got, asked := read(l, uri); !strings.Contains(got, "not found") || asked != "" {
				t.Errorf("%s: %s is read before it was given: %s %s", version, uri, got, asked)
			}
		}
		said := ask(l, "tools/call", `{"name":"docs__link","arguments":{}}`)
		if !strings.Contains(said, linked) {
			t.Fatalf("%s: the call: %s", version, said)
		}
		for _, uri := range []string{linked, embedded} {
			got, asked := read(l, uri)
			if !strings.Contains(got, `"text":"A"`) || asked != fmt.Sprintf(`docs resources/read {"uri":%q}`, uri) {
				t.Errorf("%s: %s: %s; the backend got %q", version, uri, got, asked)
			}
		}
		if got, asked := read(l, foreign); !strings.Contains(got, "not found") || asked != "" {
			t.Errorf("%s: what no skill grants is read: %s %s", version, got, asked)
		}
		other := b.named(t, s, b.open("developer"), version, "a client")
		if got, asked := read(other, linked); !strings.Contains(got, "not found") || asked != "" {
			t.Errorf("%s: another session reads it: %s %s", version, got, asked)
		}
		sess.Links.Note("editor", "docs+file:///a.md")
		if _, asked := read(l, "docs+file:///a.md"); asked != `docs resources/read {"uri":"file:///a.md"}` {
			t.Errorf("%s: a prefix is not that of its server: %s", version, asked)
		}
	}
}

// TestNoticesOfALinkHaveItsName: who subscribes to a URI of a result is told of it under that name.
func TestNoticesOfALinkHaveItsName(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	sess := b.open("developer")
	for asked, want := range map[string]string{"file:///b.md": "file:///b.md", "docs+file:///c.md": "docs+file:///c.md"} {
		it := policy.Item{Kind: policy.Resource, Server: "docs", Name: strings.TrimPrefix(asked, "docs+")}
		told := make(chan string, 1)
		stop, err := b.Gate.Subscribe(t.Context(), sess, gate.Request{Method: "resources/subscribe", Asked: asked, Item: it},
			func(params []byte) { told <- rawjson.TextAt(params, "uri") })
		if err != nil {
			t.Fatal(err)
		}
		b.updated("docs", it.Name)
		if got := <-told; got != want {
			t.Errorf("subscribed to %s, told of %s", asked, got)
		}
		stop()
	}
}
