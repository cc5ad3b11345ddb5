package swarm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/config/source"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/project"
	"mycelium/internal/swarm/runner"
)

// modelVars are the variables by which a worker reaches its model, besides those of a daemon. Other secrets of the person's do not reach
// it.
var modelVars = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
	"NODE_EXTRA_CA_CERTS"}

// varsOf are the variables by which the worker of a runner reaches its model.
func varsOf(name string, environ []string) []string {
	if _, ok := runner.Named(name); ok {
		return install.ModelVars(runner.Program(name), environ)
	}
	return modelVars
}

// workerEnviron is the environment of a worker of a runner.
func workerEnviron(environ []string, name string) []string {
	out, vars := project.Kept(environ), varsOf(name, environ)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(vars, name) && value != "" && (name != "ANTHROPIC_API_KEY" || !subscribed(environ)) {
			out = append(out, kv)
		}
	}
	return append(out, "TERM=xterm-256color")
}

// subscribed reports whether Claude Code is signed in with a subscription. Then its workers use that, and not a key whose use costs
// money for each token (requirements, CQ1).
func subscribed(environ []string) bool {
	get := func(name string) string { return source.Variable(environ, name) }
	if get("ANTHROPIC_BASE_URL") != "" { // a service of the person's own, which knows the key
		return false
	}
	if get("CLAUDE_CODE_OAUTH_TOKEN") != "" {
		return true
	}
	folder := get("CLAUDE_CONFIG_DIR")
	if folder == "" {
		folder = filepath.Join(get("HOME"), ".claude")
	}
	b, err := os.ReadFile(filepath.Join(folder, ".credentials.json"))
	return err == nil && strings.Contains(string(b), `"claudeAiOauth"`)
}
