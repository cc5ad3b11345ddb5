// Package swarm is the room of the swarm: of each project the session with its features, workers, reviews, queue and log, the terminals
// of its workers, and what a person does with them.
//
// It reads the book of the swarm as the commands of `myc swarm` do, because a session needs no daemon, and acts by the functions of
// [mycelium/internal/swarm/ops], as they do.
package swarm

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
	"mycelium/internal/tmux"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the swarm.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/swarm", Text: "Swarm"}}, Routes: routes, Watch: watch}
}

func routes(s *site.Site) []site.Route {
	at := &room{Site: s, screens: &screens{}, keyboards: &keyboards{now: s.Now}}
	return append(at.apiRoutes(), []site.Route{
		{Pattern: "GET /swarm", Serve: at.list},
		{Pattern: "GET /swarm/{project}", Serve: at.session},
		{Pattern: "POST /swarm/{project}/act", Serve: at.act},
		{Pattern: "GET /swarm/{project}/features/{feature}", Serve: at.feature},
		{Pattern: "POST /swarm/{project}/features/{feature}", Serve: at.featureAct},
		{Pattern: "GET /swarm/{project}/terminals", Serve: at.wall},
		{Pattern: "GET /swarm/{project}/terminals/output", Serve: at.wallOutputs},
		{Pattern: "GET /swarm/{project}/workers/{worker}", Serve: at.terminal},
		{Pattern: "GET /swarm/{project}/workers/{worker}/output", Serve: at.outputs},
		{Pattern: "POST /swarm/{project}/workers/{worker}/message", Serve: at.message},
		{Pattern: "POST /swarm/{project}/workers/{worker}/keyboard", Serve: at.keyboard},
		{Pattern: "POST /swarm/{project}/workers/{worker}/keys", Serve: at.keys},
	}...)
}

// room is the swarm on a site.
type room struct {
	*site.Site
	screens   *screens
	keyboards *keyboards
}

// opened is the swarm of one project, as a command opens it.
type opened struct {
	ops.Ops
	project   *config.Project
	paths     state.Paths
	terminals tmux.Server
	db        *store.DB
}

func (o *opened) close() { _ = o.db.Close() }

// errNoSession means that a project has no session of the swarm.
var errNoSession = failure.New(failure.NotFound, errors.New("this project has no session of the swarm"),
	"begin one: myc swarm init PLAN.md")

// openBook opens the book of a project, and changes nothing there. The caller closes the database.
func openBook(ctx context.Context, s *site.Site, p state.Paths) (*config.Project, *store.DB, error) {
	if s.Load == nil {
		return nil, nil, errors.New("these pages cannot read the files of projects")
	}
	project, err := s.Load(p)
	if err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, project.StoreURL())
	return project, db, err
}

// open opens the swarm of a project. by is the device of the person who acts; "" where nobody acts.
func (s *room) open(ctx context.Context, p state.Paths, by string) (*opened, error) {
	project, db, err := openBook(ctx, s.Site, p)
	if err != nil {
		return nil, err
	}
	who := ops.Person
	if by != "" {
		who += " (browser, " + by + ")"
	}
	o := &opened{project: project, paths: p, db: db}
	if o.Ops, err = swarmed.Ops(db, p, who); err == nil {
		o.terminals, err = swarmed.Terminals(p, s.Runtime)
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// current is the session of a project that is open, else its last one.
func current(ctx context.Context, b *book.Book) (*book.Session, error) {
	s, err := b.Current(ctx)
	if absent := (*book.AbsentError)(nil); errors.As(err, &absent) {
		return nil, errNoSession
	}
	return s, err
}

// with opens the swarm that an address names, reads its session, and calls f. What goes wrong before that is a page of its own.
func (s *room) with(w http.ResponseWriter, r *http.Request, by string, f func(o *opened, of *book.Session)) {
	p, known := s.Project(r.PathValue("project"))
	if !known {
		s.Fail(w, http.StatusNotFound, errors.New("there is no such project"))
		return
	}
	o, err := s.open(r.Context(), p, by)
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	defer o.close()
	of, err := current(r.Context(), o.Book)
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	f(o, of)
}

// listed is a project on the page of all swarms.
type listed struct {
	Href, Name, Dir string
	Problem         string
	State, Task     string
	Landed, Total   int
	Cost            string
	Driver          string
	Began           time.Time
}

// allSwarms are the projects that have a session.
type allSwarms struct {
	Projects []listed
	Problem  string
}

// list shows the projects with a session of the swarm.
func (s *room) list(w http.ResponseWriter, r *http.Request, d device.Device) {
	list, problem := s.Projects()
	shown := allSwarms{Problem: problem}
	for _, p := range list {
		l, err := s.listed(r.Context(), p)
		if errors.Is(err, errNoSession) {
			continue
		}
		l.Href, l.Name, l.Dir = addressOf(p), site.Name(p), text.OneLine(p.Project)
		if err != nil {
			l.Problem = text.Visible(text.Describe(err))
		}
		shown.Projects = append(shown.Projects, l)
	}
	s.Show(w, r, http.StatusOK, "swarms", d, site.Page{Title: "Swarm", Here: "/swarm", Live: "sse:swarm, sse:resync",
		Files: []string{"swarm.css"}, Body: shown})
}

// openWithin is how long the swarm of one project may take to be read on a page of all.
const openWithin = 3 * time.Second

func (s *room) listed(ctx context.Context, p state.Paths) (l listed, err error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	_, db, err := openBook(ctx, s.Site, p)
	if err != nil {
		return l, err
	}
	defer db.Close()
	b := book.New(db)
	of, err := current(ctx, b)
	if err != nil {
		return l, err
	}
	l.State, l.Task, l.Began, l.Total, l.Cost = of.State.Words(), text.Flatten(of.Task), of.Began, len(of.Features), dollars(of.Cost())
	for _, f := range of.Features {
		if f.State == book.Completed {
			l.Landed++
		}
	}
	l.Driver, err = b.Driver(ctx, of.ID)
	l.Driver = text.OneLine(l.Driver)
	return l, err
}

// addressOf is the address of the page of a project, with what follows it.
func addressOf(p state.Paths, more ...string) string {
	at := "/swarm/" + url.PathEscape(site.Key(p))
	for _, m := range more {
		at += "/" + url.PathEscape(m)
	}
	return at
}

// dollars is an amount of money for people.
func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }
