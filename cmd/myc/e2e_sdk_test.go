package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/cmd/myc/internal/demo"
)

// foreign is the SDK's client, which is not ours, connected to the program.
type foreign struct {
	*mcp.ClientSession
	changed chan string // what list_changed was received of
}

// dial connects the SDK's client in one revision.
func (p *project) dial(tr mcp.Transport, version string) *foreign {
	p.t.Helper()
	f := &foreign{changed: make(chan string, 64)}
	c := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler:   func(context.Context, *mcp.ToolListChangedRequest) { f.changed <- "tools" },
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { f.changed <- "prompts" },
	})
	var err error
	if f.ClientSession, err = c.Connect(p.ctx, tr, &mcp.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = f.Close() })
	return f
}

func (p *project) stdio(args ...string) mcp.Transport {
	return &mcp.CommandTransport{Command: p.command(append([]string{"mcp"}, args...)...), TerminateDuration: 20 * time.Second}
}

func (p *project) http(endpoint, token string) mcp.Transport {
	base := &http.Transport{}
	p.t.Cleanup(base.CloseIdleConnections)
	return &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearerOver{token, base}}}
}

// bearerOver adds a token to every request.
type bearerOver struct {
	token string
	base  *http.Transport
}

func (b bearerOver) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(r)
}

// hears waits for a list_changed of one kind.
func (f *foreign) hears(p *project, kind string) {
	p.t.Helper()
	for {
		select {
		case got := <-f.changed:
			if got == kind {
				return
			}
		case <-p.ctx.Done():
			p.t.Fatalf("%s/list_changed never came", kind)
		}
	}
}

