package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/state"
	"mycelium/internal/worktree"
)

// maxRestored is how often entries that somebody changed are put back. Then a person has to look: something removes them again and again.
const maxRestored = 3

// Restored says what Restore found and did.
type Restored struct {
	File    string
	Changed bool   // our entries are not as they were installed
	Back    bool   // they were put back
	Times   int    // how often they were put back since a person installed them
	Kept    string // where the file is that could not be read, and was put aside; "": there was none
}

// Watched returns the installed hooks that guard a project: those of the project and of its working trees, and those for every folder. What
// a person uninstalled is not among them.
func Watched(project state.Paths, environ []string) []*Setup {
	var out []*Setup
	notes, _ := filepath.Glob(filepath.Join(project.Hooks(), "*.json"))
	for _, path := range notes {
		text, err := os.ReadFile(path)
		var n note
		if err != nil || json.Unmarshal(text, &n) != nil || n.Small == "" {
			continue // status reports a note that cannot be read; one of an older version does not say what was installed
		}
		agent, ok := harness.Named(n.Agent)
		if !ok || n.Scope == harness.Project && (worktree.Main(n.Dir, project.Workers()) != project.Project || n.ID != project.Chosen()) {
			continue
		}
		s := &Setup{Agent: agent, Scope: n.Scope, Dir: n.Dir, Environ: environ, Myc: n.Myc, Small: n.Small, Gateway: n.Gateway, State: project,
			Protected: n.Protected}
		if f, err := s.files(); err == nil && f.Hooks == n.File { // else the agent's configuration was moved
			out = append(out, s)
		}
	}
	return out
}

// Restore puts our entries, and the switch of hooks in the same file, back if somebody has changed them since they were installed. A file
// that cannot be read or parsed, by us or by the agent, is put aside first.
func (s *Setup) Restore() (r Restored, err error) {
	f, err := s.files()
	if err != nil {
		return r, err
	}
	r.File = f.Hooks
	n, err := s.readNote(f.Hooks)
	if err != nil || n.File == "" {
		return r, err
	}
	r.Times = n.Restored
	now, err := s.installed(f.Hooks, &n)
	if err == nil && now == n.Print {
		return r, nil
	}
	if st, statErr := os.Lstat(f.Hooks); err != nil && statErr == nil && writing(st.ModTime(), time.Now()) {
		return r, nil //nolint:nilerr // the next look decides
	}
	r.Changed = true
	if n.Restored >= maxRestored {
		return r, err
	}
	if err != nil {
		if r.Kept, err = s.makeReadable(f.Hooks, &n); err != nil {
			return r, err
		}
	}
	_, err = s.edit(func(file string, text []byte, n *note) ([]byte, error) {
		n.Restored++
		whole := len(text) == 0
		text, err := s.install(file, text, n)
		if err == nil && whole { // else a person may have taken the status line out
			text, err = statusLine{s}.add(text)
		}
		return text, err
	})
	if err == nil {
		r.Back, r.Times = true, r.Times+1
	}
	return r, err
}

// installed returns the fingerprint of our entries in a file.
func (s *Setup) installed(path string, n *note) (string, error) {
	text, _, err := readConfig(path)
	if err != nil {
		return "", err
	}
	return s.fingerprint(text, n)
}

// settle is how long a file stays as it is before it counts as broken. An agent or an editor that writes it in pieces is done by then.
const settle = time.Second

// writing reports whether a file that was last written at a time may still be written. A time in the future is no such time.
func writing(written, now time.Time) bool {
	age := now.Sub(written)
	return age >= 0 && age < settle
}

// makeReadable gives the owner access to a file and its folder. If the file is of no use even so, it is renamed; kept is its new name.
func (s *Setup) makeReadable(path string, n *note) (kept string, err error) {
	for _, p := range []string{filepath.Dir(path), path} {
		st, err := os.Lstat(p)
		if err != nil || !st.IsDir() && !st.Mode().IsRegular() {
			continue
		}
		mode := st.Mode().Perm() | 0o600
		if st.IsDir() {
			mode |= 0o700
		}
		if mode != st.Mode().Perm() {
			_ = os.Chmod(p, mode) // if it fails, what follows fails too, and says so
		}
	}
	if _, err := s.installed(path, n); err == nil {
		return "", nil
	}
	kept = path + ".bak-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(path, kept); err != nil {
		return "", &FileError{path, fmt.Errorf("it cannot be read, and cannot be put aside: %w", err), "remove it by hand"}
	}
	return kept, nil
}

// fingerprint returns a digest of our entries in a file, and of its switches of hooks, whatever else is in it.
func (s *Setup) fingerprint(text []byte, n *note) (string, error) {
	handlers, err := s.handlers(text)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, h := range handlers {
		if h.ours {
			h.Group, h.Index = 0, 0 // others may stand before it
			b, err := json.Marshal(h.HookEntry, json.Deterministic(true))
			if err != nil {
				return "", err
			}
			parts = append(parts, string(b))
		}
	}
	parts = append(parts, standing(text, s.Agent, n.Denied)...)
	for _, path := range s.off(text) {
		if !hasPath(n.Off, path) {
			parts = append(parts, "off "+strings.Join(path, "."))
		}
	}
	for _, path := range n.Pinned {
		if exists(text, s.Agent.Hooks.Comments, path) {
			parts = append(parts, "on "+strings.Join(path, "."))
		}
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// Guard says since when a hook guards a project.
type Guard struct {
	Since   time.Time // when a person installed it last
	Gateway string    // the name of our gateway among the agent's MCP servers
}

// Guarding returns the hook of an agent that guards a project, if one is installed in any scope.
func Guarding(project state.Paths, agent harness.Agent, environ []string) (g Guard, ok bool) {
	for _, scope := range agent.Scopes() {
		s := Setup{Agent: agent, Scope: scope, Dir: project.Project, Environ: environ, State: project}
		f, err := s.files()
		if err != nil {
			continue
		}
		n, err := s.readNote(f.Hooks)
		if err != nil || n.File == "" {
			n = note{Since: s.sinceFile(f.Hooks), Gateway: DefaultGateway}
		}
		if n.Since.After(g.Since) {
			g, ok = Guard{n.Since, n.Gateway}, true
		}
	}
	return g, ok
}

// sinceFile returns when a file got our entries, where another account has the note of it: an administrator. It is zero if there are none.
func (s *Setup) sinceFile(path string) time.Time {
	text, _, err := readConfig(path)
	if err != nil {
		return time.Time{}
	}
	handlers, err := s.handlers(text)
	if st, statErr := os.Stat(path); err == nil && statErr == nil && slices.ContainsFunc(handlers, func(h handler) bool { return h.ours }) {
		return st.ModTime().UTC()
	}
	return time.Time{}
}
