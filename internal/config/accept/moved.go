package accept

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/config/source"
	"mycelium/internal/state"
)

// StoreName is the name of the folder of a [Store] with what was accepted under a main file of a project.
func StoreName(project, main string) string {
	if main == filepath.Join(project, source.MainFile) {
		return "project"
	}
	sum := sha256.Sum256([]byte(main))
	return "config-" + hex.EncodeToString(sum[:8])
}

// Move has what was accepted for --config files in a project's former folder count for the same files in its folder. What was
// accepted for the project itself needs no change: its paths are relative. A second call does nothing.
func Move(s state.Paths, from string) error {
	folders, err := filepath.Glob(filepath.Join(s.Accepted(), "config-*"))
	if err != nil {
		return fmt.Errorf("move what was accepted: %w", err)
	}
	for _, folder := range folders {
		a, err := At(folder).Read()
		if err != nil {
			continue // it is damaged, and denies as before
		}
		for _, e := range a.Files {
			if filepath.IsAbs(e.Path) || StoreName(from, filepath.Join(from, e.Path)) != filepath.Base(folder) {
				continue
			}
			to := filepath.Join(s.Accepted(), StoreName(s.Project, filepath.Join(s.Project, e.Path)))
			if err := os.Rename(folder, to); err != nil {
				return fmt.Errorf("move what was accepted for %s: %w", e.Path, err)
			}
			break
		}
	}
	return nil
}
