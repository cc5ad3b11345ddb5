package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"mycelium/internal/backend/mcpclient/peertest"
)

// request runs a call on a played connection.
func request(t *testing.T, c *Conn, r Call) <-chan string {
	done := make(chan string, 1)
	go func() {
		result, rpcErr, err := c.Request(t.Context(), r)
		done <- fmt.Sprintf("%s%s%v", result, rpcErr, err)
	}()
	synctest.Wait()
	return done
}

func TestTasksOutliveTheirCall(t *testing.T) {
	for name, result := range map[string]string{
		"2025-11-25": `{"task":{"taskId":"T1","status":"working"}}`,
		"extension":  `{"resultType":"task","taskId":"T1","status":"working"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, w := newWireless()
				c.calls.extended.Store(true)
				peers := map[string]*peertest.Person{}
				for id, who := range []string{"ann", "bob"} {
					peers[who] = &peertest.Person{Caps: peertest.Everything, Answer: func(context.Context, string, []byte) ([]byte, []byte, error) {
						return []byte(`{"asked":"` + who + `"}`), nil, nil
					}}
					done := request(t, c, Call{Method: "tools/call", Principal: who, Peer: peers[who],
						Params: []byte(`{"_meta":{"progressToken":"` + who + `"}}`)})
					w.says(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id+1, strings.Replace(result, "T1", "of "+who, 1))
					<-done
				}
				w.says(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"of bob","n":12345678901234567890}}`)
				w.says(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"of nobody"}}`)
				w.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
				if got, want := peers["bob"].Notices(),
					[]string{`notifications/tasks/status{"taskId":"of bob","n":12345678901234567890}`}; !slices.Equal(got, want) {
					t.Errorf("bob hears %q", got)
				}
				if got, want := peers["ann"].Notices(), []string{`notifications/progress{"progressToken":"ann","progress":1}`}; !slices.Equal(got,
					want) {
					t.Errorf("ann hears %q", got)
				}
				// A question of a task goes to the one who waits for its result.
				a := request(t, c, Call{Method: "tasks/result", Principal: "ann", Peer: peers["ann"], Params: []byte(`{"taskId":"of ann"}`)})
				b := request(t, c, Call{Method: "tasks/result", Principal: "bob", Peer: peers["bob"], Params: []byte(`{"taskId":"of bob"}`)})
				w.says(`{"jsonrpc":"2.0","id":70,"method":"elicitation/create",` +
					`"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"of ann"}}}}`)
				synctest.Wait()
				w.says(`{"jsonrpc":"2.0","id":3,"result":{}}`)
				w.says(`{"jsonrpc":"2.0","id":4,"result":{}}`)
				if got := <-a + <-b; got != "{}<nil>{}<nil>" || !strings.Contains(w.log(), `70={"asked":"ann"}`) {
					t.Errorf("%s; %s", got, w.log())
				}
			})
		})
	}
}

func TestNotificationsOfExtensions(t *testing.T) {
	for _, declared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, w := newWireless()
			c.calls.extended.Store(declared)
			peer := &peertest.Person{}
			done := request(t, c, Call{Method: "tools/call", Principal: "ann", Peer: peer})
			const line = `{"jsonrpc":"2.0","method":"notifications/com.example/x","params":{"n":12345678901234567890}}`
			w.says(line)
			w.says(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`) // which only clients send
			other := request(t, c, Call{Method: "tools/call", Principal: "bob", Peer: &peertest.Person{}})
			w.says(line) // soleCall is it?
			w.says(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			w.says(`{"jsonrpc":"2.0","id":2,"result":{}}`)
			<-done
			<-other
			if n := len(peer.Notices()); declared && n != 1 || !declared && n != 0 {
				t.Errorf("declared %v: %q", declared, peer.Notices())
			}
		})
	}
}

func TestElicitationByURLEndsAfterItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		peer := &peertest.Person{Caps: peertest.Everything, Answer: peertest.Answers}
		done := request(t, c, Call{Method: "tools/call", Principal: "ann", Peer: peer})
		w.says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"go","data":{"elicitations":[{"mode":"url","elicitationId":"E1"},` +
			`{"elicitationId":"E2"}]}}}`)
		if got := <-done; !strings.Contains(got, `"elicitationId":"E2"`) {
			t.Error(got)
		}
		for _, id := range []string{"E2", "E2", "E3"} { // twice, and one that is not known
			w.says(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"%s"}}`, id)
		}
		if got := peer.Notices(); !slices.Equal(got, []string{`notifications/elicitation/complete{"elicitationId":"E2"}`}) {
			t.Errorf("notices %q", got)
		}
		for i := range 3 * maxRecipients {
			c.calls.mu.Lock()
			c.calls.addRecipient(fmt.Sprint(i), recipient{peer: peer})
			c.calls.mu.Unlock()
		}
		if n := len(c.calls.recipients); n > maxRecipients {
			t.Errorf("%d are remembered", n)
		}
	})
}

func TestBatchesOfTheRevisionThatHasThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		c.calls.batches.Store(true)
		peer := &peertest.Person{Caps: peertest.Everything, Answer: peertest.Answers}
		done := request(t, c, Call{Method: "tools/call", Principal: "ann", Peer: peer})
		w.says(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}}, ` +
			`{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890}},7]`)
		if got := <-done; got != `{"n":12345678901234567890}<nil>` || len(peer.Notices()) != 1 || !strings.Contains(w.log(), "9={}") {
			t.Errorf("%s; %q; %s", got, peer.Notices(), w.log())
		}
	})
}
