package swarmed

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

// keyVar has the key of the API of Anthropic.
const keyVar = "ANTHROPIC_API_KEY"

// modelVars are the variables by which a worker reaches its model, besides those of a daemon. Other secrets of the person's do not reach
// it.
var modelVars = []string{keyVar, "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
	"NODE_EXTRA_CA_CERTS"}

// varsOf are the variables by which the worker of a runner reaches its model.
func varsOf(name string, environ []string) []string {
	if _, ok := runner.Named(name); ok {
		return install.ModelVars(runner.Program(name), environ)
	}
	return modelVars
}

// WorkerEnviron is the environment of a worker of a runner.
func WorkerEnviron(environ []string, worker string) []string {
	out, vars := project.Kept(environ), varsOf(worker, environ)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(vars, name) && value != "" && (name != keyVar || worker == runner.API || !subscribed(environ)) {
			out = append(out, kv)
		}
	}
	return append(out, "TERM=xterm-256color")
}

// The accounts with which workers reach their model.
const (
	bySubscription = "subscription"
	byKey          = "key"
	byService      = "service" // of the person's own
	byNothing      = "signed-out"
)

// accountOf is with what workers in an environment reach their model.
func accountOf(environ []string) string {
	switch {
	case source.Variable(environ, "ANTHROPIC_BASE_URL") != "":
		return byService
	case subscribed(environ):
		return bySubscription
	case source.Variable(environ, keyVar) != "", source.Variable(environ, "ANTHROPIC_AUTH_TOKEN") != "":
		return byKey
	}
	return byNothing
}

// AccountFor is with what the workers of a runner reach their model; "" if the runner is none of ours to ask.
func AccountFor(name string, environ []string) string {
	switch account := accountOf(environ); {
	case name == runner.API && account == bySubscription:
		return byKey
	case name == runner.API, name == runner.Claude:
		return account
	}
	return ""
}

// AccountLine says which account workers use, and what that means.
func AccountLine(account string) string {
	return map[string]string{
		bySubscription: "workers use the subscription with which Claude Code is signed in; ANTHROPIC_API_KEY does not reach them",
		byKey:          "workers use a key (ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN): each token costs money",
		byService:      "workers use the service of ANTHROPIC_BASE_URL",
		byNothing:      "workers use neither a subscription nor a key that is known here: they may fail",
	}[account]
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
