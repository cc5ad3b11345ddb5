package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
)

// note records an installation: which parts of the file are ours, where the file itself does not show it, and that the installation
// exists, so that a removed hook is noticed. It is kept where no agent may write.
type note struct {
	File   string     `json:"file"`
	New    bool       `json:"new,omitzero"`     // we created the file
	Made   [][]string `json:"made,omitempty"`   // the containers that we created, outer ones first
	Pinned [][]string `json:"pinned,omitempty"` // the switches that we set
	Denied []string   `json:"denied,omitempty"` // our entries in the agent's own deny list
	Trust  []string   `json:"trust,omitempty"`  // the keys under which the agent trusts our entries

	// What was installed, so that the daemon can put it back.
	Agent     string              `json:"agent,omitempty"`
	Scope     harness.Scope       `json:"scope,omitempty"`
	Dir       string              `json:"dir,omitempty"`
	ID        string              `json:"id,omitempty"` // of the project, if a person chose it
	Myc       string              `json:"myc,omitempty"`
	Small     string              `json:"small,omitempty"`
	Gateway   string              `json:"gateway,omitempty"`
	Protected []harness.Protected `json:"protected,omitempty"`
	Print     string              `json:"print,omitempty"`    // the fingerprint of our entries
	Off       [][]string          `json:"off,omitempty"`      // the switches that were off, as a person has them
	Known     []string            `json:"known,omitempty"`    // the hazards that were there, by their ids
	Since     time.Time           `json:"since,omitzero"`     // when a person installed them last
	Restored  int                 `json:"restored,omitempty"` // how often the daemon has put them back
}

// id returns the id of the project if a person chose it and the installation is for this project only.
func (s *Setup) id() string {
	if s.Scope == harness.Project {
		return s.State.Chosen()
	}
	return ""
}

// notePath returns the file of the note about a file. Projects with an id may have the same path, each in a container of its own.
func (s *Setup) notePath(file string) string {
	sum := sha256.Sum256([]byte(file))
	if id := s.id(); id != "" {
		sum = sha256.Sum256([]byte(id + "\x00" + file))
	}
	return filepath.Join(s.State.Hooks(), s.Agent.Name+"-"+hex.EncodeToString(sum[:8])+".json")
}

func (s *Setup) readNote(file string) (note, error) {
	var n note
	b, err := os.ReadFile(s.notePath(file))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &n, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return n, &FileError{s.notePath(file), fmt.Errorf("the note of what was installed cannot be read: %w", err),
			"remove it; entries that are ours are then known by their command only"}
	}
	return n, nil
}

func (s *Setup) writeNote(file string, n *note) error {
	path := s.notePath(file)
	b, err := json.Marshal(n, json.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		err = os.MkdirAll(s.State.Hooks(), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		return &FileError{path, err, "make its folder writable for you"}
	}
	return nil
}

// dropNote deletes the note of an installation.
func (s *Setup) dropNote(file string) error {
	if err := os.Remove(s.notePath(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &FileError{s.notePath(file), err, "remove it by hand"}
	}
	return nil
}
