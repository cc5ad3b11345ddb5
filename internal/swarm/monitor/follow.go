package monitor

import (
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/worker"
	"time"
)

// maxFollowed is how many events of a worker a [Follower] keeps.
const maxFollowed = 500

// Follower follows a worker for people who look on. It reads each event once.
type Follower struct {
	Folder worker.Folder
	Events []worker.Event // the last ones, the oldest first

	w Watch
}

// Look takes what the worker did since the last look.
func (f *Follower) Look() error {
	offset, err := f.Folder.Follow(f.w.offset, func(e worker.Event) {
		f.w.Take(e)
		f.Events = append(f.Events, e)
		f.Events = f.Events[max(0, len(f.Events)-maxFollowed):]
	})
	f.w.offset = offset
	return err
}

// Cost is what the worker has cost, in US dollars.
func (f *Follower) Cost() float64 { return f.w.Cost }

// Judge is what the events amount to, in a session with these settings.
func (f *Follower) Judge(s book.Settings, now time.Time) confidence.Judgement {
	return f.w.Judge(now, confidence.None, Threshold(s))
}
