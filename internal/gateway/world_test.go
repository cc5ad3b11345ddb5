package gateway

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"mycelium/internal/audit"
	"mycelium/internal/gate"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/skill"
	"mycelium/internal/store"
)

func TestMain(m *testing.M) {
	if revision := os.Getenv("MATRIX_SERVER"); revision != "" { // this process is a server of TestProtocolMatrix
		if err := newOneRevision(revision).lines(); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// world is a gate whose backends are played; everything else is real.
type world struct {
	*gate.Gate
	t     testing.TB
	log   audit.Options
	plain view.World

	mu    sync.Mutex
	calls []string
	told  map[string]func([]byte) // subscribers, by server and uri
	// held calls of docs__slow wait until it closes or their context ends.
	held    chan struct{}
	started chan string // one value when docs__slow runs
	ended   chan string // one value when it was cancelled
}

// define makes a definition as the server has it, without prefix.
func define(kind policy.Kind, server, name, extra string) policy.Definition {
	key := "name"
	if kind == policy.Resource {
		key = "uri"
		extra = `"name":"a",` + extra
	}
	return policy.Definition{
		Item: policy.Item{Kind: kind, Server: server, Name: name},
		Raw:  fmt.Appendf(nil, `{"%s":%q,%s"x":1.0e2}`, key, name, extra),
	}
}

func definitions() []policy.Definition {
	schema := `"inputSchema":{"type":"object"},`
	defs := control.Definitions()
	for _, name := range []string{"echo", "slow", "fail", "broken", "notify", "old", "ask", "input", "task"} {
		defs = append(defs, define(policy.Tool, "docs", name, schema))
	}
	return append(defs,
		define(policy.Tool, "secret", "tool", schema),
		define(policy.Tool, "editor", "write", schema),
		define(policy.Resource, "docs", "file:///a.md", ""),
		define(policy.Resource, "secret", "file:///s.md", ""),
		define(policy.Prompt, "docs", "summarize", ""),
		define(policy.Prompt, "secret", "prompt", ""),
	)
}

// newWorld makes a world in which a guest sees the server docs, and a developer the server editor besides.
func newWorld(t testing.TB, more ...policy.Definition) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &world{t: t, held: make(chan struct{}), started: make(chan string, 16), ended: make(chan string, 256)}
	b.log = audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "key")}
	log, err := audit.Open(b.log)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "myc.db"))
	if err != nil {
		t.Fatal(err)
	}
	b.plain = compile(t, dir, append(definitions(), more...))
	b.Gate, err = gate.New(gate.Options{
		Backends: b, Log: log, DB: db, World: b.plain, Dir: dir, Home: filepath.Join(dir, "home"),
		Reload: func(context.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); _ = log.Close(); _ = db.Close() })
	return b
}

func compile(t testing.TB, dir string, defs []policy.Definition) view.World {
	t.Helper()
	lib := skill.Validate([]skill.Skill{
		{Grant: policy.Grant{
			Name: "reader", AllowedRoles: []string{"guest", "developer"}, AllowedTools: []string{"docs__*"},
			AllowedResources: []string{"docs__file:///**"}, AllowedPrompts: []string{"docs__*"},
		}, Description: "Reads."},
		{
			Grant:       policy.Grant{Name: "writer", AllowedRoles: []string{"developer"}, AllowedTools: []string{"editor__write"}},
			Description: "Writes.",
		},
	}, skill.Catalog{Definitions: defs})
	bad := "bad"
	pol, problems := policy.New(policy.Source{
		Catalog: defs, Grants: lib.Grants(), Roles: []policy.Role{{ID: "guest"}, {ID: "developer", Prompt: "You work on this repository."}},
		Rules: []policy.Rule{{
			Name: "no-bad-words", Action: "deny", Tool: policy.Names{"docs__echo"},
			Args: map[string]policy.Values{"text": {{Literal: &bad}}}, Reason: "Mind your language.",
		}, {
			Name: "no-bad-topics", Action: "deny", Tool: policy.Names{"docs__summarize"},
			Args: map[string]policy.Values{"topic": {{Literal: &bad}}}, Reason: "Choose another topic.",
		}},
		Dir: dir, Home: filepath.Join(dir, "home"),
	})
	for _, p := range problems {
		if !p.Warning {
			t.Fatalf("policy: %+v", p)
		}
	}
	template := define(policy.Resource, "docs", "file:///{path}", "")
	template.Raw = []byte(`{"uriTemplate":"file:///{path}","name":"t"}`)
	return view.World{Policy: pol, Skills: lib, Definitions: defs, Templates: []policy.Definition{template}, Servers: map[string]view.Server{
		"docs": {Capabilities: []byte(`{"resources":{"subscribe":true},"completions":{},"tasks":{"list":{},"cancel":{}},` +
			`"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]},"io.modelcontextprotocol/skills":{}}}`),
			Instructions: "Summarize first."},
		"editor": {Capabilities: []byte(`{"experimental":{"x":{"y":12345678901234567890}},` +
			`"extensions":{"com.example/e":{}}}`), Instructions: "Write last."},
		"secret": {Capabilities: []byte(`{"experimental":{"secret":{}}}`), Instructions: "Nobody knows."},
	}}
}

