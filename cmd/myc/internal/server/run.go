package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// planRun adds the files of the project that the server runs to an accepted copy: who adds the server accepts them with it. One that is
// in the copy stays as it was accepted.
func (c *changes) planRun(folder, project string, run []string) error {
	for _, path := range run {
		name, err := filepath.Rel(project, path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		st, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		data, err := read(path)
		if err != nil {
			return err
		}
		*c = append(*c, change{path: filepath.Join(folder, name), after: data, mode: st.Mode().Perm()})
	}
	return nil
}
