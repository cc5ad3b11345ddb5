package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The load that a machine with 2 CPUs must carry (issue 3).
const (
	scaleSessions = 1000
	scaleServers  = 50
	scaleTools    = 200 // for each server
)

// measureScale lists tools in many sessions with subscriptions, over many servers and tools.
func measureScale(ctx context.Context, b *bed) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hostile, err := b.build(ctx, "mycelium/test/hostile")
	if err != nil {
		return err
	}
	var servers strings.Builder
	for i := range scaleServers {
		fmt.Fprintf(&servers, "  s%02d: {command: %q, args: [healthy], env: {TOOLS: \"%d\"}}\n", i, hostile, scaleTools-1)
	}
	began := time.Now()
	dir, err := b.with(ctx, "scale", servers.String(), `"*"`)
	if err != nil {
		return err
	}
	learned := time.Since(began)
	f, end, err := openFront(ctx, b, dir)
	defer end()
	if err != nil {
		return err
	}
	idle := resident(f.pid)
	var links sync.WaitGroup
	defer links.Wait()
	defer cancel()
	for range scaleSessions {
		token, err := f.mint(ctx, b, dir)
		if err != nil {
			return err
		}
		if err := f.listen(ctx, token, &links); err != nil {
			return err
		}
	}
	first, page, all, err := f.lists(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d sessions that listen, %d servers, %d tools (%v to learn them)\n", scaleSessions, scaleServers, scaleServers*scaleTools,
		learned.Round(time.Millisecond))
	table([][]string{
		{"lists", "p50", "p99", "most"},
		{"tools/list, the first page of a session (1,000 tools)", spell(quantile(first, 0.5)), spell(quantile(first, 0.99)),
			spell(quantile(first, 1))},
		{"tools/list, any page", spell(quantile(page, 0.5)), spell(quantile(page, 0.99)), spell(quantile(page, 1))},
		{"all 10 pages of a session", spell(quantile(all, 0.5)), spell(quantile(all, 0.99)), spell(quantile(all, 1))},
	})
	fmt.Printf("resident memory of the daemon: %s before the sessions, %s with them\n", idle, resident(f.pid))
	return nil
}

func spell(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

// front is a daemon over HTTP.
type front struct {
	url    string
	token  string
	pid    int
	tokens []string
	http   *http.Client

	mu   sync.Mutex
	told map[string]int // see tell
}

// openFront runs myc serve in a project.
func openFront(ctx context.Context, b *bed, dir string) (*front, func(), error) {
	return openFrontWith(ctx, b, dir, 0)
}

// openFrontWith is openFront with a bound of the daemon's descriptors; 0: as many as we have.
func openFrontWith(ctx context.Context, b *bed, dir string, descriptors int) (*front, func(), error) {
	serve := b.command(ctx, dir, "serve", "--addr", "127.0.0.1:0")
	if descriptors > 0 {
		serve.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptors)}, serve.Args...)
		serve.Path = "/bin/sh"
	}
	url, end, err := startHTTP(serve, func(line string) string {
		_, rest, _ := strings.Cut(line, "serving MCP at ")
		url, _, _ := strings.Cut(rest, " ")
		return url
	})
	if err != nil {
		return nil, end, err
	}
	f := &front{url: url, pid: serve.Process.Pid, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	f.token, err = f.mint(ctx, b, dir)
	return f, end, err
}

// mint creates a session and returns its token.
func (f *front) mint(ctx context.Context, b *bed, dir string) (string, error) {
	out, err := b.output(ctx, dir, "session", "new", "--json", "--role", "bench", "--skill", "bench")
	if err != nil {
		return "", err
	}
	var session struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(out, &session); err != nil {
		return "", err
	}
	f.tokens = append(f.tokens, session.Token)
	return session.Token, nil
}

// post sends one request of the newest revision and returns the answer.
func (f *front) post(ctx context.Context, token, method, name, params string) ([]byte, error) {
	comma := ","
	if params == "" {
		comma = ""
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + comma +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
	res, err := f.send(ctx, token, method, name, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s: %.200s", res.Status, answer))
	}
	return answer, err
}

func (f *front) send(ctx context.Context, token, method, name, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("MCP-Protocol-Version", "2026-07-28")
	h.Set("Mcp-Method", method)
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	h.Set("Authorization", "Bearer "+token)
	return f.http.Do(req)
}

// listen holds a subscription of a session open until ctx ends.
func (f *front) listen(ctx context.Context, token string, links *sync.WaitGroup) error {
	const method = "subscriptions/listen"
	res, err := f.send(ctx, token, method, "",
		`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"notifications":{"toolsListChanged":true},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		said, _ := io.ReadAll(res.Body)
		return fmt.Errorf("%s: %s: %.200s", method, res.Status, said)
	}
	links.Go(func() {
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
	})
	return nil
}

// lists lists the tools of every session, and all pages for every tenth.
func (f *front) lists(ctx context.Context) (first, page, all []time.Duration, err error) {
	for i, token := range f.tokens {
		began, cursor := time.Now(), ""
		for n := 0; n == 0 || cursor != "" && i%10 == 0; n++ {
			params, start := "", time.Now()
			if cursor != "" {
				params = `"cursor":` + cursor
			}
			answer, err := f.post(ctx, token, "tools/list", "", params)
			if err != nil {
				return nil, nil, nil, err
			}
			page = append(page, time.Since(start))
			if n == 0 {
				first = append(first, page[len(page)-1])
			}
			cursor = ""
			if at := bytes.LastIndex(answer, []byte(`"nextCursor":`)); at >= 0 {
				cursor, _, _ = strings.Cut(string(answer[at+len(`"nextCursor":`):]), ",")
				cursor = strings.TrimRight(cursor, "}\n")
			}
		}
		if i%10 == 0 {
			all = append(all, time.Since(began))
		}
	}
	return first, page, all, nil
}

// build builds one of our programs.
func (b *bed) build(ctx context.Context, pkg string) (string, error) {
	file := filepath.Join(b.dir, filepath.Base(pkg))
	out, err := b.goBuild(ctx, file, pkg)
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", pkg, err, out)
	}
	return file, nil
}

// with creates a project with its own servers and a skill that grants them.
func (b *bed) with(ctx context.Context, name, servers, tools string) (string, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for file, text := range map[string]string{
		"mycelium.yaml": "session: {defaultRole: bench, roles: [bench]}\nmcpServers:\n" + servers,
		"skills/bench/SKILL.md": "---\nname: bench\ndescription: Calls the servers.\nallowedRoles: [bench]\nallowedTools: [" + tools +
			"]\n---\nCall them.\n",
	} {
		if err := appendTo(filepath.Join(dir, file), text); err != nil {
			return "", err
		}
	}
	for _, command := range [][]string{{"trust", "--yes"}, {"tools", "sync"}} {
		if _, err := b.output(ctx, dir, command...); err != nil {
			return "", err
		}
	}
	return dir, nil
}