// Start is part of the backends.
func (b *world) Start(context.Context, []string) error { return nil }

// inQuarantine is how a backend refuses an item in quarantine.
type inQuarantine struct{}

func (inQuarantine) Error() string { return "it is in quarantine" }
func (inQuarantine) Absent() bool  { return true }

// Subscribe is part of the backends.
func (b *world) Subscribe(_ context.Context, server, uri string, tell func([]byte)) (stop func(), err error) {
	if uri == "file:///held" {
		return nil, fmt.Errorf("server %q: %w", server, inQuarantine{})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == nil {
		b.told = map[string]func([]byte){}
	}
	b.told[server+" "+uri] = tell
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.told, server+" "+uri)
	}, nil
}

// updated sends the notice that a resource has changed. It returns false if the resource has no subscriber.
func (b *world) updated(server, uri string) bool {
	b.mu.Lock()
	tell := b.told[server+" "+uri]
	b.mu.Unlock()
	if tell == nil {
		return false
	}
	tell(fmt.Appendf(nil, `{"uri":%q,"x":1.0}`, uri))
	return true
}

// Do is the backends: the tool's name says what they do.
func (b *world) Do(
	ctx context.Context, _ policy.Scope, _, server, method string, params []byte, peer gate.Peer,
) (result, rpcErr []byte, err error) {
	name := rawjson.TextAt(params, "name")
	b.mu.Lock()
	b.calls = append(b.calls, server+" "+method+" "+string(params))
	b.mu.Unlock()
	token := rawjson.Path(params, "_meta", "progressToken")
	switch name {
	case "slow":
		b.started <- server
		select {
		case <-b.held:
		case <-ctx.Done():
			b.ended <- server
			return nil, nil, ctx.Err()
		}
	case "fail":
		return nil, []byte(`{"code":-32050, "message":"own failure","data":{"x":[1.0]}}`), nil
	case "broken":
		return nil, nil, fmt.Errorf("server %q does not answer", server)
	case "notify":
		if peer != nil {
			for i := range 3 {
				peer.Notify("notifications/progress", fmt.Appendf(nil, `{"progressToken":%s,"progress":%d}`, token, i))
			}
			peer.Notify("notifications/message", []byte(`{"level":"info","data":"half"}`))
			peer.Notify("notifications/message", []byte(`{"level":"error","data":"oops"}`))
			peer.Notify("notifications/other", []byte(`{}`))
		}
	}
	if id, ok := rawjson.Text(rawjson.Member(params, "taskId")); ok {
		return fmt.Appendf(nil, `{"taskId":%q,"status":"completed", "result":{"n":12345678901234567890},`+
			`"said":%s}`, id, rawjson.Quote(method+string(params))), nil, nil
	}
	switch name {
	case "task":
		return []byte(`{"resultType":"task","taskId":"theirs","status":"working"}`), nil, nil
	case "ask":
		return b.ask(ctx, params, peer)
	case "input":
		return input(params), nil, nil
	case "link":
		return []byte(linksResult), nil, nil
	}
	switch method {
	case "resources/read":
		return []byte(`{"contents":[{"uri":"file:///a.md","text":"A"}], "y":1.0}`), nil, nil
	case "completion/complete":
		return fmt.Appendf(nil, `{"completion":{"values":[%s],"hasMore":false}}`, rawjson.Quote(string(params))), nil, nil
	case "prompts/get":
		return []byte(`{"messages":[{"role":"user","content":{"type":"text","text":"P"}}]}`), nil, nil
	}
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}], "unknown":{"n":1.50}}`, rawjson.Quote(string(params))), nil, nil
}

// linksResult is a result with links of every kind.
const linksResult = `{"content":[{"type":"resource_link","uri":"file:///b.md","name":"b"},` +
	`{"type":"resource","resource":{"uri":"file:///deep/c.md","text":"c"}},{"type":"resource_link","uri":"demo://y","name":"y"}]}`

// ask is a server of the era with a handshake that asks its client, as its arguments say, one request after the other.
func (b *world) ask(ctx context.Context, params []byte, peer gate.Peer) (result, rpcErr []byte, err error) {
	if pages := rawjson.Path(params, "arguments", "visit"); pages != nil {
		return nil, fmt.Appendf(nil, `{"code":-32042,"message":"visit first","data":{"elicitations":%s}}`, pages), nil
	}
	said := []string{}
	for _, request := range rawjson.Members(rawjson.Path(params, "arguments", "asks")) {
		method := rawjson.TextAt(request, "method")
		if peer == nil {
			return nil, nil, fmt.Errorf("nobody to ask")
		}
		result, rpcErr, err := peer.Ask(ctx, method, rawjson.Member(request, "params"))
		switch {
		case err != nil:
			b.ended <- err.Error()
			return nil, nil, err
		case rpcErr != nil:
			said = append(said, "error "+string(rpcErr))
		default:
			said = append(said, string(result))
		}
	}
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, rawjson.Quote(strings.Join(said, " "))), nil, nil
}

// input is a server of the modern era that asks for input for as many rounds as its argument says, and counts them in its state.
func input(params []byte) []byte {
	rounds := string(rawjson.Path(params, "arguments", "rounds"))
	state := rawjson.TextAt(params, "requestState")
	n, _ := strconv.Atoi(strings.TrimPrefix(state, "round "))
	if want, _ := strconv.Atoi(rounds); n < want {
		return fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":{"k%d":%s}, `+
			`"requestState":"round %d"}`, n, rawjson.Path(params, "arguments", "request"), n+1)
	}
	said := rawjson.Quote(string(rawjson.Member(params, "inputResponses")) + " " + state)
	return fmt.Appendf(nil, `{"resultType":"complete","content":[{"type":"text","text":%s}]}`, said)
}

