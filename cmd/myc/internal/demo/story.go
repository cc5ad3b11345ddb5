package demo

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/node/api"
)

// ToolNames returns the tools that a client sees, without the control tools.
func ToolNames(ctx context.Context, s *mcp.ClientSession) ([]string, error) {
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
		names, err := ToolNames(ctx, s)
		if err != nil {
			return err
		}
		_ = s.Close()
		seen[role] = names
	}
	fmt.Fprintf(d.Out, "   %s\n", d.dim.Render("guest developer admin"))
	for _, name := range seen["admin"] {
		mark := func(role string) string {
			if slices.Contains(seen[role], name) {
				return d.good.Render("●") + strings.Repeat(" ", len(role)+1)
			}
			return d.dim.Render("·") + strings.Repeat(" ", len(role)+1)
		}
		fmt.Fprintf(d.Out, "   %s%s%s %s\n", mark("guest"), mark("developer"), mark("admin"), name)
	}
	g, dev, adm := len(seen["guest"]), len(seen["developer"]), len(seen["admin"])
	d.check(0 < g && g < dev && dev < adm, fmt.Sprintf("guest is shown %d tools, developer %d, admin %d: the rest does not exist for "+
		"them", g, dev, adm))
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
	fmt.Fprintf(d.Out, "   %s\n", d.dim.Render("guest calls files__write_file   → "+hidden))
	fmt.Fprintf(d.Out, "   %s\n", d.dim.Render("guest calls files__no_such_tool → "+absent))
	d.check(strings.ReplaceAll(hidden, "write_file", "no_such_tool") == absent && strings.Contains(hidden, "nknown tool"),
		"both answers are the same but for the name")
	_, err = os.Stat(filepath.Join(d.dir, "x.txt"))
	d.check(os.IsNotExist(err), "nothing was written")
	return nil
}

// switchRole shows an HTTP session that may switch to developer but not to admin.
func (d *demo) switchRole(ctx context.Context) error {
	d.title(3, "A session may take the roles of its credential, and no other")
	var minted api.Session
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
	d.check(refused && strings.ReplaceAll(ResultOf(r), "admin", "emperor") == ResultOf(no),
		"set_role admin: answered like a role that does not exist")
	return nil
}

func setRole(role string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "mycelium-router__set_role", Arguments: map[string]any{"role_id": role}}
}

// ResultOf returns the first text of a result, or "".
func ResultOf(r *mcp.CallToolResult) string {
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
	t := &mcp.StreamableClientTransport{Endpoint: "http://" + d.addr + "/mcp", HTTPClient: &http.Client{Transport: Bearer(token)}}
	return d.client(changed).Connect(ctx, t, nil)
}

// Bearer adds a token to every request.
type Bearer string

// RoundTrip sends a request with the token.
func (b Bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
