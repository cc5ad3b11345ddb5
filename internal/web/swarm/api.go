package swarm

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"mycelium/internal/op/failure"
	"mycelium/internal/op/rest"
	"mycelium/internal/state"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/stats"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// The answers of the routes for programs (requirements, C94 and C95). Each is of one project: the one that ?project= names, else the one
// whose session began last.

// featuresReply answers GET /api/features?status=.
type featuresReply struct {
	Project  string          `json:"project"`
	Session  string          `json:"session"`
	Features []*book.Feature `json:"features"`
}

// workersReply answers GET /api/workers.
type workersReply struct {
	Project string        `json:"project"`
	Session string        `json:"session"`
	Workers []workerReply `json:"workers"`
}

// workerReply is a worker at work on a feature.
type workerReply struct {
	Feature   string            `json:"featureId"`
	Attempt   int               `json:"attempt"`
	Began     time.Time         `json:"began"`
	Heartbeat monitor.Heartbeat `json:"heartbeat"`
}

// reviewsReply answers GET /api/review-workers.
type reviewsReply struct {
	Project string `json:"project"`
	Session string `json:"session"`
	review.Results
}

// logsReply answers GET /api/logs?limit=.
type logsReply struct {
	Project string       `json:"project"`
	Session string       `json:"session"`
	Logs    []book.Event `json:"logs"`
}

// statsReply answers GET /api/stats.
type statsReply struct {
	Project string      `json:"project"`
	Session string      `json:"session"`
	State   book.State  `json:"state"`
	Driver  string      `json:"driver,omitempty"`
	Stats   stats.Stats `json:"stats"`
}

// usualLogs is how many events are sent if a request does not say it.
const usualLogs = 50

// asking are the parameters of an operation about one session.
type asking interface{ key() string }

func (p ofSession) key() string { return p.Project }

// answering is the route of an operation about the session of a project.
func answering[P asking, R any](s *room, o rest.Operation, answer func(ctx context.Context, p P, o *opened, of *book.Session) (R, error)) site.Route {
	return site.Operation(o, func(r *http.Request, _ device.Device, p P) (out R, err error) {
		asked := s.asked(r.Context(), p.key(), func(o *opened, of *book.Session) { out, err = answer(r.Context(), p, o, of) })
		return out, cmp.Or(asked, err)
	})
}

// refuse answers a program with why it gets no answer.
func refuse(w http.ResponseWriter, err error) {
	rest.Fail(w, failure.Of(err).Kind.HTTP(), err)
}

// asked opens the swarm of the project with a key, reads its session, and calls f.
func (s *room) asked(ctx context.Context, key string, f func(o *opened, of *book.Session)) error {
	p, err := s.meant(ctx, key)
	if err != nil {
		return err
	}
	o, err := s.open(ctx, p, "")
	if err != nil {
		return err
	}
	defer o.close()
	of, err := current(ctx, o.Book)
	if err != nil {
		return err
	}
	f(o, of)
	return nil
}

// meant is the project with a key, or the one whose session began last if the key is empty.
func (s *room) meant(ctx context.Context, key string) (found state.Paths, err error) {
	if key != "" {
		return s.Named(key)
	}
	list, _ := s.Projects()
	var newest time.Time
	err = errNoSession
	for _, p := range list {
		if l, problem := s.listed(ctx, p); problem == nil && l.Began.After(newest) {
			found, newest, err = p, l.Began, nil
		}
	}
	return found, err
}

func (s *room) apiFeatures(_ context.Context, p withStatus, o *opened, of *book.Session) (featuresReply, error) {
	out := featuresReply{site.Key(o.paths), of.ID, []*book.Feature{}}
	want := book.State(p.Status)
	all := []book.State{book.Pending, book.Designing, book.Going, book.Queued, book.Waiting, book.Completed, book.Failed}
	if want != "" && !slices.Contains(all, want) {
		return out, failure.Usagef("status is one of %q", all)
	}
	for _, f := range of.Features {
		if want == "" || f.State == want {
			out.Features = append(out.Features, f)
		}
	}
	return out, nil
}