func (b *world) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.calls...)
}

// open makes a session of this process.
func (b *world) open(role string, may ...string) *session.Session {
	b.t.Helper()
	s, err := b.Sessions.Open(b.t.Context(), session.Spec{Role: role, Roles: may})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// mint makes a session with a token.
func (b *world) mint(role string, may ...string) (*session.Session, string) {
	b.t.Helper()
	s, token, err := b.Sessions.Mint(b.t.Context(), session.Spec{Role: role, Roles: may})
	if err != nil {
		b.t.Fatal(err)
	}
	return s, token
}

// server makes a gateway on the world.
func (b *world) server(o Options) *Server {
	o.Gate, o.Version = b.Gate, "1.2.3"
	s := New(o)
	b.t.Cleanup(s.Close)
	return s
}

// records are the lines of the audit that hold a text.
func (b *world) records(text string) int {
	b.t.Helper()
	return strings.Count(readAll(b.t, b.log.Dir), text)
}

// The revisions that tests name.
const (
	v20250618 = "2025-06-18"
	v20251125 = "2025-11-25"
	v20260728 = "2026-07-28"
)

// versions are the revisions that are served, the newest first.
func versions() []string {
	return []string{v20260728, v20251125, v20250618, "2025-03-26", "2024-11-05"}
}

// link is a client of a session that declares capabilities, without a transport.
func (b *world) link(t testing.TB, s *Server, sess *session.Session, version, capabilities string) mcpserver.Link {
	t.Helper()
	if mcpserver.IsModern(version) {
		m := rpc.Message{Params: []byte(`{"_meta":{"` + metaCapabilities + `":` + capabilities + `}}`)}
		c, bad := mcpserver.ModernClient(sess, surfaceStdio, m, version)
		if bad != nil {
			t.Fatal(bad)
		}
		return mcpserver.Link{Client: c}
	}
	l := mcpserver.Link{Client: mcpserver.NewClient(sess, surfaceStdio, func(string, []byte) {})}
	reply, _ := s.mcp.Serve(t.Context(), l, rpc.Message{
		ID: []byte("0"), Method: "initialize", Params: []byte(`{"protocolVersion":"` + version + `","capabilities":` + capabilities + `}`),
	})
	if reply.Result == nil {
		t.Fatalf("initialize: %s", reply.Error)
	}
	return l
}

// Keys in _meta.
const (
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)
