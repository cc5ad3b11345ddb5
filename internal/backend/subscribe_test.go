package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// subscribed is what a server of the SDK knows of its subscribers.
type subscribed struct {
	mu   sync.Mutex
	uris map[string]int
}

func (s *subscribed) add(_ context.Context, r *mcp.SubscribeRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(r.Params.URI, "secret") {
		return errors.New("not that one")
	}
	s.uris[r.Params.URI]++
	return nil
}

func (s *subscribed) remove(_ context.Context, r *mcp.UnsubscribeRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris[r.Params.URI]--; s.uris[r.Params.URI] == 0 {
		delete(s.uris, r.Params.URI)
	}
	return nil
}

// addTools adds one that says what is subscribed to, and one that changes a resource.
func (s *subscribed) addTools(server *mcp.Server) {
	object := map[string]any{"type": "object"}
	server.AddTool(&mcp.Tool{Name: "subscribed", InputSchema: object},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return said(maps.Clone(s.uris), nil), nil
		})
	server.AddTool(&mcp.Tool{Name: "touch", InputSchema: object},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			uri := rawjson.TextAt(r.Params.Arguments, "uri")
			return said("touched", server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})), nil
		})
}

// post is a subscriber.
type post chan string

func (c post) tell(params []byte) {
	select {
	case c <- string(params):
	default:
	}
}

func (c post) next(t testing.TB) string {
	t.Helper()
	select {
	case s := <-c:
		return s
	case <-testContext(t).Done():
		t.Fatal("nothing came")
		return ""
	}
}

func touch(ctx context.Context, t testing.TB, p *Pool, uri string) {
	t.Helper()
	if _, rpcErr, err := p.Do(ctx, scopeOf("ann"), "", "s", "tools/call", []byte(`{"name":"touch","arguments":{"uri":"`+uri+`"}}`),
		nil); err != nil || rpcErr != nil {
		t.Fatal(string(rpcErr), err)
	}
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, _ string, s Server) {
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		if err := p.Learn(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		if s.URL != "" { // the stream of notices is opened beside the calls
			<-p.entry("s").conn.Listening()
		}
		linger := func(d time.Duration) {
			p.subs.mu.Lock()
			defer p.subs.mu.Unlock()
			p.subs.linger = d
		}
		linger(time.Millisecond)
		now := func() string { return textOf(t, tool(ctx, t, p, "ann", "subscribed", nil)) }
		var stops []func()
		boxes := []post{make(post, 9), make(post, 9), make(post, 9)}
		for i, uri := range []string{"file:///r", "file:///r", "file:///other"} {
			stop, err := p.Subscribe(ctx, "s", uri, boxes[i].tell)
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		if got := now(); got != `{"file:///other":1,"file:///r":1}` {
			t.Errorf("the server has %s", got)
		}
		touch(ctx, t, p, "file:///r")
		for _, box := range boxes[:2] {
			if got := box.next(t); got != `{"uri":"file:///r"}` {
				t.Errorf("told %s", got)
			}
		}
		stops[0]()
		touch(ctx, t, p, "file:///r")
		touch(ctx, t, p, "file:///other")
		boxes[1].next(t)
		if got := boxes[2].next(t); got != `{"uri":"file:///other"}` || len(boxes[0])+len(boxes[2]) != 0 {
			t.Errorf("told %s; and more: %d %d", got, len(boxes[0]), len(boxes[2]))
		}
		stops[1]()
		waitFor(t, func() bool { return now() == `{"file:///other":1}` })
		// Who comes back at once finds it standing.
		linger(time.Hour)
		stops[2]()
		box := make(post, 9)
		stop, err := p.Subscribe(ctx, "s", "file:///other", box.tell)
		if err != nil {
			t.Fatal(err)
		}
		touch(ctx, t, p, "file:///other")
		box.next(t)
		if _, err := p.Subscribe(ctx, "s", "file:///secret", box.tell); err == nil ||
			!strings.Contains(err.Error(), `server "s": it refuses the subscription: {"code":`) {
			t.Errorf("error %v", err)
		}
		e := p.entry("s")
		e.mu.Lock()
		e.held = append(e.held, pin.Held{Item: policy.Item{Kind: policy.Resource, Server: "s", Name: "file:///held"}})
		e.mu.Unlock()
		var absent *absentError
		if _, err := p.Subscribe(ctx, "s", "file:///held", box.tell); !errors.As(err, &absent) {
			t.Errorf("of a resource in quarantine: %v", err)
		}
		linger(time.Millisecond)
		stop()
		waitFor(t, func() bool { return now() == `{}` })
	})
}

