package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/rawjson"
)

// wire is a client that writes lines and reads lines: it sees the very bytes that a server sends.
type wire struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr said
	lines  chan string   // what the server says, in its order
	ended  chan struct{} // its stdout is closed
	closed sync.Once
	id     int
	seen   []string // notifications and requests that await has passed over
}

// said is what a running process has written so far.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// startWire starts a server. It is ended with the test at the latest.
func startWire(t *testing.T, cmd *exec.Cmd) *wire {
	t.Helper()
	w := &wire{t: t, cmd: cmd, lines: make(chan string, 4096), ended: make(chan struct{})}
	var err error
	if w.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &w.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		defer close(w.lines)
		in := bufio.NewReader(stdout)
		for {
			line, err := in.ReadString('\n')
			if line = strings.TrimSpace(line); line != "" {
				w.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { w.close() })
	return w
}

// close ends the client's stream, waits for the server's end and returns how that was.
func (w *wire) close() (err error) {
	w.closed.Do(func() {
		_ = w.stdin.Close()
		select {
		case <-w.ended:
		case <-time.After(20 * time.Second): // a bound, not a pause
			w.t.Errorf("%s does not end when its client does", w.cmd)
			_ = w.cmd.Process.Kill()
			<-w.ended
		}
		if err = w.cmd.Wait(); err != nil {
			err = fmt.Errorf("%w: %s", err, w.stderr.String())
		}
	})
	return err
}

// send writes one line.
func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.stdin, line+"\n"); err != nil {
		w.t.Fatalf("send %s: %v: %s", line, err, w.stderr.String())
	}
}

// request sends a request and returns its id.
func (w *wire) request(method, params string) string {
	w.t.Helper()
	w.id++
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	return fmt.Sprint(w.id)
}

// next is the next line that the server says.
func (w *wire) next() []byte {
	w.t.Helper()
	select {
	case line, ok := <-w.lines:
		if !ok {
			w.t.Fatalf("the server ended: %s", w.stderr.String())
		}
		return []byte(line)
	case <-time.After(60 * time.Second): // a bound, not a pause
		w.t.Fatalf("the server says nothing: %s", w.stderr.String())
	}
	return nil
}

// await returns the answer to a request.
func (w *wire) await(id string) []byte {
	w.t.Helper()
	for {
		line := w.next()
		if rawjson.Member(line, "method") == nil && string(rawjson.Member(line, "id")) == id {
			return line
		}
		w.seen = append(w.seen, string(line))
	}
}

// until returns the next notification of a method.
func (w *wire) until(method string) []byte {
	w.t.Helper()
	for {
		for i, line := range w.seen {
			if is(line, method) {
				w.seen = append(w.seen[:i:i], w.seen[i+1:]...)
				return []byte(line)
			}
		}
		w.seen = append(w.seen, string(w.next()))
	}
}

func is(line, method string) bool {
	got, ok := rawjson.Text(rawjson.Member([]byte(line), "method"))
	return ok && got == method
}

// ask sends a request and returns the raw result; the test fails on an error.
func (w *wire) ask(method, params string) []byte {
	w.t.Helper()
	line := w.await(w.request(method, params))
	result := rawjson.Member(line, "result")
	if result == nil {
		w.t.Fatalf("%s %s: %s", method, params, line)
	}
	return result
}

// refused sends a request and returns the raw error; the test fails on a result.
func (w *wire) refused(method, params string) string {
	w.t.Helper()
	line := w.await(w.request(method, params))
	e := rawjson.Member(line, "error")
	if e == nil {
		w.t.Fatalf("%s %s is answered: %s", method, params, line)
	}
	return string(e)
}

// hello opens the connection as a client of a revision.
func (w *wire) hello(version string) *wire {
	w.t.Helper()
	got := w.ask("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"wire","version":"1"}}`, version))
	if !bytes.Contains(got, []byte(`"`+version+`"`)) {
		w.t.Fatalf("initialize %s: %s", version, got)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

// names are the values of one member of the entries of a list.
func (w *wire) names(method, list, key string) []string {
	w.t.Helper()
	var out []string
	for _, entry := range elements(w.t, rawjson.Member(w.ask(method, `{}`), list)) {
		name, ok := rawjson.Text(rawjson.Member(entry, key))
		if !ok {
			w.t.Fatalf("%s: an entry without %s: %s", method, key, entry)
		}
		if !strings.HasPrefix(name, "mycelium-") {
			out = append(out, name)
		}
	}
	return out
}