func (f *foreign) tools(p *project) []string {
	p.t.Helper()
	names, err := demo.ToolNames(p.ctx, f.ClientSession)
	if err != nil {
		p.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func (f *foreign) call(p *project, tool string, args map[string]any) (string, error) {
	r, err := f.CallTool(p.ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	if r.IsError {
		return "", errors.New("tool: " + demo.ResultOf(r))
	}
	return demo.ResultOf(r), nil
}

// The SDK's client of every revision, over stdio through the daemon, over stdio alone, and over HTTP.
func TestSDKClientOfEveryRevision(t *testing.T) {
	t.Parallel()
	versions := []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	supported := mcp.SupportedProtocolVersions()
	slices.Sort(supported)
	if !slices.Equal(supported, versions) {
		t.Errorf("the SDK speaks %v; this test tries %v", supported, versions)
	}
	daemon := newProject(t, world(nil))
	endpoint := daemon.serve()
	for _, version := range versions {
		t.Run("stdio/"+version, func(t *testing.T) {
			p := daemon.of(t)
			everyRevision(p, p.dial(p.stdio("--role", "guest", "--may", "developer"), version), version)
		})
		t.Run("alone/"+version, func(t *testing.T) {
			p := newProject(t, world(nil))
			f := p.dial(p.stdio("--alone", "--role", "guest", "--may", "developer"), version)
			everyRevision(p, f, version)
			if s := p.status(); !s.Daemon.Running || s.Daemon.Addr != "" {
				t.Errorf("the lone process does not answer for the project: %+v", s.Daemon)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if s := p.status(); s.Daemon.Running {
				t.Errorf("the lone process left a daemon: %+v", s.Daemon)
			}
		})
		t.Run("http/"+version, func(t *testing.T) {
			p := daemon.of(t)
			s := p.mint("--role", "guest", "--may", "developer")
			everyRevision(p, p.dial(p.http(endpoint, s.Token), version), version)
		})
	}
	daemon.must("audit", "verify")
}

// of is the same project for a subtest.
func (p *project) of(t *testing.T) *project {
	q := *p
	q.t = t
	return &q
}

func everyRevision(p *project, f *foreign, version string) {
	p.t.Helper()
	t := p.t
	if r := f.InitializeResult(); r.ProtocolVersion != version || r.ServerInfo.Name != "mycelium" ||
		!strings.Contains(r.Instructions, "Mycelium") {
		t.Errorf("initialized as %+v", r)
	}
	if got := f.tools(p); !slices.Equal(got, guestToolNames) {
		t.Errorf("a guest is shown %v", got)
	}
	if got, err := f.call(p, "files__read_file", map[string]any{"path": "notes.md"}); err != nil || !strings.Contains(got, "きのこ") {
		t.Errorf("read_file: %q, %v", got, err)
	}
	file := "by-" + version + "-" + strings.ReplaceAll(t.Name(), "/", "-") + ".txt"
	write := map[string]any{"path": file, "content": "written\n"}
	for _, hidden := range []string{"files__write_file", "files__delete_file", "files__no_such_tool"} {
		_, err := f.call(p, hidden, write)
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != -32602 || e.Message != "Unknown tool: "+hidden {
			t.Errorf("%s is answered %v", hidden, err)
		}
	}
	skillsOf(p, f, "looking", "writing")
	if _, err := f.call(p, "mycelium-router__set_role", map[string]any{"role_id": "admin"}); err == nil ||
		!strings.Contains(err.Error(), "Unknown role: admin") {
		t.Errorf("set_role admin: %v", err)
	}
	if manifest, err := f.call(p, "mycelium-router__set_role", map[string]any{"role_id": "developer"}); err != nil ||
		!strings.Contains(manifest, "files__write_file") {
		t.Fatalf("set_role developer: %q, %v", manifest, err)
	}
	f.hears(p, "tools")
	if got := f.tools(p); !slices.Equal(got, developerToolNames) {
		t.Errorf("a developer is shown %v", got)
	}
	if _, err := f.call(p, "files__write_file", write); err != nil || p.read(file) != "written\n" {
		t.Errorf("write_file: %v, the file holds %q", err, p.read(file))
	}
	skillsOf(p, f, "writing", "admin")
}

// skillsOf reads the prompts and resources that skills bring: those of a skill that is open, and none of one that is not.
func skillsOf(p *project, f *foreign, open, hidden string) {
	p.t.Helper()
	t := p.t
	var prompts, uris []string
	for got, err := range f.Prompts(p.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, got.Name)
	}
	for got, err := range f.Resources(p.ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, got.URI)
	}
	if !slices.Contains(prompts, "mycelium-skills__"+open) || slices.Contains(prompts, "mycelium-skills__"+hidden) {
		t.Errorf("prompts %v", prompts)
	}
	if r, err := f.GetPrompt(p.ctx, &mcp.GetPromptParams{Name: "mycelium-skills__" + open}); err != nil || len(r.Messages) == 0 {
		t.Errorf("prompt of %s: %+v, %v", open, r, err)
	}
	for _, name := range []string{hidden, "no-such-skill"} {
		if _, err := f.GetPrompt(p.ctx, &mcp.GetPromptParams{Name: "mycelium-skills__" + name}); err == nil ||
			!strings.Contains(err.Error(), "Unknown prompt: mycelium-skills__"+name) {
			t.Errorf("prompt of %s: %v", name, err)
		}
		if _, err := f.ReadResource(p.ctx, &mcp.ReadResourceParams{URI: "mycelium-skills+skill://" + name + "/SKILL.md"}); err == nil ||
			!strings.Contains(err.Error(), "Resource not found") {
			t.Errorf("resource of %s: %v", name, err)
		}
	}
	for _, uri := range uris {
		if r, err := f.ReadResource(p.ctx, &mcp.ReadResourceParams{URI: uri}); err != nil || len(r.Contents) == 0 ||
			strings.Contains(uri, "/"+hidden+"/") {
			t.Errorf("resource %s: %+v, %v", uri, r, err)
		}
	}
	if open == "writing" && !slices.ContainsFunc(uris, func(u string) bool { return strings.Contains(u, "writing") }) {
		t.Errorf("resources %v", uris)
	}
}
