package web

import (
	"context"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/client"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/inbox"
	"mycelium/internal/web/site"
	"mycelium/internal/web/work"
)

// lookEvery is how often the watch looks what is at work in a node.
const lookEvery = time.Second

// workEvery is how often at most a page of what is at work is told that something was recorded.
const workEvery = 300 * time.Millisecond

// watching counts a stream that is open. While there is one, the nodes are watched: a node may ask people in the queue then, as with a
// terminal that runs `myc approvals watch`. The returned function ends it.
func (s *Server) watching() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers++
	if s.readers == 1 {
		before := s.watched
		ctx, cancel := context.WithCancel(s.ended)
		s.unwatch, s.watched = cancel, make(chan struct{})
		go func(watched chan struct{}) {
			defer close(watched)
			if before != nil {
				<-before
			}
			s.watch(ctx)
		}(s.watched)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.readers--; s.readers == 0 {
			s.unwatch()
		}
	}
}

// watch publishes what changes, in the nodes that run and for the rooms, until ctx is done.
func (s *Server) watch(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, room := range s.rooms {
		if room.Watch != nil {
			all.Go(func() { room.Watch(ctx, s.site) })
		}
	}
	s.site.Follow(ctx, s.follow)
}

// follow publishes what changes in a node until it ends.
func (s *Server) follow(ctx context.Context, p state.Paths, c *daemon.Client) {
	s.site.Feed.Publish("node", site.Key(p))
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan struct{}, 1) // something was recorded, or asked: agents may do something else now
	change := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	var all sync.WaitGroup
	all.Go(func() { s.followRuns(ctx, p, changed) })
	all.Go(func() { s.followLog(ctx, p, change) })
	err := client.Watch(ctx, c, api.WatchParams{}, func(r approval.Request) {
		s.site.Feed.Publish("inbox", site.Key(p)+" "+r.ID)
		change()
	})
	if err != nil && ctx.Err() == nil {
		s.site.Tell("what waits in " + text.OneLine(p.Project) + " cannot be watched: " + text.Visible(text.Describe(err)))
	}
	cancel()
	all.Wait()
	s.site.Feed.Publish("node", site.Key(p))
}

// followLog publishes of which session something was recorded, as soon as it is in the log.
func (s *Server) followLog(ctx context.Context, p state.Paths, change func()) {
	if s.site.Index == nil {
		return
	}
	publish := func(session string) { s.site.Feed.Publish("call", site.Key(p)+" "+session) }
	quiet := newQuieter(publish)
	defer quiet.end()
	err := s.site.WithIndex(ctx, p, func(x *index.Index) error {
		// What was recorded before the watch began is on no page that was made since the node was found.
		return x.Watch(ctx, func() { publish(anySession) }, func(r audit.Record) {
			if r.Session != "" && !strings.ContainsAny(r.Session, " \r\n") {
				quiet.tell(r.Session)
			}
			change()
		})
	})
	if err != nil && ctx.Err() == nil {
		s.site.Tell("the log of " + text.OneLine(p.Project) + " cannot be watched: " + text.Visible(text.Describe(err)))
	}
}

// followRuns publishes that something is otherwise among the agents at work, or among the sessions: at once when something was recorded,
// else when it looks. Then it publishes also that something waits besides calls, of which the node itself tells.
func (s *Server) followRuns(ctx context.Context, p state.Paths, changed <-chan struct{}) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	before, waited := "", ""
	recorded := false
	for {
		now, err := work.Digest(ctx, s.site, p)
		if err == nil && before != "" && (recorded || now != before) {
			s.site.Feed.Publish("work", site.Key(p))
		}
		if err == nil {
			before = now
		}
		if recorded { // a busy project: the next look is not at once
			select {
			case <-ctx.Done():
				return
			case <-time.After(workEvery):
			}
		} else if waits, err := inbox.Digest(ctx, s.site, p); err == nil {
			if waits != waited { // also at first: it may have changed since the pages were made
				s.site.Feed.Publish("inbox", site.Key(p))
			}
			waited = waits
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
			recorded = true
		case <-look.C:
			recorded = false
		}
	}
}
