package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// collector is an OTLP receiver that keeps what it gets.
type collector struct {
	mu   sync.Mutex
	got  map[string]string // by path
	keys map[string]bool   // what it was shown as a credential
}

func newCollector(t *testing.T) (*collector, string) {
	c := &collector{got: map[string]string{}, keys: map[string]bool{}}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got[r.URL.Path] += string(b)
		c.keys[r.Header.Get("X-Key")] = true
	}))
	t.Cleanup(s.Close)
	return c, s.URL
}

func (c *collector) text(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got[path]
}

// What is measured, through the whole program: /metrics with and without names, health, spans to the receiver that is configured; and
// the credential of the receiver is nowhere else.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	sink, endpoint := newCollector(t)
	p := &team{project: newProject(t, world(map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest, developer]}\nlog: {format: json, level: info}\n"+
			"mcpServers: {gone: {command: /nonexistent/server}}\nserver: {hosts: [mcp.example.com]}\n"+
			"telemetry: {endpoint: %q, headers: {X-Key: \"${secret:OTLP_KEY}\"}, token: \"${secret:SCRAPE}\"}\n", endpoint),
	}))}
	p.seal("OTLP_KEY=canary-of-a-receiver\nSCRAPE=canary-of-a-scraper\n")
	p.url = p.serve()
	base := strings.TrimSuffix(p.url, "/mcp")
	token := p.mint("--role", "guest").Token
	call := func(tool string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool +
			`","arguments":{"path":"."},"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`
		p.fetch(http.MethodPost, p.url, body, "mcp.example.com", "Authorization", "Bearer "+token, "Content-Type", "application/json",
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	}
	call("files__list_directory")
	call("files__write_file") // hidden from a guest
	local := strings.TrimPrefix(base, "http://")
	for _, c := range []struct {
		path, host, auth string
		status           int
		has, lacks       string
	}{
		{"/metrics", local, "", 200, `mycelium_calls_total{mycelium_effect="allow",mycelium_outcome="ok",mycelium_surface="mcp-http"} 1`,
			"files"},
		{"/metrics", local, "Bearer canary-of-a-scraper", 200, `mycelium_calls_total{gen_ai_tool_name="list_directory",` +
			`mycelium_effect="allow",mycelium_outcome="ok",mycelium_server="files",mycelium_surface="mcp-http"} 1`, "write_file"},
		{"/metrics", "mcp.example.com", "Bearer canary-of-a-scraper", 200, `mycelium_denials_total{mycelium_reason="unknown"} 1`, "write_file"},
		{"/metrics", local, "Bearer canary-of-a-scraper", 200, `mycelium_backend_state{mycelium_server="files",mycelium_state="builtin"} 1`,
			"write_file"},
		{"/metrics", local, "Bearer other", 401, "does not read metrics", "mycelium_"},
		{"/metrics", local, "Bearer " + token, 401, "does not read metrics", "mycelium_"},
		{"/metrics", "mcp.example.com", "", 401, "a token is needed", "mycelium_"},
		{"/metrics", "evil.example.com", "Bearer canary-of-a-scraper", 403, "", "mycelium_"},
		{"/healthz", local, "", 200, "ok", ""},
		{"/healthz", "evil.example.com", "", 403, "", ""},
		{"/readyz", local, "", 200, "ready", ""},
	} {
		header := []string{}
		if c.auth != "" {
			header = append(header, "Authorization", c.auth)
		}
		status, body, _ := p.fetch(http.MethodGet, base+c.path, "", c.host, header...)
		if status != c.status || !strings.Contains(body, c.has) || c.lacks != "" && strings.Contains(body, c.lacks) {
			t.Errorf("%s of %s with %q: %d\n%s", c.path, c.host, c.auth, status, body)
		}
	}
	if status, _, _ := p.fetch(http.MethodPost, base+"/metrics", "", local); status != http.StatusMethodNotAllowed {
		t.Errorf("POST /metrics: %d", status)
	}
	p.must("stop") // what is left is sent
	for _, want := range []string{`"name":"tools/call files__list_directory"`, `"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"`,
		`"parentSpanId":"00f067aa0ba902b7"`, `"name":"policy.decide"`, `"name":"tools/call list_directory"`} {
		if !strings.Contains(sink.text("/v1/traces"), want) {
			t.Errorf("no span has %s", want)
		}
	}
	if !strings.Contains(sink.text("/v1/metrics"), `"mycelium.calls"`) ||
		strings.Contains(sink.text("/v1/traces")+sink.text("/v1/metrics"), "write_file") {
		t.Errorf("metrics: %s", sink.text("/v1/metrics"))
	}
	if len(sink.keys) != 1 || !sink.keys["canary-of-a-receiver"] {
		t.Errorf("the receiver was shown %v", sink.keys)
	}
	logs := p.logs()
	clean(t, "the log", logs, []string{"canary-of-a-receiver", "canary-of-a-scraper", token})
	lines := 0
	for line := range strings.Lines(logs) {
		var v map[string]any
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &v) == nil && v["level"] != nil {
			lines++
		} else {
			t.Errorf("not JSON: %s", line)
		}
	}
	if lines == 0 {
		t.Errorf("nothing of the log is JSON:\n%s", logs)
	}
}

// Nothing leaves the machine unless that is configured: neither by default, nor because an agent's client has the standard variables.
func TestNothingLeavesUnlessConfigured(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	came := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			came++
			mu.Unlock()
			_ = c.Close()
		}
	}()
	defer func() { _ = l.Close(); <-done }()
	endpoint := "http://" + l.Addr().String()
	connections := func() int { mu.Lock(); defer mu.Unlock(); return came }

	p := newProject(t, world(nil))
	p.serve()
	p.must("call", "files__list_directory", "--args", `{"path":"."}`)
	p.must("stop")
	p.env = append(p.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint, "HTTP_PROXY="+endpoint, "OTEL_TRACES_EXPORTER=otlp")
	w := startWire(t, p.command("mcp")).hello("2025-06-18") // starts a daemon by itself
	w.ask("tools/call", `{"name":"files__list_directory","arguments":{"path":"."}}`)
	if err := w.close(); err != nil {
		t.Error(err)
	}
	p.must("stop")
	p.must("call", "files__list_directory", "--args", `{"path":"."}`)
	if n := connections(); n > 0 {
		t.Errorf("%d connections went out", n)
	}
	// A person who serves with the standard variable means it.
	p.serve()
	p.must("call", "files__list_directory", "--args", `{"path":"."}`)
	p.must("stop")
	if connections() == 0 {
		t.Error("OTEL_EXPORTER_OTLP_ENDPOINT has no effect for a person")
	}
}
