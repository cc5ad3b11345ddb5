package install

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// maxRestored is how often entries that somebody changed are put back. Then a person has to look: something removes them again and again.
const maxRestored = 3

// Restored says what Restore found and did.
type Restored struct {
	File    string
	Changed bool // our entries are not as they were installed
	Back    bool // they were put back
	Times   int  // how often they were put back since a person installed them
}

// Watched returns the installed hooks that guard a project: those of the project, and those for every folder. What a person uninstalled is
// not among them.
func Watched(root state.Root, dir string, environ []string) []*Setup {
	var out []*Setup
	notes, _ := filepath.Glob(filepath.Join(root.Hooks(), "*.json"))
	for _, path := range notes {
		text, err := os.ReadFile(path)
		var n note
		if err != nil || json.Unmarshal(text, &n) != nil || n.Small == "" {
			continue // status reports a note that cannot be read; one of an older version does not say what was installed
		}
		agent, ok := harness.Named(n.Agent)
		if !ok || n.Scope == harness.Project && n.Dir != dir {
			continue
		}
		s := &Setup{Agent: agent, Scope: n.Scope, Dir: n.Dir, Environ: environ, Myc: n.Myc, Small: n.Small, Gateway: n.Gateway, Root: root,
			Protected: n.Protected}
		if f, err := s.files(); err == nil && f.Hooks == n.File { // else the agent's configuration was moved
			out = append(out, s)
		}
	}
	return out
}

// Restore puts our entries back if somebody has changed or removed them since they were installed. A file that cannot be parsed is left
// alone, and is an error.
func (s *Setup) Restore() (r Restored, err error) {
	f, err := s.files()
	if err != nil {
		return r, err
	}
	r.File = f.Hooks
	text, _, err := readConfig(f.Hooks)
	if err != nil {
		return r, err
	}
	n, err := s.readNote(f.Hooks)
	if err != nil || n.File == "" {
		return r, err
	}
	r.Times = n.Restored
	now, err := s.fingerprint(text, &n)
	if err == nil && now == n.Print {
		return r, nil
	}
	r.Changed = true
	if err != nil || n.Restored >= maxRestored {
		return r, err
	}
	_, err = s.edit(func(file string, text []byte, n *note) ([]byte, error) {
		n.Restored++
		return s.install(file, text, n)
	})
	if err == nil {
		r.Back, r.Times = true, r.Times+1
	}
	return r, err
}

// fingerprint returns a digest of our entries in a file, whatever else is in it.
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
	for _, rule := range n.Denied {
		if s.has(text, s.Agent.Hooks.DenyPath, rule) {
			parts = append(parts, rule)
		}
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:]), nil
}
