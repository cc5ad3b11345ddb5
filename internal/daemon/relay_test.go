package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// client is an MCP client behind a relay, over pipes.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func relayTo(ctx context.Context, t *testing.T, dial func(context.Context) (net.Conn, error)) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		err := Relay(ctx, inR, outW, dial)
		outW.Close()
		c.done <- err
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func (c *client) say(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// hear fails unless the next line contains every text.
func (c *client) hear(want ...string) string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("want %q, got the end: %v", want, err)
	}
	for _, w := range want {
		if !strings.Contains(line, w) {
			c.t.Fatalf("heard %s, want %s", line, w)
		}
	}
	return line
}

func pidIn(t *testing.T, line string) int {
	t.Helper()
	var pid int
	if _, err := fmt.Sscan(string(rawjson.Path([]byte(line), "result", "pid")), &pid); err != nil {
		t.Fatalf("no pid in %s", line)
	}
	t.Cleanup(func() { kill(pid) })
	return pid
}

func TestRelayOutlivesTheDaemon(t *testing.T) {
	dir, p := project(t)
	environ := append(os.Environ(), "MYC_TEST_PLAY=daemon", "MYC_TEST_DIR="+dir)
	c := relayTo(t.Context(), t, func(ctx context.Context) (net.Conn, error) {
		d, err := Attach(ctx, p, []string{os.Args[0]}, environ)
		if err != nil {
			return nil, err
		}
		return d.Stream(ctx, "mcp", nil, nil)
	})
	c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"clientInfo":{"name":"試験"}}}`)
	first := pidIn(t, c.hear(`"id":"init"`, `"method":"initialize"`))
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.hear("seen/notifications/initialized")

	for round := range 3 {
		c.say(`{"jsonrpc":"2.0","id":1,"method":"hang"}`)
		c.hear("notifications/hanging")
		c.say(`{"jsonrpc":"2.0","id":"二","method":"hang"}`)
		c.hear("notifications/hanging")
		c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		pid := pidIn(t, c.hear(`"id":3`, `"method":"tools/list"`))
		if round == 0 && pid != first {
			t.Fatalf("another daemon %d than %d", pid, first)
		}
		kill(pid)
		c.hear(`"id":"二"`, `"code":-32603`, "the call may have run")
		c.hear(`"id":1`, `"code":-32603`)
		// The client does not get the answer to the repeated initialize. It gets what the new daemon sends after the repeated notification.
		c.hear("notifications/tools/list_changed")
		c.hear("seen/notifications/initialized")
		c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		if again := pidIn(t, c.hear(`"id":3`, `"method":"tools/list"`)); again == pid {
			t.Fatal("the dead daemon answered")
		}
	}
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

// daemons is a sequence of scripted daemons in this process: each dial of the relay gets the next one.
type daemons struct {
	mu    sync.Mutex
	plays []func(conn net.Conn, lines *rpc.Lines)
	wg    sync.WaitGroup
}

func (d *daemons) dial(context.Context) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.plays) == 0 {
		return nil, errors.New("no daemon left")
	}
	play := d.plays[0]
	d.plays = d.plays[1:]
	if play == nil {
		return nil, errors.New("this one does not start")
	}
	a, b := net.Pipe()
	d.wg.Go(func() {
		defer b.Close()
		play(b, rpc.NewLines(b, 0))
	})
	return a, nil
}

// expect fails unless the next line contains a text.
func expect(t *testing.T, lines *rpc.Lines, want string) {
	t.Helper()
	line, err := lines.Next()
	if err != nil || !strings.Contains(string(line), want) {
		t.Errorf("the daemon read %s (%v), want %s", line, err, want)
	}
}

func TestRelayRepeatsAnUnansweredInitialize(t *testing.T) {
	d := &daemons{}
	d.plays = []func(net.Conn, *rpc.Lines){
		func(_ net.Conn, l *rpc.Lines) { expect(t, l, `"initialize"`) }, // and dies
		nil,
		func(conn net.Conn, l *rpc.Lines) {
			expect(t, l, `"initialize"`)
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","method":"notifications/message"}`)
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":0,"result":{"who":"second"}}`)
			expect(t, l, `notifications/initialized`)
			_, _ = l.Next()
		},
	}
	c := relayTo(t.Context(), t, d.dial)
	c.say(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	c.hear("notifications/message")
	c.hear(`"id":0`, `"second"`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	d.wg.Wait()
}

func TestRelayDropsAnswersToTheDead(t *testing.T) {
	d := &daemons{}
	d.plays = []func(net.Conn, *rpc.Lines){
		func(conn net.Conn, l *rpc.Lines) {
			expect(t, l, `"x"`)
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}`)
		},
		func(conn net.Conn, l *rpc.Lines) {
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":8,"method":"roots/list"}`)
			expect(t, l, `"id":8`) // not the answer to 7, which the client sent first
			_, _ = l.Next()
		},
	}
	c := relayTo(t.Context(), t, d.dial)
	c.say(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	c.hear(`"id":7`, "elicitation/create")
	c.hear(`"id":1`, "-32603")
	c.hear("notifications/cancelled", `"requestId":7`)
	c.hear(`"id":8`)
	c.say(`{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`)
	c.say(`{"jsonrpc":"2.0","id":8,"result":{"roots":[]}}`)
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	d.wg.Wait()
}

