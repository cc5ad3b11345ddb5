package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/atomicfile"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// reviewers are the driver, as far as reviews are concerned. A reviewer is a worker like the others, which may write one file only: that
// is what its order says, and the door and the sandbox hold it to that. Git proves it afterwards.
type reviewers struct{ *Driver }

// last are the reviews of a session that count: of each type the last one.
func last(s *book.Session) (out []*book.Review) {
	for _, r := range s.Reviews {
		if s.Review(r.Type) == r {
			out = append(out, r)
		}
	}
	return out
}

// reviewing reports whether a review is not over.
func reviewing(s *book.Session) bool {
	return slices.ContainsFunc(last(s), func(r *book.Review) bool { return !r.Over() })
}

// toReview has a session be reviewed at the end of its branch.
func toReview(s *book.Session, tip string, events []book.Event) []book.Event {
	for _, r := range last(s) {
		if r.State == book.Pending && r.Base != tip { // it was due before more landed
			r.Base = tip
			events = append(events, book.Event{Kind: "review", Feature: review.Label(r.Type), Text: "it looks at what has landed since, too"})
		}
	}
	if s.State != book.Reviewing {
		s.State = book.Reviewing
		events = append(events, book.Event{Kind: "session", Text: "it is reviewed"})
	}
	return events
}

// reviewJob is the job of a review. It is no id of a feature.
func reviewJob(r *book.Review) string { return "the review of the " + r.Type }

// reviewName is the name of an attempt at a review in the ground. No attempt at a feature has one that does not end in its number.
func reviewName(r *book.Review) string { return "review-" + strconv.Itoa(r.N) + "-" + r.Type }

// charges are the reviews at which reviewers may be at work.
func (d reviewers) charges(s *book.Session) (out []charge) {
	for _, r := range last(s) {
		if !r.Live() {
			continue
		}
		note := func(ctx context.Context, f func(*book.Attempt) book.Event) error {
			return d.change(ctx, r, func(r *book.Review) book.Event { return f(&r.Attempt) })
		}
		out = append(out, charge{job: reviewJob(r), attempt: &r.Attempt, note: note,
			launch: func(ctx context.Context) { d.launch(ctx, r) },
			settle: func(ctx context.Context, why string) error { return d.settle(ctx, r, why) },
			halt: func(ctx context.Context) error {
				return note(ctx, func(a *book.Attempt) book.Event {
					a.State, a.Ended = book.Stopped, time.Now()
					return book.Event{Text: "its reviewer was stopped"}
				})
			}})
	}
	return out
}

// change changes a review at which a reviewer may be at work. It does nothing if that has changed since it was seen.
func (d reviewers) change(ctx context.Context, seen *book.Review, f func(*book.Review) book.Event) error {
	_, err := d.Driver.change(ctx, func(s *book.Session) ([]book.Event, error) {
		r := s.Review(seen.Type)
		if r == nil || !r.Same(&seen.Attempt) || !r.Live() {
			return nil, nil
		}
		n := r.N
		e := f(r)
		e.Kind, e.Feature, e.Attempt = cmp.Or(e.Kind, "review"), review.Label(r.Type), n
		return []book.Event{e}, nil
	})
	return err
}

