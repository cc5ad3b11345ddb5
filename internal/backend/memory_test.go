package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/rpc"
)

// TestAnswersAreBounded: the answers of servers are held within one bound, however many come at once. A call whose answer does not fit gets
// an error that says so, which is no fault of the server; another session still gets its answers (T19).
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const most, size, calls = 8 << 20, 1 << 20, 40
	for name, events := range map[string]bool{"JSON": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var begun sync.WaitGroup // all answers are half there before one is whole
			begun.Add(calls)
			f := newWeb(&web{call: func(w http.ResponseWriter, _ *http.Request, id []byte, n int) {
				if n > calls {
					answerJSON(w, id, fakeResult)
					return
				}
				end := "}"
				if events {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "data: ")
					end = "}\n\n"
				} else {
					w.Header().Set("Content-Type", "application/json")
				}
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"text":"%s`, id, strings.Repeat("x", size/2))
				_ = http.NewResponseController(w).Flush()
				begun.Done()
				begun.Wait()
				_, _ = io.WriteString(w, strings.Repeat("x", size/2)+`"}`+end)
			}})
			memory := rpc.NewMemory(most)
			p := newPool(t, Options{Memory: memory}, Server{Name: "s", URL: serveHTTP(t, f)})
			ctx := testContext(t)
			if err := p.Learn(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			busy := 0
			var group sync.WaitGroup
			for range calls {
				group.Go(func() {
					_, _, err := p.Do(ctx, policy.Scope{}, "hog", "s", "tools/call", []byte(`{"name":"t"}`), nil)
					mu.Lock()
					defer mu.Unlock()
					if errors.Is(err, rpc.ErrBusy) {
						busy++
					} else if err != nil {
						t.Errorf("error %v", err)
					}
				})
			}
			group.Wait()
			if busy == 0 {
				t.Error("40 answers of 1 MiB fit into 8 MiB")
			}
			if now, peak := memory.Used(); now != 0 || peak > most {
				t.Errorf("%d bytes are held, at most %d", now, peak)
			}
			if s := p.Status()[0]; s.Breaker != breakerClosed {
				t.Errorf("the breaker is %s", s.Breaker)
			}
			if got, err := ask(ctx, t, p, "s", nil); err != nil || got != fakeResult {
				t.Error(got, err)
			}
		})
	}
}

// TestBusyLine: over stdio, an answer for which there is no memory ends its own call only.
func TestBusyLine(t *testing.T) {
	t.Parallel()
	memory := rpc.NewMemory(1 << 20)
	p := newPool(t, Options{Memory: memory}, play(t, "s", "play-fake", "params"))
	ctx := testContext(t)
	call := func(ctx context.Context, n int) error {
		_, _, err := p.Do(ctx, policy.Scope{}, "a", "s", "tools/call", []byte(`{"name":"t","arguments":{"a":"`+strings.Repeat("x", n)+`"}}`), nil)
		return err
	}
	if err := call(ctx, 2<<20); !errors.Is(err, rpc.ErrBusy) {
		t.Errorf("an answer of 2 MiB with 1 MiB of memory: %v", err)
	}
	if err := call(ctx, 100); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
