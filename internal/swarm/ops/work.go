package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// MostWorkers is how many workers a session may have at once.
const MostWorkers = 10

// Startable returns why no worker can be started on a feature now; nil: one can.
func Startable(s *book.Session, feature string) error {
	f, err := Find(s, feature)
	if err != nil {
		return err
	}
	switch f.State {
	case book.Pending:
	case book.Failed:
		return text.Hinted(fmt.Errorf("feature %s has failed: %s", f.ID, text.Cell(f.Reason, 200)), "retry_feature has it tried again")
	case book.Waiting:
		return fmt.Errorf("feature %s waits for a person: %s", f.ID, text.Cell(f.Reason, 200))
	default:
		return fmt.Errorf("feature %s is %s", f.ID, f.State.Words())
	}
	var missing []string
	for _, id := range f.DependsOn {
		if d, err := s.Feature(id); err != nil || d.State != book.Completed {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return text.Hinted(fmt.Errorf("feature %s waits for what it depends on: %s", f.ID, strings.Join(missing, ", ")),
			"start these first, or have auto_orchestrate do it")
	}
	return nil
}

// going refuses a session in which nothing is started.
func going(s *book.Session) error {
	switch {
	case s.State == book.Paused:
		return text.Hinted(errors.New("the session is paused"), "resume it first")
	case s.State == book.Reviewing:
		return text.Hinted(errors.New("the session is reviewed"), "check_reviews shows how far that is; a feature that is added is worked on")
	case s.State != book.Going:
		return text.Hinted(fmt.Errorf("the session has ended: it is %s", s.State.Words()), "retry a feature, or add one")
	}
	return nil
}

// Want has a worker started on a feature before others, with what it is asked besides. may says whether that may be.
func (o Ops) Want(ctx context.Context, id, feature, asked string, may func(*book.Session, *book.Feature) error) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		if err := errors.Join(going(s), Startable(s, feature)); err != nil {
			return book.Event{}, err
		}
		f, err := s.Feature(feature)
		if err == nil {
			err = may(s, f)
		}
		if err != nil {
			return book.Event{}, err
		}
		f.Wanted, f.Retry = time.Now(), time.Time{}
		if f.Planning != nil {
			f.Planning.Alone = false
		}
		f.Asked = cmp.Or(asked, f.Asked)
		return book.Event{Kind: "feature", Feature: f.ID, Text: o.By + " has it started next"}, nil
	})
}

// Auto has every feature of a session started as it becomes ready, by so many workers in the order of a strategy. Zero values leave what
// the session has.
func (o Ops) Auto(ctx context.Context, id string, strategy schedule.Strategy, workers int) error {
	switch {
	case workers < 0 || workers > MostWorkers:
		return fmt.Errorf("workers at once are from 1 to %d", MostWorkers)
	case strategy != "" && !slices.Contains(schedule.Strategies(), strategy):
		return fmt.Errorf("%q is not one of adaptive, breadth-first, depth-first", strategy)
	}
	_, err := o.Change(ctx, id, "", func(s *book.Session) ([]book.Event, error) {
		if err := going(s); err != nil {
			return nil, err
		}
		was := s.Settings
		s.Settings.Manual = false
		s.Settings.Strategy = cmp.Or(string(strategy), was.Strategy)
		s.Settings.Workers = cmp.Or(workers, was.Workers)
		if was.Manual == s.Settings.Manual && was.Strategy == s.Settings.Strategy && was.Workers == s.Settings.Workers {
			return nil, nil
		}
		return []book.Event{{Kind: "session", Text: fmt.Sprintf("%s has it driven to its end: %s, %s", o.By,
			text.Count(s.Settings.Workers, "worker"), s.Settings.Strategy)}}, nil
	})
	return err
}

// Watch sets the confidence below which a worker is reported, and whether one is.
func (o Ops) Watch(ctx context.Context, id string, threshold int, alert bool) error {
	if threshold < 0 || threshold > 100 {
		return errors.New("the threshold is from 0 to 100")
	}
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		s.Settings.Threshold, s.Settings.Quiet = &threshold, !alert
		said := fmt.Sprintf("%s set the threshold of confidence to %d (alerts: %t)", o.By, threshold, alert)
		return book.Event{Kind: "session", Text: said}, nil
	})
}

// Claim has the worker of a feature stopped and the facts about its work looked at, because it is said to be done, or to have failed. What
// is said to be done and has no commit, or files that are not committed, is refused: its worker goes on. A feature that was said to have
// failed is tried again up to retries times in all.
func (o Ops) Claim(ctx context.Context, s *book.Session, feature string, c book.Claim, retries int) error {
	f, t, err := At(s, feature)
	if err != nil {
		return err
	}
	if !c.Failed {
		facts, err := o.facts(ctx, s, f, t)
		if err != nil {
			return err
		}
		hint := "its worker goes on; send_worker_message tells it"
		if len(facts.Uncommitted) > 0 {
			return text.Hinted(fmt.Errorf("feature %s is not done: these files are not committed: %s", f.ID,
				text.Cell(strings.Join(facts.Uncommitted, ", "), 500)), hint)
		}
		if facts.Commits == 0 {
			return text.Hinted(fmt.Errorf("feature %s is not done: there is no commit", f.ID), hint)
		}
	}
	return o.change(ctx, s.ID, func(s *book.Session) (book.Event, error) {
		f, t, err := At(s, feature)
		if err != nil {
			return book.Event{}, err
		}
		t.Claim, f.Retries = &c, &retries
		said := "is done"
		if c.Failed {
			said = "has failed"
		}
		return book.Event{Kind: "feature", Feature: f.ID, Attempt: t.N,
			Text: strings.TrimSpace(fmt.Sprintf("%s says that it %s; the facts are looked at. %s", o.By, said, c.Why))}, nil
	})
}

