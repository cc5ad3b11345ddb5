package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func readAll(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// pipe is a stdio client on lines.
type pipe struct {
	t     testing.TB
	in    *io.PipeWriter
	out   *rpc.Lines
	ended chan error
	stop  func() // the client stops reading
}

// dial starts Stdio for a session.
func dial(t testing.TB, s *Server, sess *session.Session) *pipe {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &pipe{t: t, in: in, out: rpc.NewLines(out, 0), ended: make(chan error, 1), stop: func() { out.Close() }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.ended <- s.Stdio(ctx, sess, "", nil, fromClient, toClient)
		toClient.Close()
	}()
	t.Cleanup(func() { cancel(); in.Close(); <-done })
	return p
}

func (p *pipe) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("send %s: %v", line, err)
	}
}

func (p *pipe) recv() string {
	p.t.Helper()
	line, err := p.out.Next()
	if err != nil {
		p.t.Fatalf("receive: %v", err)
	}
	return string(line)
}

func (p *pipe) ask(line string) string {
	p.t.Helper()
	p.send(line)
	return p.recv()
}

func (p *pipe) initialize(version string) string {
	p.t.Helper()
	answer := p.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return answer
}

func modernCall(id, name, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

// The name that a client asked for, and its reasoning, are in the audit, even if the name is unknown.
func TestAttemptsAreRecorded(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	for _, name := range []string{"secret__tool", "no-such-name", "agent__Bash"} {
		p.ask(modernCall("1", name, `{}`))
		if b.records(`"`+name+`"`) == 0 {
			t.Errorf("no record of %s", name)
		}
	}
	p.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"nowhere:x",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if b.records(`"nowhere:x"`) == 0 {
		t.Error("no record of the resource")
	}
	p.ask(strings.Replace(modernCall("3", "docs__echo", `{}`), `"_meta":{`, `"_meta":{"mycelium/thinking":"a good reason",`, 1))
	if b.records(`"thinking":"a good reason"`) == 0 || b.records(`"claimed":true`) == 0 || b.records(`"surface":"mcp-stdio"`) == 0 {
		t.Error("the reasoning is not recorded as claimed")
	}
}

// Calls of one client run concurrently, and are answered when they are ready.
func TestStdioIsConcurrent(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.send(modernCall("1", "docs__slow", `{}`))
	<-b.started
	if got := p.ask(modernCall("2", "docs__echo", `{}`)); !strings.Contains(got, `"id":2`) {
		t.Errorf("got %s", got)
	}
	if got := p.ask(modernCall("1", "docs__echo", `{}`)); !strings.Contains(got, "still open") {
		t.Errorf("a second request of the same id: %s", got)
	}
	close(b.held)
	if got := p.recv(); !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("got %s", got)
	}
}

// A cancelled request is not answered, and its call ends, even if the id is written with \u escapes.
func TestStdioCancel(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.send(modernCall(`"ab"`, "docs__slow", `{}`))
	<-b.started
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061b","reason":"enough"}}`)
	<-b.ended
	if got := p.ask(modernCall("2", "docs__echo", `{}`)); !strings.Contains(got, `"id":2`) {
		t.Errorf("the cancelled request was answered: %s", got)
	}
}

func TestStdioTooLong(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{MaxBody: 1000}), b.open("guest"))
	got := p.ask(modernCall("1", "docs__echo", `{"text":"`+strings.Repeat("x", 1000)+`"}`))
	if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request: message too large: the limit is 1000 ` +
		`bytes"}}`; got != want {
		t.Errorf("got %s", got)
	}
	if got := p.ask(modernCall("2", "docs__echo", `{}`)); !strings.Contains(got, `"id":2,"result"`) {
		t.Errorf("the next message: %s", got)
	}
}

var tooDeep = strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)

