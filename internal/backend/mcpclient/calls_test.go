package mcpclient

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/backend/mcpclient/peertest"

	"pgregory.net/rapid"
)

// The table of calls under everything that can happen to it, in any order: every call ends once and with its own answer, every question is
// answered at most once and only by the client of a call that was open, and nothing is left behind.
func TestTableOfCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, w := newWireless()
		ctx, stopAll := context.WithCancel(context.Background())
		m := &table{c: c, w: w, ctx: ctx, streams: rapid.Bool().Draw(t, "streams")}
		w.in.streams = m.streams
		t.Repeat(map[string]func(*rapid.T){
			"call":   m.call,
			"settle": m.settle,
			"cancel": m.cancel,
			"ask":    m.ask,
			"reply":  m.reply,
			"withdraw": func(t *rapid.T) {
				w.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`,
					1000+rapid.IntRange(1, m.asked+1).Draw(t, "id"))
			},
			"notice": func(*rapid.T) { w.says(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`) },
			"noise": func(t *rapid.T) {
				w.says(`{"jsonrpc":"2.0","id":%d,"result":{"of":"nobody"}}`, rapid.IntRange(-3, 0).Draw(t, "id"))
			},
		})
		if rapid.Bool().Draw(t, "the connection ends first") {
			c.calls.failAll(ErrClosed)
		}
		stopAll()
		m.wg.Wait()
		c.calls.mu.Lock()
		defer c.calls.mu.Unlock()
		if len(c.calls.open) != 0 || len(c.calls.asked) != 0 {
			t.Fatalf("left behind: %d calls, %d questions", len(c.calls.open), len(c.calls.asked))
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, fault := range m.faults {
			t.Error(fault)
		}
		for id := 1; id <= m.asked; id++ {
			if n := strings.Count("\n"+w.log(), fmt.Sprintf("\n%d={", 1000+id)); n > 1 {
				t.Errorf("question %d was answered %d times", id, n)
			}
		}
	})
}

// table is what the test knows of a table of calls.
type table struct {
	c       *Conn
	w       *wireless
	ctx     context.Context
	streams bool
	wg      sync.WaitGroup
	sent    int
	asked   int
	stops   []context.CancelFunc

	mu      sync.Mutex
	waiting []chan struct{} // questions that a person has before them
	faults  []string
}

func (m *table) fault(format string, a ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, fmt.Sprintf(format, a...))
}

func (m *table) call(t *rapid.T) {
	if m.sent >= 24 {
		t.Skip("enough")
	}
	m.sent++
	n := m.sent
	who := rapid.SampledFrom([]string{"ann", "bob", ""}).Draw(t, "who")
	ctx, stop := context.WithCancel(m.ctx)
	m.stops = append(m.stops, stop)
	over := make(chan struct{})
	peer := &peertest.Person{Caps: peertest.Everything, Answer: func(ctx context.Context, _ string, _ []byte) ([]byte, []byte, error) {
		select {
		case <-over:
			m.fault("call %d is asked after its end", n)
		default:
		}
		turn := make(chan struct{})
		m.mu.Lock()
		m.waiting = append(m.waiting, turn)
		m.mu.Unlock()
		select {
		case <-turn:
			return []byte(`{"by":"` + who + `"}`), nil, nil
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}}
	entered := m.count()
	m.wg.Go(func() {
		defer stop()
		result, _, err := m.c.Request(ctx, Call{Method: "tools/call", Principal: who, Peer: peer, Limit: time.Hour})
		close(over)
		if err == nil && string(result) != fmt.Sprintf(`{"of":%d}`, n) {
			m.fault("call %d got %s", n, result)
		}
	})
	for m.count() == entered { // its number is that of its turn
		runtime.Gosched()
	}
}

func (m *table) count() int64 {
	m.c.calls.mu.Lock()
	defer m.c.calls.mu.Unlock()
	return m.c.calls.last
}

func (m *table) settle(t *rapid.T) {
	n := rapid.IntRange(1, m.sent+1).Draw(t, "id")
	m.w.says(`{"jsonrpc":"2.0","id":%d,"result":{"of":%d}}`, n, n)
}

func (m *table) cancel(t *rapid.T) {
	if len(m.stops) == 0 {
		t.Skip("none")
	}
	m.stops[rapid.IntRange(0, len(m.stops)-1).Draw(t, "which")]()
}

func (m *table) ask(t *rapid.T) {
	m.asked++
	var of *pending
	if rapid.Bool().Draw(t, "on a stream") {
		m.c.calls.mu.Lock()
		of = m.c.calls.open[int64(rapid.IntRange(1, m.sent+1).Draw(t, "of"))]
		m.c.calls.mu.Unlock()
	}
	method := rapid.SampledFrom([]string{methodElicit, methodRoots, methodSample, "ping", "x"}).Draw(t, "method")
	m.w.in.handle(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`, 1000+m.asked, method), of)
}

func (m *table) reply(t *rapid.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 {
		t.Skip("none")
	}
	i := rapid.IntRange(0, len(m.waiting)-1).Draw(t, "which")
	close(m.waiting[i])
	m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
}