// facts are what git knows of an attempt that has a worktree.
func (o Ops) facts(ctx context.Context, s *book.Session, f *book.Feature, t *book.Attempt) (ground.Facts, error) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return ground.Facts{}, err
	}
	tree, err := g.Named(book.NameOf(f.ID, t.N))
	if err != nil || tree == nil {
		return ground.Facts{}, cmp.Or(err, fmt.Errorf("feature %s has no worktree yet", f.ID))
	}
	return tree.Facts(ctx, ground.Commit(t.Base))
}

// unsaved are views of our own state, which do not belong into a commit (requirements, C19).
var unsaved = []string{".claude", "claude-progress.txt", "init.sh"}

// Saved is what became of a worktree in [Ops.Save].
type Saved struct {
	Feature string
	Commit  ground.Commit // empty: there was nothing to commit
}

// Save commits what lies uncommitted in the worktrees of features whose workers are not at work: those of a paused session, above all. A
// worker at work commits itself, and a person's checkout is a person's.
func (o Ops) Save(ctx context.Context, s *book.Session, message string) (saved []Saved, err error) {
	if message = strings.TrimSpace(message); message == "" {
		return nil, errors.New("the message is empty")
	}
	for _, f := range s.Features {
		t := f.Last()
		if t == nil || t.Live() || f.State == book.Queued || f.State == book.Completed {
			continue
		}
		_, tree, err := o.worktree(ctx, s, f.ID)
		if err != nil {
			continue // it has none any more
		}
		was, err := tree.Facts(ctx, ground.Commit(t.Base))
		if err != nil {
			return saved, err
		}
		c, err := tree.Commit(ctx, message+"\n\nCommitted by claude-swarm", unsaved...)
		if err != nil {
			return saved, err
		}
		one := Saved{Feature: f.ID}
		if c != was.Head {
			one.Commit = c
			if err := o.change(ctx, s.ID, func(*book.Session) (book.Event, error) {
				return book.Event{Kind: "feature", Feature: f.ID, Attempt: t.N, Text: fmt.Sprintf("%s committed its work, as %.12s", o.By, c)}, nil
			}); err != nil {
				return saved, err
			}
		}
		saved = append(saved, one)
	}
	return saved, nil
}

// Allowed refuses a command that the session does not verify with: neither itself nor one of its features.
func Allowed(s *book.Session, argv []string) error {
	known := slices.Clone(s.Settings.Verify)
	for _, f := range s.Features {
		if f.Validation != nil {
			known = append(known, f.Validation.VerifyCommand)
		}
	}
	if len(argv) > 0 && among(known, argv) {
		return nil
	}
	var names []string
	for _, k := range known {
		if len(k) > 0 {
			names = append(names, strings.Join(k, " "))
		}
	}
	return text.Hinted(fmt.Errorf("%q is not a command of this session's verification", text.Cell(strings.Join(argv, " "), 200)),
		"it may be one of: "+text.Cell(cmp.Or(strings.Join(names, "; "), "none: a person names them with myc swarm init --verify"), 500))
}

// Verified runs a command on a worktree, and returns what came of it.
type Verified func(ctx context.Context, tree string, argv []string) (swarm.Checked, error)

// Verify runs a command of the verification on the worktree of a feature, or on what has landed if that is empty.
func (o Ops) Verify(ctx context.Context, s *book.Session, feature string, argv []string, run Verified) (c swarm.Checked, err error) {
	if err := Allowed(s, argv); err != nil {
		return c, err
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return c, err
	}
	if feature != "" {
		f, t, err := Attempt(s, feature)
		if err != nil {
			return c, err
		}
		tree, err := g.Named(book.NameOf(f.ID, t.N))
		if err != nil || tree == nil {
			return c, cmp.Or(err, fmt.Errorf("feature %s has no worktree: what it did has landed, or was given up", f.ID))
		}
		return run(ctx, tree.Project, argv)
	}
	tip, err := g.Tip(ctx)
	if err != nil {
		return c, err
	}
	n := int(time.Now().UnixMilli())
	tree, err := g.Add(ctx, fmt.Sprintf("%s-%d", landedName, n), tip)
	if err != nil {
		return c, err
	}
	defer func() {
		err = errors.Join(err, swarm.Clear(context.WithoutCancel(ctx), g, &book.Feature{Feature: plan.Feature{ID: landedName},
			Attempts: []*book.Attempt{{N: n}}}))
	}()
	return run(ctx, tree.Project, argv)
}

// landedName is the name of the worktree in which what has landed is looked at.
const landedName = "landed"

// Driven reports whether a process drives a session now. Who has changed the session before knows by true that the change is seen.
func (o Ops) Driven(ctx context.Context, id string) (bool, error) {
	locked, err := atomicfile.Locked(o.DriverLock())
	if err != nil || !locked {
		return false, err
	}
	holder, err := o.Driver(ctx, id)
	return holder != "", err
}

// haltEvery is how often a session is looked at whose workers are being stopped: another process does that.
const haltEvery = 50 * time.Millisecond

// Halted waits until a paused session has no worker at work and nobody drives it, up to d, and reports whether that is so.
func (o Ops) Halted(ctx context.Context, id string, d time.Duration) (bool, error) {
	late := time.NewTimer(d)
	defer late.Stop()
	look := time.NewTicker(haltEvery)
	defer look.Stop()
	for {
		s, err := o.Read(ctx, id)
		if err != nil {
			return false, err
		}
		locked, err := atomicfile.Locked(o.DriverLock())
		if err != nil {
			return false, err
		}
		if !locked && !slices.ContainsFunc(s.Features, func(f *book.Feature) bool { return f.Live() != nil }) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-late.C:
			return false, nil
		case <-look.C:
		}
	}
}
