// Package edit changes files that govern, as a person's act: it reads them, checks what they would say, and saves all of them or none. What
// is saved is in force, and what else waits to be accepted stays as it is.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/config/save"
	"mycelium/internal/config/shipped"
	"mycelium/internal/op/failure"
)

// File is a file of a [Set].
type File struct {
	Name    string // path in the project, or in the user's folder, with slashes
	Was     []byte // what it says now; nil: there is none
	Shipped bool   // the program says it; the folder has no such file
	Data    []byte // what it will say; nil: it goes
}

// Changed reports whether the file will say something else than now.
func (f *File) Changed() bool {
	return !bytes.Equal(f.Was, f.Data) || (f.Was == nil) != (f.Data == nil)
}

// Set is a change of files of one folder that is in force as a whole or not at all.
type Set struct {
	Act   string // what a person does, for errors
	P     *config.Project
	User  bool // they are the user's own files, for every project
	Files []*File
}

// Dir is the folder of the files.
func (s *Set) Dir() string {
	if s.User {
		return s.P.UserDir
	}
	return s.P.Dir
}

// Accepted is what a person has accepted of the folder.
func (s *Set) Accepted() *config.Acceptance {
	if s.User {
		return &s.P.User
	}
	return &s.P.Acceptance
}

// Read reads what a file says now, as it lies there or as the program ships it.
func (s *Set) Read(name string) (data []byte, ships bool, err error) {
	data, err = save.Read(s.Dir(), name)
	if errors.Is(err, save.ErrPlace) {
		err = fmt.Errorf("%w; change what it leads to", err)
	}
	if data != nil || err != nil || s.User {
		return data, false, err
	}
	from, err := s.P.Shipped(s.P)
	return from[name], from[name] != nil, err
}

// Untrusted is an error if nothing of the folder is accepted.
func (s *Set) Untrusted() error {
	if s.Accepted().Trusted {
		return nil
	}
	return failure.New(failure.Conflict, fmt.Errorf("%s: nothing of %s is accepted", s.Act, s.Dir()),
		"look at it and accept it first: myc trust")
}

// Candidate is what is accepted, with the change.
func (s *Set) Candidate() (*config.Candidate, error) {
	edits := s.P.State.Edits()
	if s.User {
		edits = s.P.State.UserEdits()
	}
	if err := os.MkdirAll(edits, 0o700); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(edits, "check-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	changes := map[string][]byte{}
	for _, f := range s.Files {
		changes[f.Name] = f.Data
	}
	return config.Edited(s.P, s.User, folder, changes)
}

// Save puts the change in force. Files that are no longer what was looked at are not overwritten. record is called when nothing stands in
// the way any more; if it fails, nothing is saved.
func (s *Set) Save(record func() error) error {
	return s.Accepted().Write(time.Now(), func(folders []string) error { return s.Write(folders, record) })
}

// Write writes the files in each folder, as [Set.Save] does.
func (s *Set) Write(folders []string, record func() error) error {
	var files []save.File
	for _, f := range s.Files {
		now, ships, err := s.Read(f.Name)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, f.Was) || (now == nil) != (f.Was == nil) || ships != f.Shipped {
			return failure.New(failure.Conflict, fmt.Errorf("%s: %s has changed meanwhile and is not overwritten", s.Act, f.Name),
				"look at it, and try again")
		}
		is := save.File{Name: f.Name, Was: f.Was, Is: f.Data}
		if f.Shipped {
			is.Was = nil
		}
		files = append(files, is)
	}
	rest, err := s.ejected()
	if err != nil {
		return err
	}
	if err := record(); err != nil {
		return err
	}
	lock := s.P.State.EditLock()
	if s.User {
		lock = s.P.State.UserEditLock()
	}
	return save.Write(lock, folders, append(files, rest...))
}

// ejected are the other files of the shipped skills of which a file changes: the project has the whole skill then.
func (s *Set) ejected() (out []save.File, err error) {
	named := map[string]bool{}
	for _, f := range s.Files {
		named[f.Name] = true
	}
	for _, f := range s.Files {
		if !f.Shipped {
			continue
		}
		all, err := s.P.Shipped(s.P)
		if err != nil {
			return nil, err
		}
		for name, data := range all {
			if _, err := os.Lstat(filepath.Join(s.Dir(), filepath.FromSlash(name))); err == nil || named[name] ||
				shipped.Unit(name) != shipped.Unit(f.Name) {
				continue
			}
			named[name] = true
			out = append(out, save.File{Name: name, Is: data})
		}
	}
	return out, nil
}
