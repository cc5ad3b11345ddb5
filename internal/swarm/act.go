package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/worker"
)

// start gives workers to the features whose turn it is.
func (d *Driver) start(ctx context.Context, seen *book.Session) error {
	if len(d.ready(seen)) == 0 {
		return nil
	}
	base, err := d.tip(ctx, seen)
	if err != nil {
		return err
	}
	var next, planned []*book.Feature
	_, err = d.change(ctx, func(s *book.Session) (events []book.Event, err error) {
		next, planned = nil, nil
		if s.State != book.Going {
			return nil, nil
		}
		ids := d.ready(s)
		if s.Settings.Budget > 0 && len(ids) > 0 && s.Cost() >= s.Settings.Budget {
			s.State = book.Paused
			return []book.Event{{Kind: "session", Text: fmt.Sprintf("paused: the budget of $%.2f is spent", s.Settings.Budget)}}, nil
		}
		for _, id := range ids {
			f, err := s.Feature(id)
			if err != nil {
				return nil, err
			}
			if planning.Planned(s, f) {
				contest{d}.compete(s, f, base)
				planned = append(planned, f)
				events = append(events, book.Event{Kind: "plan", Feature: f.ID, Text: "two planners begin"})
				continue
			}
			f.State = book.Going
			next = append(next, f)
			if a := f.Last(); a != nil && a.State == book.Stopped {
				f.Reason = ""
				goOn(a)
				events = append(events, book.Event{Kind: "feature", Feature: f.ID, Attempt: a.N,
					Text: "a worker goes on where the last one was stopped"})
				continue
			}
			a := &book.Attempt{N: len(f.Attempts) + 1, State: book.Starting, Base: string(base), Began: time.Now()}
			a.Folder = d.folderOf(s.ID, book.NameOf(f.ID, a.N))
			a.Window = "cc-worker-" + f.ID + "-" + strconv.FormatInt(a.Began.UnixMilli(), 36)
			f.Attempts = append(f.Attempts, a)
			events = append(events, book.Event{Kind: "feature", Feature: f.ID, Attempt: a.N, Text: "it is given to a worker"})
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	for _, f := range next {
		d.launch(ctx, f, f.Last())
	}
	contest{d}.launch(ctx, planned)
	return nil
}

// goOn makes an attempt ready for another worker in the same worktree, with a folder of its own.
func goOn(a *book.Attempt) {
	a.Asked++
	a.State, a.Ended, a.Claim = book.Starting, time.Time{}, nil
	a.Folder = string(folderAt(a.Folder, a.Asked))
	a.Window, _, _ = strings.Cut(a.Window, "+")
	a.Window += "+" + strconv.Itoa(a.Asked)
}

// without is a feature without its last attempt, which is about to begin.
func without(f *book.Feature) *book.Feature {
	c := *f
	c.Attempts = f.Attempts[:len(f.Attempts)-1]
	return &c
}

// launch makes the worktree and the order of an attempt and starts its worker. What a driver before this one has made stays.
func (d *Driver) launch(ctx context.Context, f *book.Feature, a *book.Attempt) {
	d.begin(ctx, f.ID, func(ctx context.Context) error {
		_, _, err := worker.Folder(a.Folder).Order()
		if errors.Is(err, fs.ErrNotExist) {
			var s *book.Session
			if s, err = d.Book.Read(ctx, d.id); err == nil {
				err = d.order(ctx, s, f, a, promptOf(s, without(f))+d.material(ctx, s, f, ground.Commit(a.Base)), goOnSaid)
			}
		}
		if err == nil {
			err = d.Start(ctx, worker.Folder(a.Folder), a.Window)
		}
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // the next driver starts it
		}
		d.Logger.Warn("a worker did not start", "feature", f.ID, "error", err)
		return d.giveUp(ctx, f, a, verdict{renew, "its worker could not be started: " + err.Error()}, func(*book.Attempt) {})
	})
}

// Start is the snapshot of a worktree as its first worker found it.
const Start = "start"

// place is the worktree of an attempt, which is made from a commit if there is none yet.
func (d *Driver) place(ctx context.Context, attempt, from string) (*ground.Tree, error) {
	t, err := d.Ground.Named(attempt)
	switch {
	case err != nil:
		return nil, err
	case t != nil:
		t.Unlock() // the worker before may have been killed in the middle of a commit
		return t, nil
	}
	if t, err = d.Ground.Add(ctx, attempt, ground.Commit(from)); err == nil {
		err = t.SnapshotNew(ctx, Start, ground.Commit(from))
	}
	return t, err
}

// order makes the worktree of an attempt, if it has none, and writes what its worker is to do there.
// again is said in the place of the prompt to a worker that goes on with the conversation of the one before.
func (d *Driver) order(ctx context.Context, s *book.Session, f *book.Feature, a *book.Attempt, prompt, again string) error {
	t, err := d.place(ctx, book.NameOf(f.ID, a.N), cmp.Or(a.Tip, a.Base))
	if err != nil {
		return err
	}
	o, err := d.orderOf(s, f)
	if err != nil {
		return err
	}
	o.Attempt, o.Tree = a.N, t.Project
	before := before(f, a)
	if a.Asked > 0 {
		if o.Resume, err = before.Conversation(); err != nil {
			return err
		}
	}
	if o.Resume != "" {
		o.Again = again
	}
	folder := worker.Folder(a.Folder)
	if err := folder.Give(o, prompt); err != nil || before == "" {
		return err
	}
	return folder.Inherit(before)
}

// orderOf is the order of a worker of a feature, as far as it is the same for all of them.
func (d *Driver) orderOf(s *book.Session, f *book.Feature) (worker.Order, error) {
	role := planning.RoleOf(s, f)
	if err := planning.CheckRoute(f.Feature, s.Settings, d.Rights); err != nil { // the policy may have changed
		return worker.Order{}, err
	}
	skills, err := planning.SkillsOf(f.Feature, role, d.Rights)
	return worker.Order{Session: s.ID, Feature: f.ID, Runner: cmp.Or(f.Route.Worker, s.Settings.Runner), Command: s.Settings.Command,
		Role: role, Skills: skills, Model: s.Settings.Model, Budget: f.Budget.USD, MaxTurns: s.Settings.Turns, Seconds: f.Budget.Minutes.Duration().Seconds(),
		Anywhere: d.Anywhere, Wall: d.Wall, Unsandboxed: s.Unsandboxed != nil}, err
}

// before is the folder of the worker before the one of an attempt; "": there was none.
func before(f *book.Feature, a *book.Attempt) worker.Folder {
	switch {
	case a.Asked > 0:
		return folderAt(a.Folder, a.Asked-1)
	case a.N > 1:
		return worker.Folder(f.Attempts[a.N-2].Folder)
	}
	return ""
}

// folderAt is the folder of the worker that went on with an attempt as the one of a number: 0 is the first.
func folderAt(folder string, n int) worker.Folder {
	return worker.Folder(strings.TrimSuffix(folder, filepath.Ext(folder)) + "." + strconv.Itoa(n))
}

// goOnSaid is said to a worker that goes on with a conversation that was broken off.
const goOnSaid = "You were stopped in the middle of your work, and go on now, in the same worktree. Look at what is there (git status, " +
	"git log), finish the feature, and end as you were told."

// enqueue puts the work of an attempt into the merge queue.
func (d *Driver) enqueue(ctx context.Context, f *book.Feature, a *book.Attempt, tip ground.Commit, account func(*book.Attempt)) error {
	return d.changeAttempt(ctx, f.ID, a, func(f *book.Feature, a *book.Attempt) book.Event {
		account(a)
		a.State, a.Tip, a.Ended = book.Queued, string(tip), time.Now()
		f.State, f.Reason = book.Queued, ""
		return book.Event{Kind: "feature", Text: "its work is committed and waits to be merged"}
	})
}

// sendBack has a worker go on in the same worktree, with what is missing. The attempt is at work, or its work is queued. The order is
// written before the state says so, so that a driver that comes after this one finds what is missing. kind is that of the event.
func (d *Driver) sendBack(ctx context.Context, kind, feature string, seen *book.Attempt, why string, account func(*book.Attempt)) error {
	s, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	f, a, err := sendable(s, feature, seen)
	if err != nil || a == nil {
		return err
	}
	prompt := promptOf(s, without(f)) + d.material(ctx, s, f, ground.Commit(a.Base)) + "\n# What is missing\n\n" + why + "\n"
	next := *a
	goOn(&next)
	next.Sent++
	if err := d.order(ctx, s, f, &next, prompt, why); err != nil {
		return err
	}
	if _, err = d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		f, a, err := sendable(s, feature, seen)
		if err != nil || a == nil {
			return nil, err
		}
		account(a)
		goOn(a)
		a.Sent++
		f.State = book.Going
		return []book.Event{{Kind: kind, Feature: feature, Attempt: seen.N, Text: "its worker is asked to go on: " + why}}, nil
	}); err != nil {
		return err
	}
	if err := d.Start(ctx, worker.Folder(next.Folder), next.Window); err != nil && ctx.Err() == nil {
		d.Logger.Warn("a worker did not start; another one is started soon", "feature", feature, "error", err)
	}
	return nil
}

