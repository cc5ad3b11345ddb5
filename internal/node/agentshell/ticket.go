package agentshell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/sandbox"
)

// Ticket lets a command run once.
type Ticket struct {
	Box     box.Box         `json:"box,omitzero"`     // the sandbox; the zero value: it runs outside, as it is
	Walls   sandbox.Profile `json:"walls,omitzero"`   // its profile as it was when the call was admitted, with what is granted to the call
	Outside string          `json:"outside,omitzero"` // why it runs outside although the policy has a wall: see [Shell.outside]
	Dir     string          `json:"dir"`              // the folder in which it was decided
	Until   time.Time       `json:"until"`

	// More is what the command has in the sandbox beyond the profile.
	More approval.Lacked `json:"more,omitzero"`

	ClosedPorts []int         `json:"closedPorts,omitzero"` // ports of this machine at which no server of the command is reached
	Closed      policy.Closed `json:"closed,omitzero"`      // the names that the rules close to it

	Command string `json:"command,omitzero"` // the command, if the program is not given it: see [Note.Named]
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
	return first(files, dir, now)
}

// first takes the first of some tickets that is good in a folder.
func first(files []string, dir string, now time.Time) (t Ticket, err error) {
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
		switch err := os.Remove(file); {
		case err == nil:
			return t, nil
		case errors.Is(err, syscall.EROFS):
			why = errors.New("it would run in a sandbox of the agent's own, where its ticket cannot be taken, and one sandbox is not put into " +
				"another; your person can switch off the agent's own")
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
