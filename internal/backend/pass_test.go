package backend

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func TestCancelReachesTheServer(t *testing.T) {
	revisions(t, func(t *testing.T, version string, s Server) {
		if version == modernVersion && s.URL != "" {
			return // the SDK's server goes on when its stream is closed; TestHTTPCancel sees the end of the stream
		}
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		if err := p.Learn(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		e := p.entry("s")
		short, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() {
			_, _, err := p.Do(short, scopeOf("ann"), "s", "tools/call", []byte(`{"name":"hang","arguments":{}}`), nil)
			done <- err
		}()
		waitFor(t, func() bool { return e.conn.calls.busy() == 1 })
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		// The word may overtake the call, which then hangs on; so that it is given up as often as it takes.
		waitFor(t, func() bool {
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, _, _ = p.Do(short, scopeOf("ann"), "s", "tools/call", []byte(`{"name":"hang","arguments":{}}`), nil)
			return textOf(t, tool(ctx, t, p, "ann", "hung", nil)) != "0"
		})
	})
}

func TestProgressHasTheCallersToken(t *testing.T) {
	revisions(t, func(t *testing.T, _ string, s Server) {
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		for _, token := range []string{`"a\u0062c"`, `12345678901234567890`} {
			peer := &person{caps: everything, answer: answers}
			if _, _, err := p.Do(ctx, scopeOf("ann"), "s", "tools/call", []byte(`{"name":"progress","arguments":{},"_meta":{"progressToken":`+token+`}}`), peer); err != nil {
				t.Fatal(err)
			}
			got := peer.notices()
			if len(got) != 3 || !strings.Contains(got[0], `"progressToken":`+token) || !strings.Contains(got[2], `"progress":2`) {
				t.Errorf("%s: notices %q", token, got)
			}
		}
	})
}

func TestLogLevels(t *testing.T) {
	revisions(t, func(t *testing.T, version string, s Server) {
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		for _, c := range []struct{ meta, want string }{
			{`{"io.modelcontextprotocol/logLevel":"error"}`, "error"},
			{`{"io.modelcontextprotocol/logLevel":"debug"}`, "debug info error"},
			{`{"io.modelcontextprotocol/logLevel":"error"}`, "error"}, // the server says more now, for the sake of others
			{`{}`, map[bool]string{true: "", false: "info error"}[version == modernVersion]},
			{`{"io.modelcontextprotocol/logLevel":"info"}`, "info error"},
		} {
			peer := &person{caps: everything, answer: answers}
			if _, _, err := p.Do(ctx, scopeOf("ann"), "s", "tools/call", []byte(`{"name":"log","arguments":{},"_meta":`+c.meta+`}`), peer); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range peer.notices() {
				level := rawjson.TextAt([]byte(strings.TrimPrefix(n, "notifications/message")), "level")
				got = append(got, level)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: lines %q", c.meta, got)
			}
		}
	})
}

// What a server of the modern revision and its client say to one another passes as it is, but for what the protocol makes ours.
func TestModernPassesByteForByte(t *testing.T) {
	const asked = `{"resultType":"input_required","inputRequests":{"q":{"method":"x/unknown","params":{"n":12345678901234567890}}} ,"requestState":"\u0061\/=","x":[1.0]}`
	const retry = `{"name":"t","arguments":{"n":12345678901234567890},"inputResponses":{"q":{"f":1.50e+01}},"requestState":"\u0061\/=","_meta":{` +
		`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"a=b","baggage":"k=v","io.modelcontextprotocol/logLevel":"debug"}}`
	const last = `{"resultType":"complete","content":[{"type":"hologram","x":12345678901234567890}],"_meta":{"traceparent":"00-1"} , "ttlMs":0}`
	f := newWeb(&web{modern: true})
	f.call = func(w http.ResponseWriter, _ *http.Request, id []byte, n int) {
		answerJSON(w, id, []string{asked, last}[n-1])
	}
	p := newPool(t, Options{Version: "1"}, Server{Name: "s", URL: serveHTTP(t, f)})
	peer := &person{caps: `{"elicitation":{"url":{}},"x" : 12345678901234567890}`}
	for i, params := range []string{`{"name":"t"}`, retry} {
		result, _, err := p.Do(testContext(t), scopeOf("ann"), "s", "tools/call", []byte(params), peer)
		if want := []string{asked, last}[i]; err != nil || string(result) != want {
			t.Errorf("%s, %v", result, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	want := strings.TrimSuffix(retry, "}}") + `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mycelium","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + peer.caps + `}}`
	if got := f.bodies[len(f.bodies)-1]; !strings.Contains(got, want) {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
}

func TestMethodsOfExtensions(t *testing.T) {
	f := newWeb(&web{modern: true})
	f.other = func(w http.ResponseWriter, m rpc.Message) { answerJSON(w, m.ID, `{"echo":`+string(m.Params)+`}`) }
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	for method, name := range map[string]string{"tasks/get": "task 1", "tasks/update": "task 1", "tasks/cancel": "task 1", "completion/complete": "", "com.example/do": ""} {
		result, rpcErr, err := p.Do(testContext(t), policy.Scope{}, "s", method, []byte(`{"taskId":"task 1","n":12345678901234567890}`), nil)
		if err != nil || !strings.Contains(string(result), `{"echo":{"taskId":"task 1","n":12345678901234567890,`) {
			t.Errorf("%s: %s %s %v", method, result, rpcErr, err)
		}
		heads := f.headers() // among them those of what we ask ourselves
		i := slices.IndexFunc(heads, func(h http.Header) bool { return h.Get("Mcp-Method") == method })
		if i < 0 || heads[i].Get("Mcp-Name") != name {
			t.Errorf("%s: headers %v", method, heads)
		}
	}
}

// request runs a call on a played connection.
func request(t *testing.T, c *conn, r call) <-chan string {
	done := make(chan string, 1)
	go func() {
		result, rpcErr, err := c.request(t.Context(), r)
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
				peers := map[string]*person{}
				for id, who := range []string{"ann", "bob"} {
					peers[who] = &person{caps: everything, answer: func(context.Context, string, []byte) ([]byte, []byte, error) {
						return []byte(`{"asked":"` + who + `"}`), nil, nil
					}}
					done := request(t, c, call{method: "tools/call", principal: who, peer: peers[who], params: []byte(`{"_meta":{"progressToken":"` + who + `"}}`)})
					w.says(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id+1, strings.Replace(result, "T1", "of "+who, 1))
					<-done
				}
				w.says(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"of bob","n":12345678901234567890}}`)
				w.says(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"of nobody"}}`)
				w.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
				if got, want := peers["bob"].notices(), []string{`notifications/tasks/status{"taskId":"of bob","n":12345678901234567890}`}; !slices.Equal(got, want) {
					t.Errorf("bob hears %q", got)
				}
				if got, want := peers["ann"].notices(), []string{`notifications/progress{"progressToken":"ann","progress":1}`}; !slices.Equal(got, want) {
					t.Errorf("ann hears %q", got)
				}
				// A question of a task goes to the one who waits for its result.
				a := request(t, c, call{method: "tasks/result", principal: "ann", peer: peers["ann"], params: []byte(`{"taskId":"of ann"}`)})
				b := request(t, c, call{method: "tasks/result", principal: "bob", peer: peers["bob"], params: []byte(`{"taskId":"of bob"}`)})
				w.says(`{"jsonrpc":"2.0","id":70,"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"of ann"}}}}`)
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
			peer := &person{}
			done := request(t, c, call{method: "tools/call", principal: "ann", peer: peer})
			const line = `{"jsonrpc":"2.0","method":"notifications/com.example/x","params":{"n":12345678901234567890}}`
			w.says(line)
			w.says(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`) // which only clients send
			other := request(t, c, call{method: "tools/call", principal: "bob", peer: &person{}})
			w.says(line) // whose is it?
			w.says(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			w.says(`{"jsonrpc":"2.0","id":2,"result":{}}`)
			<-done
			<-other
			if n := len(peer.notices()); declared && n != 1 || !declared && n != 0 {
				t.Errorf("declared %v: %q", declared, peer.notices())
			}
		})
	}
}

func TestElicitationByURLEndsAfterItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		peer := &person{caps: everything, answer: answers}
		done := request(t, c, call{method: "tools/call", principal: "ann", peer: peer})
		w.says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"go","data":{"elicitations":[{"mode":"url","elicitationId":"E1"},{"elicitationId":"E2"}]}}}`)
		if got := <-done; !strings.Contains(got, `"elicitationId":"E2"`) {
			t.Error(got)
		}
		for _, id := range []string{"E2", "E2", "E3"} { // twice, and one that is not known
			w.says(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"%s"}}`, id)
		}
		if got := peer.notices(); !slices.Equal(got, []string{`notifications/elicitation/complete{"elicitationId":"E2"}`}) {
			t.Errorf("notices %q", got)
		}
		for i := range 3 * maxOwners {
			c.calls.mu.Lock()
			c.calls.store(fmt.Sprint(i), owner{peer: peer})
			c.calls.mu.Unlock()
		}
		if n := len(c.calls.owners); n > maxOwners {
			t.Errorf("%d are remembered", n)
		}
	})
}

func TestBatchesOfTheRevisionThatHasThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newWireless()
		c.calls.batches.Store(true)
		peer := &person{caps: everything, answer: answers}
		done := request(t, c, call{method: "tools/call", principal: "ann", peer: peer})
		w.says(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}}, {"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890}},7]`)
		if got := <-done; got != `{"n":12345678901234567890}<nil>` || len(peer.notices()) != 1 || !strings.Contains(w.log(), "9={}") {
			t.Errorf("%s; %q; %s", got, peer.notices(), w.log())
		}
	})
}