// sendable is an attempt that a worker may go on with; nil: that has changed since it was seen.
func sendable(s *book.Session, feature string, seen *book.Attempt) (*book.Feature, *book.Attempt, error) {
	f, err := s.Feature(feature)
	if err != nil {
		return nil, nil, err
	}
	if a := f.Last(); a != nil && a.Same(seen) && (a.Live() || f.State == book.Queued) {
		return f, a, nil
	}
	return f, nil, nil
}

// The wait before a feature is tried again: it doubles with each attempt.
const (
	firstWait = time.Second
	lastWait  = 5 * time.Minute
)

// giveUp ends an attempt. What its worker has made and not committed is kept as a snapshot.
func (d *Driver) giveUp(ctx context.Context, f *book.Feature, a *book.Attempt, v verdict, account func(*book.Attempt)) error {
	d.tidy(ctx, f)
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		of, err := s.Feature(f.ID)
		if err != nil {
			return nil, err
		}
		live := of.Live()
		if live == nil || !live.Same(a) {
			return nil, nil
		}
		account(live)
		live.State, live.Reason, live.Ended = book.Failed, v.Reason, time.Now()
		of.Tried++
		of.Reason = v.Reason
		if v.act == refuse || of.Tried > *cmp.Or(of.Retries, &s.Settings.Retries) {
			of.State = book.Failed
			return []book.Event{{Kind: "feature", Feature: f.ID, Attempt: a.N, Text: "it failed: " + v.Reason}}, nil
		}
		wait := min(firstWait<<(of.Tried-1), lastWait)
		of.State, of.Retry = book.Pending, time.Now().Add(wait)
		return []book.Event{{Kind: "feature", Feature: f.ID, Attempt: a.N,
			Text: "it is tried again in " + wait.String() + ": " + v.Reason}}, nil
	})
	return err
}

