package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolNames are what a client is shown, the control tools left out.
func toolNames(ctx context.Context, s *mcp.ClientSession) ([]string, error) {
	var names []string
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(t.Name, "mycelium-") {
			names = append(names, t.Name)
		}
	}
	return names, nil
}

// threeWorlds shows the same client under three roles, over stdio.
func (d *demo) threeWorlds(ctx context.Context) error {
	d.title(1, "One agent, three worlds")
	seen := map[string][]string{}
	for _, role := range []string{"guest", "developer", "admin"} {
		s, err := d.stdio(ctx, "--role", role)
		if err != nil {
			return err
		}
		names, err := toolNames(ctx, s)
		if err != nil {
			return err
		}
		_ = s.Close()
		seen[role] = names
	}
	fmt.Fprintf(d.out, "   %s\n", d.dim.Render("guest developer admin"))
	for _, name := range seen["admin"] {
		mark := func(role string) string {
			if slices.Contains(seen[role], name) {
				return d.good.Render("●") + strings.Repeat(" ", len(role)+1)
			}
			return d.dim.Render("·") + strings.Repeat(" ", len(role)+1)
		}
		fmt.Fprintf(d.out, "   %s%s%s %s\n", mark("guest"), mark("developer"), mark("admin"), name)
	}
	g, dev, adm := len(seen["guest"]), len(seen["developer"]), len(seen["admin"])
	d.check(0 < g && g < dev && dev < adm, fmt.Sprintf("guest is shown %d tools, developer %d, admin %d: the rest does not exist for them", g, dev, adm))
	return nil
}

// hiddenIsAbsent shows that a guest's write fails exactly like a tool that never existed.
func (d *demo) hiddenIsAbsent(ctx context.Context) error {
	d.title(2, "A hidden tool fails exactly like an absent one")
	s, err := d.stdio(ctx, "--role", "guest")
	if err != nil {
		return err
	}
	defer s.Close()
	text := func(tool string) string {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"path": "x.txt", "content": "x"}})
		if err == nil {
			return "no error"
		}
		return err.Error()
	}
	hidden, absent := text("files__write_file"), text("files__no_such_tool")
	fmt.Fprintf(d.out, "   %s\n", d.dim.Render("guest calls files__write_file   → "+hidden))
	fmt.Fprintf(d.out, "   %s\n", d.dim.Render("guest calls files__no_such_tool → "+absent))
	d.check(strings.ReplaceAll(hidden, "write_file", "no_such_tool") == absent && strings.Contains(hidden, "nknown tool"), "both answers are the same but for the name")
	_, err = os.Stat(filepath.Join(d.dir, "x.txt"))
	d.check(os.IsNotExist(err), "nothing was written")
	return nil
}

// switchRole shows one HTTP session that may also be developer, and not admin.
func (d *demo) switchRole(ctx context.Context) error {
	d.title(3, "A session may take the roles of its credential, and no other")
	var minted sessionReply
	if err := d.run(ctx, &minted, "session", "new", "--role", "guest", "--may", "developer", "--json"); err != nil {
		return err
	}
	changed := make(chan struct{}, 8)
	s, err := d.http(ctx, minted.Token, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	write := &mcp.CallToolParams{Name: "files__write_file", Arguments: map[string]any{"path": "hello.txt", "content": "hello\n"}}
	_, err = s.CallTool(ctx, write)
	d.check(err != nil && strings.Contains(err.Error(), "nknown tool"), "over HTTP, as guest: files__write_file is unknown")
	r, err := s.CallTool(ctx, setRole("developer"))
	d.check(err == nil && !r.IsError, "set_role developer: allowed, the credential says so")
	d.check(received(ctx, changed), "tools/list_changed arrived")
	r, err = s.CallTool(ctx, write)
	wrote, readErr := os.ReadFile(filepath.Join(d.dir, "hello.txt"))
	d.check(err == nil && !r.IsError && readErr == nil && string(wrote) == "hello\n", "as developer: files__write_file wrote hello.txt")
	r, err = s.CallTool(ctx, setRole("admin"))
	no, noErr := s.CallTool(ctx, setRole("emperor"))
	refused := err == nil && noErr == nil && r.IsError && no.IsError
	d.check(refused && strings.ReplaceAll(resultOf(r), "admin", "emperor") == resultOf(no), "set_role admin: answered like a role that does not exist")
	return nil
}

func setRole(role string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "mycelium-router__set_role", Arguments: map[string]any{"role_id": role}}
}

