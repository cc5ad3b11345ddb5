package swarm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// startable reports whether the features that a feature depends on have landed.
func startable(s *book.Session, f *book.Feature) bool {
	for _, id := range f.DependsOn {
		if d, err := s.Feature(id); err != nil || d.State != book.Completed {
			return false
		}
	}
	return true
}

// start gives workers to the features whose turn it is.
func (d *Driver) start(ctx context.Context) error {
	base, err := d.Ground.Tip(ctx)
	if err != nil {
		return err
	}
	var next []*book.Feature
	s, err := d.change(ctx, func(s *book.Session) (events []book.Event, err error) {
		next = nil
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
			a := &book.Attempt{N: len(f.Attempts) + 1, State: book.Starting, Base: base, Began: time.Now()}
			a.Tree = d.Ground.Place(f.ID + "-" + strconv.Itoa(a.N))
			a.Folder = d.folderOf(s.ID, f.ID, a.N, 0)
			a.Window = "cc-worker-" + f.ID + "-" + strconv.FormatInt(a.Began.UnixMilli(), 36)
			f.Attempts, f.State = append(f.Attempts, a), book.Going
			next = append(next, f)
			events = append(events, book.Event{Kind: "feature", Feature: f.ID, Attempt: a.N, Text: "it is given to a worker"})
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	for _, f := range next {
		f.Attempts, f.State = slices.Clip(f.Attempts), book.Going
		d.launch(ctx, f, f.Last(), promptOf(s, without(f)))
	}
	return nil
}

// without is a feature without its last attempt, which is about to begin.
func without(f *book.Feature) *book.Feature {
	c := *f
	c.Attempts = f.Attempts[:len(f.Attempts)-1]
	return &c
}

// launch makes the worktree of an attempt and starts its worker. What was made already stays.
func (d *Driver) launch(ctx context.Context, f *book.Feature, a *book.Attempt, prompt string) {
	d.begin(ctx, f.ID, func(ctx context.Context) error {
		err := d.Ground.Add(ctx, a.Tree, a.Base)
		if err == nil {
			err = d.give(ctx, f, a, prompt, "")
		}
		if err == nil || ctx.Err() != nil {
			return nil
		}
		d.Logger.Warn("a worker did not start", "feature", f.ID, "error", err)
		s, readErr := d.Book.Read(ctx, d.id)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		return d.giveUp(ctx, s, f, a, verdict{renew, "its worker could not be started: " + err.Error()}, func(*book.Attempt) {})
	})
}

// give writes the order of a worker and starts it.
func (d *Driver) give(ctx context.Context, f *book.Feature, a *book.Attempt, prompt, resume string) error {
	s, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	role := f.Role
	if role == "" {
		role = s.Settings.Role
	}
	folder := worker.Folder(a.Folder)
	err = folder.Give(worker.Order{Session: s.ID, Feature: f.ID, Attempt: a.N, Runner: s.Settings.Runner, Command: s.Settings.Command, Tree: a.Tree,
		Role: role, Skills: f.Skills, Model: s.Settings.Model, Budget: f.Budget, Anywhere: d.Anywhere, Resume: resume}, prompt)
	if err != nil {
		return err
	}
	return d.Start(ctx, folder, a.Window)
}

// enqueue puts the work of an attempt into the merge queue.
func (d *Driver) enqueue(ctx context.Context, f *book.Feature, a *book.Attempt, account func(*book.Attempt)) error {
	tip, err := d.Ground.Keep(ctx, a.Tree, f.ID+"-"+strconv.Itoa(a.N))
	if err != nil {
		return err
	}
	return d.changeAttempt(ctx, f.ID, a.N, func(f *book.Feature, a *book.Attempt) book.Event {
		account(a)
		a.State, a.Tip, a.Ended = book.Queued, tip, time.Now()
		f.State, f.Reason = book.Queued, ""
		return book.Event{Kind: "feature", Text: "its work is committed and waits to be merged"}
	})
}

// sendBack has a worker go on in the same worktree, with what is missing.
func (d *Driver) sendBack(ctx context.Context, s *book.Session, f *book.Feature, a *book.Attempt, e *worker.Ended, why string,
	account func(*book.Attempt),
) error {
	if err := d.changeAttempt(ctx, f.ID, a.N, func(_ *book.Feature, a *book.Attempt) book.Event {
		account(a)
		a.Asked++
		a.State, a.Folder = book.Starting, d.folderOf(s.ID, f.ID, a.N, a.Asked)
		a.Window, _, _ = strings.Cut(a.Window, "+")
		a.Window += "+" + strconv.Itoa(a.Asked)
		return book.Event{Kind: "feature", Text: "its worker is asked to go on: " + why}
	}); err != nil {
		return err
	}
	now, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	of, err := now.Feature(f.ID)
	if err != nil {
		return err
	}
	live := of.Live()
	if live == nil || live.N != a.N {
		return nil
	}
	resume := ""
	if e != nil {
		resume = e.Conversation
	}
	if resume == "" {
		why = promptOf(now, without(of)) + "\n# What is missing\n\n" + why + "\n"
	}
	return d.give(ctx, of, live, why, resume)
}

// The wait before a feature is tried again: it doubles with each attempt.
const (
	firstWait = time.Second
	lastWait  = 5 * time.Minute
)

// giveUp ends an attempt. What its worker has made and not committed is kept as a snapshot.
func (d *Driver) giveUp(ctx context.Context, _ *book.Session, f *book.Feature, a *book.Attempt, v verdict, account func(*book.Attempt)) error {
	name := f.ID + "-" + strconv.Itoa(a.N)
	if err := d.Ground.Save(ctx, a.Tree, name); err != nil {
		d.Logger.Warn("the work of an attempt is kept in its worktree, because it could not be saved", "tree", a.Tree, "error", err)
	} else if err := d.Ground.Remove(ctx, a.Tree); err != nil {
		d.Logger.Warn("a worktree stays", "tree", a.Tree, "error", err)
	}
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		of, err := s.Feature(f.ID)
		if err != nil {
			return nil, err
		}
		live := of.Live()
		if live == nil || live.N != a.N {
			return nil, nil
		}
		account(live)
		live.State, live.Reason, live.Ended = book.Failed, v.Reason, time.Now()
		of.Tried++
		of.Reason = v.Reason
		if v.act == refuse || of.Tried > s.Settings.Retries {
			of.State = book.Failed
			return []book.Event{{Kind: "feature", Feature: f.ID, Attempt: a.N, Text: "it failed: " + v.Reason}}, nil
		}
		wait := min(firstWait<<(of.Tried-1), lastWait)
		of.State, of.Retry = book.Pending, time.Now().Add(wait)
		return []book.Event{{Kind: "feature", Feature: f.ID, Attempt: a.N, Text: "it is tried again in " + wait.String() + ": " + v.Reason}}, nil
	})
	return err
}

