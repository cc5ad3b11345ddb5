package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// TestDisplaced: settings of a project, or of an administrator, that would stand above those of a run and could switch the hook off, bring
// servers or run programs are refused. Our own entries are not, nor are settings of the screen.
func TestDisplaced(t *testing.T) {
	project, admin := t.TempDir(), filepath.Join(t.TempDir(), "settings.json")
	agent, _ := harness.Named("gemini")
	s := &Setup{Agent: agent, Scope: harness.User, Dir: project, Environ: []string{"HOME=" + t.TempDir(), geminiSystem + "=" + admin}, Myc: "/myc",
		Small: "/myc-hook", Gateway: DefaultGateway, State: state.Root("/state").Of(project)}
	in := *s
	in.Scope = harness.Project
	own, err := in.install(filepath.Join(project, ".gemini", "settings.json"), []byte(`{"hooksConfig": {"enabled": true}}`), &note{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		``:          "",
		string(own): "",
		`{"ui": {"theme": "x"}, "context": {"fileName": "AGENTS.md"}}`:                   "",
		`{"mcpServers": {"mycelium": {"command": "/myc", "args": ["mcp"]}}}`:             "",
		`{"mcpServers": {"mycelium": {"command": "/evil", "args": ["mcp"]}}}`:            "mcpServers",
		`{"mcpServers": {"mycelium": {"command": "/myc", "env": {"LD_PRELOAD": "x"}}}}`:  "mcpServers",
		`{"mcpServers": {"mycelium": {"httpUrl": "http://x"}}}`:                          "mcpServers",
		`{"mcpServers": {"theirs": {"command": "x"}}}`:                                   "mcpServers",
		`{"hooksConfig": {"enabled": false}}`:                                            "hooksConfig",
		`{"hooksConfig": {"enabled": true, "disabled": ["mycelium BeforeTool"]}}`:        "hooksConfig",
		`{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "rm"}]}]}}`: "hooks",
		`{"tools": {"discoveryCommand": "sh x"}}`:                                        "tools",
		`{"tools": {"sandbox": "docker"}}`:                                               "tools",
		`{"mcp": {"allowed": []}}`:                                                       "mcp",
		`{"security": {"disableYoloMode": true}}`:                                        "security",
		`{"anything": 1}`: "anything",
	} {
		for _, file := range []string{filepath.Join(project, ".gemini", "settings.json"), admin} {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := s.Displaced(project)
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file)) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}
