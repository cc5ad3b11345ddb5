package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/op"
	"mycelium/internal/rpc"
)

func TestAttachStartsOneAndDetachesIt(t *testing.T) {
	dir, p := project(t)
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrNotRunning) {
		t.Fatalf("nobody owns it yet: %v", err)
	}
	c, pid := attach(t, dir, p, "MYC_TEST_MARK=印")
	if pid == os.Getpid() {
		t.Fatal("the daemon is this process")
	}
	if sid, err := sessionOf(pid); err != nil || sid != pid {
		t.Errorf("the daemon's session is %d (%v), its own is %d", sid, err, pid)
	}
	for _, name := range []string{"MYC_TEST_MARK", readyVar} {
		var got string
		if err := c.Call(t.Context(), "env", map[string]string{"name": name}, &got); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"MYC_TEST_MARK": "印"}[name]; got != want {
			t.Errorf("%s in the daemon is %q, want %q", name, got, want)
		}
	}
	other, err := Dial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var second int
	if err := other.Call(t.Context(), "pid", nil, &second); err != nil || second != pid {
		t.Errorf("a second client reached %d (%v), want %d", second, err, pid)
	}
	for path, mode := range map[string]os.FileMode{p.Socket: 0o600, filepath.Dir(p.Socket): 0o700, p.Lock: 0o600, p.Log: 0o600} {
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v, want mode %o", path, info.Mode(), err, mode)
		}
	}
	if _, err := Own(t.Context(), p, Claim{Kind: Automatic}); !errors.Is(err, ErrOwned) {
		t.Errorf("Own beside a living owner: %v", err)
	}
}

func TestCallerIsWhatTheKernelSays(t *testing.T) {
	dir, p := project(t)
	c, _ := attach(t, dir, p)
	var who op.Caller
	if err := c.Call(t.Context(), "caller", map[string]int{"UID": 4711, "PID": 1}, &who); err != nil {
		t.Fatal(err)
	}
	if who.PID != os.Getpid() || who.UID != os.Getuid() {
		t.Errorf("caller is %+v", who)
	}
}

func TestManyStartAtOnce(t *testing.T) {
	dir, p := project(t)
	var mu sync.Mutex
	pids := map[string]int{}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			out, err := play(t, dir, "attach").CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("attach: %v\n%s", err, out)
			}
			pids[strings.TrimSpace(string(out))]++
		})
	}
	wg.Wait()
	for pid := range pids {
		n, _ := strconv.Atoi(pid)
		t.Cleanup(func() { kill(n) })
	}
	if len(pids) != 1 {
		log, _ := os.ReadFile(p.Log)
		t.Errorf("six attached to %v; the log says:\n%s", pids, log)
	}
}

func TestOwnAgainAfterKill(t *testing.T) {
	dir, p := project(t)
	_, pid := attach(t, dir, p)
	kill(pid)
	if _, err := os.Lstat(p.Socket); err != nil {
		t.Fatalf("the dead owner's socket should still be there: %v", err)
	}
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrNotRunning) {
		t.Errorf("dial to a dead owner: %v", err)
	}
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(p.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there after Close: %v", err)
	}
}

// TestAwaitEnd: an owner has ended when nobody has the project, and also when the next one has taken it at once. One that does not end is
// waited for as long as ctx lasts.
func TestAwaitEnd(t *testing.T) {
	dir, p := project(t)
	_, first := attach(t, dir, p)
	over, end := context.WithCancel(t.Context())
	end()
	if next, err := AwaitEnd(over, p, first); err == nil {
		t.Errorf("the owner runs, and the next one is %d", next)
	}
	kill(first)
	_, second := attach(t, dir, p) // it has the lock before anybody looks
	if next, err := AwaitEnd(t.Context(), p, first); next != second || err != nil {
		t.Errorf("the next owner is %d (%v), want %d", next, err, second)
	}
	kill(second)
	if next, err := AwaitEnd(t.Context(), p, second); next != 0 || err != nil {
		t.Errorf("the next owner is %d (%v): nobody has the project", next, err)
	}
}

