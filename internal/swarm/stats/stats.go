// Package stats has the figures of a session of the swarm.
package stats

import (
	"slices"
	"time"

	"mycelium/internal/swarm/book"
)

// Stats are the figures of a session (requirements, C18). Times are in seconds.
type Stats struct {
	Elapsed  float64 `json:"elapsed"` // since it began, until it ended
	Features int     `json:"features"`
	Landed   int     `json:"landed"`
	Failed   int     `json:"failed"`
	// Success is the part of the features that are over and have landed, in percent; 0 while none is over.
	Success  float64   `json:"successRate"`
	Average  float64   `json:"average"` // of the features that have landed: from their first worker to the end of their last
	Fastest  *Took     `json:"fastest,omitempty"`
	Slowest  *Took     `json:"slowest,omitempty"`
	Workers  Workers   `json:"workers"`
	Attempts Attempts  `json:"attempts"`
	Most     []Attempt `json:"mostAttempts"` // the features with more than one, at most three
	Cost     float64   `json:"costUSD"`
}

// Took is how long a feature took.
type Took struct {
	Feature string  `json:"feature"`
	Seconds float64 `json:"seconds"`
}

// Workers are attempts by what became of them.
type Workers struct {
	Running   int `json:"running"`
	Completed int `json:"completed"` // their work has landed, or waits to
	Crashed   int `json:"crashed"`   // they failed, whyever
	Stopped   int `json:"stopped"`   // by a person
}

// Attempts are how often features were tried. The average is over the features that were tried at all.
type Attempts struct {
	Total   int     `json:"total"`
	Average float64 `json:"average"`
	Max     int     `json:"max"`
}

// Attempt is how often one feature was tried.
type Attempt struct {
	Feature  string `json:"feature"`
	Attempts int    `json:"attempts"`
}

// top is how many features with several attempts are named.
const top = 3

// Of returns the figures of a session at a time.
func Of(s *book.Session, now time.Time) Stats {
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	out := Stats{Elapsed: now.Sub(s.Began).Seconds(), Features: len(s.Features), Cost: s.Cost(), Most: []Attempt{}}
	tried := 0
	for _, f := range s.Features {
		switch f.State {
		case book.Completed:
			out.Landed++
			out.took(f)
		case book.Failed:
			out.Failed++
		default:
		}
		for _, a := range f.Attempts {
			out.Workers.add(a)
		}
		n := len(f.Attempts)
		if n > 0 {
			tried++
		}
		if n > 1 {
			out.Most = append(out.Most, Attempt{f.ID, n})
		}
		out.Attempts.Total += n
		out.Attempts.Max = max(out.Attempts.Max, n)
	}
	if over := out.Landed + out.Failed; over > 0 {
		out.Success = 100 * float64(out.Landed) / float64(over)
	}
	out.Average /= max(1, float64(out.Landed))
	out.Attempts.Average = float64(out.Attempts.Total) / max(1, float64(tried))
	slices.SortStableFunc(out.Most, func(a, b Attempt) int { return b.Attempts - a.Attempts })
	out.Most = out.Most[:min(len(out.Most), top)]
	return out
}

// took counts how long a feature took that has landed. Average is the sum at first.
func (s *Stats) took(f *book.Feature) {
	last := f.Last()
	if last == nil || last.Ended.IsZero() {
		return
	}
	t := Took{f.ID, last.Ended.Sub(f.Attempts[0].Began).Seconds()}
	s.Average += t.Seconds
	if s.Fastest == nil || t.Seconds < s.Fastest.Seconds {
		s.Fastest = &t
	}
	if s.Slowest == nil || t.Seconds > s.Slowest.Seconds {
		s.Slowest = &t
	}
}

func (w *Workers) add(a *book.Attempt) {
	switch {
	case a.Live():
		w.Running++
	case a.State == book.Landed || a.State == book.Queued:
		w.Completed++
	case a.State == book.Stopped:
		w.Stopped++
	default:
		w.Crashed++
	}
}
