package project

import (
	"fmt"
	"path/filepath"

	"mycelium/internal/config/shipped"
)

// now is what the file says: as it lies there, or as the program ships it.
func (e *editing) now() ([]byte, error) {
	data, err := readFile(e.file(e.dir))
	if data == nil && err == nil {
		data = e.ships[e.name]
	}
	return data, err
}

// eject writes the other files of a shipped skill into the folder, which then has the skill.
func (e *editing) eject() error {
	if e.ships[e.name] == nil {
		return nil
	}
	fmt.Fprintf(e.Out, "wrote %s: it was shipped by the program, and is a file of the project now\n", e.shown())
	for name, data := range e.ships {
		if name == e.name || shipped.Unit(name) != shipped.Unit(e.name) {
			continue
		}
		if err := writeKeepingMode(filepath.Join(e.dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return nil
}