// A request that could not be written whole goes to the next daemon; it did not run.
func TestRelaySendsAgainWhatWasNotSent(t *testing.T) {
	d := &daemons{}
	d.plays = []func(net.Conn, *rpc.Lines){
		func(conn net.Conn, _ *rpc.Lines) { // a pipe without buffer: half of the line is read, and no more
			_, _ = io.ReadFull(conn, make([]byte, 20))
		},
		func(conn net.Conn, l *rpc.Lines) {
			expect(t, l, `{"jsonrpc":"2.0","id":1,"method":"write"}`)
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			_, _ = l.Next()
		},
	}
	c := relayTo(t.Context(), t, d.dial)
	c.say(`{"jsonrpc":"2.0","id":1,"method":"write"}`)
	c.hear(`"id":1`, `"result"`)
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	d.wg.Wait()
}

func TestRelayEnds(t *testing.T) {
	t.Run("the first dial fails, and nothing is read", func(t *testing.T) {
		d := &daemons{}
		if err := Relay(t.Context(), iotestFail{t}, io.Discard, d.dial); err == nil || !strings.Contains(err.Error(), "no daemon left") {
			t.Error(err)
		}
	})
	t.Run("no daemon will start any more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // the waits between the tries take six seconds of its clock
			d := &daemons{plays: []func(net.Conn, *rpc.Lines){func(_ net.Conn, l *rpc.Lines) { expect(t, l, "tools/call") }}}
			c := relayTo(t.Context(), t, d.dial)
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
			c.hear(`"id":1`, "-32603")
			if err := <-c.done; err == nil || !strings.Contains(err.Error(), "no daemon left") {
				t.Error(err)
			}
		})
	})
	t.Run("the context ends", func(t *testing.T) {
		d := &daemons{plays: []func(net.Conn, *rpc.Lines){func(_ net.Conn, l *rpc.Lines) { _, _ = l.Next(); _, _ = l.Next() }}}
		ctx, cancel := context.WithCancel(t.Context())
		c := relayTo(ctx, t, d.dial)
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
		cancel()
		_, _ = io.Copy(io.Discard, c.out)
		if err := <-c.done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		d.wg.Wait()
	})
	t.Run("a client that has ended still hears its answers", func(t *testing.T) {
		_, p := project(t)
		serveHere(t, p, nil)
		conn, err := dial(t, p).Stream(t.Context(), "mcp", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var in, out strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"m"}`+"\n", i)
		}
		err = Relay(t.Context(), strings.NewReader(in.String()), &out, func(context.Context) (net.Conn, error) { return conn, nil })
		if err != nil || strings.Count(out.String(), `"result"`) != 1000 {
			t.Errorf("%d answers, %v", strings.Count(out.String(), `"result"`), err)
		}
	})
	t.Run("the client does not read any more", func(t *testing.T) {
		d := &daemons{plays: []func(net.Conn, *rpc.Lines){func(conn net.Conn, l *rpc.Lines) {
			expect(t, l, "x")
			fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			_, _ = l.Next()
		}}}
		r, w := io.Pipe()
		go fmt.Fprintln(w, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
		if err := Relay(t.Context(), r, brokenWriter{}, d.dial); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		d.wg.Wait()
	})
}

type iotestFail struct{ t *testing.T }

func (f iotestFail) Read([]byte) (int, error) { f.t.Error("read"); return 0, io.EOF }

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func BenchmarkRelay(b *testing.B) {
	a1, a2 := net.Pipe()
	go func() {
		lines := rpc.NewLines(a2, 0)
		for {
			line, err := lines.Next()
			if err != nil {
				a2.Close()
				return
			}
			out := rpc.Message{ID: rawjson.Member(line, "id"), Result: rawjson.Member(line, "params")}.Append(nil)
			if _, err := a2.Write(append(out, '\n')); err != nil {
				return
			}
		}
	}()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Relay(b.Context(), inR, outW, func(context.Context) (net.Conn, error) { return a1, nil })
	}()
	msg := []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"text":"` + strings.Repeat("x", 1000) + "\"}}\n")
	out := bufio.NewReader(outR)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := inW.Write(msg); err != nil {
			b.Fatal(err)
		}
		if _, err := out.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	inW.Close()
	<-done
}

