// Package change changes one file that governs, as a person's act at a terminal: it checks the change, shows what it means, and puts it in
// force.
package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/edit"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
)

// File is one change of a file.
type File struct {
	edit.Set
	edit.File

	Names bool // names that do not exist are a warning
}

// Of returns a change of a file, by a command.
func Of(act string, p *config.Project, name string) *File {
	return &File{Set: edit.Set{Act: act, P: p}, File: edit.File{Name: name}}
}

// set is the change as one of a set of files.
func (f *File) set() *edit.Set {
	f.Files = []*edit.File{&f.File}
	return &f.Set
}

// Read reads what the file says now, as it lies there or as the program ships it, into Was and Shipped.
func (f *File) Read() (err error) {
	if f.Was, f.Shipped, err = f.Set.Read(f.Name); err != nil {
		return fmt.Errorf("%s: %w", f.Act, err)
	}
	return nil
}

// Candidate is what is accepted, with the change.
func (f *File) Candidate() (*config.Candidate, error) { return f.set().Candidate() }

// Put checks the change, shows what it means, records it, and puts it in force. A file that does not change is left as it is.
func (f *File) Put(ctx context.Context, a *base.App) ([]meaning.Change, error) {
	if !f.Changed() {
		return []meaning.Change{}, nil
	}
	if err := f.Untrusted(); err != nil {
		return nil, err
	}
	cand, err := f.Candidate()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Act, err)
	}
	if err := f.loads(a, cand); err != nil {
		return nil, err
	}
	before := f.Accepted().Accepted(f.Name)
	if f.P.File.Trust != config.TrustFolder && !bytes.Equal(before, f.Was) {
		return nil, failure.New(failure.Conflict, fmt.Errorf("%s: %s has lines that nobody has accepted; nothing was changed", f.Act, f.Name),
			"look at them and accept them first, or take them back: myc trust --diff")
	}
	changes := a.Meaning(f.P, cand)
	if !a.JSON {
		base.ShowChanges(a.Out, cand, changes)
	}
	if err := f.save(ctx, acts.Logs(cand)); err != nil {
		return nil, err
	}
	if f.Shipped && !a.JSON {
		fmt.Fprintf(a.Out, "wrote %s: it was shipped by the program, and is a file of the project now\n", f.Name)
	}
	return append([]meaning.Change{}, changes...), nil
}

// save records the change in the log of a project, and puts it in force. A change that cannot be recorded is not made, and one that fails is
// recorded as failed.
func (f *File) save(ctx context.Context, logs *config.Project) error {
	what, recorded := f.set().Recorded(acts.User(os.Getuid()), api.Answer{}.Via(), f.Act), false
	err := f.Save(func() error {
		_, err := acts.Record(ctx, logs, what, what.Note())
		recorded = err == nil
		return err
	})
	if err != nil && recorded {
		what.Act += " failed"
		_, failed := acts.Record(ctx, logs, what, what.Note())
		err = errors.Join(err, failed)
	}
	return err
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
