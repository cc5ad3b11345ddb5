package sandbox

import (
	"context"
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
	before := w.before
	if !c.guards() {
		before = nil
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
func (w *work) end() error { return errors.Join(removeRun(w.folder), w.close()) }

// close lets go of a run, whose note stays.
func (w *work) close() error {
	var err error
	for _, own := range w.copies {
		err = errors.Join(err, own.dir.Close())
	}
	w.copies = nil
	return errors.Join(err, w.lock.Unlock())
}

// removeRun removes the folder of a run. The command may have closed folders in it.
func removeRun(folder string) error {
	r, err := os.OpenRoot(filepath.Dir(folder))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	return remove(r, filepath.Base(folder))
}

// recoverAll does what the end of a run would have done, for runs whose program was killed or whose end failed: what governs and was made
// then goes to the quarantine. What it changed in its copies is not taken over. It returns what was there before each run that lasts. The
// caller has the turn.
func (c *Command) recoverAll(ctx context.Context) (lasting []*Guarded, err error) {
	entries, err := os.ReadDir(c.Scratch)
	if err != nil {
		return nil, fmt.Errorf("look for runs of the sandbox that were killed: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(c.Scratch, e.Name())
		if !e.IsDir() { // a copy for git, whose program was killed
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("remove a temporary file: %w", err)
			}
			continue
		}
		before, err := c.recover(ctx, path)
		if err != nil {
			return nil, unsettled(err)
		}
		if before != nil {
			lasting = append(lasting, before)
		}
	}
	return lasting, nil
}

// recover ends one run, unless it lasts: then it returns what was there before it.
func (c *Command) recover(ctx context.Context, folder string) (lasting *Guarded, err error) {
	data, err := os.ReadFile(filepath.Join(folder, noteName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, removeRun(folder) // it was killed when it began: nothing had run
	}
	if err != nil {
		return nil, err
	}
	var before *Guarded
	if err := json.Unmarshal(data, &before); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(folder, noteName), err)
	}
	w := &work{folder: folder, before: before}
	w.lock, err = atomicfile.TryLock(filepath.Join(folder, lockName))
	if errors.Is(err, atomicfile.ErrLocked) {
		return before, nil
	}
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, w.end()
	}
	of := *c // it may have been in another worktree
	of.Project, of.Write, of.Worktree = before.Project, before.Write, before.Worktree
	now, err := of.look(ctx, before)
	if err == nil {
		_, err = of.putAway(ctx, now, before)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return nil, w.end()
}