func resultOf(r *mcp.CallToolResult) string {
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func received(ctx context.Context, changed <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	select {
	case <-changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// http connects the SDK's client over Streamable HTTP with a session's token.
func (d *demo) http(ctx context.Context, token string, changed func()) (*mcp.ClientSession, error) {
	t := &mcp.StreamableClientTransport{Endpoint: "http://" + d.addr + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}}
	return d.client(changed).Connect(ctx, t, nil)
}

// bearer adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// poisoned sends a call with a second Name key, which a careless parser would take for the tool.
func (d *demo) poisoned(ctx context.Context) error {
	d.title(4, "A poisoned call is refused whole")
	var minted sessionReply
	if err := d.run(ctx, &minted, "session", "new", "--role", "guest", "--json"); err != nil {
		return err
	}
	_, header, err := d.post(ctx, minted.Token, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}`)
	if err != nil {
		return err
	}
	answer, _, err := d.post(ctx, minted.Token, header.Get("Mcp-Session-Id"),
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files__read_file","Name":"files__write_file","arguments":{"path":"poison.txt","content":"x"}}}`)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "   %s\n   %s\n", d.dim.Render(`"params":{"name":"files__read_file","Name":"files__write_file", …}`), d.dim.Render("→ "+firstLine(string(answer), 150)))
	_, statErr := os.Stat(filepath.Join(d.dir, "poison.txt"))
	d.check(bytes.Contains(answer, []byte(`"error"`)) && bytes.Contains(answer, []byte("Name")) && os.IsNotExist(statErr), "name and Name in one call: refused, nothing ran")
	return nil
}

// post sends one raw message, as an attacker would who needs no client.
func (d *demo) post(ctx context.Context, token, link, body string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if link != "" {
		req.Header.Set("Mcp-Session-Id", link)
	}
	res, err := (&http.Client{Transport: bearer(token)}).Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return answer, res.Header, err
}

// typo shows that a skill with a misspelt tool removes itself, and nothing else.
func (d *demo) typo(ctx context.Context) error {
	d.title(5, "A broken declaration grants nothing")
	dir := filepath.Join(d.dir, "skills", "sloppy")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text := "name: sloppy\ndescription: Deletes things.\nallowedRoles: [guest]\nallowedTools:\n  - files__delete_file\n  - files__raed_file\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	stdout, stderr, err := d.capture(ctx, "skill", "validate")
	line := ""
	for l := range strings.Lines(stderr + stdout) {
		if strings.Contains(l, "raed_file") {
			line = strings.TrimSpace(l)
		}
	}
	fmt.Fprintf(d.out, "   %s\n", d.dim.Render(firstLine(strings.ReplaceAll(line, d.dir+"/", ""), 150)))
	d.check(err != nil && strings.Contains(line, "SKILL.yaml:6") && strings.Contains(line, "files__read_file"), "the operator is told the file, the line and what was meant")
	if err := d.run(ctx, nil, "skill", "reload"); err != nil {
		return err
	}
	s, err := d.stdio(ctx, "--role", "guest")
	if err != nil {
		return err
	}
	defer s.Close()
	names, err := toolNames(ctx, s)
	if err != nil {
		return err
	}
	d.check(!slices.Contains(names, "files__delete_file"), "the skill is left out whole: guest did not gain its other tool")
	return nil
}

// tamper verifies the log, changes one byte of it, and finds the place.
func (d *demo) tamper(ctx context.Context) error {
	d.title(6, "The record shows tampering")
	var calls []struct {
		Tool    string `json:"tool"`
		Outcome string `json:"outcome"`
		Role    string `json:"role"`
	}
	if err := d.run(ctx, &calls, "audit", "query", "--json"); err != nil {
		return err
	}
	denied := 0
	for _, c := range calls {
		if c.Outcome == "denied" {
			denied++
		}
	}
	d.check(denied >= 2, fmt.Sprintf("%d calls are on record, %d of them denied", len(calls), denied))
	d.check(d.run(ctx, nil, "audit", "verify") == nil, "myc audit verify: the chain is whole")
	segments, err := filepath.Glob(filepath.Join(d.dir, ".mycelium", "audit", "*"))
	if err != nil || len(segments) == 0 {
		return fmt.Errorf("the log has no segment: %w", err)
	}
	b, err := os.ReadFile(segments[0])
	if err != nil {
		return err
	}
	at := bytes.Index(b, []byte("files__write_file"))
	if at < 0 {
		return fmt.Errorf("the log does not hold the call")
	}
	b[at+len("files__")] ^= 1
	if err := os.WriteFile(segments[0], b, 0o600); err != nil { //nolint:gosec // a file of our own scratch folder
		return err
	}
	_, stderr, err := d.capture(ctx, "audit", "verify")
	fmt.Fprintf(d.out, "   %s\n", d.dim.Render("one bit flipped → "+firstLine(stderr, 150)))
	line := 1 + bytes.Count(b[:at], []byte("\n"))
	d.check(err != nil && strings.Contains(stderr, fmt.Sprintf(":%d:", line)), "and names the broken line")
	return nil
}
