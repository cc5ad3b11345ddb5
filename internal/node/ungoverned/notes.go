package ungoverned

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/state"
)

// notes are what a Watch keeps in the state, so that the next one goes on where it ended.
type notes struct {
	Since   time.Time        `json:"since"` // when a person installed the hook
	Offsets map[string]int64 `json:"offsets"`
	Open    []open           `json:"open,omitempty"`
	Found   []Session        `json:"found,omitempty"`
}

// open is a call whose decision is not found yet.
type open struct {
	Session
	Ran    bool `json:"ran,omitzero"`    // its result is there
	Missed bool `json:"missed,omitzero"` // an earlier look did not find its decision
}

// add keeps a session that runs without its hook. It returns false for one that is known.
func (n *notes) add(s Session) bool {
	if len(n.Found) >= mostFound || slices.ContainsFunc(n.Found, func(o Session) bool { return o.Agent == s.Agent && o.ID == s.ID }) {
		return false
	}
	n.Found = append(n.Found, s)
	return true
}

// read returns the notes of a project. What cannot be read is read from the transcripts again.
func read(p state.Paths) notes {
	var n notes
	text, err := os.ReadFile(p.Transcripts())
	if err != nil || json.Unmarshal(text, &n) != nil {
		n = notes{}
	}
	if n.Offsets == nil {
		n.Offsets = map[string]int64{}
	}
	return n
}

// write writes the notes if they changed.
func (w *Watch) write() error {
	for path, f := range w.files {
		if f.Offset > 0 {
			w.notes.Offsets[path] = f.Offset
		}
	}
	if len(w.notes.Offsets) > mostFiles {
		maps.DeleteFunc(w.notes.Offsets, func(path string, _ int64) bool {
			_, err := os.Lstat(path)
			return err != nil
		})
	}
	text, err := json.Marshal(w.notes, json.Deterministic(true))
	if err == nil && !bytes.Equal(text, w.wrote) {
		err = atomicfile.Write(w.Paths.Transcripts(), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note which transcripts were read: %w", err)
	}
	w.wrote = text
	return nil
}

// Found returns the sessions that were found since a person installed the hook.
func Found(p state.Paths, environ []string) []Session {
	n := read(p)
	if len(n.Found) == 0 {
		return nil
	}
	for _, agent := range harness.Agents() {
		if hook, ok := install.Guarding(p, agent, environ); ok && agent.Transcribes() && hook.Since.Equal(n.Since) {
			return n.Found
		}
	}
	return nil
}
