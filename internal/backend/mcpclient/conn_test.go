package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/backend/mcpclient/peertest"
	"mycelium/internal/rpc"
)

// wireless is a link in memory: what is sent is kept, and the test plays the server with inbox.
type wireless struct {
	in   *inbox
	mu   sync.Mutex
	sent []string
	dead chan struct{}
}

func (w *wireless) note(format string, a ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, fmt.Sprintf(format, a...))
}

func (w *wireless) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.sent, "\n")
}

func (w *wireless) send(p *pending, method string, params []byte) error {
	w.note("%d %s%s", p.id, method, params)
	return nil
}
func (w *wireless) cancel(p *pending, _ string) { w.note("cancel %d", p.id) }
func (w *wireless) respond(m rpc.Message)       { w.note("%s=%s%s", m.ID, m.Result, m.Error) }
func (w *wireless) respondAsync(m rpc.Message)  { w.respond(m) }
func (w *wireless) notify(_ context.Context, method string, params []byte) error {
	w.note("%s%s", method, params)
	return nil
}
func (w *wireless) setVersion(string)     {}
func (w *wireless) setTools([][]byte)     {}
func (w *wireless) fail(error)            {}
func (w *wireless) done() <-chan struct{} { return w.dead }
func (w *wireless) close(time.Duration)   {}

// newWireless is a connection to a server that the test plays.
func newWireless() (*Conn, *wireless) {
	w := &wireless{dead: make(chan struct{})}
	c := &Conn{
		Options:   Options{Now: time.Now, AskLimit: func() time.Duration { return DefaultAskLimit }, Changed: func() {}},
		transport: w, calls: newCalls(time.Now), version: LatestLegacy, levelLock: make(chan struct{}, 1), listening: make(chan struct{}),
	}
	c.calls.learned.Store(true)
	w.in = &inbox{calls: c.calls, received: &c.received, reply: w.respond, notice: c.notice}
	return c, w
}

func (w *wireless) says(format string, a ...any) { w.in.handle(fmt.Appendf(nil, format, a...), nil) }

const elicitLine = `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{}}`

func TestTheClockStandsWhileAPersonAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		peer := &peertest.Person{Caps: peertest.Everything, Answer: func(ctx context.Context, method string, params []byte) ([]byte, []byte,
			error) {
			time.Sleep(9 * time.Minute)
			return peertest.Answers(ctx, method, params)
		}}
		go func() {
			time.Sleep(50 * time.Second)
			w.says(elicitLine, 7)
			w.says(elicitLine, 8) // at the same time as the other
			time.Sleep(9*time.Minute + 5*time.Second)
			w.says(elicitLine, 9)
			time.Sleep(9*time.Minute + 4*time.Second)
			w.says(`{"jsonrpc":"2.0","id":1,"result":{"done":true}}`)
		}()
		result, _, err := c.Request(t.Context(), Call{Method: "tools/call", Peer: peer, Limit: time.Minute})
		if err != nil || string(result) != `{"done":true}` {
			t.Errorf("%s, %v", result, err)
		}
		const answer = `={"action":"accept","content":{"name":"Ann"}}`
		for _, id := range []string{"7", "8", "9"} {
			if !strings.Contains(w.log(), id+answer) {
				t.Errorf("question %s was not answered: %s", id, w.log())
			}
		}
		since := time.Now()
		_, _, err = c.Request(t.Context(), Call{Method: "tools/call", Peer: peer, Limit: time.Minute})
		if !errors.Is(err, ErrTimeout) || time.Since(since) != time.Minute || !strings.Contains(w.log(), "cancel 2") {
			t.Errorf("%v after %v: %s", err, time.Since(since), w.log())
		}
	})
}

func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		peer := &peertest.Person{Caps: peertest.Everything, Answer: func(ctx context.Context, _ string, _ []byte) ([]byte, []byte, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}}
		go func() {
			time.Sleep(time.Second)
			w.says(elicitLine, 7)
			time.Sleep(DefaultAskLimit + time.Second)
			w.says(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		}()
		if _, _, err := c.Request(t.Context(), Call{Method: "tools/call", Peer: peer, Limit: time.Minute}); err != nil {
			t.Error(err)
		}
		if want := `7={"code":-32603,"message":"the client cannot be asked: it did not answer within 10m0s"}`; !strings.Contains(w.log(), want) {
			t.Errorf("the server heard %s", w.log())
		}
	})
}

func TestQuestionsThatEndEarly(t *testing.T) {
	const over = `={"code":-32603,"message":"the client cannot be asked: its call has ended"}`
	for name, c := range map[string]struct {
		end  func(w *wireless, stop context.CancelFunc)
		want string // what the server hears about its question; empty: nothing
	}{
		"the server withdraws it": {func(w *wireless, _ context.CancelFunc) {
			w.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		}, ""},
		"the server answers its call": {func(*wireless, context.CancelFunc) {}, "7" + over},
		"the caller goes":             {func(_ *wireless, stop context.CancelFunc) { stop() }, "7" + over},
		"the connection ends":         {func(w *wireless, _ context.CancelFunc) { w.in.calls.failAll(ErrClosed) }, "7" + over},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c1, w := newWireless()
				withdrawn := make(chan struct{})
				peer := &peertest.Person{Caps: peertest.Everything, Answer: func(ctx context.Context, _ string, _ []byte) ([]byte, []byte, error) {
					<-ctx.Done()
					close(withdrawn)
					return nil, nil, ctx.Err()
				}}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _, _ = c1.Request(ctx, Call{Method: "tools/call", Peer: peer, Limit: time.Minute})
				}()
				synctest.Wait()
				w.says(elicitLine, 7)
				synctest.Wait()
				c.end(w, stop)
				synctest.Wait()
				w.says(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				<-withdrawn
				<-done
				if n := len(c1.calls.asked); n != 0 {
					t.Errorf("%d questions stay open", n)
				}
				if heard := w.log(); c.want == "" && strings.Contains(heard, "7=") || !strings.Contains(heard, c.want) {
					t.Errorf("the server heard %s", heard)
				}
			})
		})
	}
}

// What a call that was given up may still ask or log reaches nobody else.
func TestQuestionsAfterACallWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		asked := make(chan string, 4)
		peerOf := func(name string) Peer {
			return &peertest.Person{Caps: peertest.Everything, Answer: func(ctx context.Context, method string, params []byte) ([]byte, []byte,
				error) {
				asked <- name
				return peertest.Answers(ctx, method, params)
			}}
		}
		if _, _, err := c.Request(t.Context(), Call{Method: "tools/call", Principal: "ann", Peer: peerOf("ann"),
			Limit: time.Second}); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		for _, who := range []string{"bob", "ann"} {
			go func() {
				_, _, _ = c.Request(t.Context(), Call{Method: "tools/call", Principal: who, Peer: peerOf(who), Limit: 10 * time.Second})
			}()
			synctest.Wait()
			w.says(elicitLine, 7)
			synctest.Wait()
			time.Sleep(11 * time.Second)
			synctest.Wait()
		}
		time.Sleep(abandonedFor)
		go func() {
			_, _, _ = c.Request(t.Context(), Call{Method: "tools/call", Principal: "bob", Peer: peerOf("bob"), Limit: 10 * time.Second})
		}()
		synctest.Wait()
		w.says(elicitLine, 8)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		close(asked)
		var got []string
		for who := range asked {
			got = append(got, who)
		}
		if want := "[bob]"; fmt.Sprint(got) != want {
			t.Errorf("asked %v; %s", got, w.log())
		}
	})
}
