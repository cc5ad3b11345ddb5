package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestSilentConnectionsLockNobodyOut: a daemon that may open 256 descriptors has 600 silent connections. New callers over HTTP get in, and
// status and stop answer (T19).
func TestSilentConnectionsLockNobodyOut(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"mycelium.yaml":          "session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n  files: {builtin: files, args: [.]}\n",
		"skills/read/SKILL.yaml": "name: read\ndescription: Reads.\nallowedRoles: [guest]\nallowedTools: [files__*]\n",
	})
	serve := p.command("serve", "--background", "--addr", "127.0.0.1:0")
	serve.Args = append([]string{"sh", "-c", `ulimit -n 256 && exec "$0" "$@"`}, serve.Args...)
	serve.Path = "/bin/sh"
	if out, err := serve.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := p.status().Daemon.Addr
	token := p.mint("--role", "guest").Token
	for i := range 600 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, []string{"", "POST /mcp HTT", // the daemon may have closed it already
			"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token +
				"\r\nContent-Length: 4000000\r\n\r\nhalf"}[i%3])
	}
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/mcp", strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("a new caller: %v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("a new caller: %s", res.Status)
	}
	daemon := p.status().Daemon
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", daemon.PID))
	if err != nil || len(fds) > 256/2+64 {
		t.Errorf("%d of 256 descriptors are in use (%v)", len(fds), err)
	}
	pids := map[int]string{daemon.PID: "serve"}
	deaths := p.deaths(pids)
	p.must("stop")
	p.mustDie(pids, deaths)
}
