package server

import (
	"fmt"
	"io"
	"path/filepath"

	"mycelium/internal/config"
)

// folder is a folder that changes: the project, or the copy of what is accepted.
type folder struct {
	dir   string
	ships map[string][]byte // files of the program that count there, by name; the copy has them as its own
}

// foldersOf returns the folders in which an operator's change is made; the last is the project.
func foldersOf(p *config.Project, dirs []string) ([]folder, error) {
	out := make([]folder, len(dirs))
	for i, dir := range dirs {
		out[i].dir = dir
	}
	var err error
	out[len(out)-1].ships, err = p.Shipped(p)
	return out, err
}

// change begins a change of a file, with what it says now: as it lies there, or as the program ships it. before and after are nil where
// there is no such file.
func (f folder) change(name string) (change, error) {
	ch := change{path: filepath.Join(f.dir, filepath.FromSlash(name))}
	var err error
	if ch.before, err = read(ch.path); err != nil {
		return ch, err
	}
	ch.after = ch.before
	if ships := f.ships[name]; ch.before == nil && ships != nil {
		ch.after, ch.shipped = ships, name
	}
	return ch, nil
}

// tellShipped says which files of the program are files of the project now.
func (c changes) tellShipped(out io.Writer) {
	for _, ch := range c {
		if ch.shipped != "" {
			fmt.Fprintf(out, "wrote %s: it was shipped by the program, and is a file of the project now\n", ch.shipped)
		}
	}
}
