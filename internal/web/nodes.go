package web

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/client"
	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// answerWithin is how long a node may take to answer. A node that is frozen does not freeze the pages of the others.
const answerWithin = 3 * time.Second

// projects returns the projects of the user, and a sentence about those whose notes cannot be read.
func (s *Server) projects() ([]state.Paths, string) {
	list, err := s.o.Root.Projects()
	if err != nil {
		return list, text.Visible(text.Describe(err))
	}
	return list, ""
}

// errNoNode means that no daemon runs for a project.
var errNoNode = failure.New(failure.Unavailable, errors.New("no daemon runs for this project, so nothing was changed"),
	"myc serve starts one")

// dial attaches to the node of a project. It starts none.
func (s *Server) dial(ctx context.Context, p state.Paths) (*daemon.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	c, err := daemon.Dial(ctx, daemon.PathsOf(p, s.o.Runtime))
	if errors.Is(err, daemon.ErrNotRunning) {
		return nil, errNoNode
	}
	return c, err
}

// ask asks the node of a project once.
func ask[P, R any](ctx context.Context, s *Server, p state.Paths, m api.Method[P, R], params P) (reply R, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	c, err := s.dial(ctx, p)
	if err != nil {
		return reply, err
	}
	defer c.Close()
	return client.Call(ctx, c, m, params)
}

// answerOf is what the node of a project answered.
type answerOf[R any] struct {
	state.Paths
	Reply R
	Err   error // errNoNode: none runs
}

// askAll asks the nodes of all projects at once. The error is a sentence about projects that cannot be asked.
func askAll[P, R any](ctx context.Context, s *Server, m api.Method[P, R], params P) ([]answerOf[R], string) {
	list, problem := s.projects()
	out := make([]answerOf[R], len(list))
	var all sync.WaitGroup
	for i, p := range list {
		all.Go(func() {
			r, err := ask(ctx, s, p, m, params)
			out[i] = answerOf[R]{p, r, err}
		})
	}
	all.Wait()
	return out, problem
}

// project returns the project with a key.
func (s *Server) project(key string) (state.Paths, bool) {
	list, _ := s.projects()
	for _, p := range list {
		if keyOf(p) == key {
			return p, true
		}
	}
	return state.Paths{}, false
}

// keyOf names a project in addresses: the name of the folder of its state, which is another one for each.
func keyOf(p state.Paths) string { return filepath.Base(p.Folder()) }

// nameOf is what people call a project: the name of its folder.
func nameOf(p state.Paths) string { return text.OneLine(filepath.Base(p.Project)) }

// lookEvery is how often the watch looks which nodes run, and what is at work there.
const lookEvery = time.Second

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

// watch follows every node that runs until ctx is done, and publishes what changes.
func (s *Server) watch(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	followed := map[string]bool{}
	ended := make(chan string)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		list, _ := s.projects()
		for _, p := range list {
			if followed[keyOf(p)] {
				continue
			}
			c, err := s.dial(ctx, p)
			if err != nil {
				continue // the pages say so
			}
			followed[keyOf(p)] = true
			all.Go(func() {
				s.follow(ctx, p, c)
				select {
				case ended <- keyOf(p):
				case <-ctx.Done():
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case key := <-ended:
			delete(followed, key)
		case <-look.C:
		}
	}
}

// follow publishes what changes in a node until it ends.
func (s *Server) follow(ctx context.Context, p state.Paths, c *daemon.Client) {
	s.feed.Publish("node", keyOf(p))
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { s.followRuns(ctx, p) })
	err := client.Watch(ctx, c, api.WatchParams{}, func(r approval.Request) { s.feed.Publish("inbox", keyOf(p)+" "+r.ID) })
	if err != nil && ctx.Err() == nil {
		s.o.Tell("what waits in " + text.OneLine(p.Project) + " cannot be watched: " + text.Visible(text.Describe(err)))
	}
	cancel()
	work.Wait()
	s.feed.Publish("node", keyOf(p))
}

// followRuns publishes that something is otherwise among the agents at work, or among the sessions.
func (s *Server) followRuns(ctx context.Context, p state.Paths) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	before := ""
	for {
		now, err := s.atWork(ctx, p)
		if err == nil && before != "" && now != before {
			s.feed.Publish("work", keyOf(p))
		}
		if err == nil {
			before = now
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}
