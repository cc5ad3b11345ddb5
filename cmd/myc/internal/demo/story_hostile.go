package demo

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

	"mycelium/internal/node/api"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// poisoned sends a call with a second Name key, which a careless parser would take for the tool.
func (d *demo) poisoned(ctx context.Context) error {
	d.title(4, "A poisoned call is refused whole")
	var minted api.Session
	if err := d.run(ctx, &minted, "session", "new", "--role", "guest", "--json"); err != nil {
		return err
	}
	_, header, err := d.post(ctx, minted.Token, "",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
			`"capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}`)
	if err != nil {
		return err
	}
	answer, _, err := d.post(ctx, minted.Token, header.Get("Mcp-Session-Id"),
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files__read_file","Name":"files__write_file",`+
			`"arguments":{"path":"poison.txt","content":"x"}}}`)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.Out, "   %s\n   %s\n", d.dim.Render(`"params":{"name":"files__read_file","Name":"files__write_file", …}`),
		d.dim.Render("→ "+text.Cell(string(answer), 150)))
	_, statErr := os.Stat(filepath.Join(d.dir, "poison.txt"))
	d.check(bytes.Contains(answer, []byte(`"error"`)) && bytes.Contains(answer, []byte("Name")) && os.IsNotExist(statErr),
		"name and Name in one call: refused, nothing ran")
	return nil
}

// post sends one raw message, as an attacker without a client would.
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
	res, err := (&http.Client{Transport: Bearer(token)}).Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return answer, res.Header, err
}

// typo shows that a skill with a misspelt tool is left out, and only that skill.
func (d *demo) typo(ctx context.Context) error {
	d.title(5, "A broken declaration grants nothing")
	dir := filepath.Join(d.dir, "skills", "sloppy")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := "name: sloppy\ndescription: Deletes things.\nallowedRoles: [guest]\nallowedTools:\n  - files__delete_file\n  - " +
		"files__raed_file\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.yaml"), []byte(file), 0o600); err != nil {
		return err
	}
	stdout, stderr, err := d.capture(ctx, "skill", "validate")
	line := ""
	for l := range strings.Lines(stderr + stdout) {
		if strings.Contains(l, "raed_file") {
			line = strings.TrimSpace(l)
		}
	}
	fmt.Fprintf(d.Out, "   %s\n", d.dim.Render(text.Cell(strings.ReplaceAll(line, d.dir+"/", ""), 150)))
	d.check(err != nil && strings.Contains(line, "SKILL.yaml:6") && strings.Contains(line, "files__read_file"),
		"the operator is told the file, the line and what was meant")
	if err := d.run(ctx, nil, "trust", "--yes"); err != nil {
		return err
	}
	if err := d.run(ctx, nil, "skill", "reload"); err != nil {
		return err
	}
	s, err := d.stdio(ctx, "--role", "guest")
	if err != nil {
		return err
	}
	defer s.Close()
	names, err := ToolNames(ctx, s)
	if err != nil {
		return err
	}
	d.check(!slices.Contains(names, "files__delete_file"), "the skill is left out whole: guest did not gain its other tool")
	return nil
}

// tamper verifies the log, changes one byte of it, and shows that the place is found.
func (d *demo) tamper(ctx context.Context) error {
	d.title(8, "The record shows tampering")
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
	d.check(d.run(ctx, nil, "audit", "verify") == nil, "myc audit verify: the chain is intact")
	paths, err := d.state()
	if err != nil {
		return err
	}
	segments, err := filepath.Glob(filepath.Join(paths.Folder(), state.AuditLog, "*"))
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
	fmt.Fprintf(d.Out, "   %s\n", d.dim.Render("one bit flipped → "+text.Cell(stderr, 150)))
	line := 1 + bytes.Count(b[:at], []byte("\n"))
	d.check(err != nil && strings.Contains(stderr, fmt.Sprintf(":%d:", line)), "and names the broken line")
	return nil
}
