package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// asked makes a request that a handler is given without a network, so that a test sees what the handler holds while the body comes.
func (w *web) asked(body io.Reader, length int64) *http.Request {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url, body)
	r.ContentLength = length
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// TestHalfBodiesHoldNothing: 1,200 bodies of 4 MiB are announced, and 200 bytes of each come. What is held is for the bytes that came
// (T19: the declared lengths are 4.7 GiB).
func TestHalfBodiesHoldNothing(t *testing.T) {
	w := newWeb(t, Options{})
	const bodies = 1200
	ends := make([]*io.PipeWriter, bodies)
	done := make(chan int, bodies)
	for i := range bodies {
		in, end := io.Pipe()
		ends[i] = end
		go func() {
			answer := httptest.NewRecorder()
			w.server.Handler().ServeHTTP(answer, w.asked(in, 4<<20))
			done <- answer.Code
		}()
		if _, err := end.Write(make([]byte, 200)); err != nil { // returns when it was read
			t.Fatal(err)
		}
	}
	if now, peak := w.server.memory.Used(); now < bodies*200 || peak > bodies*8<<10 {
		t.Errorf("%d bytes are held for 1,200 bodies of which 200 bytes came, at most %d", now, peak)
	}
	for _, end := range ends {
		end.CloseWithError(io.ErrUnexpectedEOF)
	}
	for range bodies {
		if code := <-done; code != http.StatusBadRequest {
			t.Fatalf("a body that ended early got %d", code)
		}
	}
	if now, _ := w.server.memory.Used(); now != 0 {
		t.Errorf("%d bytes are held in the end", now)
	}
}

// TestBusyBody: a body for which there is no memory is refused for now, and one of another session is not.
func TestBusyBody(t *testing.T) {
	w := newWeb(t, Options{Memory: rpc.NewMemory(1 << 20)})
	hog := w.server.memory.Claim(w.session.ID)
	for hog.Hold(16<<10) == nil {
	}
	res := w.do(t.Context(), http.MethodPost, modernCall("1", "docs__echo", "{}"), headerVersion, v20260728)
	var e []byte
	if said := bodyOf(t, res.Body); res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "1" {
		e = rawjson.Member([]byte(said), "error")
	}
	if code := rpc.ErrorOf(e).Code; code != rpc.CodeBusy || string(rawjson.Path(e, "data", "retryAfterMs")) != "1000" {
		t.Errorf("%s %s", res.Status, e)
	}
	_, w.token = w.world.mint("guest")
	if reply := w.call("docs__echo", "{}"); rawjson.Member(reply, "result") == nil {
		t.Errorf("another session: %s", reply)
	}
	hog.Release()
}

// call calls a tool as a modern client, and returns the answer.
func (w *web) call(tool, arguments string) []byte {
	w.t.Helper()
	res := w.do(w.t.Context(), http.MethodPost, modernCall("1", tool, arguments), headerVersion, v20260728, headerMethod, "tools/call",
		headerName, tool)
	return []byte(bodyOf(w.t, res.Body))
}

// TestBusyAnswer: an answer for which there is no memory is an error that says that the call ran, over HTTP and over stdio.
func TestBusyAnswer(t *testing.T) {
	w := newWeb(t, Options{Memory: rpc.NewMemory(1 << 20)})
	long := `{"text":"` + strings.Repeat("x", 450<<10) + `"}`
	for _, more := range []string{"", `,"progressToken":1`} { // as JSON, and as a stream
		call := strings.Replace(modernCall("1", "docs__echo", long), `"_meta":{`, `"_meta":{`+strings.TrimPrefix(more, ",")+",", 1)
		if more == "" {
			call = modernCall("1", "docs__echo", long)
		}
		res := w.do(t.Context(), http.MethodPost, call, headerVersion, v20260728, headerMethod, "tools/call", headerName, "docs__echo")
		said := bodyOf(t, res.Body)
		if res.StatusCode != http.StatusOK || !strings.Contains(said, `"code":503`) || !strings.Contains(said, "The call did run") {
			t.Errorf("%s %.300s", res.Status, said)
		}
	}
	w.world.mu.Lock()
	ran := len(w.world.calls)
	w.world.mu.Unlock()
	if ran != 2 {
		t.Errorf("%d calls ran", ran)
	}
	p := dial(t, w.server, w.session)
	p.initialize(v20250618)
	said := p.ask(`{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"docs__echo","arguments":` + long + `}}`)
	if !strings.Contains(said, `"id":"long"`) || !strings.Contains(said, `"code":503`) {
		t.Errorf("over stdio: %.300s", said)
	}
	said = p.ask(`{"jsonrpc":"2.0","id":"short","method":"tools/call","params":{"name":"docs__echo","arguments":{}}}`)
	if !strings.Contains(said, `"result"`) {
		t.Errorf("over stdio, afterwards: %.300s", said)
	}
}

