// Package ops has what is done with a session of the swarm: by a person with the commands of `myc swarm`, and by an agent with the tools of
// [mycelium/internal/swarm/tools]. Both call the same functions. What only a person may do (let a governing change land, move the
// person's branch) has no tool.
package ops

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
	"mycelium/internal/worktree/git"
)

// Ops are the operations on the swarm of one project.
type Ops struct {
	*book.Book
	Dir    string // of the project
	Folder string // what workers read and write
	Trees  string // the worktrees
	Inside git.Inside
	By     string // who acts, as the subject of a sentence: "a person"
}

// Workers is the folder with the git folders of the trees of workers.
func (o Ops) Workers() string { return filepath.Join(o.Folder, "git") }

// Person is By where a person acts.
const Person = "a person"

// Ground is the repository of a session.
func (o Ops) Ground(ctx context.Context, session string) (*ground.Repo, error) {
	return ground.Open(ctx, ground.Options{Project: o.Dir, State: o.Folder, Trees: o.Trees, Inside: o.Inside, Session: session})
}

// DriverLock is held by the process that drives the swarm of this project.
func (o Ops) DriverLock() string { return filepath.Join(o.Folder, "driver.lock") }

// Find is a feature by its id. The error names the one that may have been meant.
func Find(s *book.Session, feature string) (*book.Feature, error) {
	f, err := s.Feature(feature)
	if err == nil {
		return f, nil
	}
	var ids []string
	for _, f := range s.Features {
		ids = append(ids, f.ID)
	}
	hint := "myc swarm status, and the tool orchestrator_status, list them"
	if near := text.Nearest(feature, ids); near != "" {
		hint = "did you mean " + near + "?"
	}
	return nil, text.Hinted(err, hint)
}

// Attempt is the last attempt at a feature.
func Attempt(s *book.Session, feature string) (*book.Feature, *book.Attempt, error) {
	f, err := Find(s, feature)
	if err != nil {
		return nil, nil, err
	}
	t := f.Last()
	if t == nil {
		return f, nil, fmt.Errorf("feature %s has had no worker yet", f.ID)
	}
	return f, t, nil
}

// At is a feature and the attempt whose worker is at work on it.
func At(s *book.Session, feature string) (*book.Feature, *book.Attempt, error) {
	f, t, err := Attempt(s, feature)
	if err == nil && !t.Live() {
		err = fmt.Errorf("no worker works on %s now", feature)
	}
	return f, t, err
}

// Last is the last attempt at a feature, or at a review, such as review-code.
func Last(s *book.Session, name string) (*book.Attempt, error) {
	if r := review.Find(s, name); r != nil && r.Folder != "" {
		return &r.Attempt, nil
	}
	_, t, err := Attempt(s, name)
	return t, err
}

// Working is [Last], if its worker is at work. Else the attempt comes with the error.
func Working(s *book.Session, name string) (*book.Attempt, error) {
	t, err := Last(s, name)
	if err == nil && !t.Live() {
		err = fmt.Errorf("no worker works on %s now", name)
	}
	return t, err
}

// Begin begins a session with the features of a plan, on a branch of its own from the commit that is checked out.
func (o Ops) Begin(ctx context.Context, task string, settings book.Settings, p plan.Plan) (*book.Session, error) {
	s := &book.Session{ID: "s" + strconv.FormatInt(time.Now().UnixMilli(), 36), Task: text.Truncate(task, 4000), State: book.Going,
		Settings: settings}
	for _, f := range p.Features {
		s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	head, branch, err := g.Head(ctx)
	if err != nil {
		return nil, err
	}
	if s.Lacks, err = g.Lacks(ctx, head); err != nil {
		return nil, err
	}
	s.Base, s.Target, s.Branch = string(head), branch, g.Branch()
	if err := o.Book.Begin(ctx, s); err != nil {
		return nil, err
	}
	return s, g.Begin(ctx, head)
}

// change changes a session; f returns what happened, without its subject.
func (o Ops) change(ctx context.Context, id string, f func(s *book.Session) (book.Event, error)) error {
	_, err := o.Change(ctx, id, "", func(s *book.Session) ([]book.Event, error) {
		e, err := f(s)
		return []book.Event{e}, err
	})
	return err
}

// Pause pauses a session. Its driver stops the workers, and keeps what they did; without one, the next does.
func (o Ops) Pause(ctx context.Context, id string) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		if !s.Open() || s.State == book.Paused {
			return book.Event{}, fmt.Errorf("there is nothing to pause: the session is %s", s.State.Words())
		}
		s.State = book.Paused
		return book.Event{Kind: "session", Text: "paused by " + o.By}, nil
	})
}

