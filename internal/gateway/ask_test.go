package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/gate/control"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/rawjson"
)

const (
	elicit   = `{"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object"}}}`
	askOnce  = `{"asks":{"a":` + elicit + `}}`
	inputTwo = `{"rounds":2,"request":` + elicit + `}`
)

// asking is a modern call of a client that can be asked. more is added to the params.
func asking(id int, name, args, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,`+
		`%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
		id, name, args, more)
}

func stateOf(t testing.TB, answer string) string {
	t.Helper()
	state, ok := rawjson.Text(rawjson.Path([]byte(answer), "result", "requestState"))
	if !ok {
		t.Fatalf("no requestState: %s", answer)
	}
	return state
}

func retry(state, answers string) string {
	return fmt.Sprintf(`"requestState":%q,"inputResponses":%s,`, state, answers)
}

// A call with questions and retries is one call in the audit: each round has a decision, and the call one outcome, or none without a retry.
func TestContinuationsInTheAudit(t *testing.T) {
	b := newWorld(t)
	p := dial(t, b.server(Options{}), b.open("guest"))
	for i, tool := range []string{"docs__ask", "docs__input"} {
		args := []string{askOnce, strings.Replace(inputTwo, "2", "1", 1)}[i]
		key := []string{"ask1", "k0"}[i]
		first := p.ask(asking(1, tool, args, ""))
		records := callRecords(t, b, tool)
		if len(records) != 1 || records[0].Kind != "decision" {
			t.Fatalf("%s: an answer that asks for input is no outcome: %+v", tool, records)
		}
		p.ask(asking(2, tool, args, retry(stateOf(t, first), `{"`+key+`":{"action":"accept"}}`)))
		records = callRecords(t, b, tool)
		if len(records) != 3 || records[1].Note != "continuation" || records[2].Kind != "outcome" || records[2].Outcome != "ok" ||
			records[0].ID != records[1].ID || records[0].ID != records[2].ID {
			t.Errorf("%s: %+v", tool, records)
		}
		// The same once more, replayed: refused, and recorded as an attempt of its own.
		answer := p.ask(asking(3, tool, args, retry(stateOf(t, first), `{"`+key+`":{"action":"accept"}}`)))
		records = callRecords(t, b, tool)
		last := records[len(records)-1]
		if !strings.Contains(answer, "no longer open") || len(records) != 4 || last.Effect != "deny" || last.ID == records[0].ID {
			t.Errorf("%s: replayed: %s %+v", tool, answer, records)
		}
	}
}

type callRecord struct {
	ID, Kind, Effect, Note, Outcome, Tool, Reason, Error string
}

func callRecords(t testing.TB, b *world, tool string) (found []callRecord) {
	t.Helper()
	for line := range strings.Lines(readAll(t, b.log.Dir)) {
		var r callRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Tool == tool {
			found = append(found, r)
		}
	}
	return found
}

