// Package swarm drives a session of coding agents on one repository: it starts a worker for each feature in a worktree of its own, judges
// what becomes of the work by facts, and brings it onto the branch of the session once it is verified there.
//
// What is true of a session is in the book; what is true of its commits is in git. A driver keeps nothing else: one that was killed is
// replaced by the next, which finds its workers at work.
package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
)

// Checked is what came of a command that verifies a commit.
type Checked struct {
	OK     bool
	Output string // its end, for people and for workers
}

// Options are what a driver stands on.
type Options struct {
	Book   *book.Book
	Ground *ground.Repo
	Folder string // absolute: the folder of the swarm in the state of the project
	Holder string // who drives, in the words of the lease
	// Start starts the worker of a folder in a terminal session with a name, and does not wait for it.
	Start func(ctx context.Context, folder worker.Folder, window string) error
	// Verify runs a command in the sandbox on a working tree. The error is that it could not run.
	Verify func(ctx context.Context, tree string, argv []string) (Checked, error)
	// Governs reports whether a path, relative to the top of the tree, is of a file that governs agents.
	Governs  func(path string) bool
	Rights   planning.Rights // nil: workers have the skills of their role, and are given no files of the project
	Ask      planning.Ask    // nil: no model can be asked
	Anywhere bool            // myc lies where an agent may write, and a person accepted that
	Wall     string          // see worker.Order
	Every    time.Duration   // how often workers are looked at; 0: twice a second
	Logger   *slog.Logger
}

// Driver drives one session. It is used by one goroutine.
type Driver struct {
	Options

	id       string
	watches  map[worker.Folder]*watch
	settings book.Settings     // as they were when it looked last
	adopted  bool              // the workers that another driver left are looked after
	eyes     *fsnotify.Watcher // on the folders of workers; nil: there is none, and they are looked at in turn
	*jobs
}

// The lease of a driver, and how often it looks.
const (
	lease = 30 * time.Second
	every = 500 * time.Millisecond
)

// landJob is the job of the merge queue. It is no id of a feature.
const landJob = "the merge queue"

// New returns the driver of a session.
func New(o Options, session string) *Driver {
	if o.Every == 0 {
		o.Every = every
	}
	return &Driver{Options: o, id: session, watches: map[worker.Folder]*watch{}, jobs: newJobs(o.Logger)}
}

// Run drives the session until nothing more becomes of it by itself, or ctx ends. Workers go on without a driver. The error is a
// *book.HeldError while another driver has the session.
func (d *Driver) Run(ctx context.Context) (err error) {
	if err := d.Book.Hold(ctx, d.id, d.Holder, lease); err != nil {
		return err
	}
	defer func() {
		d.work.Wait()
		err = errors.Join(err, d.Book.Release(context.WithoutCancel(ctx), d.id, d.Holder))
	}()
	if err := d.Ground.Recover(ctx); err != nil {
		return err
	}
	if err := d.sweep(ctx); err != nil {
		return err
	}
	defer d.watch()()
	look := time.NewTicker(d.Every)
	defer look.Stop()
	for {
		over, err := d.step(ctx)
		if over && err == nil {
			over, err = d.leave(ctx)
		}
		if err = d.bear(ctx, err); err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		case <-d.wake:
		}
	}
}

// step looks at everything once, and begins what is due.
func (d *Driver) step(ctx context.Context) (over bool, err error) {
	if err := d.Book.Hold(ctx, d.id, d.Holder, lease); err != nil {
		return false, err
	}
	busy := d.underWay() // before anything is read: what ends meanwhile is looked at next time, as it is then
	failed := d.failed()
	s, err := d.Book.Read(ctx, d.id)
	if err != nil || !s.Open() {
		return true, errors.Join(failed, err)
	}
	if failed != nil {
		if !busy[landJob] {
			err = d.putBack(ctx, s) // it may have failed because the branch is gone
		}
		return false, errors.Join(failed, err)
	}
	d.settings = s.Settings
	if s.Landing != nil && !busy[landJob] {
		if err := (merging{d}).recover(ctx, s.Landing); err != nil {
			return false, err
		}
		d.again()
		return false, nil
	}
	if s.State == book.Paused {
		return d.halt(ctx, s), nil
	}
	charges := append(d.charges(s), reviewers{d}.charges(s)...)
	for _, c := range charges {
		if !busy[c.job] {
			if err := d.look(ctx, c); err != nil {
				return false, err
			}
		}
	}
	for _, f := range s.Features {
		if f.State == book.Designing && !busy[jobOf(f.ID, "judge")] {
			if err := (contest{d}).design(ctx, f); err != nil {
				return false, err
			}
		}
	}
	d.adopted = true
	if !busy[landJob] && len(queued(s)) > 0 {
		d.begin(ctx, landJob, func(ctx context.Context) error { return merging{d}.land(ctx) })
	}
	if err := d.start(ctx, s); err != nil {
		return false, err
	}
	if err := (reviewers{d}).start(ctx, s); err != nil {
		return false, err
	}
	return d.finish(ctx, s)
}

// leave gives the lease back, and looks once more: who asks for something after that sees that nobody drives the session.
func (d *Driver) leave(ctx context.Context) (over bool, err error) {
	if err := d.Book.Release(ctx, d.id, d.Holder); err != nil {
		return true, err
	}
	s, err := d.Book.Read(ctx, d.id)
	return err != nil || s.State != book.Going || rests(s), err
}