// Resume lets a paused session go on.
func (o Ops) Resume(ctx context.Context, id string) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		if s.State != book.Paused {
			return book.Event{}, fmt.Errorf("the session is not paused: it is %s", s.State.Words())
		}
		if s.GivenUp {
			return book.Event{}, text.Hinted(fmt.Errorf("session %s is given up", s.ID), "myc swarm reset ends it")
		}
		s.State = book.Going
		return book.Event{Kind: "session", Text: "resumed by " + o.By}, nil
	})
}

// Retry has a feature tried again that failed or waits, and opens a session again that ended with failures. What was tried before does not
// count against the limit any more if anew is set.
func (o Ops) Retry(ctx context.Context, id, feature string, anew bool) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		f, err := Find(s, feature)
		if err != nil {
			return book.Event{}, err
		}
		if f.State != book.Failed && f.State != book.Waiting {
			return book.Event{}, fmt.Errorf("feature %s is %s: only what failed or waits is tried again", f.ID, f.State.Words())
		}
		if err := s.Reopen(); err != nil {
			return book.Event{}, err
		}
		f.State, f.Reason, f.Retry, f.Wanted = book.Pending, "", time.Time{}, time.Now()
		if anew {
			f.Tried = 0
		}
		return book.Event{Kind: "feature", Feature: f.ID, Text: o.By + " has it tried again"}, nil
	})
}

// Hears reports whether the worker of an attempt hears messages.
func Hears(t *book.Attempt) bool {
	order, _, err := worker.Folder(t.Folder).Order()
	return err != nil || order.Runner != runner.Command
}

// Tell leaves a message for the worker of a feature, or for a reviewer, on record. It is refused for one that hears none.
func (o Ops) Tell(ctx context.Context, s *book.Session, feature, message string) error {
	t, err := Working(s, feature)
	if err != nil {
		return err
	}
	if !Hears(t) {
		return fmt.Errorf("workers of the runner %s hear no messages", runner.Command)
	}
	if err := worker.Folder(t.Folder).Tell(message); err != nil {
		return err
	}
	e := book.Event{Kind: "message", Feature: feature, Attempt: t.N, Text: o.By + " tells it: " + message}
	return o.change(ctx, s.ID, func(*book.Session) (book.Event, error) {
		return e, nil
	})
}

// Abandon pauses a session that is to be given up, so that its workers are stopped. GiveUp ends it then.
func (o Ops) Abandon(ctx context.Context, id string) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		if !s.Open() {
			return book.Event{}, fmt.Errorf("session %s has ended: %s", s.ID, s.State.Words())
		}
		s.State, s.GivenUp = book.Paused, true
		return book.Event{Kind: "session", Text: o.By + " gives it up"}, nil
	})
}

// GiveUp ends a session whose workers are stopped. What has landed stays on its branch; what workers committed or left stays under
// refs/mycelium/.
func (o Ops) GiveUp(ctx context.Context, id string) error {
	var seen *book.Session
	if err := o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		seen = s
		for _, f := range s.Features {
			if f.Live() != nil {
				return book.Event{}, errors.New("a worker is still at work on " + f.ID)
			}
			if f.Taking != nil { // what has landed stays
				f.State, f.Taking = f.Taking.From, nil
			}
			if f.State != book.Completed {
				f.State, f.Reason = book.Failed, "the session was given up"
			}
		}
		swarm.GiveUpReviews(s, "the session was given up")
		s.State, s.Ended, s.Closed = book.Faulty, time.Now(), true
		return book.Event{Kind: "session", Text: "the session was given up"}, nil
	}); err != nil {
		return err
	}
	g, err := o.Ground(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range seen.Features { // the worktrees of what waited to be merged
		if err := swarm.Clear(ctx, g, f); err != nil {
			return err
		}
	}
	if err := swarm.ClearReviews(ctx, g, seen); err != nil {
		return err
	}
	return g.End(ctx)
}
