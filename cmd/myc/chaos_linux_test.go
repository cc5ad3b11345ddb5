package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// hostileModes are the ways in which test/hostile misbehaves; the healthy one is called as often as all the others.
var hostileModes = []string{"hang", "stdout", "stderr", "dies", "nonsense", "late", "leaks", "huge", "slow", "storm"}

// chaosLength is how long the chaos lasts: 10 s, or what SOAK says (make soak).
func chaosLength(t *testing.T) time.Duration {
	t.Helper()
	if s := os.Getenv("SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return 10 * time.Second
}

// chaos is a daemon with one healthy server and one of each kind of misbehaviour behind it, and what happened to its clients.
type chaos struct {
	*project
	url   string
	token string
	pid   int
	tools []string // what every list must show, whatever the servers do

	calls, right, failed atomic.Int64
	sessions             atomic.Int64
	longest              atomic.Int64 // of one request, in nanoseconds
}

func newChaos(t *testing.T) *chaos {
	t.Helper()
	hostile := hostileServer(t)
	var conf, grants strings.Builder
	conf.WriteString("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n")
	c := &chaos{}
	for _, mode := range append([]string{"healthy"}, hostileModes...) {
		timeout := "1s"
		if mode == "healthy" {
			timeout = "60s"
		}
		fmt.Fprintf(&conf, "  %s: {command: %q, args: [%s], timeout: %s, startTimeout: 10s, stopTimeout: 500ms, env: {LATE: 1500ms}}\n", mode,
			hostile, mode, timeout)
		fmt.Fprintf(&grants, "  - %s__echo\n", mode)
		c.tools = append(c.tools, mode+"__echo")
	}
	slices.Sort(c.tools)
	files := map[string]string{
		"mycelium.yaml":          conf.String(),
		"skills/echo/SKILL.yaml": "name: echo\ndescription: Echoes.\nallowedRoles: [guest]\nallowedTools:\n" + grants.String(),
	}
	c.project = projectOf(t, builtProgram(t), files)       // never with the race detector, which would take most of the time
	c.eventually("every catalog is learned", func() bool { // the one that dies may need more than one start
		c.must("tools", "sync")
		seen, _, err := c.run("tools") // as long as a catalog is missing the skill takes no effect, and nobody names the role
		return err == nil && strings.Count(seen, "__echo") == len(c.tools)
	})
	c.url = c.serve()
	c.token = c.mint("--role", "guest").Token
	c.pid = c.status().Daemon.PID
	return c
}

// caller is one client over HTTP: modern, or with a session of the protocol.
type caller struct {
	*chaos
	http    *http.Client
	name    string
	session string // empty: the modern era
	own     string // its token, where it is not the one of all
	last    int
}

func (c *chaos) caller(name string) *caller {
	return &caller{chaos: c, name: name, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
}

// post sends one message and returns the whole answer.
func (k *caller) post(ctx context.Context, method, params, name string) (body []byte, session string, err error) {
	k.last++
	if k.session == "" && method != "initialize" {
		params = params[:len(params)-1] + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"chaos","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`
		params = strings.Replace(params, "{,", "{", 1)
	}
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, k.last, method, params)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.url, strings.NewReader(text))
	if err != nil {
		return nil, "", err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	token := k.own
	if token == "" {
		token = k.token
	}
	h.Set("Authorization", "Bearer "+token)
	switch {
	case k.session != "":
		h.Set("Mcp-Session-Id", k.session)
		h.Set("MCP-Protocol-Version", "2025-11-25")
	case method != "initialize":
		h.Set("MCP-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", method)
		if name != "" {
			h.Set("Mcp-Name", name)
		}
	}
	res, err := k.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s: %.200s", res.Status, body))
	}
	if data, ok := bytes.CutPrefix(body, []byte("data: ")); ok { // one event
		body, _, _ = bytes.Cut(data, []byte("\n"))
	}
	return body, res.Header.Get("Mcp-Session-Id"), err
}