// start gives the reviews of a session that is reviewed to reviewers, as many as workers are free.
func (d reviewers) start(ctx context.Context, seen *book.Session) error {
	if seen.State != book.Reviewing || !slices.ContainsFunc(last(seen), d.due) {
		return nil
	}
	var next []*book.Review
	_, err := d.Driver.change(ctx, func(s *book.Session) (events []book.Event, err error) {
		next = nil
		free := s.Settings.Workers
		for _, r := range last(s) {
			if r.Live() {
				free--
			}
		}
		for _, r := range last(s) {
			if s.State != book.Reviewing || free <= 0 || !d.due(r) {
				continue
			}
			if s.Settings.Budget > 0 && s.Cost() >= s.Settings.Budget {
				s.State = book.Paused
				return append(events, book.Event{Kind: "session",
					Text: fmt.Sprintf("paused: the budget of $%.2f is spent", s.Settings.Budget)}), nil
			}
			free--
			events = append(events, d.given(s, r))
			next = append(next, r)
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	for _, r := range next {
		d.launch(ctx, r)
	}
	return nil
}

// due reports whether a review waits for a reviewer.
func (d reviewers) due(r *book.Review) bool {
	return (r.State == book.Pending || r.State == book.Stopped) && !d.busy(reviewJob(r)) && !time.Now().Before(r.Retry)
}

// given gives a review to a reviewer.
func (d reviewers) given(s *book.Session, r *book.Review) book.Event {
	what := "it is given to a reviewer"
	if r.State == book.Stopped {
		what = "a reviewer goes on where the last one was stopped"
		goOn(&r.Attempt)
	} else {
		r.State, r.Began, r.Folder = book.Starting, time.Now(), d.folderOf(s.ID, reviewName(r))
		r.Window = "cc-reviewer-" + r.Type + "-" + strconv.FormatInt(r.Began.UnixMilli(), 36)
	}
	return book.Event{Kind: "review", Feature: review.Label(r.Type), Attempt: r.N, Text: what}
}

// launch makes the worktree and the order of a review and starts its reviewer. What a driver before this one has made stays.
func (d reviewers) launch(ctx context.Context, r *book.Review) {
	d.begin(ctx, reviewJob(r), func(ctx context.Context) error {
		_, _, err := worker.Folder(r.Folder).Order()
		if errors.Is(err, fs.ErrNotExist) {
			err = d.order(ctx, r, "", "")
		}
		if err == nil {
			err = d.Start(ctx, worker.Folder(r.Folder), r.Window)
		}
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // the next driver starts it
		}
		d.Logger.Warn("a reviewer did not start", "type", r.Type, "error", err)
		return d.giveUp(ctx, r, verdict{renew, "its reviewer could not be started: " + err.Error()}, func(*book.Attempt) {})
	})
}

// order makes the worktree of a review, if it has none, and writes what its reviewer is to do there. Without a prompt it is the whole task.
func (d reviewers) order(ctx context.Context, r *book.Review, prompt, resume string) error {
	s, err := d.Book.Read(ctx, d.id)
	if err != nil {
		return err
	}
	t, err := d.place(ctx, reviewName(r), r.Base)
	if err != nil {
		return err
	}
	folder, err := filepath.EvalSymlinks(t.Project)
	if err != nil {
		return fmt.Errorf("find the worktree of a reviewer: %w", err)
	}
	file := filepath.Join(folder, review.File(r))
	if resume == "" {
		prompt = strings.TrimSpace(review.Prompt(s, r, file)+"\n"+prompt) + "\n"
	}
	return worker.Folder(r.Folder).Give(worker.Order{Session: s.ID, Feature: review.Label(r.Type), Attempt: r.N, Runner: s.Settings.Runner,
		Command: s.Settings.Command, Tree: t.Project, Role: s.Settings.Role, Model: s.Settings.Model, Anywhere: d.Anywhere, Wall: d.Wall, Resume: resume,
		Writes: file}, prompt)
}

// settle judges a review whose reviewer has ended, by its findings and by git, and does what becomes of it. why is why it was stopped;
// empty: it ended by itself.
func (d reviewers) settle(ctx context.Context, r *book.Review, why string) error {
	ended, w, over, err := d.ended(ctx, worker.Folder(r.Folder))
	if err != nil || !over {
		return err
	}
	account := func(a *book.Attempt) { spent(a, w.Cost, ended) }
	t, err := d.Ground.Named(reviewName(r))
	if err != nil {
		return err
	}
	known := facts{Begun: w.Begun, Ended: ended, Sent: r.Sent}
	if t == nil || !known.Begun && ended == nil {
		return d.giveUp(ctx, r, judge(known), account)
	}
	git, err := t.Facts(ctx, ground.Commit(r.Base))
	if err != nil {
		return fmt.Errorf("look at the worktree of a reviewer: %w", err)
	}
	if what := d.changed(r, git); what != "" {
		return d.giveUp(ctx, r, verdict{refuse, what}, account)
	}
	f, notes, bad := findings(r, t.Project)
	if ended != nil && ended.Stop != agent.StopLimit {
		if v := judgeCut(ended); v.act != leave { // it had more to look at
			return d.giveUp(ctx, r, v, account)
		}
	}
	switch {
	case bad == nil: // whatever it says of itself
		return d.complete(ctx, r, f, notes, account)
	case ended == nil || ended.Stop != agent.StopEnd:
		return d.giveUp(ctx, r, judgeEnd(known).because(why), account)
	case r.Sent > 0:
		return d.giveUp(ctx, r, verdict{refuse, "its findings cannot be taken, and it was asked once: " + brief(bad.Error())}, account)
	}
	return d.sendBack(ctx, r, ended.Conversation, review.Missing(review.File(r), bad), account)
}

// changed says what a reviewer has changed besides its findings; "": nothing.
func (d reviewers) changed(r *book.Review, git ground.Facts) string {
	own := path.Join(d.Ground.Prefix(), review.File(r))
	files := slices.DeleteFunc(slices.Clone(git.Uncommitted), func(file string) bool { return file == own })
	switch {
	case string(git.Head) != r.Base:
		return fmt.Sprintf("its reviewer has moved its worktree to %.12s, and a reviewer may only write its findings", git.Head)
	case len(files) > 0:
		return "its reviewer has changed " + text.Cell(strings.Join(files, ", "), 300) + ", and a reviewer may only write its findings"
	case len(git.Nested) > 0:
		return "its reviewer has made repositories: " + text.Cell(strings.Join(git.Nested, ", "), 300)
	}
	return ""
}

// findings reads what a reviewer has found.
func findings(r *book.Review, folder string) (book.Findings, []string, error) {
	f, info, err := atomicfile.Open(filepath.Join(folder, review.File(r))) // which follows no link
	if errors.Is(err, fs.ErrNotExist) {
		return book.Findings{}, nil, errors.New("there is no such file")
	}
	if err != nil {
		return book.Findings{}, nil, err
	}
	defer func() { _ = f.Close() }()
	if !info.Mode().IsRegular() {
		return book.Findings{}, nil, errors.New("it is not a file")
	}
	b, err := io.ReadAll(io.LimitReader(f, review.MaxFile+1))
	if err != nil {
		return book.Findings{}, nil, err
	}
	return review.Parse(r.Type, folder, b)
}

// complete takes the findings of a review.
func (d reviewers) complete(ctx context.Context, r *book.Review, f book.Findings, notes []string, account func(*book.Attempt)) error {
	err := d.change(ctx, r, func(r *book.Review) book.Event {
		account(&r.Attempt)
		r.State, r.Ended, r.Reason, r.Findings, r.Notes = book.Completed, time.Now(), "", &f, notes
		return book.Event{Text: fmt.Sprintf("%s, %s: %s", f.Severity, text.Count(len(f.Issues), "issue"), text.Cell(f.Summary, 300))}
	})
	if err == nil {
		d.clear(ctx, r)
	}
	return err
}

// sendBack has a reviewer go on, with what is wrong with its findings.
func (d reviewers) sendBack(ctx context.Context, r *book.Review, resume, why string, account func(*book.Attempt)) error {
	next := *r
	goOn(&next.Attempt)
	if err := d.order(ctx, &next, why, resume); err != nil {
		return err
	}
	if err := d.change(ctx, r, func(r *book.Review) book.Event {
		account(&r.Attempt)
		goOn(&r.Attempt)
		r.Sent++
		return book.Event{Text: "its reviewer is asked once more: " + why}
	}); err != nil {
		return err
	}
	if err := d.Start(ctx, worker.Folder(next.Folder), next.Window); err != nil && ctx.Err() == nil {
		d.Logger.Warn("a reviewer did not start; another one is started soon", "type", r.Type, "error", err)
	}
	return nil
}

// giveUp ends the work of a reviewer. Another one begins anew, unless it would end the same way.
func (d reviewers) giveUp(ctx context.Context, r *book.Review, v verdict, account func(*book.Attempt)) error {
	d.clear(ctx, r)
	_, err := d.Driver.change(ctx, func(s *book.Session) ([]book.Event, error) {
		now := s.Review(r.Type)
		if now == nil || !now.Same(&r.Attempt) || !now.Live() {
			return nil, nil
		}
		e := book.Event{Kind: "review", Feature: review.Label(r.Type), Attempt: r.N, Text: "it failed: " + v.Reason}
		account(&now.Attempt)
		now.State, now.Reason, now.Ended = book.Failed, v.Reason, time.Now()
		if now.Tried++; v.act != refuse && now.Tried <= s.Settings.Retries {
			wait := min(firstWait<<(now.Tried-1), lastWait)
			review.Again(s, now)
			now.Retry = time.Now().Add(wait)
			e.Text = "it is tried again in " + wait.String() + ": " + v.Reason
		}
		return []book.Event{e}, nil
	})
	return err
}

// GiveUpReviews ends the reviews of a session that is given up.
func GiveUpReviews(s *book.Session, why string) {
	for _, r := range s.Reviews {
		if !r.Over() {
			r.State, r.Reason = book.Failed, why
		}
	}
}

// ClearReviews removes the worktrees of reviews.
func ClearReviews(ctx context.Context, g *ground.Repo, s *book.Session) (err error) {
	for _, r := range s.Reviews {
		err = errors.Join(err, clearOne(ctx, g, reviewName(r)))
	}
	return err
}

// clear removes the worktree of a review. One that stays is tried again by the next driver.
func (d reviewers) clear(ctx context.Context, r *book.Review) {
	if err := clearOne(ctx, d.Ground, reviewName(r)); err != nil {
		d.Logger.Warn("the worktree of a reviewer stays", "type", r.Type, "error", err)
	}
}
