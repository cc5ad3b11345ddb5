package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/hook"
	"mycelium/internal/keeper"
	"mycelium/internal/state"
)

// keptVars are the variables of a person that the daemon has, besides those that the configuration names. Not among them is what changes
// how programs are loaded, and what belongs to an agent or to one terminal.
var keptVars = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "TMUX_TMPDIR", "MYCELIUM_LOG", "MYCELIUM_LOG_FORMAT", "LOG_SILENT", "GORACE",
	"ENABLE_DASHBOARD", "DASHBOARD_PORT",
}

// keptPrefixes are the beginnings of more of them.
var keptPrefixes = []string{"LC_", "XDG_", "OTEL_"}

// Kept returns the variables of an environment that the daemon has, sorted.
func Kept(environ []string) []string {
	values := map[string]string{}
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		prefix := func(p string) bool { return strings.HasPrefix(name, p) }
		if ok && (slices.Contains(keptVars, name) || slices.ContainsFunc(keptPrefixes, prefix)) {
			values[name] = kv
		}
	}
	return slices.Sorted(maps.Values(values))
}

// DaemonEnviron returns the environment of a daemon that this program starts. It is what the state keeps of the person's. If a person
// starts it, it has the variables that the configuration names, too; an agent hands over those under env: later, and replaces none.
func (l *Loader) DaemonEnviron() ([]string, error) {
	p, err := l.Know()
	if err != nil {
		return nil, err
	}
	note, err := p.ReadNote()
	if err != nil || l.ofAgent() {
		return note.Environ, err
	}
	conf, err := l.Load()
	if err != nil {
		return nil, err
	}
	environ := note.Environ
	for _, name := range conf.File.Variables() {
		if value := l.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ, nil
}

// Differing says how the environment of a program that an agent started differs from that of the person who works there: each variable
// that says where files are, or is for this program, and that has another value. It tells the values only of what says where files are.
func Differing(note state.Note, environ []string) []string {
	var out []string
	for _, kv := range hook.Places(environ) {
		name, value, _ := strings.Cut(kv, "=")
		persons := valueIn(note.Environ, name)
		switch {
		case value == persons || slices.Contains(oursToSet, name):
		case strings.HasPrefix(name, "MYCELIUM_"):
			out = append(out, name)
		default:
			out = append(out, fmt.Sprintf("%s=%s (the person's is %q)", name, value, persons))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// oursToSet are variables that this program sets for what it starts.
var oursToSet = []string{hook.TokenVar, keeper.MarkVar}

// valueIn returns a variable of an environment. The last entry counts, as in a process.
func valueIn(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
