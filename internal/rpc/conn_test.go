package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/rawjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair runs two connected peers until the test ends.
func pair(t *testing.T, a, b Handler) (*Conn, *Conn) {
	t.Helper()
	x, y := net.Pipe()
	ca, cb := NewConn(x, x, 0, a), NewConn(y, y, 0, b)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, c := range []*Conn{ca, cb} {
		wg.Go(func() { _ = c.Run(ctx) })
	}
	t.Cleanup(func() { cancel(); wg.Wait() })
	return ca, cb
}

func TestConnCalls(t *testing.T) {
	var b *Conn
	ready := make(chan struct{})
	_, b = pair(t, func(_ context.Context, m Message) ([]byte, *Error) {
		<-ready
		if m.Method == "fail" {
			return nil, &Error{Code: 7, Message: "no"}
		}
		if m.Method == "nothing" {
			return nil, nil
		}
		return m.Params, nil
	}, nil)
	close(ready)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			p := fmt.Sprintf(`{"n":%d,  "s":"ü"}`, i)
			m, err := b.Call(t.Context(), "echo", []byte(p))
			if err != nil || string(m.Result) != p {
				t.Errorf("call %d: %s, %v", i, m.Result, err)
			}
		})
	}
	wg.Wait()
	if m, err := b.Call(t.Context(), "fail", nil); err != nil || string(m.Error) != `{"code":7,"message":"no"}` {
		t.Errorf("fail: %s, %v", m.Error, err)
	}
	if m, err := b.Call(t.Context(), "nothing", nil); err != nil || string(m.Result) != `{}` {
		t.Errorf("nothing: %s, %v", m.Result, err)
	}
}

// Both sides ask each other from within a handler: neither may block the other's reading.
func TestConnIsSymmetric(t *testing.T) {
	var a, b *Conn
	ready := make(chan struct{})
	ask := func(c **Conn) Handler {
		return func(ctx context.Context, m Message) ([]byte, *Error) {
			<-ready
			if m.Method == "leaf" {
				return []byte(`"leaf"`), nil
			}
			r, err := (*c).Call(ctx, "leaf", nil)
			if err != nil {
				return nil, &Error{Code: 1, Message: err.Error()}
			}
			return r.Result, nil
		}
	}
	a, b = pair(t, ask(&a), ask(&b))
	close(ready)
	for _, c := range []*Conn{a, b} {
		if m, err := c.Call(t.Context(), "outer", nil); err != nil || string(m.Result) != `"leaf"` {
			t.Errorf("%s %s %v", m.Result, m.Error, err)
		}
	}
}

func TestConnNilHandler(t *testing.T) {
	a, _ := pair(t, nil, nil)
	m, err := a.Call(t.Context(), "x", nil)
	if err != nil || ErrorOf(m.Error).Code != CodeMethodNotFound {
		t.Errorf("%s, %v", m.Error, err)
	}
	if err := a.Notify("n", []byte(`{}`)); err != nil {
		t.Error(err)
	}
}