// watch has the next step come at once when a worker says that it has ended. Without it, that is seen at the next look.
func (d *Driver) watch() (stop func()) {
	eyes, err := fsnotify.NewWatcher()
	if err != nil {
		d.Logger.Warn("workers are looked at in turn, because their folders cannot be watched", "error", err)
		return func() {}
	}
	d.eyes = eyes
	go func() {
		for e := range eyes.Events {
			if worker.SaysEnded(e.Name) {
				d.again()
			}
		}
	}()
	go func() {
		for range eyes.Errors { // what is missed is seen at the next look
		}
	}()
	return func() { _ = eyes.Close() }
}

// tip is the commit on which the next work stands: the one that landed last.
func (d *Driver) tip(ctx context.Context, s *book.Session) (ground.Commit, error) {
	if tip := s.Tip(); tip != "" {
		return tip, nil
	}
	return d.Ground.Tip(ctx) // of a version that did not record it
}

// putBack puts the branch of the session back where something other than the merge queue has moved it. Nothing lands meanwhile.
func (d *Driver) putBack(ctx context.Context, s *book.Session) error {
	tip := s.Tip()
	if tip == "" || s.Landing != nil {
		return nil
	}
	kept, err := d.Ground.Restore(ctx, tip)
	if err != nil || kept == "" {
		return err
	}
	_, err = d.change(ctx, func(*book.Session) ([]book.Event, error) {
		return []book.Event{{Kind: "session", Text: fmt.Sprintf("something other than the merge queue had moved %s: it is back at %.12s, and %s"+
			" keeps what was there", d.Ground.Branch(), tip, kept)}}, nil
	})
	return err
}

// change is a change of the session by this driver.
func (d *Driver) change(ctx context.Context, f func(*book.Session) ([]book.Event, error)) (*book.Session, error) {
	return d.Book.Change(ctx, d.id, d.Holder, f)
}

// errMoved means that a person has changed what a job was about, so that the job is void.
var errMoved = errors.New("it changed in the meantime")

// changeAttempt changes an attempt that is still the last of its feature, and has the worker that was seen. It does nothing if it changed
// in the meantime: by a person, or by a job that ended while the driver looked.
func (d *Driver) changeAttempt(ctx context.Context, feature string, seen *book.Attempt,
	f func(*book.Feature, *book.Attempt) book.Event) error {
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		of, err := s.Feature(feature)
		if err != nil {
			return nil, err
		}
		a := of.Live()
		if a == nil || !a.Same(seen) {
			return nil, errMoved
		}
		e := f(of, a)
		e.Feature, e.Attempt = feature, seen.N
		return []book.Event{e}, nil
	})
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// finish ends the session when nothing more becomes of it by itself, and it was reviewed.
func (d *Driver) finish(ctx context.Context, seen *book.Session) (over bool, err error) {
	if !d.idle() || !rests(seen) || seen.State == book.Reviewing && reviewing(seen) {
		return false, nil
	}
	if err := d.putBack(ctx, seen); err != nil {
		return false, err
	}
	tip, err := d.tip(ctx, seen)
	if err != nil {
		return false, err
	}
	_, err = d.change(ctx, func(s *book.Session) (events []book.Event, err error) {
		over = false
		switch {
		case s.State != book.Going && s.State != book.Reviewing || !rests(s):
			return nil, nil
		case s.Busy(): // nobody has asked for what is left
			over = true
			return nil, nil
		case !s.Has(book.Waiting) && !reviewing(s):
			events = review.Due(s, string(tip))
		}
		if reviewing(s) {
			return toReview(s, string(tip), events), nil
		}
		over = true
		return end(s), nil
	})
	return over, err
}

// rests reports whether a driver has nothing to do for the features of a session that goes on.
func rests(s *book.Session) bool {
	if s.Landing != nil {
		return false
	}
	return !slices.ContainsFunc(s.Features, func(f *book.Feature) bool {
		asked := !s.Settings.Manual || !f.Wanted.IsZero()
		return f.Live() != nil || f.State == book.Queued || f.State == book.Designing || f.State == book.Pending && asked && s.Startable(f)
	})
}

// end ends a session of which nothing more becomes by itself.
func end(s *book.Session) []book.Event {
	left := 0
	for _, f := range s.Features {
		if f.State != book.Completed {
			left++
		}
	}
	switch {
	case left == 0:
		s.State, s.Ended = book.Completed, time.Now()
		return []book.Event{{Kind: "session", Text: "every feature has landed"}}
	case s.Has(book.Waiting) && s.State == book.Going:
		return nil // a person has the next word
	case s.Has(book.Waiting):
		s.State = book.Going
		return []book.Event{{Kind: "session", Text: "a feature waits for a person"}}
	}
	s.State, s.Ended = book.Faulty, time.Now()
	return []book.Event{{Kind: "session",
		Text: fmt.Sprintf("%d of %d features have landed; the others failed, or depend on one that did",
			len(s.Features)-left, len(s.Features))}}
}

// folderOf is the folder of the first worker of an attempt; see goOn.
func (d *Driver) folderOf(session, attempt string) string {
	return filepath.Join(d.Folder, session, attempt+".0")
}
