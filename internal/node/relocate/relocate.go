// Package relocate brings the state of a project to where it belongs, after the project was moved, and from where earlier versions kept
// it. A job that was begun is written down first, and whoever finds it finishes it: until then the state is in force nowhere.
package relocate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
)

// Person is what a job needs of the person who runs it.
type Person struct {
	Load    func(state.Paths) (*config.Project, error)   // reads a project with a state, as it is in force
	Known   func(state.Paths) error                      // makes the state known, with what the person's environment says
	Tokens  func(project state.Paths, from string) error // gives the tokens for servers that a folder had to a project
	Environ []string

	step func(name string) // of tests: called before each step
}

// journal is a job that was begun.
type journal struct {
	Version int       `json:"version"`
	Kind    string    `json:"kind"`         // moved or former
	Project string    `json:"project"`      // the folder to whose state the job leads
	ID      string    `json:"id,omitempty"` // of the project, if a person chose it
	From    string    `json:"from"`         // moved: the folder before; former: the user's state folder of the earlier version
	Record  string    `json:"record"`       // the id of the record in the log
	Since   time.Time `json:"since"`
}

const (
	journalVersion = 1
	moved          = "moved"
	former         = "former"
)

// patience is how long to wait for another process that does the same job.
const patience = 30 * time.Second

// begin writes a job down and finishes it. The caller holds the lock of the journal.
func (p *Person) begin(ctx context.Context, to state.Paths, kind, from string) error {
	n := journal{Version: journalVersion, Kind: kind, Project: to.Project, ID: to.Chosen(), From: from, Record: audit.NewID(),
		Since: time.Now().UTC().Truncate(time.Second)}
	data, err := json.Marshal(n)
	if err == nil {
		err = atomicfile.Write(to.Journal(), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("begin to bring the state here: %w", err)
	}
	return p.finish(ctx, to, n)
}

// finish does the steps of a job. Each does nothing if it was done before.
func (p *Person) finish(ctx context.Context, to state.Paths, n journal) error {
	steps := p.moveSteps(to, n)
	if n.Kind == former {
		steps = p.formerSteps(to, n)
	}
	for _, s := range append(steps, step{"end", func(context.Context) error { return os.Remove(to.Journal()) }}) {
		if p.step != nil {
			p.step(s.name)
		}
		if err := s.do(ctx); err != nil {
			return failure.Hint(fmt.Errorf("bring the state of %s here (%s): %w", to.Project, s.name, err),
				"nothing is lost, and nothing is allowed before it is done; mend this, and run myc trust")
		}
	}
	return nil
}

// step is one step of a job.
type step struct {
	name string
	do   func(context.Context) error
}

// Resume finishes the jobs of a project folder that a process began and did not end. A move leads to where the folder is: if a person has
// moved it back meanwhile, so does its state.
func (p *Person) Resume(ctx context.Context, at state.Paths) error {
	files, err := at.Journals()
	if err != nil || len(files) == 0 {
		return err
	}
	for _, file := range files {
		n, err := readJournal(file)
		if err != nil && file != at.Journal() { // of another project
			continue
		}
		to := at
		if err == nil && file != at.Journal() {
			if n.Kind != moved || n.From != at.Project {
				continue
			}
			to, err = n.target(at.Root)
		}
		if err == nil {
			err = p.resume(ctx, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readJournal(file string) (n journal, err error) {
	data, err := os.ReadFile(filepath.Clean(file))
	if err == nil {
		err = json.Unmarshal(data, &n, json.RejectUnknownMembers(true))
	}
	if err == nil && (n.Version != journalVersion || n.Kind != moved && n.Kind != former) {
		err = errors.New("this program does not know its form")
	}
	if err != nil {
		return n, fmt.Errorf("read what was begun with the state: %s: %w", file, err)
	}
	return n, nil
}

// target returns the state to which a job leads.
func (n *journal) target(root state.Root) (state.Paths, error) {
	if n.ID != "" {
		return root.Named(n.Project, n.ID)
	}
	return root.Of(n.Project), nil
}

func (p *Person) resume(ctx context.Context, to state.Paths) error {
	return locked(to, func() error {
		n, err := readJournal(to.Journal())
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process has finished it
		}
		if err != nil {
			return err
		}
		if n.Kind == moved && missing(n.Project) && !missing(n.From) {
			return p.back(ctx, to, n)
		}
		return p.finish(ctx, to, n)
	})
}

// locked calls f while no other process brings state to these paths.
func locked(to state.Paths, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(to.JournalLock()), 0o700); err != nil {
		return fmt.Errorf("bring the state here: %w", err)
	}
	lock, err := atomicfile.LockWait(to.JournalLock(), patience)
	if err != nil {
		return fmt.Errorf("bring the state here: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process releases it too
	return f()
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// bring renames a folder of the state to its place. What some command left there meanwhile goes, if it has no record.
func bring(to state.Paths, from, place string) error {
	if missing(from) {
		return nil
	}
	if err := empty(to); err != nil {
		return err
	}
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := os.Rename(from, place); err != nil {
		return err
	}
	return errors.Join(syncFolder(filepath.Dir(place)), syncFolder(filepath.Dir(from)))
}

// empty returns an error if a log with records lies in a state.
func empty(p state.Paths) error {
	return filepath.WalkDir(p.Folder(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case audit.SegmentNumber(d.Name()) == 0:
			return nil
		}
		st, err := d.Info()
		if err == nil && st.Size() > 0 {
			err = failure.New(failure.Conflict, fmt.Errorf("%s has begun a log of its own already, in %s", p.Project, filepath.Dir(path)),
				"if nothing in it is needed, move "+p.Folder()+" and "+p.Keys()+" away, and run this again")
		}
		return err
	})
}

// syncFolder makes the names in a folder survive a crash of the machine.
func syncFolder(dir string) error {
	f, err := os.Open(filepath.Clean(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// record appends the act to the log, once, and verifies the log.
func (p *Person) record(ctx context.Context, to state.Paths, n journal, args map[string]string, note string) error {
	project, err := p.Load(to)
	if err != nil {
		return err
	}
	o, err := project.AuditLog()
	if err != nil {
		return err
	}
	done := false
	for line, err := range audit.Scan(ctx, o, audit.Position{}) {
		if err != nil {
			return err
		}
		done = done || line.ID == n.Record
	}
	if !done {
		if err := appendAct(ctx, o, n, args, note); err != nil {
			return err
		}
	}
	return intact(o)
}

func appendAct(ctx context.Context, o audit.Options, n journal, args map[string]string, note string) error {
	raw, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		return err
	}
	log, err := audit.Open(o)
	if err != nil {
		return err
	}
	err = log.Append(ctx, audit.Record{ID: n.Record, Kind: audit.Operator, Time: time.Now(), Principal: "operator", Surface: "cli",
		Args: raw, Note: note})
	return errors.Join(err, log.Close())
}

// intact returns an error if a log is broken.
func intact(o audit.Options) error {
	r, err := audit.Verify(o)
	if err == nil && r.Broken != nil {
		err = fmt.Errorf("the log %s is broken at %s:%d: %s", o.Dir, r.Broken.Segment, r.Broken.Line, r.Broken.Why)
	}
	return err
}