// open begins a session of the protocol.
func (k *caller) open(ctx context.Context) error {
	_, id, err := k.post(ctx, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}`,
		"")
	if err == nil && id == "" {
		err = errors.New("initialize gives no session")
	}
	k.session = id
	return err
}

// end ends it.
func (k *caller) end(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, k.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+k.token)
	req.Header.Set("Mcp-Session-Id", k.session)
	res, err := k.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return fmt.Errorf("DELETE: %s", res.Status)
	}
	k.session = ""
	return nil
}

// answered judges one answer to a call of a server's echo: the healthy server's must be right; of the others it may be a clear error, but
// never the answer to another call.
func (c *chaos) answered(mode, text string, line []byte) error {
	c.calls.Add(1)
	said, ok := rawjson.Text(rawjson.Path(line, "result", "content", "0", "text"))
	if !ok {
		said, ok = firstText(line)
	}
	switch {
	case ok && (said == text || mode == "huge" && strings.HasPrefix(said, text+"xxxx")):
		c.right.Add(1)
		return nil
	case ok && string(rawjson.Path(line, "result", "isError")) != "true":
		return fmt.Errorf("%s: asked for %q, was answered %.300q", mode, text, said)
	case mode == "healthy":
		return fmt.Errorf("the healthy server's call failed: %.300s", line)
	case !ok && rawjson.Member(line, "error") == nil:
		return fmt.Errorf("%s: neither a result nor an error: %.300s", mode, line)
	}
	c.failed.Add(1)
	return nil
}

// firstText is the text of a result's first block.
func firstText(line []byte) (string, bool) {
	content := rawjson.Path(line, "result", "content")
	if len(content) < 2 {
		return "", false
	}
	i := bytes.IndexByte(content, '{')
	j := bytes.LastIndexByte(content, '}')
	if i < 0 || j < i {
		return "", false
	}
	return rawjson.Text(rawjson.Member(content[i:j+1], "text"))
}

// step is one request of a client: a call of the healthy server, a call of another, or a list.
func (k *caller) step(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	defer func() {
		for d := int64(time.Since(begin)); ; {
			old := k.longest.Load()
			if d <= old || k.longest.CompareAndSwap(old, d) {
				return
			}
		}
	}()
	if i%16 == 0 {
		line, _, err := k.post(ctx, "tools/list", `{}`, "")
		for _, tool := range k.tools {
			if err == nil && !bytes.Contains(line, []byte(`"`+tool+`"`)) {
				err = fmt.Errorf("the list lacks %s: %.300s", tool, line)
			}
		}
		return err
	}
	mode := "healthy"
	if i%2 == 0 {
		mode = hostileModes[rand.IntN(len(hostileModes))]
	}
	text := fmt.Sprintf("%s-%d", k.name, i)
	line, _, err := k.post(ctx, "tools/call", fmt.Sprintf(`{"name":"%s__echo","arguments":{"text":%q}}`, mode, text), mode+"__echo")
	if err != nil {
		return fmt.Errorf("%s: %w", mode, err)
	}
	return k.answered(mode, text, line)
}

// run makes requests until the time is over. Every other session is one of the protocol, and is ended and begun anew.
func (k *caller) run(until time.Time, legacy bool) error {
	for i := 0; time.Now().Before(until); i++ {
		if legacy && i%32 == 0 {
			if k.session != "" {
				if err := k.end(k.ctx); err != nil {
					return err
				}
			}
			if err := k.open(k.ctx); err != nil {
				return err
			}
			k.sessions.Add(1)
		}
		if err := k.step(k.ctx, i); err != nil {
			return err
		}
	}
	if k.session != "" {
		return k.end(k.ctx)
	}
	return nil
}

// storm runs the clients for a while.
func (c *chaos) storm(clients int, d time.Duration) {
	c.t.Helper()
	until := time.Now().Add(d)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			k := c.caller(fmt.Sprintf("client-%d", i))
			if err := k.run(until, i%2 == 0); err != nil {
				c.t.Errorf("client %d: %v", i, err)
			}
			k.http.CloseIdleConnections()
		})
	}
	all.Wait()
}

// talk calls over stdio, through a relay of its own, until the time is over.
func (c *chaos) talk(until time.Time, w *wire) {
	for i := 0; time.Now().Before(until); i++ {
		mode := "healthy"
		if i%2 == 0 {
			mode = hostileModes[rand.IntN(len(hostileModes))]
		}
		text := fmt.Sprintf("stdio-%d", i)
		line := w.await(w.request("tools/call", fmt.Sprintf(`{"name":"%s__echo","arguments":{"text":%q}}`, mode, text)))
		if err := c.answered(mode, text, line); err != nil {
			c.t.Errorf("stdio: %v", err)
			return
		}
	}
}

// openSessions opens and closes sessions with a credential of their own over the project's socket, as `myc mcp` does.
func (c *chaos) openSessions(n int) {
	c.t.Helper()
	paths := daemon.PathsOf(c.state(), "")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range n / 4 {
				if err := openSession(c.ctx, paths); err != nil {
					c.t.Errorf("session: %v", err)
					return
				}
				c.sessions.Add(1)
			}
		})
	}
	all.Wait()
}

func openSession(ctx context.Context, paths daemon.Paths) error {
	client, err := daemon.Dial(ctx, paths)
	if err != nil {
		return err
	}
	defer client.Close()
	var got api.Attached
	conn, err := client.Stream(ctx, "mcp", api.SessionParams{Role: "guest"}, &got)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}}`+"\n"); err != nil {
		return err
	}
	line, err := rpc.NewLines(conn, 0).Next()
	if err == nil && rawjson.Member(line, "result") == nil {
		err = fmt.Errorf("initialize: %s", line)
	}
	return err
}

// openLinks opens and closes sessions of the protocol.
func (c *chaos) openLinks(n int) {
	c.t.Helper()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			k := c.caller(fmt.Sprintf("link-%d", i))
			defer k.http.CloseIdleConnections()
			for range n / 4 {
				err := k.open(c.ctx)
				if err == nil {
					err = k.end(c.ctx)
				}
				if err != nil {
					c.t.Errorf("link: %v", err)
					return
				}
				c.sessions.Add(1)
			}
		})
	}
	all.Wait()
}