// queued are the features whose work waits to be merged, the longest first.
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
	over = true
	for _, f := range s.Features {
		a := f.Live()
		if a == nil {
			continue
		}
		over = false
		if d.busy(f.ID) {
			continue
		}
		d.begin(ctx, f.ID, func(ctx context.Context) error {
			d.stop(ctx, worker.Folder(a.Folder))
			if err := d.Ground.Save(ctx, a.Tree, f.ID+"-"+strconv.Itoa(a.N)); err != nil {
				return err
			}
			return d.changeAttempt(ctx, f.ID, a.N, func(f *book.Feature, a *book.Attempt) book.Event {
				a.State, a.Ended, f.State = book.Stopped, time.Now(), book.Pending
				return book.Event{Kind: "feature", Text: "its worker was stopped; its work is kept"}
			})
		})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return over && len(d.jobs) == 0
}

// message is the commit message of a feature that lands: what its worker wrote last, with where it comes from.
func message(f *book.Feature, said string) string {
	a := f.Last()
	subject, body, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if subject == "" {
		subject = "feat: " + text.Cell(f.Description, 60)
	}
	out := subject + "\n"
	if body = strings.TrimSpace(body); body != "" {
		out += "\n" + body + "\n"
	}
	return out + fmt.Sprintf("\nSwarm-Feature: %s\nSwarm-Attempt: %d\nSwarm-Worker: %s\n", f.ID, a.N, filepath.Base(a.Window))
}

var _ = ground.Repo{}
