package site

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit/index"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// answerWithin is how long a node may take to answer. A node that is frozen does not freeze the pages of the others.
const answerWithin = 3 * time.Second

// Projects returns the projects of the user, and a sentence about those whose notes cannot be read.
func (s *Site) Projects() ([]state.Paths, string) {
	list, err := s.Root.Projects()
	if err != nil {
		return list, text.Visible(text.Describe(err))
	}
	return list, ""
}

// NodesRun reports whether a daemon runs for one of the projects. Where that cannot be told, one may.
func (s *Site) NodesRun() bool {
	list, problem := s.Projects()
	if problem != "" {
		return true
	}
	for _, p := range list {
		if held, err := atomicfile.Locked(p.DaemonLock()); held || err != nil {
			return true
		}
	}
	return false
}

// ErrNoNode means that no daemon runs for a project.
var ErrNoNode = failure.New(failure.Unavailable, errors.New("no daemon runs for this project, so nothing was changed"),
	"myc serve starts one")

// Dial attaches to the node of a project. It starts none.
func (s *Site) Dial(ctx context.Context, p state.Paths) (*daemon.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	c, err := daemon.Dial(ctx, daemon.PathsOf(p, s.Runtime))
	if errors.Is(err, daemon.ErrNotRunning) {
		return nil, ErrNoNode
	}
	return c, err
}

// Ask asks the node of a project once.
func Ask[P, R any](ctx context.Context, s *Site, p state.Paths, o op.Op[P, R], params P) (R, error) {
	return AskWithin(ctx, s, p, answerWithin, o, params)
}

// AskWithin is [Ask] for what takes longer than an answer of a page should.
func AskWithin[P, R any](ctx context.Context, s *Site, p state.Paths, within time.Duration, o op.Op[P, R], params P) (r R, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if a, is := any(params).(api.Answer); is && s.Demands != nil {
		if err := s.Demands(ctx, p, a); err != nil {
			return r, err
		}
	}
	c, err := s.Dial(ctx, p)
	if err != nil {
		return r, err
	}
	defer c.Close()
	return socket.Call(ctx, c, o, params)
}

// Answer is what the node of a project answered.
type Answer[R any] struct {
	state.Paths
	Reply R
	Err   error // ErrNoNode: none runs
}

// AskAll asks the nodes of all projects at once. The error is a sentence about projects that cannot be asked.
func AskAll[P, R any](ctx context.Context, s *Site, m op.Op[P, R], params P) ([]Answer[R], string) {
	list, problem := s.Projects()
	out := make([]Answer[R], len(list))
	var all sync.WaitGroup
	for i, p := range list {
		all.Go(func() {
			r, err := Ask(ctx, s, p, m, params)
			out[i] = Answer[R]{p, r, err}
		})
	}
	all.Wait()
	return out, problem
}

// errNoIndex means that the pages were opened without logs.
var errNoIndex = errors.New("the pages have no logs of projects")

// WithIndex calls f with the index of the log of a project; f does not keep it.
func (s *Site) WithIndex(ctx context.Context, p state.Paths, f func(*index.Index) error) error {
	if s.Index == nil {
		return errNoIndex
	}
	return s.Index(ctx, p, f)
}

// Project returns the project with a key.
func (s *Site) Project(key string) (state.Paths, bool) {
	list, _ := s.Projects()
	for _, p := range list {
		if Key(p) == key {
			return p, true
		}
	}
	return state.Paths{}, false
}

// Key names a project in addresses: the name of the folder of its state, which is another one for each.
func Key(p state.Paths) string { return filepath.Base(p.Folder()) }

// Name is what people call a project: the name of its folder.
func Name(p state.Paths) string { return text.OneLine(filepath.Base(p.Project)) }

// lookEvery is how often it is looked which nodes run.
const lookEvery = time.Second

// Follow calls f for every node that runs, and for every one that begins, until ctx is done and each f has returned. f returns when its
// node ends, and closes the client.
func (s *Site) Follow(ctx context.Context, f func(ctx context.Context, p state.Paths, c *daemon.Client)) {
	var all sync.WaitGroup
	defer all.Wait()
	followed := map[string]bool{}
	ended := make(chan string)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		list, _ := s.Projects()
		for _, p := range list {
			if followed[Key(p)] {
				continue
			}
			c, err := s.Dial(ctx, p)
			if err != nil {
				continue // the pages say so
			}
			followed[Key(p)] = true
			all.Go(func() {
				f(ctx, p, c)
				select {
				case ended <- Key(p):
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
