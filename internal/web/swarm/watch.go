package swarm

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/view"
	"mycelium/internal/text"
	"mycelium/internal/web/site"
)

const (
	// lookEvery is how often a session is looked at (requirements, C95).
	lookEvery = time.Second
	// findEvery is how often a project without an open session is looked at for one.
	findEvery = 3 * time.Second
)

// watch publishes what changes in the sessions of all projects until ctx is done.
func watch(ctx context.Context, s *site.Site) {
	var all sync.WaitGroup
	defer all.Wait()
	watched := map[string]bool{}
	look := time.NewTicker(findEvery)
	defer look.Stop()
	for {
		list, _ := s.Projects()
		for _, p := range list {
			if key := site.Key(p); !watched[key] {
				watched[key] = true
				all.Go(func() { watchProject(ctx, s, p) })
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// watchProject publishes what changes in the sessions of a project until ctx is done.
func watchProject(ctx context.Context, s *site.Site, p state.Paths) {
	var db *store.DB
	defer func() {
		if db != nil {
			_ = db.Close()
		}
	}()
	at := &watcher{site: s, key: site.Key(p)}
	for {
		wait, err := findEvery, error(nil)
		if db == nil {
			_, db, err = openBook(ctx, s, p) // what is wrong with the project, its page says
		}
		if err == nil {
			wait = at.look(ctx, book.New(db))
		}
		next := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}

// watcher looks at the sessions of one project.
type watcher struct {
	site *site.Site
	key  string

	eye      *view.Eye
	features map[string]string // what was seen last of each
	workers  map[string]string
	reviews  map[string]string
	state    string
	last     int64 // the last event that was published
}

// look publishes what has changed since the last look, and returns when to look again.
func (w *watcher) look(ctx context.Context, b *book.Book) time.Duration {
	of, err := b.Current(ctx)
	if err != nil {
		return findEvery // there is none, or it cannot be read now
	}
	if w.eye == nil || w.eye.ID != of.ID {
		w.eye, w.last = &view.Eye{Book: b, ID: of.ID}, 0
	}
	seen, err := w.eye.Look(ctx, "", w.site.Now())
	if err != nil {
		return findEvery
	}
	w.take(seen)
	if !of.Open() {
		return findEvery
	}
	return lookEvery
}

// take publishes how what is seen differs from what was seen before. The first look publishes nothing: a page that is open was made
// after it, or is told so by the event of its session.
func (w *watcher) take(seen view.Seen) {
	of := seen.Session
	features, workers, reviews := map[string]string{}, map[string]string{}, map[string]string{}
	for _, f := range of.Features {
		features[f.ID] = fmt.Sprint(f.State, len(f.Attempts), f.Reason, f.Commit)
	}
	for _, v := range seen.Workers {
		into := workers
		if review.Find(of, v.Feature) != nil {
			into = reviews
		}
		into[v.Feature] = fmt.Sprint(v.Attempt, v.Verdict, v.Score, v.Doing, v.Cost)
	}
	for _, r := range review.Last(of).Reviews {
		reviews[review.Label(r.Type)] += fmt.Sprint(r.State, r.N)
	}
	state := fmt.Sprint(of.ID, of.State, seen.Driver)
	var last int64
	if n := len(seen.Events); n > 0 {
		last = seen.Events[n-1].Seq
	}
	if first := w.features == nil; !first {
		changed := w.tell("feature", w.features, features) + w.tell("worker", w.workers, workers) + w.tell("reviewWorker", w.reviews, reviews)
		if state != w.state {
			changed++
			w.site.Feed.Publish("status", w.key)
		}
		if last != w.last {
			changed++
			w.site.Feed.Publish("log", w.key+" "+strconv.FormatInt(last, 10))
		}
		if changed > 0 {
			w.site.Feed.Publish("swarm", w.key)
		}
	}
	w.features, w.workers, w.reviews, w.state, w.last = features, workers, reviews, state, last
}

// tell publishes which of some things are otherwise than before, and returns how many.
func (w *watcher) tell(kind string, before, now map[string]string) (n int) {
	all := maps.Clone(before)
	maps.Copy(all, now)
	for name := range all {
		if before[name] != now[name] {
			n++
			w.site.Feed.Publish(kind, w.key+" "+text.OneLine(name))
		}
	}
	return n
}