func TestSubscriptionsSurviveTheirServer(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", mcpclient.ModernVersion} {
		t.Run(version, func(t *testing.T) {
			p := newPool(t, Options{}, play(t, "s", "play-sdk", version))
			ctx := testContext(t)
			box := make(post, 9)
			stop, err := p.Subscribe(ctx, "s", "file:///r", box.tell)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			p.entry("s").conn.Fail(errors.New("pulled out"))
			if got := box.next(t); got != `{"uri":"file:///r"}` {
				t.Errorf("told %s", got)
			}
			touch(ctx, t, p, "file:///r")
			box.next(t)
		})
	}
}

func TestSubscribeToWhatCannotBe(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Builtins: map[string]Builtin{"files": &builtin{}}}, play(t, "s", "play-fake", "good"),
		play(t, "gone", "play-fake", "not-a-server"))
	for server, want := range map[string]string{
		"s": mcpclient.ErrNoSubscriptions.Error(), "files": mcpclient.ErrNoSubscriptions.Error(), "x": "no such server",
		"gone": "it ended (exit status 2)",
	} {
		_, err := p.Subscribe(testContext(t), server, "file:///r", func([]byte) {})
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("server %q: %s", server, want)) {
			t.Errorf("%s: %v", server, err)
		}
	}
	if n := len(p.subs.all); n != 0 {
		waitFor(t, func() bool { p.subs.mu.Lock(); defer p.subs.mu.Unlock(); return len(p.subs.all) == 0 })
	}
}

func TestResourcesBelow(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]bool{
		"file:///a file:///a": true, "file:///a file:///a/b": true, "file:///a/ file:///a/b": true, "file:///a file:///a?x": true,
		"file:///a file:///ab": false, "file:///a/b file:///a": false,
	} {
		f := strings.Fields(pair)
		if covers(f[0], f[1]) != want {
			t.Errorf("%s: %v", pair, !want)
		}
	}
}

// handler calls a function with every message of a log.
type handler func(msg string)

func (handler) Enabled(context.Context, slog.Level) bool { return true }
func (h handler) Handle(_ context.Context, r slog.Record) error {
	h(r.Message)
	return nil
}
func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handler) WithGroup(string) slog.Handler      { return h }

// TestReconfiguredDuringAnAttempt: a configuration that changes while a subscription is tried again ends the wait after that attempt.
func TestReconfiguredDuringAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool{entries: map[string]*entry{}, changed: make(chan struct{}), reconfigured: make(chan struct{})}
		s := &subscription{subject: subject{server: "gone"}, pool: p, ready: make(chan struct{}), done: make(chan struct{}), wasEstablished: true}
		s.ctx, s.end = context.WithCancel(t.Context())
		begin := time.Now()
		var at []time.Duration
		p.logger = slog.New(handler(func(string) { // the attempt has failed, and the wait has not begun
			if at = append(at, time.Since(begin)); len(at) == 2 {
				s.end()
			} else if err := p.Reconfigure(nil); err != nil {
				t.Error(err)
			}
		}))
		p.subs.run(s)
		if len(at) != 2 || at[1] != 0 {
			t.Errorf("attempts after %v: the second one waited although the servers had changed", at)
		}
	})
}