// tidy removes the worktrees of a feature that is done with them. One that stays is tried again by the next driver.
func (d *Driver) tidy(ctx context.Context, f *book.Feature) {
	if err := Clear(ctx, d.Ground, f); err != nil {
		d.Logger.Warn("a worktree stays, with the work in it", "feature", f.ID, "error", err)
	}
}

// sweep removes the worktrees that a driver was killed over: those of features that are over.
func (d *Driver) sweep(ctx context.Context) error {
	trees, err := d.Ground.List()
	if err != nil || len(trees) == 0 {
		return err
	}
	s, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	for _, f := range s.Features {
		switch f.State {
		case book.Completed, book.Failed:
			d.tidy(ctx, f)
		case book.Designing:
		default:
			if err := clearPlanners(ctx, d.Ground, f); err != nil {
				d.Logger.Warn("the worktree of a planner stays", "feature", f.ID, "error", err)
			}
		}
	}
	for _, r := range s.Reviews {
		if r.Over() {
			reviewers{d}.clear(ctx, r)
		}
	}
	return nil
}

// Clear removes the worktrees of a feature. What is committed there stays under refs/mycelium/, and what is not becomes a snapshot.
func Clear(ctx context.Context, g *ground.Repo, f *book.Feature) error {
	for _, a := range f.Attempts {
		if err := clearOne(ctx, g, book.NameOf(f.ID, a.N)); err != nil {
			return err
		}
	}
	return clearPlanners(ctx, g, f)
}

func clearOne(ctx context.Context, g *ground.Repo, name string) error {
	t, err := g.Named(name)
	if err != nil || t == nil {
		return err
	}
	err = t.Remove(ctx)
	if unsaved, ok := errors.AsType[*ground.UnsavedError](err); !ok || len(unsaved.Files) == 0 {
		return err
	}
	if _, err := t.Snapshot(ctx, "end-"+strconv.FormatInt(time.Now().UnixMilli(), 36)); err != nil {
		return err
	}
	return t.Remove(ctx)
}

// queued are the features whose work waits to be merged; what has waited longest comes first.
func queued(s *book.Session) (out []*book.Feature) {
	for _, f := range s.Features {
		if f.State == book.Queued {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *book.Feature) int { return a.Last().Ended.Compare(b.Last().Ended) })
	return out
}

// halt stops the workers of a paused session. It reports whether all are gone.
func (d *Driver) halt(ctx context.Context, s *book.Session) (over bool) {
	charges := append(d.charges(s), reviewers{d}.charges(s)...)
	over = len(charges) == 0
	for _, f := range s.Features {
		if (contest{d}).haltPlanners(ctx, f) {
			over = false
		}
	}
	for _, c := range charges {
		if d.busy(c.job) {
			continue
		}
		d.begin(ctx, c.job, func(ctx context.Context) error {
			d.stop(ctx, worker.Folder(c.attempt.Folder))
			return c.halt(ctx)
		})
	}
	return over && d.idle()
}

// revive has another worker go on with the conversation of one that died.
func (d *Driver) revive(ctx context.Context, f *book.Feature, a *book.Attempt, account func(*book.Attempt)) error {
	return d.changeAttempt(ctx, f.ID, a, func(f *book.Feature, a *book.Attempt) book.Event {
		account(a)
		a.Revived++
		a.State, a.Ended = book.Stopped, time.Now()
		f.State, f.Retry = book.Pending, time.Now().Add(firstWait)
		return book.Event{Kind: "feature", Text: "its worker died; another one goes on with its conversation"}
	})
}
