package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Key is the API key that Claude Code is given. It opens nothing.
const Key = "sk-dummy-test-0123456789abcdef"

// Claude is a copy of Claude Code that talks to a fake.
type Claude struct {
	Path string // the program
	Home string // a folder of its own, for HOME and its configuration
	URL  string // of the fake
}

// FindClaude returns the program to test with: the one that MYCELIUM_TEST_CLAUDE names, else the one that `make test` installs in the
// repository.
func FindClaude(repository string) (string, error) { return Find(repository, "claude") }

// Environ makes the home and returns a whole environment in which Claude Code talks to the fake, reads nobody's configuration and
// sends nothing elsewhere. Only a network namespace (see NoNetwork) guarantees the last; the variables keep it from trying.
func (c Claude) Environ() ([]string, error) {
	config := filepath.Join(c.Home, ".claude")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return nil, fmt.Errorf("make a home for Claude Code: %w", err)
	}
	// An interactive first run would call home and ask questions; this is what it looks for.
	seed, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string][]string{"approved": {Key[len(Key)-20:]}, "rejected": {}},
	}, json.Deterministic(true))
	if err == nil {
		err = os.WriteFile(filepath.Join(config, ".claude.json"), seed, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("make a home for Claude Code: %w", err)
	}
	keep := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "LANG", "TMPDIR", "TERM", "TZ"}, name)
	})
	return append(keep,
		"HOME="+c.Home,
		"CLAUDE_CONFIG_DIR="+config,
		"ANTHROPIC_BASE_URL="+c.URL,
		"ANTHROPIC_API_KEY="+Key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"DISABLE_BUG_COMMAND=1",
		"MCP_TIMEOUT=60000", // milliseconds for an MCP server to start; on a busy machine the default leaves its tools out, silently
	), nil
}
