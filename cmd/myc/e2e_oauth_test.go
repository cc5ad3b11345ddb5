package main

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/resource/issuertest"
)

// team is a project that is served to a team: people bring the access tokens of an issuer.
type team struct {
	*project
	issuer *issuertest.Issuer
	url    string
}

const teamResource = "https://mcp.example.com/mcp"

// knock lists the tools with a token, as a client that came to our public name through a proxy.
func (p *team) knock(token string) (status int, body string, header http.Header) {
	p.t.Helper()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	return p.fetch(http.MethodPost, p.url, list, "mcp.example.com", "Authorization", "Bearer "+token, "Content-Type", "application/json",
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
}

// fetch makes a request and returns the answer whole. Without a host it is the one of the address.
func (p *project) fetch(method, url, body, host string, header ...string) (int, string, http.Header) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.ctx, method, url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

// People with tokens of an issuer, through the whole program: what they see follows from their claims, the operator sees who is
// there and can end it, and no token is kept anywhere.
func TestATeamBringsItsOwnTokens(t *testing.T) {
	t.Parallel()
	issuer := issuertest.New(t)
	p := &team{project: newProject(t, world(map[string]string{
		"mycelium.yaml": fmt.Sprintf(`session: {defaultRole: guest, roles: [guest, developer]}
log: {level: info}
server:
  hosts: [other.example.com]
  oauth:
    resource: %s
    issuers: [%q]
    claims: {role: groups, principal: email}
    roles: {everybody: guest, engineers: developer}
    scopes: [mcp]
`, teamResource, issuer.URL),
	})), issuer: issuer}
	p.url = p.serve()
	token := func(changes map[string]any) string {
		c := map[string]any{"groups": []string{"everybody"}, "email": "alice@example.com", "scope": "mcp"}
		for k, v := range changes {
			c[k] = v
		}
		return issuer.Token(issuer.Claims(teamResource, c), nil)
	}
	guest, engineer := token(nil), token(map[string]any{"sub": "bob", "email": "bob@example.com", "groups": []string{"engineers", "board"}})
	status, body, _ := p.knock(guest)
	if status != http.StatusOK || !strings.Contains(body, "files__read_file") || strings.Contains(body, "files__write_file") {
		t.Errorf("alice: %d %s", status, body)
	}
	if status, body, _ := p.knock(engineer); status != http.StatusOK || !strings.Contains(body, "files__write_file") {
		t.Errorf("bob: %d %s", status, body)
	}
	if status, _, h := p.knock(token(map[string]any{"scope": "other"})); status != http.StatusForbidden ||
		!strings.Contains(h.Get("WWW-Authenticate"), `error="insufficient_scope"`) {
		t.Errorf("without the scope: %d %s", status, h)
	}
	if status, _, h := p.knock(token(map[string]any{"aud": "https://other.example.com"})); status != http.StatusUnauthorized ||
		!strings.Contains(h.Get("WWW-Authenticate"), `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("for somebody else: %d %s", status, h)
	}
	base := strings.TrimSuffix(p.url, "/mcp")
	for host, want := range map[string]int{"mcp.example.com": http.StatusOK, "other.example.com": http.StatusOK,
		"evil.example.com": http.StatusForbidden} {
		if status, body, _ := p.fetch(http.MethodGet, base+"/.well-known/oauth-protected-resource/mcp", "", host); status != want ||
			want == http.StatusOK && !strings.Contains(body, `"resource":"`+teamResource+`"`) {
			t.Errorf("metadata at %s: %d %s", host, status, body)
		}
	}

	var list, again []session.Summary
	p.decode(&list, "session", "list")
	prefix := "oauth:" + issuer.URL + "#"
	if len(list) != 2 || list[0].Principal != prefix+"alice@example.com" || list[0].Role != "guest" ||
		list[1].Principal != prefix+"bob@example.com" || list[1].Role != "developer" || list[0].Name != "app" {
		t.Fatalf("sessions %+v", list)
	}
	// Across a restart the session is the same, with what the operator did to it.
	if _, stderr, err := p.run("session", "set-role", list[0].ID, "developer"); err == nil {
		t.Errorf("an operator gave more than the token: %s", stderr)
	}
	p.must("stop")
	p.url = p.serve()
	if status, body, _ := p.knock(guest); status != http.StatusOK {
		t.Errorf("after a restart: %d %s", status, body)
	}
	if p.decode(&again, "session", "list"); len(again) != 2 || again[0].ID != list[0].ID {
		t.Errorf("after a restart %+v", again)
	}
	p.must("session", "end", list[0].ID)
	if status, _, _ := p.knock(guest); status != http.StatusUnauthorized {
		t.Errorf("an ended session: %d", status)
	}
	issuer.Down(true)
	if status, _, _ := p.knock(engineer); status != http.StatusOK {
		t.Errorf("with keys that are known: %d", status)
	}
	p.must("stop")
	p.url = p.serve()
	if status, body, _ := p.knock(engineer); status != http.StatusServiceUnavailable {
		t.Errorf("without keys: %d %s", status, body)
	}
	p.must("stop")
	p.must("audit", "verify")
	p.nowhere(guest, engineer)
	for _, want := range []string{`its audience is \"https://other.example.com\"`, `it has the scopes \"other\"`} {
		if !strings.Contains(p.logs(), want) {
			t.Errorf("the operator is not told %s:\n%s", want, p.logs())
		}
	}
}

// nowhere fails if a part of a token that only its holder can know is in a file of the project or its home.
func (p *team) nowhere(tokens ...string) {
	p.t.Helper()
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, token := range tokens {
			if signature := token[strings.LastIndexByte(token, '.')+1:]; strings.Contains(string(b), signature) {
				p.t.Errorf("a token is in %s", path)
			}
		}
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
}

// Tokens of ours work beside those of an issuer, also while it is away.
func TestTokensOfOursNeedNoIssuer(t *testing.T) {
	t.Parallel()
	issuer := issuertest.New(t)
	issuer.Down(true)
	p := &team{project: newProject(t, world(map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest, developer]}\nserver: {oauth: {resource: %q, issuers: [%q]}}\n",
			teamResource, issuer.URL),
	})), issuer: issuer}
	p.url = p.serve()
	if status, body, _ := p.knock(p.mint("--role", "guest").Token); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if issuer.Fetches() > 0 {
		t.Error("the issuer was asked")
	}
}