// Whenever a daemon dies, every request of the client gets exactly one answer.
func TestRelayAnswersEverythingOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := &daemons{}
		for _, lines := range rapid.SliceOfN(rapid.IntRange(0, 12), 0, 4).Draw(rt, "daemons die after so many lines") {
			d.plays = append(d.plays, mortal(lines))
		}
		d.plays = append(d.plays, mortal(1<<30))
		n := rapid.IntRange(1, 30).Draw(rt, "requests")
		in, w := io.Pipe()
		go func() {
			fmt.Fprintln(w, `{"jsonrpc":"2.0","id":"init","method":"initialize"}`)
			fmt.Fprintln(w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for i := range n {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"m","params":{"text":%q}}`+"\n", i, strings.Repeat("x", i*1000))
			}
			w.Close()
		}()
		var out strings.Builder
		if err := Relay(t.Context(), in, &out, d.dial); err != nil {
			rt.Fatal(err)
		}
		d.wg.Wait()
		answers := map[string]int{}
		for line := range strings.Lines(out.String()) {
			if rawjson.Member([]byte(line), "method") == nil {
				answers[string(rawjson.Member([]byte(line), "id"))]++
			}
		}
		for i := range n {
			if got := answers[fmt.Sprint(i)]; got != 1 {
				rt.Errorf("request %d of %d got %d answers", i, n, got)
			}
		}
		if answers[`"init"`] != 1 || len(answers) != n+1 {
			rt.Errorf("answers: %v", answers)
		}
	})
}

// mortal is a daemon that answers two of three requests at once and never the third. It dies after some lines, in the middle of the next.
// The last daemon answers every request.
func mortal(lines int) func(net.Conn, *rpc.Lines) {
	return func(conn net.Conn, l *rpc.Lines) {
		for i := range lines {
			line, err := l.Next()
			if err != nil {
				return
			}
			id := rawjson.Member(line, "id")
			if id == nil || (lines < 1<<30 && i%3 == 2) {
				continue
			}
			if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id); err != nil {
				return
			}
		}
	}
}
