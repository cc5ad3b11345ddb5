package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// told is a client that only listens; nil: nobody.
func told(notify func(string, []byte)) mcpclient.Peer {
	if notify == nil {
		return nil
	}
	return listener(notify)
}

type listener func(method string, params []byte)

func (l listener) Capabilities() []byte                { return nil }
func (l listener) Notify(method string, params []byte) { l(method, params) }
func (l listener) Ask(context.Context, string, []byte) (result, rpcErr []byte, err error) {
	return nil, nil, errors.New("nobody is there")
}

// ask calls the one tool of a fake.
func ask(ctx context.Context, t testing.TB, p *Pool, server string, notify func(string, []byte)) (string, error) {
	t.Helper()
	result, rpcErr, err := p.Do(ctx, policy.Scope{}, "", server, "tools/call", []byte(`{"name":"t","arguments":{}}`), told(notify))
	if rpcErr != nil {
		t.Errorf("error %s", rpcErr)
	}
	return string(result), err
}

// textOf is the text of a result's first content.
func textOf(t testing.TB, result string) string {
	t.Helper()
	list, _ := rawjson.List(rawjson.Member([]byte(result), "content"))
	if len(list) == 0 {
		t.Fatalf("result %s", result)
	}
	return rawjson.TextAt(list[0], "text")
}

func TestResultsPassByteForByte(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "good"))
	ctx := testContext(t)
	got, err := ask(ctx, t, p, "s", nil)
	if err != nil || got != fakeResult {
		t.Errorf("result %s, %v", got, err)
	}
	result, rpcErr, err := p.Do(ctx, policy.Scope{}, "", "s", "no/such", nil, nil)
	if err != nil || result != nil || string(rpcErr) != `{"code":-32601,"message":"no","data":{"method":"no/such"}}` {
		t.Errorf("error %s, %v", rpcErr, err)
	}
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if defs := p.Catalog().Definitions; len(defs) != 1 || string(defs[0].Raw) != fakeTool {
		t.Errorf("definitions %v", defs)
	}
}

func TestServersThatMisbehaveStillAnswer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"garbage", "wrong-ids", "twice", "floods-stderr"} {
		t.Run(mode, func(t *testing.T) {
			p := newPool(t, Options{}, play(t, "s", "play-fake", mode))
			for range 3 {
				if got, err := ask(testContext(t), t, p, "s", nil); err != nil || got != fakeResult {
					t.Fatalf("result %s, %v", got, err)
				}
			}
		})
	}
}

func TestAnswersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"malformed": "its answer is not valid: invalid request: a member name appears twice in one object",
		"huge":      "its answer is longer than 16 MiB",

		"huge-no-id":      "its answer is longer than 16 MiB",
		"deep":            "its answer is not valid: invalid request: it is nested more than 1000 deep",
		"deep-unanswered": "its answer is not valid: invalid request: it is nested more than 1000 deep",
		"deep-no-id":      "its answer is not valid: invalid request: it is nested more than 1000 deep",
		"only-wrong-id":   "it answered with the id 77777, and the id of the call is 3",
		"id-as-text":      `it answered with the id "3", and the id of the call is 3`,
	} {
		t.Run(mode, func(t *testing.T) {
			p := newPool(t, Options{}, play(t, "s", "play-fake", mode))
			ctx := testContext(t)
			if err := p.Learn(ctx, "s"); err != nil { // whose answer is too long is known only when no other is waited for
				t.Fatal(err)
			}
			_, err := ask(ctx, t, p, "s", nil)
			if err == nil || err.Error() != `server "s": tools/call failed: `+want {
				t.Errorf("error %v", err)
			}
			if s := p.Status()[0]; s.State != StateReady {
				t.Errorf("state %+v", s)
			}
		})
	}
}

