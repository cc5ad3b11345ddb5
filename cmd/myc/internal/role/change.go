package role

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
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
)

// change is one change of a role's file.
type change struct {
	act  string // the command
	p    *config.Project
	file string // name in the project, with slashes

	was     []byte // what the file says now; nil: there is none
	shipped bool   // the program says it; the project has no such file
	data    []byte // what it will say; nil: it goes

	names  bool   // names that do not exist are a warning
	said   string // what is said when it is done
	result result
}

// result is what a change prints with --json.
type result struct {
	Role       string              `json:"role"`
	File       string              `json:"file"`
	Changes    []meaning.Change    `json:"changes"`
	References []project.Reference `json:"references,omitempty"` // what names a role that was deleted
}

// put checks a change, shows what it means, and puts it in force.
func (a *app) put(c *change) error {
	if bytes.Equal(c.was, c.data) && (c.was == nil) == (c.data == nil) {
		c.said, c.result.Changes = "nothing changed", []meaning.Change{}
		return nil
	}
	cand, err := a.candidate(c.p, c.file, c.data)
	if err != nil {
		return fmt.Errorf("%s: %w", c.act, err)
	}
	if err := a.loads(c, cand); err != nil {
		return err
	}
	before := c.p.Accepted(c.file)
	if c.p.File.Trust != config.TrustFolder && !bytes.Equal(before, c.was) {
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s has lines that nobody has accepted; nothing was changed", c.act, c.file),
			"look at them and accept them first, or take them back: myc trust --diff")
	}
	if c.result.Changes = a.Meaning(c.p, cand); c.result.Changes == nil {
		c.result.Changes = []meaning.Change{}
	}
	if !a.JSON {
		base.ShowChanges(a.Out, cand, c.result.Changes)
	}
	if err := c.p.Write(time.Now(), c.write); err != nil {
		return err
	}
	if c.shipped && !a.JSON {
		fmt.Fprintf(a.Out, "wrote %s: it was shipped by the program, and is a file of the project now\n", c.file)
	}
	return nil
}

// loads is an error if the files do not load with the change, or name what does not exist.
func (a *app) loads(c *change, cand *config.Candidate) error {
	for _, pr := range cand.Why {
		fmt.Fprintln(a.Err, project.ProblemText(pr))
	}
	if len(cand.Why) > 0 {
		return failure.New(failure.Config, fmt.Errorf("%s: %s would not load, so nothing was changed", c.act, c.file), "")
	}
	n, err := base.Unknown(a.App, cand)
	if err == nil && n > 0 && !c.names {
		err = failure.New(failure.Config, fmt.Errorf("%s: what names something that does not exist is not put in force; nothing was changed",
			c.act), "")
	}
	return err
}

// candidate is what is accepted, with another content of one file.
func (a *app) candidate(p *config.Project, file string, data []byte) (*config.Candidate, error) {
	if err := os.MkdirAll(p.State.Edits(), 0o700); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(p.State.Edits(), "check-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return config.Edited(p, false, folder, file, data)
}

// write changes the file in each folder, unless the one that people see is no longer what was looked at.
func (c *change) write(folders []string) error {
	now, shipped, err := read(c.p, c.file)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, c.was) || shipped != c.shipped {
		return failure.New(failure.Conflict, fmt.Errorf("%s: %s has changed meanwhile and is not overwritten", c.act, c.file),
			"look at it, and run the command again")
	}
	for _, folder := range folders {
		if err := put(filepath.Join(folder, filepath.FromSlash(c.file)), c.data); err != nil {
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