func TestStartThatFailsShowsItsLog(t *testing.T) {
	dir, p := project(t)
	_, err := Attach(t.Context(), p, []string{os.Args[0]}, append(os.Environ(), "MYC_TEST_PLAY=broken", "MYC_TEST_DIR="+dir))
	if err == nil {
		t.Fatal("attached to something that ended")
	}
	for _, want := range []string{"unknown key 設定", "exit status 4", p.Log} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if _, err := Attach(t.Context(), p, []string{"/does/not/exist"}, nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := Attach(t.Context(), p, nil, nil); err == nil {
		t.Error("no program at all")
	}
}

// own starts serving in this process, and ends it with the test.
func serveHere(t *testing.T, p Paths, change func(*Server)) (stop func() error) {
	t.Helper()
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := testServer(cancel)
	if change != nil {
		change(&s)
	}
	done := make(chan error, 1)
	go func() { done <- o.Serve(ctx, s) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-done, o.Close())
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

func dial(t *testing.T, p Paths) *Client {
	t.Helper()
	c, err := Dial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestCalls(t *testing.T) {
	_, p := project(t)
	serveHere(t, p, nil)
	c := dial(t, p)
	var got string
	if err := c.Call(t.Context(), "echo", map[string]string{"text": "やあ\n\"二行\""}, &got); err != nil || got != "やあ\n\"二行\"" {
		t.Errorf("echo: %q %v", got, err)
	}
	for method, want := range map[string]string{"refuse": "no", "nothing": "has no method", "panic": "internal error",
		"chan": "cannot be written", "no": "not you"} {
		var e *rpc.Error
		if err := c.Call(t.Context(), method, nil, nil); !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v, want %q", method, err, want)
		}
	}
	if err := c.Call(t.Context(), "pid", nil, nil); err != nil {
		t.Errorf("the connection should be good still: %v", err)
	}
	if err := c.Call(t.Context(), "pid", map[string]string{"a": strings.Repeat("x", maxMessage/2)}, nil); !errors.Is(err, rpc.ErrTooLong) {
		t.Errorf("a question that is too long: %v", err)
	}
	if err := c.Call(t.Context(), "pid", make(chan int), nil); err == nil {
		t.Error("params that are no JSON")
	}
	if err := c.Call(t.Context(), "pid", nil, &got); err == nil {
		t.Error("a number read into a string")
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := c.Call(ctx, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	if err := c.Call(t.Context(), "pid", nil, nil); err == nil {
		t.Error("the connection should be closed after a cancelled call")
	}
}

func TestBadLines(t *testing.T) {
	_, p := project(t)
	serveHere(t, p, nil)
	conn := dial(t, p).conn
	in := bufio.NewReader(conn)
	for line, want := range map[string]string{
		`nonsense`: `-32700`,
		`[]`:       `-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"pid","Method":"stop"}`:                                          `-32600`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"pid"}`:                                                   `-32600`,
		`{"jsonrpc":"2.0","id":7,"method":"pid","params":{"a":"` + strings.Repeat("x", maxMessage) + `"}}`: `too large`,
		`{"jsonrpc":"2.0","id":"x","method":"echo","params":{"text":"ok"}}`:                                `"ok"`,
	} {
		if _, err := fmt.Fprintf(conn, "%s\n", line); err != nil {
			t.Fatal(err)
		}
		got, err := in.ReadString('\n')
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%.60s: answered %s (%v), want %s", line, got, err, want)
		}
	}
}

func TestStreamLosesNothing(t *testing.T) {
	_, p := project(t)
	serveHere(t, p, nil)
	// Everything in one write: a call, the request for the stream, and the first lines of the stream behind it.
	conn := dial(t, p).conn
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"method":"pid"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"mcp"}` + "\n")
	for i := range 500 {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"m%d","params":{"x":%q}}`+"\n", 100+i, i, strings.Repeat("あ", 100))
	}
	go conn.Write([]byte(b.String()))
	in := bufio.NewReader(conn)
	for i := range 502 {
		got, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]string{0: `"id":1,`, 1: `"granted":true`}[i]
		if i > 1 {
			want = fmt.Sprintf(`"id":%d,"result":{"method":"m%d"`, 98+i, i-2)
		}
		if !strings.Contains(got, want) {
			t.Fatalf("line %d: %s, want %s", i, got, want)
		}
	}
}

func TestStreamOfClient(t *testing.T) {
	_, p := project(t)
	stop := serveHere(t, p, nil)
	c := dial(t, p)
	if _, err := c.Stream(t.Context(), "no", nil, nil); err == nil {
		t.Fatal("granted")
	}
	out := map[string]bool{}
	conn, err := c.Stream(t.Context(), "mcp", nil, &out)
	if err != nil || !out["granted"] {
		t.Fatal(out, err)
	}
	defer conn.Close()
	if err := c.Call(t.Context(), "pid", nil, nil); err == nil {
		t.Error("a call over a connection that was handed over")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
	in := bufio.NewReader(conn)
	if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, `"method":"x"`) {
		t.Fatalf("%s %v", got, err)
	}
	if err := stop(); err != nil { // although the stream reads without looking at its context
		t.Error(err)
	}
	if _, err := in.ReadString('\n'); err == nil {
		t.Error("the stream should have ended with the server")
	}
}

func TestServeWaitsForItsCalls(t *testing.T) {
	_, p := project(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	stop := serveHere(t, p, func(s *Server) {
		s.Methods["slow"] = func(context.Context, op.Caller, []byte) (any, *rpc.Error) {
			close(entered)
			<-leave
			return "done", nil
		}
	})
	c := dial(t, p)
	answer := make(chan string, 1)
	go func() {
		var s string
		_ = c.Call(context.Background(), "slow", nil, &s)
		answer <- s
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for { // no new connection is taken from the moment on at which it ends
		other, err := Dial(t.Context(), p)
		if errors.Is(err, ErrNotRunning) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		other.Close()
	}
	select {
	case err := <-stopped:
		t.Fatalf("Serve returned under a running call: %v", err)
	default:
	}
	close(leave)
	if got := <-answer; got != "done" {
		t.Errorf("the running call answered %q", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestIdleEnd(t *testing.T) {
	_, p := project(t)
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var mu sync.Mutex
	asked, vetoes := 0, 3
	s := testServer(func() {})
	s.Idle = 30 * time.Millisecond
	s.Busy = func() bool {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return asked <= vetoes
	}
	done := make(chan error, 1)
	go func() { done <- o.Serve(t.Context(), s) }()
	c := dial(t, p)
	select { // a client that says nothing keeps it
	case err := <-done:
		t.Fatalf("ended beside a client: %v", err)
	case <-time.After(150 * time.Millisecond):
	}
	c.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end")
	}
	mu.Lock()
	defer mu.Unlock()
	if asked != vetoes+1 {
		t.Errorf("Busy was asked %d times, want %d", asked, vetoes+1)
	}
}

// A guest is no client: an owner that has only guests ends when it is idle, and their streams with it.
func TestGuestsKeepNoOwner(t *testing.T) {
	_, p := project(t)
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	s := testServer(func() {})
	s.Idle, s.Guests = 30*time.Millisecond, []string{"guest"}
	s.Streams = map[string]Stream{"guest": func(context.Context, op.Caller, []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
		return nil, func(ctx context.Context, _ net.Conn) error { <-ctx.Done(); return nil }, nil
	}}
	done := make(chan error, 1)
	go func() { done <- o.Serve(t.Context(), s) }()
	conn, err := dial(t, p).Stream(t.Context(), "guest", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("the stream goes on: %d bytes", n)
	}
}

// An owner that is about to end still has the lock. A client that comes then gets the next owner, not an error.
func TestAttachWhileTheOwnerEnds(t *testing.T) {
	dir, p := project(t)
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Serve(ctx, Server{}); err != nil { // the socket is gone now, the lock is not
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { closed <- o.Close() })
	attach(t, dir, p)
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("attached to somebody while the lock was held")
	}
}

func TestRemovedSocketComesBack(t *testing.T) {
	_, p := project(t)
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	o.every = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Serve(ctx, testServer(cancel)) }()
	c := dial(t, p)
	if err := os.RemoveAll(filepath.Dir(p.Socket)); err != nil {
		t.Fatal(err)
	}
	for { // until it is back
		c, err := Dial(t.Context(), p)
		if err == nil {
			c.Close()
			break
		}
		if !errors.Is(err, ErrNotRunning) {
			t.Fatal(err)
		}
	}
	if err := c.Call(t.Context(), "pid", nil, nil); err != nil {
		t.Errorf("the old connection: %v", err)
	}
	cancel()
	if err := errors.Join(<-done, o.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(p.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stayed: %v", err)
	}
}

func TestLogRotates(t *testing.T) {
	dir, p := project(t)
	if err := os.MkdirAll(filepath.Dir(p.Log), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Log, make([]byte, maxLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := attach(t, dir, p)
	if info, err := os.Stat(p.Log + ".1"); err != nil || info.Size() != maxLog+1 {
		t.Errorf("the long log was not put aside: %v", err)
	}
	if err := c.Call(t.Context(), "rotate", nil, nil); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{p.Log: "new stdout\nnew stderr\n", p.Log + ".1": "to stdout " + strings.Repeat("長", 1000) +
		"\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %.50q %v, want %.50q", path, got, err, want)
		}
	}
}

// An owner that was told to stop accepts connections, and has the lock, for a moment longer. Neither may fail the next client.
func TestAttachRightAfterStop(t *testing.T) {
	dir, p := project(t)
	environ := append(os.Environ(), "MYC_TEST_PLAY=daemon", "MYC_TEST_DIR="+dir)
	for i := range 25 {
		c, err := Attach(t.Context(), p, []string{os.Args[0]}, environ)
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		if err := c.Call(t.Context(), "stop", nil, nil); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		c.Close()
	}
	o, err := Own(t.Context(), p, Claim{Kind: Automatic}) // waits for the last one's end
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
}