// TestAnswersThatNoCallWaitsFor: the log and the status of the server name them, and the call that waits in vain is told.
func TestAnswersThatNoCallWaitsFor(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct{ log, late string }{
		"wrong-ids": {`an answer with the id 999 came, and no call waits for it`, ""},
		"twice":     {`an answer with the id 3 came, and no call waits for it`, ""},
		"null-id":   {`an answer with the id null came, and no call waits for it`, "; meanwhile an answer with the id null came, and no call waits for it"},
	} {
		t.Run(mode, func(t *testing.T) {
			s := play(t, "s", "play-fake", mode)
			s.Timeout = Duration(2 * time.Second)
			p := newPool(t, Options{Logs: t.TempDir()}, s)
			ctx := testContext(t)
			if err := p.Learn(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			if _, err := ask(ctx, t, p, "s", nil); err == nil != (want.late == "") || err != nil && !strings.HasSuffix(err.Error(), want.late) {
				t.Errorf("the call: %v", err)
			}
			waitFor(t, func() bool { return p.Status()[0].Unmatched > 0 })
			text, err := os.ReadFile(p.Status()[0].Log)
			if err != nil || !strings.Contains(string(text), want.log) {
				t.Errorf("log %q, %v", text, err)
			}
		})
	}
}

func TestHugeAnswerEndsItsOwnCallOnly(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "huge-among"))
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	send := func(args string) (string, error) {
		result, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t","arguments":`+args+`}`), nil)
		return string(result), err
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if got, err := send(`{"hold":1}`); got != fakeResult || err != nil {
			t.Error(got, err)
		}
	})
	waitFor(t, func() bool { return p.entry("s").conn.Busy() == 1 })
	for _, args := range []string{`{"huge":1}`, `{"huge":2}`} {
		if _, err := send(args); err == nil || !strings.Contains(err.Error(), "its answer is longer than 16 MiB") {
			t.Errorf("%s: %v", args, err)
		}
	}
	if got, err := send(`{}`); got != "{}" || err != nil {
		t.Error(got, err)
	}
	wg.Wait()
}

func TestServerThatDies(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	s := play(t, "s", "play-fake", "dies", starts)
	s.Env = map[string]string{"TOKEN": "${SECRET_TOKEN}"}
	p := newPool(t, Options{Environ: []string{"SECRET_TOKEN=s3cr3t-value"}}, s)
	ctx := testContext(t)
	for range 2 { // the next need starts it again
		_, err := ask(ctx, t, p, "s", nil)
		if err == nil || !strings.Contains(err.Error(), "tools/call failed: it ended (exit status 7); its stderr ends with: out of memory "+
			"while holding ${SECRET_TOKEN}") {
			t.Fatalf("error %v", err)
		}
	}
	if n := countLines(t, starts); n != 2 {
		t.Errorf("%d starts", n)
	}
	waitFor(t, func() bool { return p.Status()[0].State == StateFailed })
	if st := p.Status()[0]; strings.Contains(st.Error, "s3cr3t") || !strings.Contains(st.Error, "exit status 7") {
		t.Errorf("status %+v", st)
	}
}

func countLines(t testing.TB, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// waitFor waits until something is so. It polls: what it looks at has no channel to wait on.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("what was waited for did not happen")
		}
	}
}

func TestServerThatClosesItsOutput(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "mute"))
	_, err := ask(testContext(t), t, p, "s", nil)
	if err == nil || !strings.Contains(err.Error(), "it closed its standard output") {
		t.Errorf("error %v", err)
	}
}

func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "deaf")
	s.Timeout = Duration(300 * time.Millisecond)
	p := newPool(t, Options{}, s)
	_, err := ask(testContext(t), t, p, "s", nil)
	if err == nil || err.Error() != `server "s": it did not answer tools/call within 300ms` {
		t.Errorf("error %v", err)
	}
}

