package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/rpc"
)

// kilobyte is a call of the echo tool with 1 KB of arguments.
func kilobyte(id string, modern bool) string {
	line := modernCall(id, "docs__echo", `{"text":"`+strings.Repeat("0123456789abcde ", 56)+`"}`)
	if !modern {
		line, _, _ = strings.Cut(line, `,"_meta"`)
		line += "}}"
	}
	return line
}

// BenchmarkServe is the gateway and the real gate with its log, without a transport.
func BenchmarkServe(b *testing.B) {
	for _, modern := range []bool{false, true} {
		b.Run(fmt.Sprintf("modern=%v", modern), func(b *testing.B) {
			w := newWorld(b)
			s := w.server(Options{})
			version := v20250618
			if modern {
				version = v20260728
			}
			l := w.link(b, s, w.open("guest"), version, "{}")
			line := []byte(kilobyte("1", modern))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				m, bad := rpc.Parse(bytes.Clone(line))
				if bad != nil {
					b.Fatal(bad)
				}
				reply, _ := s.mcp.Serve(b.Context(), l, m)
				if out = reply.Append(out[:0]); reply.Result == nil {
					b.Fatal(string(out))
				}
			}
		})
	}
}

// BenchmarkStdio is one caller in a closed loop over pipes.
func BenchmarkStdio(b *testing.B) {
	w := newWorld(b)
	p := dial(b, w.server(Options{}), w.open("guest"))
	p.initialize(v20250618)
	line := kilobyte("1", false)
	b.ReportAllocs()
	for b.Loop() {
		p.ask(line)
	}
}

// BenchmarkHTTP is callers in closed loops over loopback connections.
func BenchmarkHTTP(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			w := newWorld(b)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			h := httptest.NewServer(w.server(Options{}).Handler())
			defer h.Close()
			_, token := w.mint("guest")
			tr := &http.Transport{MaxIdleConnsPerHost: callers}
			defer tr.CloseIdleConnections()
			line := kilobyte("1", true)
			work := make(chan struct{})
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for range work {
						r, _ := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, strings.NewReader(line))
						r.Header = http.Header{
							"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
							headerVersion: {v20260728}, headerMethod: {"tools/call"}, headerName: {"docs__echo"},
						}
						res, err := tr.RoundTrip(r)
						if err != nil {
							b.Error(err)
							return
						}
						if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
							b.Error(res.Status, err)
						}
						res.Body.Close()
					}
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			wg.Wait()
		})
	}
}
