// Package change changes one file that governs, as a person's act: it checks the change, shows what it means, and puts it in force.
package change

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
)

// File is one change of a file.
type File struct {
	Act  string // the command
	P    *config.Project
	User bool   // it is one of the user's own files, for every project
	Name string // path in the project, or in the user's folder, with slashes

	Was     []byte // what the file says now; nil: there is none
	Shipped bool   // the program says it; the project has no such file
	Data    []byte // what it will say; nil: it goes

	Names bool // names that do not exist are a warning
}

// Read reads what the file says now, as it lies there or as the program ships it, into Was and Shipped.
func (f *File) Read() (err error) {
	if f.Was, f.Shipped, err = f.now(); err != nil {
		return fmt.Errorf("%s: %w", f.Act, err)
	}
	return nil
}

func (f *File) now() (data []byte, shipped bool, err error) {
	at := filepath.Join(f.dir(), filepath.FromSlash(f.Name))
	switch st, err := os.Lstat(at); {
	case errors.Is(err, fs.ErrNotExist) && f.User:
		return nil, false, nil
	case errors.Is(err, fs.ErrNotExist):
		ships, err := f.P.Shipped(f.P)
		return ships[f.Name], ships[f.Name] != nil, err
	case err != nil:
		return nil, false, err
	case !st.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s is a link or no file; change what it leads to", f.Name)
	}
	data, err = os.ReadFile(filepath.Clean(at))
	return data, false, err
}

// dir is the folder of the file.
func (f *File) dir() string {
	if f.User {
		return f.P.UserDir
	}
	return f.P.Dir
}

// accepted is what a person has accepted of the folder.
func (f *File) accepted() *config.Acceptance {
	if f.User {
		return &f.P.User
	}
	return &f.P.Acceptance
}

// Changed reports whether the file will say something else than now.
func (f *File) Changed() bool {
	return !bytes.Equal(f.Was, f.Data) || (f.Was == nil) != (f.Data == nil)
}

// Put checks the change, shows what it means, and puts it in force. A file that does not change is left as it is.
func (f *File) Put(a *base.App) ([]meaning.Change, error) {
	if !f.Changed() {
		return []meaning.Change{}, nil
	}
	if !f.accepted().Trusted {
		return nil, failure.New(failure.Conflict, fmt.Errorf("%s: nothing of %s is accepted", f.Act, f.dir()),
			"look at it and accept it first: myc trust")
	}
	cand, err := f.Candidate()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Act, err)
	}
	if err := f.loads(a, cand); err != nil {
		return nil, err
	}
	before := f.accepted().Accepted(f.Name)
	if f.P.File.Trust != config.TrustFolder && !bytes.Equal(before, f.Was) {
		return nil, failure.New(failure.Conflict, fmt.Errorf("%s: %s has lines that nobody has accepted; nothing was changed", f.Act, f.Name),
			"look at them and accept them first, or take them back: myc trust --diff")
	}
	changes := a.Meaning(f.P, cand)
	if !a.JSON {
		base.ShowChanges(a.Out, cand, changes)
	}
	if err := f.accepted().Write(time.Now(), f.Write); err != nil {
		return nil, err
	}
	if f.Shipped && !a.JSON {
		fmt.Fprintf(a.Out, "wrote %s: it was shipped by the program, and is a file of the project now\n", f.Name)
	}
	return append([]meaning.Change{}, changes...), nil
}

// loads is an error if the files do not load with the change, or name what does not exist.
func (f *File) loads(a *base.App, cand *config.Candidate) error {
	for _, pr := range cand.Why {
		fmt.Fprintln(a.Err, project.ProblemText(pr))
	}
	if len(cand.Why) > 0 {
		return failure.New(failure.Config, fmt.Errorf("%s: %s would not load, so nothing was changed", f.Act, f.Name), "")
	}
	n, err := base.Unknown(a, cand)
	if err == nil && n > 0 && !f.Names {
		err = failure.New(failure.Config, fmt.Errorf("%s: what names something that does not exist is not put in force; nothing was changed",
			f.Act), "")
	}
	return err
}

// Candidate is what is accepted, with the change.
func (f *File) Candidate() (*config.Candidate, error) {
	edits := f.P.State.Edits()
	if f.User {
		edits = f.P.State.UserEdits()
	}
	if err := os.MkdirAll(edits, 0o700); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(edits, "check-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return config.Edited(f.P, f.User, folder, map[string][]byte{f.Name: f.Data})
}

// Write writes the file in each folder, unless the one that people see is no longer what was looked at.
func (f *File) Write(folders []string) error {
	now, shipped, err := f.now()
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.Was) || shipped != f.Shipped {
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s has changed meanwhile and is not overwritten", f.Act, f.Name),
			"look at it, and run the command again")
	}
	for _, folder := range folders {
		if err := put(filepath.Join(folder, filepath.FromSlash(f.Name)), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file with the permissions that it has, or removes it.
func put(at string, data []byte) error {
	if data == nil {
		if err := os.Remove(at); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	perm := os.FileMode(0o644)
	if st, err := os.Stat(at); err == nil {
		perm = st.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // of a project
		return err
	}
	return atomicfile.Write(at, data, perm)
}
