// Package work is the room of what is at work now: the projects, their agents and their sessions.
package work

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/audit/index"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/node/talks"
	"mycelium/internal/op"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
	"mycelium/internal/web/timeline"
)

//go:embed pages/*.html
var pages embed.FS

// Room is what is at work.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/", Text: "At work"}}, Routes: func(s *site.Site) []site.Route {
		at := room{s, &talks.Live{}}
		return []site.Route{{Pattern: "GET /{$}", Serve: at.home}, {Pattern: "GET /sessions/{project}/{id}", Serve: at.session}}
	}}
}

// room is what is at work on a site.
type room struct {
	*site.Site
	live *talks.Live // what agents say
}

// overview is what is at work.
type overview struct {
	Projects []projectAtWork
	Quiet    []string // folders of projects of which no node runs
	Problem  string
}

// projectAtWork is a project whose node runs.
type projectAtWork struct {
	Name, Dir, Key string
	Problem        string // why its node does not answer
	Warnings       []string
	Waiting        int // calls that wait for a person
	Since          time.Time
	Cost           float64 // of agents today
	Rate           int     // calls within the last minute
	Folders        []folderGroup
	Ended          []item
	Refused        []timeline.Row // the last calls that were refused
}

// work is what is at work in one project.
type work struct {
	Agents   []approval.AgentSession
	Sessions []session.Summary
	Alive    []approval.AgentSession `json:"-"` // those of the agents that are there, as myc status has them
	Waiting  []approval.Request      `json:"-"` // an event of its own tells of them
	Activity activity                `json:"-"`
	Refused  []index.Entry           `json:"-"`
}

// workOf asks a node what is at work.
func workOf(ctx context.Context, s *site.Site, p state.Paths) (w work, err error) {
	if w.Agents, err = site.Ask(ctx, s, p, api.Runs, op.None{}); err != nil {
		return w, err
	}
	w.Sessions, err = site.Ask(ctx, s, p, api.SessionList, op.None{})
	return w, err
}

// Digest returns a text that is another one when something else is at work in a project.
func Digest(ctx context.Context, s *site.Site, p state.Paths) (string, error) {
	w, err := workOf(ctx, s, p)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(w, json.Deterministic(true))
	return string(b), err
}

func (s room) home(w http.ResponseWriter, r *http.Request, d device.Device) {
	list, problem := site.AskAll(r.Context(), s.Site, api.Status, op.None{})
	shown := overview{Problem: problem}
	for _, a := range list {
		switch {
		case errors.Is(a.Err, site.ErrNoNode):
			shown.Quiet = append(shown.Quiet, text.OneLine(a.Project))
		case a.Err != nil:
			shown.Projects = append(shown.Projects, projectAtWork{Name: site.Name(a.Paths), Dir: text.OneLine(a.Project),
				Problem: text.Visible(text.Describe(a.Err))})
		default:
			shown.Projects = append(shown.Projects, s.projectAtWork(r.Context(), a.Paths, a.Reply))
		}
	}
	s.Show(w, r, http.StatusOK, "home", d, site.Page{Title: "At work", Here: "/",
		Live: "sse:work, sse:inbox, sse:node, sse:resync", Files: append(timeline.Assets(), "work.css"), Body: shown})
}

func (s room) projectAtWork(ctx context.Context, p state.Paths, st api.StatusReply) projectAtWork {
	out := projectAtWork{Name: site.Name(p), Dir: text.OneLine(p.Project), Key: site.Key(p), Waiting: st.Approvals, Since: st.Daemon.Since,
		Cost: st.Cost}
	out.Warnings = warningsOf(st)
	w, err := s.recorded(ctx, p)
	if err != nil {
		out.Problem = text.Visible(text.Describe(err))
	}
	w.Alive = st.Agents
	out.fill(p, w, s.Now())
	return out
}

// The bounds of what the page shows of the past.
const (
	lately     = time.Hour // what counts as refused lately
	maxRefused = 3
	maxEnded   = 20
)

// recorded asks a node what is at work, and the log what the sessions did lately.
func (s room) recorded(ctx context.Context, p state.Paths) (w work, err error) {
	if w, err = workOf(ctx, s.Site, p); err != nil {
		return w, err
	}
	if w.Waiting, err = site.Ask(ctx, s.Site, p, api.ApprovalsList, op.None{}); err != nil {
		return w, err
	}
	now := s.Now()
	return w, s.WithIndex(ctx, p, func(x *index.Index) error {
		var err error
		if w.Activity, err = x.Activity(ctx, now.Add(-lately), now); err != nil {
			return err
		}
		w.Refused, err = x.Query(ctx, index.Query{Outcome: "denied", Since: now.Add(-lately), Limit: maxRefused})
		return err
	})
}

// fill shows what is at work, by the folder in which it began.
func (out *projectAtWork) fill(p state.Paths, w work, now time.Time) {
	at, ended := itemsOf(p, w, now)
	out.Ended = ended[:min(len(ended), maxEnded)]
	dirs := map[string]string{} // by the address of a session
	for _, a := range w.Agents {
		dirs[pageOf(p, a.Session)] = cmp.Or(a.Start, a.Dir)
	}
	for _, i := range at {
		dir := text.OneLine(cmp.Or(dirs[i.Page], p.Project))
		n := slices.IndexFunc(out.Folders, func(g folderGroup) bool { return g.Dir == dir })
		if n < 0 {
			n = len(out.Folders)
			out.Folders = append(out.Folders, folderGroup{Dir: dir})
		}
		out.Folders[n].Items = append(out.Folders[n].Items, i)
	}
	for _, a := range w.Activity {
		out.Rate += a.Minute
	}
	for _, e := range w.Refused {
		row := timeline.CallOf(e)
		if e.Session != "" {
			row.Call.Page = pageOf(p, e.Session)
		}
		out.Refused = append(out.Refused, row)
	}
}

// warningsOf returns what a person should know of a node.
func warningsOf(st api.StatusReply) (out []string) {
	for _, said := range [][]string{st.Damage, st.Unworkable, st.Hooks, st.Environs, st.Quarantined} {
		for _, line := range said {
			out = append(out, text.Visible(line))
		}
	}
	for _, line := range []string{st.Problem, st.Database} {
		if line != "" {
			out = append(out, text.Visible(line))
		}
	}
	if n := len(st.Pending); n > 0 {
		out = append(out, text.Count(n, "file")+" of the policy "+text.Plural(n, "waits", "wait")+" for myc trust")
	}
	return out
}