// TestLinksOfOneSession: handshakes without end take links from their own session only, the oldest idle one first.
func TestLinksOfOneSession(t *testing.T) {
	w := newWeb(t, Options{})
	w.initialize()
	first := w.link
	stream := w.do(t.Context(), http.MethodGet, "", "Accept", "text/event-stream") // it is in use
	w.link = ""
	w.initialize()
	idle := w.link
	other := newWebOf(t, w.world, w.server)
	other.initialize()
	for range maxSessionLinks {
		w.link = ""
		w.initialize()
	}
	ping := func(w *web, link string) int {
		w.link = link
		return w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`).StatusCode
	}
	if last := w.link; ping(w, last) != http.StatusOK || ping(w, first) != http.StatusOK || ping(other, other.link) != http.StatusOK {
		t.Error("a link that is new, in use, or of another session is gone")
	}
	if ping(w, idle) != http.StatusNotFound {
		t.Error("the oldest idle link is not gone")
	}
	if n := len(w.server.links.byID); n != maxSessionLinks+1 {
		t.Errorf("%d links", n)
	}
	stream.Body.Close()
}

// TestHandshakesArePaced: a session that has all its links shakes hands no faster than they give way.
func TestHandshakesArePaced(t *testing.T) {
	l, now := &links{bySession: map[string]map[*httpLink]struct{}{"a": {}}}, time.Now()
	for range maxSessionLinks {
		if wait := l.turn("a", now); wait != 0 {
			t.Fatalf("with %d links: %v", len(l.bySession["a"]), wait)
		}
		l.bySession["a"][&httpLink{}] = struct{}{}
	}
	for i := range 10 {
		if wait := l.turn("a", now); wait != time.Duration(i)*paceTime {
			t.Errorf("handshake %d waits %v", i, wait)
		}
	}
	if wait := l.turn("b", now); wait != 0 {
		t.Errorf("another session waits %v", wait)
	}
	if wait := l.turn("a", now.Add(time.Hour)); wait != 0 {
		t.Errorf("after an hour: %v", wait)
	}
}

// TestPlaces: the requests of one session have so many places; those of another have their own.
func TestPlaces(t *testing.T) {
	var p places
	var leaves []func()
	for range maxOpen {
		leave, ok := p.enter(t.Context(), "a")
		if !ok {
			t.Fatal("no place")
		}
		leaves = append(leaves, leave)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := p.enter(gone, "a"); ok {
		t.Error("one more got a place")
	}
	leave, ok := p.enter(t.Context(), "b")
	if !ok {
		t.Fatal("no place for another session")
	}
	leave()
	for _, leave := range leaves {
		leave()
	}
	if len(p.by) != 0 {
		t.Errorf("%d sessions are left", len(p.by))
	}
}

// TestFinishedStreamsGiveWay: a link keeps what a client may come back for, and forgets long answers after a minute.
func TestFinishedStreamsGiveWay(t *testing.T) {
	m := rpc.NewMemory(1 << 20)
	s := newStream("1", m.Claim("a"))
	s.join()
	s.answer(rpc.Message{ID: []byte("1"), Result: fmt.Appendf(nil, `"%s"`, strings.Repeat("x", 100<<10))})
	s.leave()
	if now, _ := m.Used(); now < 80<<10 || s.grace == nil {
		t.Fatalf("%d bytes are held for an answer of 100 KiB", now)
	}
	s.grace.Stop()
	s.forget()
	if now, _ := m.Used(); now != 0 || s.keeps(-1) {
		t.Errorf("%d bytes are held after the minute", now)
	}
}
