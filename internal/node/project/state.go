package project

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/config/source"
	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/fence"
	"mycelium/internal/state"
)

// State returns the paths of the project's state.
func (l *Loader) State() (state.Paths, error) {
	dir, err := l.ProjectDir()
	if err != nil {
		return state.Paths{}, err
	}
	root, err := l.root(dir)
	return root.Of(dir), err
}

// Paths returns the project folder and where its daemon is.
func (l *Loader) Paths() (dir string, paths daemon.Paths, err error) {
	s, err := l.State()
	if err != nil {
		return "", daemon.Paths{}, err
	}
	return s.Project, daemon.PathsOf(s), nil
}

// ofAgent reports whether an agent started this program. Then its environment is the agent's, and says nothing about the person. A token
// alone is no sign of that: people and CI use the tokens of sessions too.
func (l *Loader) ofAgent() bool {
	return l.Agent || fence.AgentHere(slices.DeleteFunc(slices.Clone(l.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, hook.TokenVar+"=")
	})) != ""
}

// root returns the folder of the program's state: what --state says, else the one of the account or of the person's environment.
func (l *Loader) root(dir string) (state.Root, error) {
	switch {
	case l.StateDir == "" && l.ofAgent():
		return state.OfAccount()
	case l.StateDir == "":
		return state.OfPerson(l.Getenv)
	case !filepath.IsAbs(l.StateDir):
		return "", failure.Usagef("--state %s: it is no absolute path", l.StateDir)
	case !l.usual(l.StateDir) && (source.Within(dir, source.Resolve(l.StateDir)) || source.Within(dir, filepath.Clean(l.StateDir))):
		return "", failure.New(failure.Usage, fmt.Errorf("--state %s: it lies in the project, where an agent can change it", l.StateDir),
			"name a folder outside of every project")
	}
	if !l.Agent { // an installer pins it for a hook and for myc mcp
		if why := fence.AgentHere(l.Environ); why != "" {
			return "", failure.New(failure.Denied, fmt.Errorf("another state folder: only a person may name one, and %s", why),
				"run it in your own terminal, outside the agent")
		}
	}
	return state.Root(l.StateDir), nil
}

// usual reports whether a folder is where the state lies by itself. That may be in the project, if the project is a home folder.
func (l *Loader) usual(dir string) bool {
	person, _ := state.OfPerson(l.Getenv)
	account, _ := state.OfAccount()
	return filepath.Clean(dir) == string(person) || filepath.Clean(dir) == string(account)
}

// Know makes the state of the project known, with what this environment says about its person. If an agent started this program, the
// state must be known already: absent never means new.
func (l *Loader) Know() (state.Paths, error) {
	p, err := l.State()
	if err != nil {
		return p, err
	}
	note, err := p.ReadNote()
	if l.ofAgent() {
		return p, unknown(p, err)
	}
	if err != nil && !errors.Is(err, state.ErrUnknown) {
		return p, err
	}
	now := note
	now.Home, now.Config = config.Folders(l.Environ)
	now.Environ = kept(l.Environ)
	if now.Home == note.Home && now.Config == note.Config && slices.Equal(now.Environ, note.Environ) {
		return p, nil
	}
	if now.Since.IsZero() {
		now.Since = time.Now().UTC().Truncate(time.Second)
	}
	return p, p.WriteNote(now)
}

// unknown adds to an error of the note how a person makes the state known.
func unknown(p state.Paths, err error) error {
	if !errors.Is(err, state.ErrUnknown) {
		return err
	}
	hint := fmt.Sprintf("a person accepts it: myc -C %s trust; its state is looked for in %s, and --state names another folder",
		p.Project, p.Root)
	if from, moved := p.MovedFrom(); moved {
		hint += fmt.Sprintf("; it may be %s, which was moved: its log and sessions stay in %s", from.Project, from.Folder())
	}
	return failure.New(failure.Denied, err, hint)
}

// keptVars are the variables of a person that the daemon has, besides those that the configuration names. Not among them is what changes
// how programs are loaded, and what belongs to an agent or to one terminal.
var keptVars = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "TMUX_TMPDIR", "MYCELIUM_LOG", "MYCELIUM_LOG_FORMAT", "LOG_SILENT", "GORACE",
}

// keptPrefixes are the beginnings of more of them.
var keptPrefixes = []string{"LC_", "XDG_", "OTEL_"}

// kept returns the variables of an environment that the daemon has, sorted.
func kept(environ []string) []string {
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