// TestStdioTooDeep: a request that is nested too deep is refused by its id, and such an answer of the client ends the question, not the
// patience of the server that asked.
func TestStdioTooDeep(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	const want = `"error":{"code":-32600,"message":"invalid request: it is nested more than 1000 deep"}}`
	if got := p.ask(modernCall("1", "docs__echo", `{"text":`+tooDeep+`}`)); got != `{"jsonrpc":"2.0","id":1,`+want {
		t.Errorf("got %s", got)
	}
	p.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},` +
		`"clientInfo":{"name":"t","version":"1"}}}`)
	for _, answer := range []string{`{"jsonrpc":"2.0","id":1,"result":{"x":` + tooDeep + `}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"x":"` + strings.Repeat("x", rpc.MaxMessage) + `"}}`} {
		p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"docs__ask","arguments":` + askOnce + `}}`)
		if got := p.recv(); !strings.Contains(got, "elicitation/create") {
			t.Fatal(got)
		}
		p.send(answer)
		if got := p.recv(); !strings.Contains(got, `"id":5`) || !strings.Contains(got, "the client's answer cannot be used") {
			t.Errorf("got %s", got)
		}
	}
}

// The end of a connection, for any reason, ends its calls and listens, and Stdio returns the reason.
func TestStdioEnds(t *testing.T) {
	listen := `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for name, end := range map[string]struct {
		end  func(b *world, s *Server, sess *session.Session, p *pipe)
		want error
	}{
		"session ended": {func(b *world, _ *Server, sess *session.Session, _ *pipe) {
			_ = b.Sessions.End(context.Background(), sess.ID)
		}, mcpserver.ErrEnded},
		"gateway closed": {func(_ *world, s *Server, _ *session.Session, _ *pipe) { s.Close() }, mcpserver.ErrClosed},
		"write fails":    {func(_ *world, _ *Server, _ *session.Session, p *pipe) { p.stop(); p.send(`x`) }, io.ErrClosedPipe},
	} {
		t.Run(name, func(t *testing.T) {
			b := newWorld(t)
			s, sess := b.server(Options{}), b.open("guest")
			p := dial(t, s, sess)
			p.ask(listen)
			p.send(modernCall("1", "docs__slow", `{}`))
			<-b.started
			end.end(b, s, sess, p)
			if name != "write fails" {
				<-b.ended
			}
			if err := <-p.ended; !errors.Is(err, end.want) {
				t.Errorf("Stdio returned %v, want %v", err, end.want)
			}
		})
	}
}

// A client that has closed its end still gets the answers to its requests; calls that take too long are cancelled.
func TestStdioDrains(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	p.send(modernCall("1", "docs__slow", `{}`))
	<-b.started
	p.in.Close()
	close(b.held)
	if got := p.recv(); !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("got %s", got)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("Stdio returned %v", err)
	}
}

func TestStdioDrainsForAWhileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorld(t)
		p := dial(t, b.server(Options{}), b.open("guest"))
		p.send(modernCall("1", "docs__slow", `{}`))
		<-b.started
		start := time.Now()
		p.in.Close()
		<-b.ended
		if err := <-p.ended; err != nil || time.Since(start) != drainTime {
			t.Errorf("Stdio returned %v after %v", err, time.Since(start))
		}
	})
}

// What works in a worktree ends with its client.
func TestStdioOfABoundSessionDoesNotDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorld(t)
		s := b.open("guest")
		p := dial(t, b.server(Options{}), s)
		p.send(modernCall("1", "docs__slow", `{}`))
		<-b.started
		s.Folder = "/tree"
		start := time.Now()
		p.in.Close()
		<-b.ended
		if err := <-p.ended; err != nil || time.Since(start) != 0 {
			t.Errorf("Stdio returned %v after %v", err, time.Since(start))
		}
	})
}

// A client that does not read does not block those that send it notices.
func TestNoticesNeverBlock(t *testing.T) {
	_, w := io.Pipe() // nobody reads
	o := newOutbox(w)
	ctx, cancel := context.WithCancelCause(t.Context())
	flushed := make(chan struct{})
	go func() { o.flushNotices(ctx, cancel); close(flushed) }()
	for range 10_000 {
		o.notice("notifications/progress", []byte(`{"text":"`+strings.Repeat("x", 1000)+`"}`))
	}
	o.mu.Lock()
	n := len(o.notices)
	o.mu.Unlock()
	if n > maxNotices+2000 {
		t.Errorf("%d bytes wait", n)
	}
	cancel(nil)
	w.Close()
	<-flushed
}

// A panic becomes a refusal, and the connection goes on.
func TestPanicIsRefusal(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	reply, ok := s.mcp.Serve(t.Context(), b.link(t, s, nil, v20260728, "{}"), rpc.Message{ID: []byte("1"), Method: "tools/list"}) // no session
	if !ok || string(reply.Error) != `{"code":-32603,"message":"internal error"}` {
		t.Errorf("got %+v %v", reply, ok)
	}
}

// Long lists come in pages, whose cursors are valid for one session and one list.
func TestPages(t *testing.T) {
	var more []policy.Definition
	for i := range 2500 {
		more = append(more, define(policy.Tool, "docs", fmt.Sprintf("t%04d", i), `"inputSchema":{"type":"object"},`))
	}
	b := newWorld(t, more...)
	whole := b.plain
	whole.ToolSearch = "off"
	b.Swap(whole)
	s := b.server(Options{})
	sess := b.open("guest")
	l := b.link(t, s, sess, v20250618, "{}")
	var names []string
	cursor, pages := "", 0
	for {
		m := rpc.Message{ID: []byte("1"), Method: "tools/list"}
		if cursor != "" {
			m.Params = []byte(`{"cursor":` + cursor + `}`)
		}
		reply, _ := s.mcp.Serve(t.Context(), l, m)
		var page struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal(reply.Result, &page); err != nil {
			t.Fatal(err, string(reply.Error))
		}
		pages++
		for _, tool := range page.Tools {
			names = append(names, tool.Name)
		}
		next := string(rawjson.Member(reply.Result, "nextCursor"))
		if next == "" {
			break
		}
		cursor = next
	}
	if want := len(sess.List(policy.Tool)); len(names) != want || pages != 3 || !slices.IsSorted(names) {
		t.Errorf("%d names on %d pages, want %d", len(names), pages, want)
	}
	other := b.link(t, s, b.open("guest"), v20250618, "{}")
	for _, tt := range []struct {
		l      mcpserver.Link
		method string
		cursor string
	}{
		{other, "tools/list", cursor}, {l, "prompts/list", cursor}, {l, "tools/list", `"AAAA"`}, {l, "tools/list", `7`},
		{l, "tools/list", `"` + strings.Repeat("A", 100) + `"`},
	} {
		m := rpc.Message{ID: []byte("1"), Method: tt.method, Params: []byte(`{"cursor":` + tt.cursor + `}`)}
		reply, _ := s.mcp.Serve(t.Context(), tt.l, m)
		if rpc.ErrorOf(reply.Error).Code != rpc.CodeInvalidParams {
			t.Errorf("%s with the cursor %s: %s", tt.method, tt.cursor, reply.Result)
		}
	}
}

// Changes are gathered for 10 ms. Notices name only the lists that changed, and go only to the session whose lists changed.
func TestDebounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorld(t)
		s := b.server(Options{})
		sess, bystander := b.open("guest", "developer"), b.open("guest")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		told := make(chan string, 16)
		start := time.Now()
		for name, se := range map[string]*session.Session{"mine": sess, "other": bystander} {
			w := s.mcp.Watch(mcpserver.NewClient(se, surfaceStdio, nil))
			go w.Run(ctx, mcpserver.Lists{Tools: true, Prompts: true}, func(method string, _ []byte) {
				told <- name + " " + method + " " + time.Since(start).String()
			})
		}
		for _, role := range []string{"developer", "guest", "developer"} {
			if _, err := b.Sessions.SetRole(ctx, sess, role, session.ByOperator); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if len(told) != 0 {
			t.Error("told at once")
		}
		time.Sleep(time.Second) // of the bubble's clock
		synctest.Wait()
		if len(told) != 2 {
			t.Fatalf("told %d times", len(told))
		}
		for _, want := range []string{"mine notifications/tools/list_changed 10ms", "mine notifications/prompts/list_changed 10ms"} {
			if got := <-told; got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
	})
}