func TestConnNotificationsInOrder(t *testing.T) {
	const n = 500
	var got []string
	done := make(chan struct{})
	a, _ := pair(t, nil, func(_ context.Context, m Message) ([]byte, *Error) {
		if got = append(got, string(m.Params)); len(got) == n {
			close(done)
		}
		return nil, nil
	})
	for i := range n {
		if err := a.Notify("n", fmt.Appendf(nil, `{"i":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	for i, p := range got {
		if want := fmt.Sprintf(`{"i":%d}`, i); p != want {
			t.Fatalf("notification %d is %s", i, p)
		}
	}
}

func TestConnEndFreesEverybody(t *testing.T) {
	started := make(chan struct{})
	x, y := net.Pipe()
	server := NewConn(y, y, 0, func(ctx context.Context, _ Message) ([]byte, *Error) {
		close(started)
		<-ctx.Done()
		return nil, nil
	})
	client := NewConn(x, x, 0, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- server.Run(t.Context()) }()
	go func() { ended <- client.Run(ctx) }()
	answer := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), "hang", nil)
		answer <- err
	}()
	<-started
	cancel()
	if err := <-answer; !errors.Is(err, ErrClosed) {
		t.Errorf("call ended with %v", err)
	}
	for range 2 {
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	}
	if _, err := client.Call(t.Context(), "late", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("late call: %v", err)
	}
	select {
	case <-client.Closed():
	default:
		t.Error("Closed is open")
	}
}

func TestConnCallContext(t *testing.T) {
	x, y := net.Pipe()
	c := NewConn(x, x, 0, nil)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	peer := NewLines(y, 0)
	id, wait, err := start(c, peer, "slow")
	if err != nil || id != 1 {
		t.Fatal(id, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait: %v", err)
	}
	// The late answer belongs to nobody; the next call must not get it.
	_, wait, err = start(c, peer, "next")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(y, `{"jsonrpc":"2.0","id":1,"result":"late"}`+"\n"+`{"jsonrpc":"2.0","id":2,"result":"right"}`+"\n")
	if m, err := wait(t.Context()); err != nil || string(m.Result) != `"right"` {
		t.Errorf("%s, %v", m.Result, err)
	}
	y.Close()
	if err := <-ended; err != nil {
		t.Errorf("Run after the peer's end: %v", err)
	}
}

// start sends a request while the peer reads it.
func start(c *Conn, peer *Lines, method string) (id int64, wait func(context.Context) (Message, error), err error) {
	read := make(chan struct{})
	go func() { _, _ = peer.Next(); close(read) }()
	id, wait, err = c.Start(method, nil)
	<-read
	return id, wait, err
}

func TestConnMalformed(t *testing.T) {
	x, y := net.Pipe()
	c := NewConn(x, x, 100, func(_ context.Context, m Message) ([]byte, *Error) { return rawjson.Quote(m.Method), nil })
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	peer := NewLines(y, 0)
	for _, tt := range []struct{ in, want string }{
		{"server ready\n" + `{"jsonrpc":"2.0","id":1,"method":"a"}`, `"result":"a"`},
		{`{"jsonrpc":"2.0","id":2,"method":"a"`, `"id":null,"error":{"code":-32700`},
		{`[]`, `"id":null,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":"x","method":"a","Method":"b"}`, `"id":"x","error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("a", 100) + `"}`, `"id":null,"error":{"code":-32600,"message":"message too large"`},
	} {
		_, _ = io.WriteString(y, tt.in+"\n")
		line, err := peer.Next()
		if err != nil || !strings.Contains(string(line), tt.want) {
			t.Errorf("%s: %s, %v; want %s", tt.in, line, err, tt.want)
		}
	}
	// A call whose answer is malformed fails at once instead of waiting for ever.
	_, wait, err := start(c, peer, "q")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(y, `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`+"\n")
	if m, err := wait(t.Context()); err != nil || ErrorOf(m.Error).Code != CodeInvalidRequest {
		t.Errorf("%+v, %v", m, err)
	}
	y.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A message goes out in one write, whatever the number of callers.
func TestConnOneWritePerMessage(t *testing.T) {
	var w writes
	c := NewConn(strings.NewReader(""), &w, 0, nil)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { _ = c.Notify("n", []byte(`{"a":"b"}`)) })
	}
	wg.Wait()
	if len(w) != 50 {
		t.Fatalf("%d writes", len(w))
	}
	for _, s := range w {
		if s != `{"jsonrpc":"2.0","method":"n","params":{"a":"b"}}`+"\n" {
			t.Errorf("%q", s)
		}
	}
}

type writes []string

func (w *writes) Write(b []byte) (int, error) { *w = append(*w, string(b)); return len(b), nil }

func TestConnWriteError(t *testing.T) {
	x, y := net.Pipe()
	y.Close()
	c := NewConn(x, x, 0, nil)
	if _, err := c.Call(t.Context(), "x", nil); err == nil || !strings.Contains(err.Error(), "write message") {
		t.Errorf("%v", err)
	}
	if len(c.pending) != 0 {
		t.Error("the call is still pending")
	}
}

func TestInterrupt(t *testing.T) {
	x, y := net.Pipe()
	defer y.Close()
	pr, pw := io.Pipe()
	defer pw.Close()
	for _, r := range []io.Reader{x, pr} {
		ended := make(chan error, 1)
		go func() { _, err := r.Read(make([]byte, 1)); ended <- err }()
		if !Interrupt(r) {
			t.Fatal("not interruptible")
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("read returned without error")
			}
		case <-time.After(10 * time.Second):
			t.Fatal("read goes on")
		}
	}
	if Interrupt(strings.NewReader("x")) {
		t.Error("a plain reader cannot be interrupted")
	}
}
