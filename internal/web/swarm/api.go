package swarm

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/stats"
	"mycelium/internal/web/device"
	"mycelium/internal/web/openapi"
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

// The bounds of ?limit=.
const (
	usualLogs = 50
	mostLogs  = 1000
)

// answering is a route of the swarm for programs.
func (s *room) answering(answer func(r *http.Request, o *opened, of *book.Session) (any, error)) site.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ device.Device) {
		s.asked(w, r, func(o *opened, of *book.Session) {
			v, err := answer(r, o, of)
			if err != nil {
				refuse(w, err)
				return
			}
			site.JSON(w, v)
		})
	}
}

// refuse answers a program with why it gets no answer.
func refuse(w http.ResponseWriter, err error) {
	site.Problem(w, failure.Of(err).Kind.HTTP(), err)
}

// asked opens the swarm of the project that a program asks about, reads its session, and calls f.
func (s *room) asked(w http.ResponseWriter, r *http.Request, f func(o *opened, of *book.Session)) {
	p, err := s.meant(r)
	if err != nil {
		refuse(w, err)
		return
	}
	o, err := s.open(r.Context(), p, "")
	if err != nil {
		refuse(w, err)
		return
	}
	defer o.close()
	of, err := current(r.Context(), o.Book)
	if err != nil {
		refuse(w, err)
		return
	}
	f(o, of)
}

// meant is the project that ?project= names, else the one whose session began last.
func (s *room) meant(r *http.Request) (found state.Paths, err error) {
	if key := r.URL.Query().Get("project"); key != "" {
		p, known := s.Project(key)
		if !known {
			return p, failure.New(failure.NotFound, errors.New("there is no such project"), "GET /api/status lists the projects")
		}
		return p, nil
	}
	list, _ := s.Projects()
	var newest time.Time
	err = errNoSession
	for _, p := range list {
		if l, problem := s.listed(r.Context(), p); problem == nil && l.Began.After(newest) {
			found, newest, err = p, l.Began, nil
		}
	}
	return found, err
}

func (s *room) apiFeatures(r *http.Request, o *opened, of *book.Session) (any, error) {
	out := featuresReply{site.Key(o.paths), of.ID, []*book.Feature{}}
	want := book.State(r.URL.Query().Get("status"))
	all := []book.State{book.Pending, book.Designing, book.Going, book.Queued, book.Waiting, book.Completed, book.Failed}
	if want != "" && !slices.Contains(all, want) {
		return nil, failure.Usagef("status is one of %q", all)
	}
	for _, f := range of.Features {
		if want == "" || f.State == want {
			out.Features = append(out.Features, f)
		}
	}
	return out, nil
}

func (s *room) apiWorkers(r *http.Request, o *opened, of *book.Session) (any, error) {
	out := workersReply{site.Key(o.paths), of.ID, []workerReply{}}
	beats, err := ops.Heartbeats(r.Context(), o.Ops, of, s.Now())
	if err != nil {
		return nil, err
	}
	for _, f := range of.Features {
		if a := f.Live(); a != nil {
			out.Workers = append(out.Workers, workerReply{f.ID, a.N, a.Began, beats[f.ID]})
		}
	}
	return out, nil
}

func (s *room) apiReviews(_ *http.Request, o *opened, of *book.Session) (any, error) {
	return reviewsReply{site.Key(o.paths), of.ID, review.Last(of)}, nil
}

func (s *room) apiLogs(r *http.Request, o *opened, of *book.Session) (any, error) {
	limit := usualLogs
	if v := r.URL.Query().Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > mostLogs {
			return nil, failure.Usagef("limit is from 1 to %d", mostLogs)
		}
		limit = n
	}
	events, err := o.Events(r.Context(), of.ID, 0, limit)
	return logsReply{site.Key(o.paths), of.ID, events}, err
}

func (s *room) apiStats(r *http.Request, o *opened, of *book.Session) (any, error) {
	driver, err := o.Driver(r.Context(), of.ID)
	return statsReply{site.Key(o.paths), of.ID, of.State, driver, stats.Of(of, s.Now())}, err
}

// apiOutput streams the output of the worker of a feature, or of a reviewer.
func (s *room) apiOutput(name func(r *http.Request) string) site.Handler {
	return func(w http.ResponseWriter, r *http.Request, d device.Device) {
		s.asked(w, r, func(o *opened, of *book.Session) {
			if _, err := ops.Last(of, name(r)); err != nil {
				refuse(w, failure.New(failure.NotFound, err, ""))
				return
			}
			s.run(w, r, d, o, of, name(r), apiEvery)
		})
	}
}

// ofSession is the parameter of an operation that is about one session.
type ofSession struct {
	Project string `query:"project" about:"key of the project, as /api/status has it; left out: the one whose session began last"`
}

// apiRoutes are the routes for programs.
func (s *room) apiRoutes() []site.Route {
	type withStatus struct {
		ofSession
		Status string `query:"status" about:"only features in this state"`
	}
	type withLimit struct {
		ofSession
		Limit int `query:"limit" most:"1000"`
	}
	type ofFeature struct {
		ofSession
		Feature string `path:"featureId"`
	}
	type ofType struct {
		ofSession
		Type string `path:"type"`
	}
	op := func(path, id, summary string) openapi.Operation {
		return openapi.Operation{Method: http.MethodGet, Path: path, ID: id, Tag: "swarm", Summary: summary}
	}
	output := func(path, id, summary string, params any, name func(r *http.Request) string) site.Route {
		o := op(path, id, summary)
		o.Media = "text/event-stream"
		return site.Described(o, s.apiOutput(name), params, "")
	}
	return []site.Route{
		site.Described(op("/api/features", "features", "The features of a session"), s.answering(s.apiFeatures), withStatus{}, featuresReply{}),
		site.Described(op("/api/workers", "workers", "The workers at work"), s.answering(s.apiWorkers), ofSession{}, workersReply{}),
		site.Described(op("/api/review-workers", "reviewWorkers", "The reviews, with their findings"), s.answering(s.apiReviews), ofSession{},
			reviewsReply{}),
		site.Described(op("/api/logs", "logs", "What happened last in a session"), s.answering(s.apiLogs), withLimit{}, logsReply{}),
		site.Described(op("/api/stats", "stats", "The figures of a session"), s.answering(s.apiStats), ofSession{}, statsReply{}),
		output("/api/workers/{featureId}/output", "workerOutput", "The terminal of a worker", ofFeature{},
			func(r *http.Request) string { return r.PathValue("featureId") }),
		output("/api/review-workers/{type}/output", "reviewOutput", "The terminal of a reviewer", ofType{},
			func(r *http.Request) string { return review.Label(r.PathValue("type")) }),
	}
}
