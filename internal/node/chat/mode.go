package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
)

// Mode says who is asked now: what a person has set, else what the files say.
func (c *Chats) Mode() approval.Mode {
	if m, ok := c.mode.Load().(approval.Mode); ok && m != "" {
		return m
	}
	return c.filesMode()
}

// filesMode is the mode of the files.
func (c *Chats) filesMode() approval.Mode {
	if m := c.Project().File.Approval.Mode; m != "" {
		return m
	}
	return approval.Auto
}

// SetMode says who is asked from now on, also after a restart. A mode that the files say too is not kept, so that later changes of the
// files count.
func (c *Chats) SetMode(_ context.Context, m approval.Mode) error {
	if !m.Known() {
		return fmt.Errorf("the mode is auto, local or remote, not %q", m)
	}
	var err error
	kept := m
	if m == c.filesMode() {
		kept = ""
		if err = os.Remove(c.State.Mode()); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else if err = os.MkdirAll(filepath.Dir(c.State.Mode()), 0o700); err == nil {
		err = atomicfile.Write(c.State.Mode(), []byte(m+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the mode: %w", err)
	}
	c.mode.Store(kept)
	c.Logger.Info("who is asked was changed by a person", "mode", string(m))
	return nil
}

// restoreMode reads the mode that a person has set before this process began.
func (c *Chats) restoreMode() {
	b, err := os.ReadFile(c.State.Mode())
	m := approval.Mode(strings.TrimSpace(string(b)))
	if err == nil && !m.Known() {
		err = fmt.Errorf("%s: %q is not a mode", c.State.Mode(), m)
	}
	switch {
	case err == nil:
		c.mode.Store(m)
	case !errors.Is(err, fs.ErrNotExist):
		c.Logger.Warn("the mode that a person has set is lost, and the files say who is asked", "error", err)
	}
}
