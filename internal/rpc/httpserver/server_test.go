package httpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")) // it sleeps for half a second
}

// bench is a server with few connections. /wait answers when it is released, /read reads its body, /refuse does not.
type bench struct {
	t       *testing.T
	addr    string
	server  *Server
	waiting chan struct{} // one value for each /wait that runs
	release chan struct{}
}

func start(t *testing.T, most int) *bench {
	t.Helper()
	b := &bench{t: t, waiting: make(chan struct{}, 100), release: make(chan struct{})}
	b.server = New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/wait":
			b.waiting <- struct{}{}
			<-b.release
		case "/read":
			got, err := io.ReadAll(r.Body)
			fmt.Fprint(w, len(got), err)
		case "/refuse":
			w.WriteHeader(http.StatusUnauthorized)
		}
	}), most, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.addr = l.Addr().String()
	served := make(chan error)
	go func() { served <- b.server.Serve(l) }()
	t.Cleanup(func() {
		_ = b.server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return b
}

// dial opens a connection and sends a text.
func (b *bench) dial(text string) net.Conn {
	b.t.Helper()
	c, err := net.Dial("tcp", b.addr)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// answer reads the status of an answer.
func answer(t *testing.T, c net.Conn) int {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func closed(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return err != nil
}

const get, post = "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"

// TestSilentConnectionsGiveWay: however many connections say nothing, half a header, half a body or one request, the next caller gets in,
// and those that are served stay (T19).
func TestSilentConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"silent": "", "half a header": "GET / HT", "half a body": fmt.Sprintf(post, "/read") + "half",
		"refused with half a body": fmt.Sprintf(post, "/refuse") + "half", "one request": fmt.Sprintf(get, "/"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, 8)
			long := b.dial(fmt.Sprintf(get, "/wait"))
			<-b.waiting
			var silent []net.Conn
			for range 30 {
				silent = append(silent, b.dial(text))
			}
			if got := answer(t, b.dial(fmt.Sprintf(get, "/"))); got != http.StatusOK {
				t.Errorf("the caller after them got %d", got)
			}
			if b.server.conns.mu.Lock(); b.server.conns.open > 8 {
				t.Errorf("%d connections are open", b.server.conns.open)
			}
			b.server.conns.mu.Unlock()
			if text == "" && !closed(silent[0]) {
				t.Error("the first silent connection did not give way")
			}
			close(b.release)
			if got := answer(t, long); got != http.StatusOK {
				t.Errorf("the long request got %d", got)
			}
		})
	}
}

// TestServedConnectionsStay: where each connection is in use, a new one is closed.
func TestServedConnectionsStay(t *testing.T) {
	t.Parallel()
	b := start(t, 8)
	var held []net.Conn
	for range 6 { // three of four, because they have one address
		held = append(held, b.dial(fmt.Sprintf(get, "/wait")))
		<-b.waiting
	}
	if !closed(b.dial("")) {
		t.Error("one more was let in")
	}
	close(b.release)
	for _, c := range held {
		if got := answer(t, c); got != http.StatusOK {
			t.Errorf("a request that was served got %d", got)
		}
	}
	if got := answer(t, b.dial(fmt.Sprintf(get, "/"))); got != http.StatusOK {
		t.Errorf("after them: %d", got)
	}
}

// TestShutdownDoesNotWaitForTheSilent: only requests that are served are waited for.
func TestShutdownDoesNotWaitForTheSilent(t *testing.T) {
	t.Parallel()
	b := start(t, 8)
	long := b.dial(fmt.Sprintf(get, "/wait"))
	<-b.waiting
	silent := []net.Conn{b.dial(""), b.dial("GET / HT"), b.dial(fmt.Sprintf(post, "/read") + "half")}
	done := make(chan error)
	go func() { done <- b.server.Shutdown(t.Context()) }()
	for _, c := range silent {
		if !closed(c) {
			t.Error("a silent connection got an answer")
		}
	}
	close(b.release)
	if got := answer(t, long); got != http.StatusOK {
		t.Errorf("the request that was served got %d", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestHeaderIsBounded(t *testing.T) {
	t.Parallel()
	b := start(t, 8)
	c := b.dial("")
	go func() {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", 80<<10)+"\r\n\r\n")
	}()
	if got := answer(t, c); got != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 80 KiB: %d", got)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	b := start(t, 8)
	c := b.dial(fmt.Sprintf(post, "/read") + strings.Repeat("x", 1000))
	if got := answer(t, c); got != http.StatusOK {
		t.Errorf("a body: %d", got)
	}
	if _, err := fmt.Fprintf(c, get, "/"); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, c); got != http.StatusOK {
		t.Errorf("the next request on its connection: %d", got)
	}
}

func TestNetwork(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1", "[::ffff:10.0.0.1]:80": "10.0.0.1", "[::1]:80": "::1",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:80": "fe80::/64",
	} {
		at, err := net.ResolveTCPAddr("tcp", in)
		if err != nil {
			t.Fatal(err)
		}
		if got := network(at); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
