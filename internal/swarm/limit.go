package swarm

import (
	"context"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
)

// account has every worker of an account wait for a limit that one of them was told of, or go on when one of them was answered.
func (d *Driver) account(ctx context.Context, p *monitor.Provider) error {
	if !p.News {
		return nil
	}
	p.News = false
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		runner := s.Settings.Runner
		known := s.Limited(runner, time.Now())
		switch {
		case p.Over() && known != nil && known.Since.Before(p.Answered):
			delete(s.Limits, runner)
			return []book.Event{{Kind: "limit", Text: "the provider answers again"}}, nil
		case p.Over() || known != nil && !p.Limit.Until.After(known.Until):
			return nil, nil
		}
		return limitFor(s, runner, p.Limit), nil
	})
	return err
}

// limitFor records a limit, if it is not over.
func limitFor(s *book.Session, runner string, l book.Limit) []book.Event {
	if !time.Now().Before(l.Until) {
		return nil
	}
	if s.Limits == nil {
		s.Limits = map[string]book.Limit{}
	}
	s.Limits[runner] = l
	return []book.Event{{Kind: "limit", Text: "workers wait for a limit of the provider until " + clock(l.Until) + ": " + brief(l.Why)}}
}

// clock is a time as people read it: without the day if it is today's.
func clock(t time.Time) string {
	t = t.Local()
	if now := time.Now(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// unknownLimit is the first wait for a limit whose end nobody has told; it doubles up to lastWait.
const unknownLimit = time.Minute

// rest ends the worker of an attempt that waits for a limit of its provider. Another one goes on with the attempt then.
func (d *Driver) rest(ctx context.Context, f *book.Feature, a *book.Attempt, until time.Time, v verdict,
	account func(*book.Attempt)) error {
	_, err := d.change(ctx, func(s *book.Session) ([]book.Event, error) {
		of, err := s.Feature(f.ID)
		if err != nil {
			return nil, err
		}
		live := of.Live()
		if live == nil || !live.Same(a) {
			return nil, nil
		}
		now := time.Now()
		if first := unknownLimit; !until.After(now) {
			if !until.IsZero() { // it is over by now
				first = firstWait
			}
			until = now.Add(min(first<<min(live.Limited, 10), lastWait))
		}
		account(live)
		live.Limited++
		live.State, live.Ended = book.Stopped, now
		of.State, of.Retry, of.Reason = book.Pending, until, v.Reason
		events := limitFor(s, s.Settings.Runner, book.Limit{Since: now, Until: until, Why: v.Reason})
		return append(events, book.Event{Kind: "feature", Feature: f.ID, Attempt: a.N,
			Text: "its worker goes on at " + clock(until) + ": " + v.Reason}), nil
	})
	return err
}
