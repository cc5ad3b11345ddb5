package waits

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/sign"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/text"
)

// mostDiff bounds the difference of governing files that is shown, in bytes. A longer one is no longer read by people here.
const mostDiff = 64 << 10

// seenWork is what waited in a session when it was changed last.
type seenWork struct {
	session string
	changed time.Time
	list    []api.WaitingWork
}

// ops are the operations on the swarm, for a person.
func (d *Desk) ops() (ops.Ops, error) { return swarmed.Ops(d.DB, d.State, ops.Person) }

// work is what waits for a person in the session of the swarm that is open, or was the last one.
func (d *Desk) work(ctx context.Context) ([]api.WaitingWork, error) {
	s, err := book.New(d.DB).Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) || err == nil && s.Closed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen.session == s.ID && d.seen.changed.Equal(s.Changed) {
		return d.seen.list, nil
	}
	list, err := d.workOf(ctx, s)
	if err == nil {
		d.seen = seenWork{s.ID, s.Changed, list}
	}
	return list, err
}

func (d *Desk) workOf(ctx context.Context, s *book.Session) (out []api.WaitingWork, err error) {
	o, err := d.ops()
	if err != nil {
		return nil, err
	}
	for _, f := range s.Features {
		if f.State != book.Waiting {
			continue
		}
		w := api.WaitingWork{Session: s.ID, Feature: f.ID, Description: f.Description, Reason: f.Reason, Since: s.Changed,
			Choices: []api.WorkWord{api.TryAgain}, Mark: fmt.Sprintf("%d %d %s", f.Tried, len(f.Attempts), f.Reason)}
		switch a := f.Last(); {
		case f.Governs && a != nil && s.Keeps(f.ID, a.Tip) != nil:
			continue
		case f.Governs && a != nil:
			w.Choices, w.Mark = []api.WorkWord{api.LetLand, api.TryAgain, api.LeaveOut}, a.Tip
			if !a.Ended.IsZero() {
				w.Since = a.Ended
			}
			c, err := swarmed.ChangeOf(ctx, o, s, a, mostDiff)
			if err != nil {
				return nil, err
			}
			w.Files, w.Governing, w.Diff = filesOf(c.Files), c.Governing, c.Diff
		case f.Planning != nil && f.Planning.Winner == "":
			w.Choices = append(w.Choices, api.WithoutIt)
			for _, p := range f.Planning.Planners {
				w.Plans = append(w.Plans, planning.Told(p))
			}
		}
		out = append(out, w)
	}
	if s.Open() || s.Target == "" {
		return out, nil
	}
	into := strings.TrimPrefix(s.Target, "refs/heads/")
	of, err := o.Offer(ctx, s, into, mostDiff)
	if err == nil && string(of.Tip) != s.Base && s.Keeps("", string(of.Tip)) == nil {
		out = append(out, api.WaitingWork{Session: s.ID, Description: s.Task, Reason: "the session has ended (" + s.State.Words() +
			"), and what has landed is on " + strings.TrimPrefix(s.Branch, "refs/heads/"), Choices: []api.WorkWord{api.TakeOver, api.LeaveOut},
			Mark: string(of.Tip), Since: s.Ended, Into: into, Files: filesOf(of.Files), Diff: of.Diff})
	}
	return out, err
}

// filesOf are files that work changes, as they are told.
func filesOf(list []ground.File) (out []api.WorkFile) {
	for _, f := range list {
		out = append(out, api.WorkFile{Path: f.Path, Added: f.Added, Deleted: f.Deleted})
	}
	return out
}

// Decide decides what becomes of work that waits, if it is as it was shown: what a command of myc swarm does.
func (d *Desk) Decide(ctx context.Context, from op.Caller, p api.SwarmParams) (none op.None, err error) {
	list, err := d.work(ctx)
	if err != nil {
		return none, err
	}
	for _, w := range list {
		if w.Session != p.Session || w.Feature != p.Feature {
			continue
		}
		if p.Mark == "" || p.Mark != w.Mark {
			return none, failure.New(failure.Conflict, errors.New("swarm: this work is not as it was shown any more"), "look at what it is now")
		}
		for _, may := range w.Choices {
			if may == p.Word {
				return none, d.decide(ctx, w, p, acts.Of(from.UID, p.Device))
			}
		}
		return none, failure.New(failure.Invalid, fmt.Errorf("swarm: %q cannot be decided about this work",
			text.TruncateRunes(string(p.Word), 40)), "")
	}
	return none, failure.New(failure.Conflict, errors.New("swarm: this work waits for nobody any more: somebody has decided, or it went on"),
		"")
}

func (d *Desk) decide(ctx context.Context, w api.WaitingWork, p api.SwarmParams, by acts.By) error {
	second := sign.Of(p.Sure)
	if err := w.Demand(p.Word).Check(second); err != nil { // what would be refused is not recorded as done
		return err
	}
	o, err := d.ops()
	if err != nil {
		return err
	}
	s, err := o.Read(ctx, w.Session)
	if err != nil {
		return err
	}
	item := strings.TrimSuffix(w.Session+"/"+w.Feature, "/")
	what := acts.Act{Act: "swarm " + string(p.Word), Item: item, Digest: w.Mark, By: by}
	if err := d.Acts.Record(ctx, what, "", what.Act+" "+item+", by "+by.String()); err != nil {
		return err
	}
	o.By = ops.Person + ", " + by.String()
	switch p.Word {
	case api.LetLand:
		err = o.Accept(ctx, s, w.Feature, w.Mark, second)
	case api.TryAgain:
		err = o.Retry(ctx, s.ID, w.Feature, true)
	case api.WithoutIt:
		err = o.Choose(ctx, s.ID, w.Feature, book.Unplanned, p.Reason)
	case api.TakeOver:
		_, _, err = o.HandOver(ctx, s, w.Into, ground.Commit(w.Mark), second)
	case api.LeaveOut:
		err = o.LeaveOut(ctx, s.ID, w.Feature, w.Mark)
	}
	if err != nil {
		what.Act += " failed"
		return errors.Join(err, d.Acts.Record(ctx, what, "", what.Act+" "+item+": "+text.OneLine(err.Error())))
	}
	return nil
}
