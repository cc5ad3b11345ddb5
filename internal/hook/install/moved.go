package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// Move writes the entries of a project's hooks anew after the project was moved from another folder: each names the folder. It returns
// what it changed. A second call does nothing.
func Move(project state.Paths, from string, environ []string) ([]Change, error) {
	var done []Change
	notes, _ := filepath.Glob(filepath.Join(project.Hooks(), "*.json"))
	for _, path := range notes {
		text, err := os.ReadFile(path)
		var n note
		if err != nil || json.Unmarshal(text, &n) != nil || n.Scope != harness.Project || n.Dir != from || n.ID != project.Chosen() {
			continue
		}
		agent, ok := harness.Named(n.Agent)
		if !ok {
			continue
		}
		s := &Setup{Agent: agent, Scope: n.Scope, Dir: project.Project, Environ: environ, Myc: n.Myc, Small: n.Small, Gateway: n.Gateway,
			State: project, Protected: n.Protected}
		changes, err := s.moveNote(n)
		if err != nil {
			return done, err
		}
		done = append(done, changes...)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, &FileError{path, err, "remove it by hand"}
		}
	}
	return done, nil
}

// moveNote installs with the note of the former folder, so that what was ours there is known here.
func (s *Setup) moveNote(n note) ([]Change, error) {
	f, err := s.files()
	if err != nil {
		return nil, err
	}
	n.File = f.Hooks
	if err := s.writeNote(f.Hooks, &n); err != nil {
		return nil, err
	}
	return s.Install()
}