// footprint is what the daemon holds: descriptors, goroutines, live objects in bytes, and resident memory in KiB; and how many servers
// are connected to it. Resident memory says how much was in use at once at some time: the runtime gives it back when it likes.
type footprint struct{ fds, goroutines, live, rss, servers int }

// own is the number of descriptors without those of servers, which come and go: each has three pipes.
func (f footprint) own() int { return f.fds - 3*f.servers }

// running is the number of goroutines without those of servers: each has about five.
func (f footprint) running() int { return f.goroutines - 5*f.servers }

// measure reads what the daemon holds, from /proc and from its metrics.
func (c *chaos) measure() footprint {
	c.t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", c.pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	fds = slices.DeleteFunc(fds, func(fd os.DirEntry) bool { // a server has a log from its first line on
		to, err := os.Readlink(filepath.Join(dir, fd.Name()))
		return err == nil && strings.Contains(to, "/log/server-")
	})
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	if err != nil {
		c.t.Fatal(err)
	}
	f := footprint{fds: len(fds)}
	for line := range strings.Lines(string(b)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			f.rss, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
		}
	}
	for _, b := range c.status().Backends {
		if b.State == backend.StateReady {
			f.servers++
		}
	}
	status, text, _ := c.fetch(http.MethodGet, strings.TrimSuffix(c.url, "/mcp")+"/metrics", "", "")
	if status != http.StatusOK {
		c.t.Fatalf("metrics: %d %s", status, text)
	}
	f.goroutines, f.live = gauge(c.t, text, "go_goroutine_count"), gauge(c.t, text, "mycelium_memory_live_bytes")
	return f
}

// gauge reads one value without labels from the text of /metrics.
func gauge(t *testing.T, text, name string) int {
	t.Helper()
	_, rest, ok := strings.Cut("\n"+text, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil {
		t.Fatalf("no metric %s in\n%s", name, text)
	}
	return int(n)
}

// sessionsOpened is how many sessions are opened and closed in the chaos.
const sessionsOpened = 10_000

// Eleven servers of which ten misbehave, each in its own way, and 64 clients: every request has exactly one answer within its bound, none
// is wrong, the healthy server's calls all succeed, lists are always whole; and afterwards nothing is left: no descriptor, no process, no
// memory.
func TestChaos(t *testing.T) {
	t.Parallel()
	c := newChaos(t)
	length := chaosLength(t)
	c.storm(8, time.Second)
	c.calm()
	before := c.measure()
	t.Logf("before: %+v, %d processes", before, len(c.processes()))

	until := time.Now().Add(length)
	var all sync.WaitGroup
	for range 4 {
		w := startWire(t, c.command("mcp", "--role", "guest")).hello("2025-11-25")
		all.Go(func() {
			c.talk(until, w)
			if i := slices.IndexFunc(w.seen, func(line string) bool { return rawjson.Member([]byte(line), "method") == nil }); i >= 0 {
				t.Errorf("an answer that nobody waits for: %.300s", w.seen[i])
			}
			if err := w.close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() { c.openSessions(sessionsOpened / 5) })
	all.Go(func() { c.openLinks(sessionsOpened - sessionsOpened/5) })
	c.storm(60, length)
	all.Wait()
	t.Logf("%d calls: %d right, %d failed; %d sessions; the longest request took %v",
		c.calls.Load(), c.right.Load(), c.failed.Load(), c.sessions.Load(), time.Duration(c.longest.Load()))
	if c.right.Load() == 0 || c.failed.Load() == 0 {
		t.Error("nothing succeeded, or nothing failed: no chaos")
	}
	c.calm()
	after := c.rested(before)
	t.Logf("after: %+v, %d processes", after, len(c.processes()))
	for _, b := range c.status().Backends {
		t.Logf("%s: %s, breaker %s, %d restarts, %d refused: %.120s", b.Name, b.State, b.Breaker, b.Restarts, b.Refused, b.Error)
	}
	c.must("audit", "verify")
}

// kept is how many bytes of live objects the chaos may leave: what ends late, and not what is kept of each of the many sessions.
const kept = sessionsOpened * 512

// rested measures until nothing is left of the chaos. Calls go on meanwhile, because only a daemon that works collects its garbage at once.
func (c *chaos) rested(before footprint) (after footprint) {
	c.t.Helper()
	k := c.caller("afterwards")
	defer k.http.CloseIdleConnections()
	if !poll(c.ctx, patience, func() bool {
		for i := range 256 {
			if err := k.step(c.ctx, 2*i+1); err != nil { // the odd ones are calls of the healthy server
				c.t.Fatal(err)
			}
		}
		after = c.measure()
		return after.own() <= before.own()+2 && after.running() <= before.running()+16 && after.live <= before.live+kept
	}) {
		c.t.Errorf("before %+v, after %+v", before, after)
	}
	return after
}

// calm waits until no call is at work.
func (c *chaos) calm() {
	c.t.Helper()
	c.eventually("every call is over", func() bool {
		return !slices.ContainsFunc(c.status().Backends, func(b backend.Status) bool { return b.Active+b.Waiting > 0 })
	})
}
