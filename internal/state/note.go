package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
)

// Note says which folder a project's state is for, and how the person who works there does. Only commands of a person write it. What an
// agent starts takes these values from it and not from its environment, which the agent's settings can change.
type Note struct {
	Version int       `json:"version"`
	Folder  string    `json:"folder"`      // of the project, with links resolved: the key, if there is no ID
	ID      string    `json:"id,omitzero"` // that a person chose, where the folder does not identify the project
	Since   time.Time `json:"since"`
	Home    string    `json:"home"`
	Config  string    `json:"config"`  // the folder of the user's own files
	Environ []string  `json:"environ"` // the variables that the daemon and its servers have, whoever starts them
	Identity
}

// Identity tells a folder from another one that took its path. It only suggests that a folder was moved: nothing is granted by it.
type Identity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Born   int64  `json:"born,omitzero"` // nanoseconds since 1970; 0: the file system does not keep it
}

// noteVersion is the version of the file that this program writes and reads.
const noteVersion = 1

// ErrUnknown means that there is no state for a folder.
var ErrUnknown = errors.New("this folder is not known")

func (p Paths) note() string { return p.file("project.json") }

// Chosen returns the id of the project if a person chose it, else "".
func (p Paths) Chosen() string {
	if p.named {
		return p.id
	}
	return ""
}

// ReadNote returns the note of the project. The error wraps ErrUnknown if there is no state for its folder.
func (p Paths) ReadNote() (Note, error) {
	var n Note
	data, err := os.ReadFile(p.note())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, fmt.Errorf("%w: %s", ErrUnknown, p.Project)
	case err != nil:
		return n, fmt.Errorf("read the state of %s: %w", p.Project, err)
	}
	if err := json.Unmarshal(data, &n, json.RejectUnknownMembers(true)); err != nil {
		return n, fmt.Errorf("read the state of %s: %s: %w", p.Project, p.note(), err)
	}
	if n.Version != noteVersion {
		return n, fmt.Errorf("read the state of %s: %s has version %d, which this program does not know", p.Project, p.note(), n.Version)
	}
	if n.ID != p.Chosen() {
		return n, fmt.Errorf("read the state of %s: %s is the state of another project, %s: choose another id", p.Project, p.Folder(), n.Folder)
	}
	if n.ID == "" && n.Folder != p.Project {
		return n, fmt.Errorf("%w: %s is the state of %s", ErrUnknown, p.Folder(), n.Folder)
	}
	return n, nil
}

// WriteNote makes the state of the project known: n is its note, whose version, folder and identity are set here.
func (p Paths) WriteNote(n Note) error {
	var err error
	if n.Identity, err = identify(p.Project); err != nil {
		return fmt.Errorf("write the state of %s: %w", p.Project, err)
	}
	n.Version, n.Folder, n.ID = noteVersion, p.Project, p.Chosen()
	data, err := json.Marshal(n, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write the state of %s: %w", p.Project, err)
	}
	if err := os.MkdirAll(p.Folder(), 0o700); err != nil {
		return fmt.Errorf("make state folder: %w", err)
	}
	if err := atomicfile.Write(p.note(), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the state of %s: %w", p.Project, err)
	}
	return nil
}

// MovedFrom returns the project that the folder of p may have been before it was moved here: the state of a folder that is gone, and
// that was the same folder by its identity. ok is false if there is none. sure is false where the file system does not keep when a folder
// was made: another folder can have the identity by chance.
func (p Paths) MovedFrom() (from Paths, sure, ok bool) {
	here, err := identify(p.Project)
	if err != nil || p.named {
		return Paths{}, false, false
	}
	notes, _ := filepath.Glob(filepath.Join(string(p.Root), "projects", "*", filepath.Base(p.note())))
	for _, file := range notes {
		var n Note
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &n) != nil || n.Identity != here || n.Folder == p.Project || n.ID != "" {
			continue
		}
		if _, err := os.Lstat(n.Folder); errors.Is(err, fs.ErrNotExist) && p.Of(n.Folder).note() == file {
			return p.Of(n.Folder), here.Born != 0, true
		}
	}
	return Paths{}, false, false
}
