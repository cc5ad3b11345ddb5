// Package view shows a session of the swarm on a terminal, while it is worked on: what waits for what, what the workers do, what happened.
package view

import (
	"context"
	"iter"
	"slices"
	"time"

	"mycelium/internal/agent/screen"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// Eye looks at a session again and again. It reads the session only if something happened in it, and of a worker's events only new ones.
// It is used by one goroutine.
type Eye struct {
	Book *book.Book
	ID   string // of the session

	seen    Seen
	driven  time.Time // when it looked last who drives the session
	follows map[string]*monitor.Follower
}

// Seen is what an Eye sees. What it points to does not change.
type Seen struct {
	Session *book.Session
	Driver  string // who drives it; "": nobody
	Events  []book.Event
	Workers []Worker
	Log     []worker.Event // of the feature whose log was asked for
}

// Worker is a worker at work.
type Worker struct {
	Feature string // or review
	Attempt int
	Began   time.Time
	Cost    float64 // US dollars
	Fresh   float64 // what of it is not on record yet
	Doing   string  // on one line
	confidence.Judgement
}

// The bounds of what an Eye keeps, and how often it looks who drives the session: a driver that dies writes no event.
const (
	maxEvents  = 200
	driverEach = 3 * time.Second
)

// Look looks once. log names the feature whose last worker's events are wanted; it may be empty.
func (e *Eye) Look(ctx context.Context, log string, now time.Time) (Seen, error) {
	var after int64
	if n := len(e.seen.Events); n > 0 {
		after = e.seen.Events[n-1].Seq
	}
	events, err := e.Book.Events(ctx, e.ID, after, maxEvents)
	if err != nil {
		return e.seen, err
	}
	if len(events) > 0 || e.seen.Session == nil {
		if e.seen.Session, err = e.Book.Read(ctx, e.ID); err != nil {
			return e.seen, err
		}
		all := slices.Concat(e.seen.Events, events)
		e.seen.Events = all[max(0, len(all)-maxEvents):]
	}
	if len(events) > 0 || now.Sub(e.driven) >= driverEach {
		if e.seen.Driver, err = e.Book.Driver(ctx, e.ID); err != nil {
			return e.seen, err
		}
		e.driven = now
	}
	return e.seen, e.workers(log, now)
}

// workers looks at the workers that are at work, and at the one whose log is wanted.
func (e *Eye) workers(log string, now time.Time) error {
	e.seen.Workers, e.seen.Log = nil, nil
	follows := map[string]*monitor.Follower{}
	for id, a := range charges(e.seen.Session) {
		if !a.Live() && id != log {
			continue
		}
		follow := e.follows[a.Folder]
		if follow == nil {
			follow = &monitor.Follower{Folder: worker.Folder(a.Folder)}
		}
		follows[a.Folder] = follow
		if err := follow.Look(); err != nil {
			return err
		}
		if id == log {
			e.seen.Log = follow.Events[:len(follow.Events):len(follow.Events)]
		}
		if a.Live() {
			e.seen.Workers = append(e.seen.Workers, Worker{id, a.N, a.Began, a.Cost + follow.Cost(), follow.Cost(), doing(follow.Events),
				follow.Judge(e.seen.Session.Settings, now)})
		}
	}
	e.follows = follows
	return nil
}

// charges are the last attempts at the features and the reviews of a session, by what they are called.
func charges(s *book.Session) iter.Seq2[string, *book.Attempt] {
	return func(yield func(string, *book.Attempt) bool) {
		for _, f := range s.Features {
			if a := f.Last(); a != nil && !yield(f.ID, a) {
				return
			}
		}
		for _, name := range review.Names() {
			if r := s.Review(name); r != nil && !yield(review.Label(name), &r.Attempt) {
				return
			}
		}
	}
}

// doing is the last thing that a worker did.
func doing(events []worker.Event) string {
	for i := len(events) - 1; i >= 0; i-- {
		switch e := events[i]; e.Kind {
		case worker.Call, worker.Says, worker.Waits, worker.Heard:
			return what(e)
		}
	}
	return "it begins"
}

// what is an event of a worker on one line: a tool with what the call is about, or what was said.
func what(e worker.Event) string {
	if e.Kind == worker.Call {
		return text.OneLine(e.Tool) + " " + screen.Gist([]byte(e.Args))
	}
	return text.Flatten(e.Text)
}
