package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"mycelium/internal/atomicfile"
)

// noteName is the file in a run's folder that says what was guarded before the command ran.
const noteName = "before.json"

// lockName is the lock beside the note. It is held while the run lasts.
const lockName = "lock"

// begin makes the folder of a run, with its note. The note of a run that may not write the project is null.
func (w *work) begin(c *Command) error {
	var before *Guarded
	if c.guards() {
		before = w.guarded
	}
	data, err := json.Marshal(before)
	if err != nil {
		return err
	}
	if w.folder, err = os.MkdirTemp(c.Scratch, "sandbox-"); err != nil {
		return err
	}
	if w.lock, err = atomicfile.TryLock(filepath.Join(w.folder, lockName)); err != nil {
		return err
	}
	return atomicfile.Note(filepath.Join(w.folder, noteName), data, 0o600)
}

// end removes the folder of a run.
func (w *work) end() error {
	return errors.Join(os.RemoveAll(w.folder), w.lock.Unlock())
}

// Recover does what the end of a run would have done, for runs whose program was killed: what governs and was made then goes to the
// quarantine. What it changed in its copies is not taken over.
func (c *Command) Recover() error {
	entries, err := os.ReadDir(c.Scratch)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for runs of the sandbox that were killed: %w", err)
	}
	for _, e := range entries {
		if err := c.recover(filepath.Join(c.Scratch, e.Name())); err != nil {
			return fmt.Errorf("end a run of the sandbox that was killed: %w", err)
		}
	}
	return nil
}

// recover ends one run, unless it lasts.
func (c *Command) recover(folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, noteName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it begins at this moment, or was killed then: nothing had run
	}
	if err != nil {
		return err
	}
	w := &work{folder: folder}
	if w.lock, err = atomicfile.TryLock(filepath.Join(folder, lockName)); err != nil {
		return nil //nolint:nilerr // it lasts
	}
	if err := json.Unmarshal(data, &w.guarded); err != nil {
		return errors.Join(err, w.lock.Unlock())
	}
	if w.guarded != nil {
		if _, err := c.putAway(w.guarded); err != nil {
			return errors.Join(err, w.lock.Unlock())
		}
	}
	return w.end()
}
