package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// TestPrivate: the configuration of a run has our hook and only our server, and of the person's what reaches the model.
func TestPrivate(t *testing.T) {
	for name, c := range map[string]struct {
		own         map[string]string // below the home of the person
		environ     []string
		file        string // with the hook and the server
		want, lacks []string
		hosts       []string
		vars        []string
	}{
		"codex": {own: map[string]string{".codex/auth.json": `{"login":1}`, ".codex/config.toml": "model = \"m\"\n" +
			"sandbox_mode = \"read-only\"\nmodel_provider = \"mine\"\nnotify = [\"sh\"]\n\n" +
			"[mcp_servers.theirs]\ncommand = \"x\"\n\n[model_providers.mine]\n" +
			"base_url = \"http://127.0.0.1:1234/v1\"\nenv_key = \"MY_KEY\"\n\n[projects.\"/tree\"]\ntrust_level = \"trusted\"\n"},
			environ: []string{"MY_KEY=secret", "OPENAI_API_KEY=k", "GITHUB_TOKEN=t"}, file: "config.toml",
			want: []string{"model = \"m\"\nmodel_provider = \"mine\"", "[model_providers.mine]", "[mcp_servers.\"mycelium\"]", "trusted_hash",
				"sandbox_mode = \"danger-full-access\"", "hooks = true", `"gateway","/door"`},
			lacks: []string{"theirs", "read-only", "notify", "/tree"},
			hosts: []string{"127.0.0.1:1234", "api.openai.com", "chatgpt.com", "auth.openai.com"},
			vars:  []string{"MY_KEY=secret", "OPENAI_API_KEY=k"}},
		"gemini": {own: map[string]string{".gemini/oauth_creds.json": `{"login":1}`, ".gemini/settings.json": "{// mine\n\"security\": " +
			"{\"auth\": {\"selectedType\": \"oauth\"}}, \"mcpServers\": {\"theirs\": {\"command\": \"x\"}}, \"hooksConfig\": {\"enabled\": false}}"},
			environ: []string{"GEMINI_API_KEY=k", "GITHUB_TOKEN=t", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:99"}, file: ".gemini/settings.json",
			want: []string{`"BeforeTool"`, `"mycelium"`, `"enabled": true`, `"/door"`}, lacks: []string{"theirs"},
			hosts: []string{"127.0.0.1:99"}, vars: []string{"GEMINI_API_KEY=k"}},
	} {
		t.Run(name, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			for file, text := range c.own {
				path := filepath.Join(home, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			agent, _ := harness.Named(name)
			environ := append([]string{"HOME=" + home}, c.environ...)
			s := &Setup{Agent: agent, Scope: harness.User, Dir: "/project", Environ: environ, Myc: "/myc", Small: "/myc-hook", Door: "/door",
				Gateway: DefaultGateway, State: state.Root("/state").Of("/project")}
			p, err := s.Private(folder, environ, []string{"/myc-hook", "gateway", "/door"})
			if err != nil {
				t.Fatal(err)
			}
			text := string(p.Files[filepath.Join(folder, c.file)])
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s lacks %q:\n%s", c.file, want, text)
				}
			}
			all, logins := "", 0
			for path, from := range p.Logins {
				if text, err := os.ReadFile(from); err == nil && string(text) == `{"login":1}` && strings.HasPrefix(path, folder+"/") {
					logins++
				}
			}
			for path, text := range p.Files {
				all += string(text)
				if !strings.HasPrefix(path, folder+"/") {
					t.Errorf("it would write %s", path)
				}
			}
			for _, lacks := range append(c.lacks, "/state", "GITHUB") {
				if strings.Contains(all, lacks) {
					t.Errorf("a file has %q", lacks)
				}
			}
			if !slices.Equal(p.Hosts, c.hosts) || logins != 1 || !slices.Contains(p.Fixed, filepath.Join(folder, c.file)) ||
				strings.Contains(strings.Join(p.Environ, " "), "GITHUB") {
				t.Errorf("hosts %q, %d logins, fixed %q, environment %q", p.Hosts, logins, p.Fixed, p.Environ)
			}
			for _, v := range c.vars {
				if !slices.Contains(p.Environ, v) {
					t.Errorf("the environment lacks %s", v)
				}
			}
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Error("it wrote files itself")
			}
		})
	}
}