func (s *room) apiWorkers(ctx context.Context, _ ofSession, o *opened, of *book.Session) (workersReply, error) {
	out := workersReply{site.Key(o.paths), of.ID, []workerReply{}}
	beats, err := ops.Heartbeats(ctx, o.Ops, of, s.Now())
	if err != nil {
		return out, err
	}
	for _, f := range of.Features {
		if a := f.Live(); a != nil {
			out.Workers = append(out.Workers, workerReply{f.ID, a.N, a.Began, beats[f.ID]})
		}
	}
	return out, nil
}

func (s *room) apiReviews(_ context.Context, _ ofSession, o *opened, of *book.Session) (reviewsReply, error) {
	return reviewsReply{site.Key(o.paths), of.ID, review.Last(of)}, nil
}

func (s *room) apiLogs(ctx context.Context, p withLimit, o *opened, of *book.Session) (logsReply, error) {
	events, err := o.Events(ctx, of.ID, 0, cmp.Or(p.Limit, usualLogs))
	return logsReply{site.Key(o.paths), of.ID, events}, err
}

func (s *room) apiStats(ctx context.Context, _ ofSession, o *opened, of *book.Session) (statsReply, error) {
	driver, err := o.Driver(ctx, of.ID)
	return statsReply{site.Key(o.paths), of.ID, of.State, driver, stats.Of(of, s.Now())}, err
}

// apiOutput streams the output of the worker of a feature, or of a reviewer.
func (s *room) apiOutput(name func(r *http.Request) string) site.Handler {
	return func(w http.ResponseWriter, r *http.Request, d device.Device) {
		err := s.asked(r.Context(), r.URL.Query().Get("project"), func(o *opened, of *book.Session) {
			if _, err := ops.Last(of, name(r)); err != nil {
				refuse(w, failure.New(failure.NotFound, err, ""))
				return
			}
			s.run(w, r, d, o, of, name(r), apiEvery)
		})
		if err != nil {
			refuse(w, err)
		}
	}
}

// ofSession is the parameter of an operation that is about one session.
type ofSession struct {
	Project string `query:"project" about:"key of the project, as /api/status has it; left out: the one whose session began last"`
}

type withStatus struct {
	ofSession
	Status string `query:"status" about:"only features in this state"`
}

type withLimit struct {
	ofSession
	Limit int `query:"limit" least:"1" most:"1000" about:"at most this many; left out: 50"`
}

// apiRoutes are the routes for programs.
func (s *room) apiRoutes() []site.Route {
	type ofFeature struct {
		ofSession
		Feature string `json:"featureId"`
	}
	type ofType struct {
		ofSession
		Type string `json:"type"`
	}
	get := func(path, id, summary string) rest.Operation { return rest.Get(path, id, "swarm", summary) }
	return []site.Route{
		answering(s, get("/api/features", "features", "The features of a session"), s.apiFeatures),
		answering(s, get("/api/workers", "workers", "The workers at work"), s.apiWorkers),
		answering(s, get("/api/review-workers", "reviewWorkers", "The reviews, with their findings"), s.apiReviews),
		answering(s, get("/api/logs", "logs", "What happened last in a session"), s.apiLogs),
		answering(s, get("/api/stats", "stats", "The figures of a session"), s.apiStats),
		site.Streaming(get("/api/workers/{featureId}/output", "workerOutput", "The terminal of a worker"),
			s.apiOutput(func(r *http.Request) string { return r.PathValue("featureId") }), ofFeature{}),
		site.Streaming(get("/api/review-workers/{type}/output", "reviewOutput", "The terminal of a reviewer"),
			s.apiOutput(func(r *http.Request) string { return review.Label(r.PathValue("type")) }), ofType{}),
	}
}