// A retry is decided with the scope of its own time: a tool that is gone by then is unknown, and the call ends.
func TestContinuationIsDecidedAgain(t *testing.T) {
	b := newWorld(t)
	sess := b.open("developer", "guest")
	p := dial(t, b.server(Options{}), sess)
	first := p.ask(asking(1, "docs__ask", askOnce, ""))
	second := p.ask(asking(2, "docs__input", inputTwo, ""))
	b.Swap(compile(t, t.TempDir(), control.Definitions())) // no server is left
	for i, a := range []struct{ tool, args, state string }{
		{"docs__ask", askOnce, stateOf(t, first)}, {"docs__input", inputTwo, stateOf(t, second)},
	} {
		got := p.ask(asking(3+i, a.tool, a.args, retry(a.state, `{"ask1":{},"k0":{}}`)))
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"Unknown tool: %s"}}`, 3+i, a.tool); got != want {
			t.Errorf("got %s", got)
		}
	}
	if why := <-b.ended; !strings.Contains(why, "Unknown tool") {
		t.Errorf("the server that waited was told %q", why)
	}
}

// A requestState is valid only for the session that got it.
func TestStateOfAnotherSession(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	p, q := dial(t, s, b.open("guest")), dial(t, s, b.open("guest"))
	for i, a := range []struct{ tool, args string }{{"docs__ask", askOnce}, {"docs__input", inputTwo}} {
		state := stateOf(t, p.ask(asking(i, a.tool, a.args, "")))
		if got := q.ask(asking(i, a.tool, a.args, retry(state, `{"ask1":{}}`))); !strings.Contains(got, "belongs to another session") {
			t.Errorf("%s: %s", a.tool, got)
		}
	}
}

// A server that waits for a client which does not come back is told so after ten minutes.
func TestParkedCallsEnd(t *testing.T) {
	for _, how := range []string{"time", "session", "close"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newWorld(t)
				sess := b.open("guest")
				s := b.server(Options{})
				p := dial(t, s, sess)
				state := stateOf(t, p.ask(asking(1, "docs__ask", askOnce, "")))
				want := ""
				switch how {
				case "time":
					time.Sleep(gate.Patience + time.Second)
					want = "the client did not answer in time"
				case "session":
					if err := b.Sessions.End(t.Context(), sess.ID); err != nil {
						t.Fatal(err)
					}
					want = mcpserver.ErrEnded.Error()
				case "close":
					s.Close()
					want = "context canceled"
				}
				if why := <-b.ended; why != want {
					t.Errorf("the server was told %q, want %q", why, want)
				}
				synctest.Wait()
				if how == "time" {
					if got := p.ask(asking(2, "docs__ask", askOnce, retry(state, `{"ask1":{}}`))); !strings.Contains(got, "expired") {
						t.Errorf("got %s", got)
					}
				}
			})
		})
	}
}

// A session can park at most 64 calls.
func TestParkedCallsAreBounded(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	p := dial(t, s, b.open("guest"))
	for _, a := range []struct{ tool, args, want string }{
		{"docs__ask", askOnce, "too many calls of this session wait for their client already"}, {"docs__input", inputTwo, "too many calls of " +
			"this session wait for input"},
	} {
		for i := range 64 {
			stateOf(t, p.ask(asking(i, a.tool, a.args, "")))
		}
		if got := p.ask(asking(1000, a.tool, a.args, "")); !strings.Contains(got, a.want) {
			t.Errorf("%s: %s", a.tool, got)
		}
		other := dial(t, s, b.open("guest"))
		stateOf(t, other.ask(asking(1, a.tool, a.args, ""))) // other sessions are not affected
	}
}

// Over HTTP the question comes on the stream of the call's own POST, and is answered by a POST of the same link: an answer of another
// link, or with another credential, settles nothing.
func TestAskOverHTTP(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	w, other := newWebOf(t, b, s), newWebOf(t, b, s)
	w.initializeWith(`{"elicitation":{}}`)
	other.initializeWith(`{"elicitation":{}}`)
	res := w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"docs__ask",`+
		`"arguments":`+askOnce+`}}`)
	defer res.Body.Close()
	next := events(t, res.Body)
	question := next()
	if got := string(question.Data); !strings.Contains(got, `"id":1,"method":"elicitation/create"`) {
		t.Fatalf("got %s", got)
	}
	answer := func(w *web, name string, session ...string) int {
		res := w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept",`+
			`"content":{"name":"`+name+`"}}}`, session...)
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	if code := answer(other, "Mallory"); code != http.StatusAccepted {
		t.Errorf("an answer of another link: %d", code)
	}
	if code := answer(other, "Mallory", headerSession, w.link); code != http.StatusNotFound {
		t.Errorf("an answer with another credential: %d", code)
	}
	if code := answer(w, "Ada"); code != http.StatusAccepted {
		t.Errorf("the answer: %d", code)
	}
	if got := string(next().Data); !strings.Contains(got, "Ada") || strings.Contains(got, "Mallory") {
		t.Errorf("got %s", got)
	}
}

// When a client ends, its open questions end.
func TestAskEndsWithItsClient(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{})
	w := newWebOf(t, b, s)
	w.initializeWith(`{"elicitation":{}}`)
	res := w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"docs__ask",`+
		`"arguments":`+askOnce+`}}`)
	defer res.Body.Close()
	events(t, res.Body)()
	w.do(t.Context(), http.MethodDelete, "").Body.Close()
	if why := <-b.ended; why != "context canceled" {
		t.Errorf("the server was told %q", why)
	}
	p := dial(t, s, b.open("guest"))
	p.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},` +
		`"clientInfo":{"name":"t","version":"1"}}}`)
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"docs__ask","arguments":` + askOnce + `}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := p.recv(); got != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` {
		t.Errorf("the client was not told that the question is withdrawn: %s", got)
	}
	<-b.ended
}

// A client that lost the stream with its questions has a minute to resume it.
func TestAskEndsWithItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorld(t)
		s := newStream("1", nil)
		l := b.link(t, b.server(Options{}), b.open("guest"), v20250618, `{"roots":{}}`)
		l.Send, l.Gone = s.send, s.abandoned
		asked := make(chan error, 1)
		go func() { _, _, err := l.Ask(t.Context(), "roots/list", nil); asked <- err }()
		s.join()
		s.join() // it resumes, and the old connection is found dead later
		s.leave()
		time.Sleep(2 * graceTime)
		s.leave()
		time.Sleep(graceTime / 2)
		s.join()
		time.Sleep(2 * graceTime)
		select {
		case err := <-asked:
			t.Fatalf("ended while it was followed: %v", err)
		default:
		}
		s.leave()
		if err := <-asked; err == nil || err.Error() != "the client went away" {
			t.Errorf("got %v", err)
		}
	})
}
