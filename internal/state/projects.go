package state

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
)

// Pages holds what the pages in a browser keep for the user: the devices that are signed in.
func (r Root) Pages() string { return r.in("pages") }

// Seeds holds what caches of tools begin with in the sandbox, the same in every project.
func (r Root) Seeds() string { return r.in("seeds") }

// Runs is a pattern for the folders of all runs of agents, [Paths.Run].
func (r Root) Runs() string { return r.in("projects", "*", "run", "*") }

// Projects returns every project of the user that has a state, ordered by folder. The error names the notes that cannot be read; the
// projects of the others are returned all the same.
func (r Root) Projects() ([]Paths, error) {
	notes, err := filepath.Glob(filepath.Join(string(r), "projects", "*", filepath.Base(Paths{}.note())))
	var out []Paths
	problems := []error{err}
	for _, file := range notes {
		if filepath.Base(filepath.Dir(file)) == outside {
			continue
		}
		p, err := r.noted(file)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Paths) int { return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.id, b.id)) })
	return out, errors.Join(problems...)
}

// noted returns the project whose note a file is.
func (r Root) noted(file string) (Paths, error) {
	var n Note
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return Paths{}, fmt.Errorf("read the note of a project: %s: %w", file, err)
	}
	p := r.Of(n.Folder)
	if n.ID != "" {
		if p, err = r.Named(n.Folder, n.ID); err != nil {
			return Paths{}, fmt.Errorf("read the note of a project: %s: %w", file, err)
		}
	}
	if p.note() != file {
		return Paths{}, fmt.Errorf("read the note of a project: %s is that of another state, of %s", file, n.Folder)
	}
	_, err = p.ReadNote()
	return p, err
}
