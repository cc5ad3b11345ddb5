package fake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Agent is a copy of a real agent that talks to a fake.
type Agent struct {
	Name string // claude, codex or gemini
	Path string // the program
	Home string // a folder of its own, for HOME and its configuration
	URL  string // of the fake
}

// ErrNoScript is the error for an agent that speaks no API of ours.
var ErrNoScript = errors.New("there is no scripted API for this agent")

// Find returns the program to test with: the one that MYCELIUM_TEST_NAME names (MYCELIUM_TEST_CODEX …), else the one that `make test`
// installs in the repository.
func Find(repository, name string) (string, error) {
	variable := "MYCELIUM_TEST_" + strings.ToUpper(name)
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(repository, ".cache", "npm", "node_modules", ".bin", name)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path) //nolint:gosec // the variable is there to name a program
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w; scripts/setup-test installs it, or set %s", name, err, variable)
	}
	return path, nil
}

// Environ makes the home and returns a whole environment in which the agent talks to the fake, reads nobody's configuration and sends
// nothing elsewhere. Only a network namespace (see NoNetwork) guarantees the last; the variables keep it from trying.
func (a Agent) Environ() ([]string, error) {
	switch a.Name {
	case "claude":
		return Claude{a.Path, a.Home, a.URL}.Environ()
	case "codex":
		config := fmt.Sprintf("model = \"gpt-5\"\nmodel_provider = \"script\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n"+
			"[model_providers.script]\nname = \"script\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPT_KEY\"\n"+
			"request_max_retries = 0\nstream_max_retries = 0\n", a.URL)
		err := a.seed(filepath.Join(".codex", "config.toml"), []byte(config))
		return append(a.base(), "CODEX_HOME="+filepath.Join(a.Home, ".codex"), "SCRIPT_KEY="+Key), err
	case "gemini":
		settings, err := json.Marshal(map[string]any{
			"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
			"privacy":   map[string]any{"usageStatisticsEnabled": false},
			"telemetry": map[string]any{"enabled": false},
			"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		}, json.Deterministic(true), jsontext.WithIndent("  "))
		if err == nil {
			err = a.seed(filepath.Join(".gemini", "settings.json"), settings)
		}
		return append(a.base(), "GEMINI_API_KEY="+Key, "GOOGLE_GEMINI_BASE_URL="+a.URL, "GEMINI_TELEMETRY_ENABLED=false"), err
	}
	return nil, fmt.Errorf("%s: %w", a.Name, ErrNoScript)
}

// seed writes a file of the agent's home.
func (a Agent) seed(name string, text []byte) error {
	path := filepath.Join(a.Home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("make a home for %s: %w", a.Name, err)
	}
	return nil
}

// base is the environment that every agent gets.
func (a Agent) base() []string {
	keep := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "LANG", "TMPDIR", "TERM", "TZ"}, name)
	})
	return append(keep, "HOME="+a.Home)
}

// Headless are the arguments of one run without a person, in which the agent itself stops no command: what stops one is the hook.
func (a Agent) Headless(prompt string) []string {
	switch a.Name {
	case "codex":
		return []string{"exec", "--skip-git-repo-check", "--json", "-s", "danger-full-access", "--", prompt}
	case "gemini":
		// Named, because without a model it first asks one which to take.
		return []string{"--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-o", "json", "-p", prompt}
	}
	return []string{"-p", "--output-format", "json", "--tools", "Bash", "--allowedTools", "Bash", "--", prompt}
}

// Shell is the use of the agent's own shell.
func (a Agent) Shell(command string) ToolUse {
	switch a.Name {
	case "codex":
		return ToolUse{Name: "exec_command", Input: map[string]any{"cmd": command}}
	case "gemini":
		return ToolUse{Name: "run_shell_command", Input: map[string]any{"command": command, "description": "does what the script says"}}
	}
	return ToolUse{Name: "Bash", Input: map[string]any{"command": command, "description": "does what the script says"}}
}
