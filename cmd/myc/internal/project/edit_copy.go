package project

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// editing is one run of myc edit. The copy lies in the state, where no agent writes; beside it lies what the file was when it was made.
type editing struct {
	*app
	p    *config.Project
	what string // as the person named it
	name string // path of the file in its folder, with slashes
	user bool   // it is one of the user's own files
	dir  string // the project, or the user's folder

	copy, base string // paths

	ships map[string][]byte // files of the program that count in dir, by name
}

// file is the path of the file in a folder: the project, or a copy of what is accepted.
func (e *editing) file(folder string) string {
	return filepath.Join(folder, filepath.FromSlash(e.name))
}

// open makes the copy, or goes on with the one of a run before.
func (e *editing) open() error {
	now, err := e.now()
	if err != nil {
		return err
	}
	if st, err := os.Stat(e.copy); err == nil {
		when := st.ModTime().Format(time.DateTime)
		if !base.StdinIsTerminal(e.In) || e.ConfirmUnless("A copy of "+when+" was not put in force. Go on with it? [Y/n] ") {
			fmt.Fprintf(e.Err, "myc: this is the copy of %s\n", when)
			return e.rebase(now)
		}
	}
	return e.write(now, now)
}

// write writes the copy and what the file was.
func (e *editing) write(was, is []byte) error {
	for path, data := range map[string][]byte{e.base: was, e.copy: is} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := atomicfile.Write(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// rebase says what changed in the file since the copy was made: the person has to take it over, or to give it up.
func (e *editing) rebase(now []byte) error {
	was, err := readFile(e.base)
	if err != nil || bytes.Equal(was, now) {
		return err
	}
	fmt.Fprintf(e.Err, "myc: %s has changed since this copy was made. Take over into the copy what shall stay:\n%s", e.name,
		text.Diff(string(was), string(now)))
	if !base.StdinIsTerminal(e.In) {
		return failure.New(failure.Conflict, errors.New("the file has changed since the copy was made, and nobody can be asked here"),
			"run it in a terminal; the copy is "+e.copy)
	}
	return atomicfile.Write(e.base, now, 0o600)
}

// take checks the copy, shows what changed, and puts it in force. It reports whether the person wants to go on editing.
func (e *editing) take() (again bool, err error) {
	data, err := readFile(e.copy)
	if err != nil {
		return false, err
	}
	c, err := e.candidate(data)
	if err != nil {
		return false, err
	}
	was, err := readFile(e.base)
	switch {
	case err != nil:
		return false, err
	case bytes.Equal(was, data) && len(c.Changes) == 0:
		fmt.Fprintln(e.Out, "nothing changed")
		return false, e.forget()
	case len(c.Why) > 0:
		for _, pr := range c.Why {
			fmt.Fprintln(e.Err, project.ProblemText(pr))
		}
		if base.StdinIsTerminal(e.In) && e.ConfirmUnless("It does not load. Edit it again? [Y/n] ") {
			return true, nil
		}
		return false, failure.New(failure.Config, errors.New("the copy does not load, so nothing was changed"),
			e.again()+" goes on with it; it is kept in the state")
	}
	base.ShowChanges(e.Out, c, e.Meaning(e.p, c))
	e.warn(c)
	if before := e.accepted().Accepted(e.name); !bytes.Equal(before, was) { // somebody else wrote into the file, and nobody has accepted that
		fmt.Fprintf(e.Err, "myc: some of these lines were in %s before you edited it, and nobody has accepted them\n", e.name)
		if !base.StdinIsTerminal(e.In) || !e.Confirm("Put all of it in force? [y/N] ") {
			return false, failure.New(failure.Denied, errors.New("nothing was changed"),
				e.again()+" goes on with the copy; myc trust shows what waits")
		}
	}
	return false, e.save(was, data)
}

// warn tells of what loads and has no effect, such as a tool that no server has.
func (e *editing) warn(c *config.Candidate) {
	v, err := e.OpenView()
	if err != nil {
		return
	}
	defer v.Close()
	_, _, problems := c.Project.Compile(v.Catalog)
	for _, pr := range problems {
		if pr.File == e.shown() {
			fmt.Fprintln(e.Err, project.ProblemText(pr))
		}
	}
}

// candidate is what is accepted, with the copy in the place of the file.
func (e *editing) candidate(data []byte) (*config.Candidate, error) {
	folder, err := os.MkdirTemp(e.edits(), "check-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return config.Edited(e.p, e.user, folder, map[string][]byte{e.name: data})
}

// save accepts the copy and writes the file, unless the file is no longer what was copied.
func (e *editing) save(was, data []byte) error {
	err := e.accepted().Write(time.Now(), func(folders []string) error {
		now, err := e.now()
		if err != nil {
			return err
		}
		if !bytes.Equal(now, was) {
			return failure.New(failure.Conflict, errors.New("the file has changed meanwhile and is not overwritten"),
				e.again()+" goes on with the copy and shows what changed")
		}
		if err := e.eject(); err != nil {
			return err
		}
		for _, folder := range folders {
			if err := writeKeepingMode(e.file(folder), data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "in force: %s\n", e.shown())
	return e.forget()
}

// writeKeepingMode writes a file with the permissions that it has.
func writeKeepingMode(path string, data []byte) error {
	perm := os.FileMode(0o644)
	if st, err := os.Stat(path); err == nil {
		perm = st.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // of a project
		return err
	}
	return atomicfile.Write(path, data, perm)
}

// forget removes the copy.
func (e *editing) forget() error { return errors.Join(os.Remove(e.copy), os.Remove(e.base)) }
