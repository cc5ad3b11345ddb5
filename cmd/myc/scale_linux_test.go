package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
)

// What a machine of 2 CPUs has to carry (issue 3), and what it may take.
const (
	scaleSessions = 1000
	scaleServers  = 50
	scaleTools    = 200 // of one server
	scaleMemory   = 300 << 10
)

// scaleProject is a project with many servers and tools, of which three roles see everything.
func scaleProject(hostile string) map[string]string {
	var conf strings.Builder
	conf.WriteString("session: {defaultRole: r0, roles: [r0, r1, r2], toolSearch: off}\nmcpServers:\n")
	for i := range scaleServers {
		fmt.Fprintf(&conf, "  s%02d: {command: %q, args: [healthy], env: {TOOLS: \"%d\"}}\n", i, hostile, scaleTools-1)
	}
	return map[string]string{
		"mycelium.yaml":         conf.String(),
		"skills/all/SKILL.yaml": "name: all\ndescription: Everything.\nallowedRoles: [r0, r1, r2]\nallowedTools: [\"*\"]\n",
	}
}

// A thousand live sessions, each with a link that listens, fifty servers that run and ten thousand tools fit into 300 MiB. How quick the
// lists are is measured in bench.
func TestAThousandSessions(t *testing.T) {
	t.Parallel()
	p := projectOf(t, builtProgram(t), scaleProject(hostileServer(t)))
	p.must("tools", "sync")
	c := &chaos{project: p, url: p.serve()}
	c.pid = p.status().Daemon.PID
	if n := p.status().Tools.Catalog; n < scaleServers*scaleTools {
		t.Fatalf("%d tools", n)
	}
	c.token = c.tokens(1)[0]
	first := c.caller("first")
	for i := range scaleServers { // all of them run
		line, _, err := first.post(p.ctx, "tools/call", fmt.Sprintf(`{"name":"s%02d__echo","arguments":{"text":"up"}}`, i),
			fmt.Sprintf("s%02d__echo", i))
		if said, _ := firstText(line); err != nil || said != "up" {
			t.Fatalf("%v: %s", err, line)
		}
	}
	first.http.CloseIdleConnections()
	start := c.measure()
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	var links sync.WaitGroup
	defer links.Wait()
	defer stop()
	for i, token := range c.tokens(scaleSessions) {
		k := c.caller(fmt.Sprintf("session-%d", i))
		k.own = token
		if err := k.open(ctx); err != nil {
			t.Fatal(err)
		}
		line, _, err := k.post(ctx, "tools/list", `{}`, "")
		if err != nil || !bytes.Contains(line, []byte(`"nextCursor":`)) || bytes.Count(line, []byte(`"inputSchema"`)) != 1000 {
			t.Fatalf("session %d: %v: %.200s", i, err, line)
		}
		opened := make(chan error, 1)
		links.Go(func() { k.listen(ctx, opened) })
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
	}
	full := c.measure()
	t.Logf("resident: %d KiB with %d servers and %d tools, %d KiB with %d sessions besides (%d descriptors)", start.rss, scaleServers,
		scaleServers*scaleTools, full.rss, scaleSessions, full.fds)
	if full.fds < scaleSessions {
		t.Errorf("%d descriptors: where are the links?", full.fds)
	}
	if full.rss > scaleMemory {
		t.Errorf("%d KiB are resident, more than %d", full.rss, scaleMemory)
	}
	if s := p.status().Sessions; s < scaleSessions {
		t.Errorf("%d sessions are live", s)
	}
}

// tokens mints sessions of all three roles.
func (c *chaos) tokens(n int) []string {
	c.t.Helper()
	paths := daemon.PathsOf(c.state(), "")
	client, err := daemon.Dial(c.ctx, paths)
	if err != nil {
		c.t.Fatal(err)
	}
	defer client.Close()
	tokens := make([]string, n)
	for i := range tokens {
		var s api.Session
		if err := client.Call(c.ctx, "session/new", api.SessionParams{Role: fmt.Sprintf("r%d", i%3)}, &s); err != nil {
			c.t.Fatal(err)
		}
		tokens[i] = s.Token
	}
	return tokens
}

// listen holds the stream of notices of a session of the protocol open.
func (k *caller) listen(ctx context.Context, opened chan<- error) {
	defer k.http.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		opened <- err
		return
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+k.own)
	req.Header.Set("Mcp-Session-Id", k.session)
	req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	res, err := k.http.Do(req)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET: %s", res.Status)
	}
	opened <- err
	if err != nil {
		return
	}
	defer res.Body.Close()
	k.http.CloseIdleConnections() // that of the list
	_, _ = io.Copy(io.Discard, res.Body)
}
