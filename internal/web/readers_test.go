package web

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"mycelium/internal/web/signature"
)

// TestWebSlowReaders: of 200 streams half are never read. The others get every event, nobody waits, and what the slow ones cost is bounded.
func TestWebSlowReaders(t *testing.T) { // not parallel: it looks at the memory of the process
	const readers, rounds, burst = 200, 8, 50
	s := testServer(t)
	link, err := s.devices.NewLink(s.Note().Addr)
	if err != nil {
		t.Fatal(err)
	}
	_, public, err := signature.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.devices.SignIn(s.Note().Addr, link, "test", public)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.events(w, r, d) }))
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(4 << 10) // so that the kernel takes little for a reader that does not read
		}
	}
	server.Start()
	defer server.Close()
	defer s.end() // the streams end
	before := heap()
	got := make(chan string, readers*burst)
	for i := range readers {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", s.Note().Addr)
		lines := bufio.NewScanner(c)
		for lines.Scan() && lines.Text() != ": events of the pages" {
		}
		if i%2 == 0 {
			continue // nobody reads it any more
		}
		go func() {
			for lines.Scan() {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "alive" {
					got <- data
				}
			}
		}()
	}
	for round := range rounds {
		for n := range burst {
			s.site.Feed.Publish("work", fmt.Sprintf("p-0123456789abcdef-%d-%d", round, n))
		}
		seen := map[string]int{}
		for range readers / 2 * burst {
			seen[<-got]++
		}
		for n := range burst {
			if data := fmt.Sprintf("p-0123456789abcdef-%d-%d", round, n); seen[data] != readers/2 {
				t.Fatalf("%d readers got %s, want %d: %d kinds", seen[data], data, readers/2, len(seen))
			}
		}
	}
	grown := heap() - before
	t.Logf("%d readers, %d events: %d KiB of heap", readers, rounds*burst, grown>>10)
	if grown > 32<<20 {
		t.Errorf("%d readers cost %d KiB", readers, grown>>10)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
