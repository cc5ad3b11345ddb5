package agentshell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/sandbox"
)

// Ticket lets a command run once.
type Ticket struct {
	Profile string           `json:"profile"`      // of the sandbox; empty: it runs outside, as it is
	Box     *sandbox.Profile `json:"box,omitzero"` // what the profile says
	Dir     string           `json:"dir"`          // the folder in which it was decided
	Until   time.Time        `json:"until"`
}

// ticketFor is how long a ticket is good. Between the hook and the command a person may be asked in the agent's own terminal.
const ticketFor = 12 * time.Hour

// ErrNotAdmitted is the error for a command without a ticket.
var ErrNotAdmitted = errors.New("the hook did not admit it")

// leave writes the ticket of a call. A later ticket of the same call replaces it.
func leave(folder, command, toolUse string, t Ticket) error {
	text, err := json.Marshal(t)
	if err == nil {
		err = atomicfile.Note(filepath.Join(folder, ticketsName, digest(command)+"-"+digest(toolUse)), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("admit a command to the agent's shell: %w", err)
	}
	return nil
}

// take takes a ticket of a command that is to run in a folder: whoever removes it has it.
func take(folder, command, dir string, now time.Time) (t Ticket, err error) {
	files, err := filepath.Glob(filepath.Join(folder, ticketsName, digest(command)+"-*"))
	if err != nil {
		return t, err
	}
	why := ErrNotAdmitted
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // another process has taken it
		}
		t = Ticket{}
		switch {
		case json.Unmarshal(text, &t) != nil:
			continue
		case now.After(t.Until):
			_ = os.Remove(file)
			continue
		case !sameFolder(t.Dir, dir):
			why = fmt.Errorf("the hook admitted it in %s, and it would run in %s", t.Dir, dir)
			continue
		}
		if os.Remove(file) == nil {
			return t, nil
		}
	}
	return Ticket{}, why
}

// sameFolder reports whether two paths are of one folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, xerr := os.Stat(a)
	y, yerr := os.Stat(b)
	return xerr == nil && yerr == nil && os.SameFile(x, y)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
