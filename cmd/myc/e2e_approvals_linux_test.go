package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/rest"
	"mycelium/internal/rawjson"
)

// asking is a project whose policy asks about lists of folders.
func asking(more map[string]string) map[string]string {
	files := world(map[string]string{
		"rules.yaml": "version: 1\nrules:\n  - {name: ask-lists, action: ask, tool: files__list_directory, reason: People decide about lists.}\n",
	})
	for name, text := range more {
		files[name] = text
	}
	return files
}

// background is a command that runs on.
type background struct {
	out, err strings.Builder
	ended    chan error
}

// start runs a command of myc, as whoever holds a token; empty: a person.
func (p *project) start(token string, args ...string) *background {
	p.t.Helper()
	b := &background{ended: make(chan error, 1)}
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &b.out, &b.err
	if token != "" {
		cmd.Env = append(append([]string{}, cmd.Env...), hook.TokenVar+"="+token)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { b.ended <- cmd.Wait() }()
	return b
}

// waiting are the requests that wait, once there are so many calls behind each.
func (p *project) waiting(n, calls int) []approval.Request {
	p.t.Helper()
	var list []approval.Request
	p.eventually(fmt.Sprintf("%d requests with %d calls each", n, calls), func() bool {
		list = nil
		p.decode(&list, "approvals", "list")
		for _, r := range list {
			if r.Waiting != calls {
				return false
			}
		}
		return len(list) == n
	})
	return list
}

// A call that waits when the daemon is killed has not run; its request is there after the restart, the caller that comes back goes on
// waiting for the same one, and the answer reaches it (E28).
func TestDaemonDiesWhileACallWaits(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	s := p.mint("--role", "guest")
	call := []string{"call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`}
	first := p.start(s.Token, call...)
	second := p.start(s.Token, call...)
	r := p.waiting(1, 2)[0] // two equal calls are one question
	if r.Session != s.ID || r.Tool != "files__list_directory" || r.Answer != nil {
		t.Errorf("%+v", r)
	}
	p.kill(p.status().Daemon.PID, syscall.SIGKILL)
	for _, b := range []*background{first, second} {
		if err := <-b.ended; err == nil || b.out.String() != "" {
			t.Fatalf("a call ran without its answer: %v\n%s", err, b.out.String())
		}
	}
	p.serve()
	if again := p.waiting(1, 0)[0]; again.ID != r.ID || again.Digest != r.Digest {
		t.Errorf("after the restart %+v waits, before it was %+v", again, r)
	}
	back := p.start(s.Token, call...)
	if again := p.waiting(1, 1)[0]; again.ID != r.ID {
		t.Errorf("the caller that came back waits for %s, not for %s", again.ID, r.ID)
	}
	p.must("approvals", "approve", r.ID)
	if err := <-back.ended; err != nil || !strings.Contains(back.out.String(), "notes.md") {
		t.Errorf("%v\n%s%s", err, back.out.String(), back.err.String())
	}
	_, stderr, err := p.run("approvals", "deny", r.ID)
	if err == nil || !strings.Contains(stderr, "was allowed by") {
		t.Errorf("a late answer: %v %s", err, stderr)
	}
	p.must("audit", "verify")
}

// A call that waits goes on when a daemon replaces it as the owner. It ends when a person stops that daemon, and says so; it does not
// become the owner again. Who makes it again at the next daemon waits for the same request.
func TestDaemonStopsWhileACallWaits(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	s := p.mint("--role", "guest")
	call := []string{"call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`}
	b := p.start(s.Token, call...)
	r := p.waiting(1, 1)[0]
	p.serve()
	if again := p.waiting(1, 1)[0]; again.ID != r.ID {
		t.Errorf("%+v", again)
	}
	if _, stderr, err := p.run("stop"); err != nil || strings.Contains(stderr, "has started the next one") {
		t.Errorf("stop: %v\n%s", err, stderr)
	}
	if err := <-b.ended; err == nil || !strings.Contains(b.err.String(), "the daemon was stopped (myc stop) while the call waited") {
		t.Errorf("the call ended with %v\n%s%s", err, b.out.String(), b.err.String())
	}
	if pid, kind, _ := daemon.Owning(daemon.PathsOf(p.state(), "")); pid != 0 {
		t.Errorf("process %d (%s) owns the project", pid, kind)
	}
	p.serve()
	if again := p.waiting(1, 0)[0]; again.ID != r.ID {
		t.Errorf("%+v", again)
	}
	b = p.start(s.Token, call...)
	if again := p.waiting(1, 1)[0]; again.ID != r.ID {
		t.Errorf("%+v", again)
	}
	p.must("approvals", "approve", r.ID)
	if err := <-b.ended; err != nil || !strings.Contains(b.out.String(), "notes.md") {
		t.Errorf("%v\n%s%s", err, b.out.String(), b.err.String())
	}
	b = p.start(s.Token, call...)
	r = p.waiting(1, 1)[0]
	p.kill(p.status().Daemon.PID, syscall.SIGKILL)
	if err := <-b.ended; err == nil || b.out.String() != "" {
		t.Fatalf("it ran: %v %s", err, b.out.String())
	}
	p.serve()
	if again := p.waiting(1, 0)[0]; again.ID != r.ID {
		t.Errorf("%+v", again)
	}
	// The answer that comes before the caller is for the next call of it, and for that only.
	p.must("approvals", "approve", r.ID)
	back := p.start(s.Token, "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	if err := <-back.ended; err != nil || !strings.Contains(back.out.String(), "notes.md") {
		t.Errorf("%v\n%s%s", err, back.out.String(), back.err.String())
	}
	next := p.start(s.Token, "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	n := p.waiting(1, 1)[0]
	p.must("approvals", "deny", n.ID, "--reason", "enough")
	if err := <-next.ended; err == nil || !strings.Contains(next.err.String(), "enough") {
		t.Errorf("%v %s", err, next.err.String())
	}
}

// Only who brings the operator's token, from this machine and from no other site, reads and answers approvals over HTTP (W8, T2).
func TestApprovalsOverHTTP(t *testing.T) {
	t.Parallel()
	p := &team{project: newProject(t, asking(nil))}
	p.url = p.serve()
	base := strings.TrimSuffix(p.url, "/mcp") + "/api/approvals"
	host := strings.TrimPrefix(strings.TrimSuffix(p.url, "/mcp"), "http://")
	s := p.mint("--role", "guest")
	operator := strings.TrimSpace(p.must("approvals", "token"))
	call := p.start(s.Token, "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	r := p.waiting(1, 1)[0]

	auth := []string{"Authorization", "Bearer " + operator}
	posted := append([]string{"Content-Type", "application/json"}, auth...)
	good := fmt.Sprintf(`{"allow":true,"digest":%q}`, r.Digest)
	one := base + "/" + r.ID
	for _, c := range []struct {
		name, method, url, body, host string
		header                        []string
		status                        int
		says                          string
	}{
		{"no token", "GET", base, "", host, nil, 401, "operator's token"},
		{"a session's token", "POST", one, good, host, []string{"Content-Type", "application/json", "Authorization", "Bearer " + s.Token}, 401,
			"the token of a session does not answer"},
		{"another token", "POST", one, good, host, []string{"Content-Type", "application/json", "Authorization",
			"Bearer " + node.OperatorPrefix + "x"}, 401, "operator's token"},
		{"another scheme", "GET", base, "", host, []string{"Authorization", "Basic " + operator}, 401, "operator's token"},
		{"another host", "GET", base, "", "evil.example", auth, 403, "Host"},
		{"another site", "POST", one, good, host, append([]string{"Origin", "http://evil.example"}, posted...), 403, "Origin"},
		{"another port's page", "POST", one, good, host, append([]string{"Origin", "http://127.0.0.1:1"}, posted...), 403, ""},
		{"through a proxy", "GET", base, "", host, append([]string{"X-Forwarded-For", "10.0.0.1"}, auth...), 403, "this machine only"},
		{"a form", "POST", one, good, host, append([]string{"Content-Type", "text/plain"}, auth...), 415, "application/json"},
		{"no JSON", "POST", one, "{", host, posted, 400, "cannot be read"},
		{"a member too many", "POST", one, `{"allow":true,"digest":"x","by":"root"}`, host, posted, 400, "cannot be read"},
		{"a member twice", "POST", one, `{"allow":false,"allow":true,"digest":"x"}`, host, posted, 400, "cannot be read"},
		{"no digest", "POST", one, `{"allow":true}`, host, posted, 400, "digest"},
		{"no word", "POST", one, fmt.Sprintf(`{"digest":%q}`, r.Digest), host, posted, 400, "allow"},
		{"another digest", "POST", one, `{"allow":true,"digest":"0"}`, host, posted, 409, "has changed"},
		{"an odd reach", "POST", one, fmt.Sprintf(`{"allow":true,"for":"ever","digest":%q}`, r.Digest), host, posted, 400, "for once"},
		{"too large", "POST", one, `{"reason":"` + strings.Repeat("x", rest.MaxBody) + `"}`, host, posted, 413, "more than"},
		{"unknown", "POST", base + "/nothing", good, host, posted, 404, "no request"},
		{"unknown", "GET", base + "/nothing", "", host, auth, 404, "no request"},
		{"another method", "DELETE", one, "", host, auth, 405, ""},
		{"list", "GET", base, "", host, auth, 200, r.Digest},
		{"show", "GET", one, "", host, auth, 200, `"path":"."`},
	} {
		status, body, _ := p.fetch(c.method, c.url, c.body, c.host, c.header...)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s, want %d %s", c.name, status, body, c.status, c.says)
		}
	}

	events := p.events(base+"/events", operator)
	if e := <-events; e.ID != r.ID || e.State != approval.Pending {
		t.Errorf("the first event: %+v", e)
	}
	status, body, _ := p.fetch("POST", one, good, host, posted...)
	if status != 200 || !strings.Contains(body, `"via":"http"`) {
		t.Errorf("%d %s", status, body)
	}
	if e := <-events; e.ID != r.ID || e.State != approval.Allowed || e.Answer == nil || e.Answer.Via != "http" {
		t.Errorf("the second event: %+v", e)
	}
	if err := <-call.ended; err != nil || !strings.Contains(call.out.String(), "notes.md") {
		t.Errorf("%v\n%s", err, call.err.String())
	}
	if status, body, _ = p.fetch("POST", one, good, host, posted...); status != 409 || !strings.Contains(body, "was allowed by") {
		t.Errorf("late: %d %s", status, body)
	}
	next := strings.TrimSpace(p.must("approvals", "token"))
	kept, err := filepath.Glob(p.state().OperatorToken())
	if err != nil || len(kept) != 1 {
		t.Fatalf("what is kept of the token: %v %v", kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || strings.Contains(string(text), strings.TrimPrefix(next, node.OperatorPrefix)) ||
		!strings.Contains(string(text), "digest") {
		t.Errorf("%s holds %s (%v)", kept[0], text, err)
	}
	if status, _, _ = p.fetch("GET", base, "", host, auth...); status != 401 {
		t.Errorf("the token before the newest: %d", status)
	}
	p.must("approvals", "token", "--revoke")
	if status, _, _ = p.fetch("GET", base, "", host, "Authorization", "Bearer "+next); status != 401 {
		t.Errorf("the revoked token: %d", status)
	}
	for _, file := range p.paths() {
		if text := p.read(file); strings.Contains(text, operator) || strings.Contains(text, next) {
			t.Errorf("%s has the operator's token", file)
		}
	}
}

// paths are the files where the daemon writes, below the project.
func (p *project) paths() []string {
	found, _ := filepath.Glob(filepath.Join(p.state().Folder(), "*"))
	logs, _ := filepath.Glob(filepath.Join(p.state().Folder(), "*", "*"))
	var out []string
	for _, f := range append(found, logs...) {
		if rel, err := filepath.Rel(p.dir, f); err == nil && !strings.Contains(rel, "mycelium.db-shm") &&
			strings.Contains(filepath.Base(rel), ".") {
			out = append(out, rel)
		}
	}
	return out
}

// events reads a stream of events.
func (p *project) events(url, token string) <-chan approval.Request {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.ctx, http.MethodGet, url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != 200 || kind != "text/event-stream" {
		p.t.Fatalf("%d %s", res.StatusCode, kind)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	out := make(chan approval.Request, 10)
	go func() {
		defer close(out)
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var r approval.Request
			if ok && json.Unmarshal([]byte(data), &r) == nil {
				out <- r
			}
		}
	}()
	return out
}

// An agent neither sees nor answers what waits, nor gets the operator's token (W8).
func TestAgentsDoNotAnswerForPeople(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(nil))
	p.serve()
	s := p.mint("--role", "guest")
	b := p.start(s.Token, "call", "--ask", "wait", "files__list_directory", "--args", `{"path":"."}`)
	r := p.waiting(1, 1)[0]
	for _, mark := range []string{hook.TokenVar + "=" + s.Token, "CLAUDECODE=1"} {
		for _, args := range [][]string{
			{"approvals", "approve", r.ID}, {"approvals", "approve", r.ID, "--for", "rule"}, {"approvals", "deny", r.ID}, {"approvals", "list"},
			{"approvals", "show", r.ID}, {"approvals", "keep", r.ID}, {"approvals", "token"}, {"approvals", "token", "--revoke"},
		} {
			cmd := p.command(args...)
			cmd.Env = append(append([]string{}, cmd.Env...), mark)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != failure.Denied.Exit() || !strings.Contains(string(out), "only a person may do this") {
				t.Errorf("%s as %.12s: %v %s", strings.Join(args, " "), mark, err, out)
			}
		}
	}
	p.must("approvals", "deny", r.ID)
	if err := <-b.ended; err == nil {
		t.Error("it ran")
	}
}

// A client that can be asked is asked in place: by a request on its stream with a handshake, by input_required without one. Whoever
// answers first counts; what else was asked for is taken back.
func TestClientsAreAskedInPlace(t *testing.T) {
	t.Parallel()
	p := newProject(t, asking(map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest]}\napproval: {askVia: client}\n"}))
	p.serve()
	old := startWire(t, p.command("mcp"))
	old.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"wire","version":"1"}}`)
	old.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	const list = `"name":"files__list_directory","arguments":{"path":"."}`
	for answer, says := range map[string]string{"allow once": "notes.md", "deny": "Not approved by the client of local"} {
		id := old.request("tools/call", `{`+list+`}`)
		question := old.until("elicitation/create")
		if text := rawjson.TextAt(question, "params", "message"); !strings.Contains(text, "May files__list_directory run?") ||
			!strings.Contains(text, `{"path":"."}`) {
			t.Errorf("the form says %q", text)
		}
		old.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":%q}}}`, rawjson.Member(question, "id"),
			answer))
		if got := old.await(id); !strings.Contains(string(got), says) {
			t.Errorf("%s: %s", answer, got)
		}
	}
	// Somebody else answers first.
	id := old.request("tools/call", `{`+list+`}`)
	old.until("elicitation/create")
	p.must("approvals", "approve", p.waiting(1, 1)[0].ID)
	if got := old.await(id); !strings.Contains(string(got), "notes.md") {
		t.Errorf("approved in the terminal: %s", got)
	}

	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c",` +
		`"version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	modern := startWire(t, p.command("mcp"))
	for answer, says := range map[string]string{"allow once": "notes.md", "deny": "Not approved by the client of local"} {
		first := modern.await(modern.request("tools/call", `{`+list+`,`+meta+`}`))
		state, asked := rawjson.Path(first, "result", "requestState"), rawjson.Path(first, "result", "inputRequests")
		var requests map[string]jsontext.Value
		if err := json.Unmarshal(asked, &requests); err != nil || len(requests) != 1 || state == nil {
			t.Fatalf("%s: %v", first, err)
		}
		for key := range requests {
			retry := fmt.Sprintf(`{%s,%s,"requestState":%s,"inputResponses":{%q:{"action":"accept","content":{"answer":%q}}}}`, list, meta, state,
				key, answer)
			if got := modern.await(modern.request("tools/call", retry)); !strings.Contains(string(got), says) {
				t.Errorf("%s: %s", answer, got)
			}
		}
	}
	// One that cannot be asked waits for people elsewhere.
	bare := startWire(t, p.command("mcp")).hello("2025-11-25")
	id = bare.request("tools/call", `{`+list+`}`)
	p.must("approvals", "deny", p.waiting(1, 1)[0].ID, "--reason", "no")
	if got := bare.await(id); !strings.Contains(string(got), "Not approved by ") {
		t.Errorf("%s", got)
	}
	if calls := p.must("audit", "query", "--json", "--effect", "allow"); !strings.Contains(calls,
		"approved by the client of local via client") {
		t.Errorf("the log does not say who approved: %s", calls)
	}
}