func TestStartTimeout(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	s := play(t, "s", "play-fake", "silent", starts)
	s.Start = Duration(2 * time.Second) // enough for the program to speak, also under the race detector
	s.Env = map[string]string{"TOKEN": "${SECRET_TOKEN}"}
	p := newPool(t, Options{Environ: []string{"SECRET_TOKEN=s3cr3t-value"}}, s)
	clock := time.Now()
	p.now = func() time.Time { return clock }
	ctx := testContext(t)
	const want = `server "s": it was not ready within 2s; its stderr ends with: the token is ${SECRET_TOKEN}`
	var wg sync.WaitGroup
	for range 8 { // one start for all
		wg.Go(func() {
			if err := p.Start(ctx, []string{"s"}); err == nil || err.Error() != want {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	const again = `server "s": it did not start and is not started again before `
	if err := p.Start(ctx, []string{"s"}); err == nil || !strings.HasPrefix(err.Error(), again) ||
		!strings.HasSuffix(err.Error(), "the token is ${SECRET_TOKEN}") {
		t.Errorf("error %v", err)
	}
	if n := countLines(t, starts); n != 1 {
		t.Errorf("%d starts", n)
	}
	clock = clock.Add(backoffMin)
	if err := p.Start(ctx, []string{"s"}); err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
	if n := countLines(t, starts); n != 2 {
		t.Errorf("%d starts", n)
	}
	if st := p.Status()[0]; st.State != StateFailed || "server \"s\": "+st.Error != want {
		t.Errorf("status %+v", st)
	}
}

func TestProgramThatIsNoServer(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "not-a-server")
	s.Env = map[string]string{"TOKEN": "literal-secret"}
	p := newPool(t, Options{}, s)
	err := p.Start(testContext(t), []string{"s"})
	if err == nil || !strings.Contains(err.Error(),
		"it ended (exit status 2); its stderr ends with: frobnicate: no file, and secret [TOKEN]") {
		t.Errorf("error %v", err)
	}
}

func TestCancelIsToldAndTheLateAnswerIgnored(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "late"))
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	first, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := ask(first, t, p, "s", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	waitFor(t, func() bool { // the notification is not waited for, so that a later call may overtake it
		got, err := ask(ctx, t, p, "s", nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(textOf(t, got), `notifications/cancelled{"requestId":3,"reason":"the caller went away"}`)
	})
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "late")
	s.Timeout = Duration(100 * time.Millisecond)
	p := newPool(t, Options{}, s)
	_, err := ask(testContext(t), t, p, "s", nil)
	if err == nil || err.Error() != `server "s": it did not answer tools/call within 100ms` {
		t.Errorf("error %v", err)
	}
}

func TestNotificationsOfACall(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "logs"))
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{`"a\u0062c"`, `12345678901234567890`} {
		var got []string
		result, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t","_meta":{"progressToken":`+token+`,"k":1}}`),
			listener(func(method string, params []byte) { got = append(got, method+string(params)) }))
		if err != nil || string(result) != fakeResult {
			t.Fatal(string(result), err)
		}
		want := []string{
			`notifications/message{"level":"info","data":"hello"}`,
			`notifications/progress{"progress":0.5,"progressToken":` + token + `,"x":1}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("notifications %q", got)
		}
	}
}

func TestParamsTowardsOldServers(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "params"))
	for in, want := range map[string]string{
		`{"name":"t", "arguments":{"x":1.0}}`: `{"name":"t", "arguments":{"x":1.0}}`,
		`{"name":"t","_meta":{"a":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},` +
			`"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}`: `{"name":"t","_meta":{"a":1}}`,
		`{"name":"t","_meta":7}`: `{"name":"t","_meta":7}`,
	} {
		result, _, err := p.Do(testContext(t), policy.Scope{}, "", "s", "tools/call", []byte(in), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, string(result)); got != want {
			t.Errorf("%s arrives as %s", in, got)
		}
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-sdk"))
	ctx := testContext(t)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for j := range 20 {
				arg := fmt.Sprintf(`{"n":"%d-%d"}`, i, j)
				result, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"echo","arguments":`+arg+`}`), nil)
				if err != nil {
					t.Error(err)
				} else if got := textOf(t, string(result)); got != arg {
					t.Errorf("%s was answered %s", arg, got)
				}
			}
		})
	}
	wg.Wait()
}
