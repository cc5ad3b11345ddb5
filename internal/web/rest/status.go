package rest

import (
	"errors"
	"net/http"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// status is the state of all projects.
type status struct {
	Version   string          `json:"version" about:"of the program"`
	Timestamp time.Time       `json:"timestamp"`
	Problem   string          `json:"problem,omitempty" about:"which projects cannot be found, and why"`
	Projects  []projectStatus `json:"projects"`
}

// projectStatus is the state of one project.
type projectStatus struct {
	Project string           `json:"project" about:"its key, by which other operations know it"`
	Folder  string           `json:"folder"`
	Running bool             `json:"running" about:"a daemon runs for it"`
	Problem string           `json:"problem,omitempty" about:"why its daemon does not answer"`
	Status  *api.StatusReply `json:"status,omitempty" about:"as myc status --json has it"`
}

func (s room) status(r *http.Request, _ device.Device, _ op.None) (status, error) {
	list, problem := site.AskAll(r.Context(), s.Site, api.Status, op.None{})
	out := status{s.Version, s.Now().UTC(), problem, []projectStatus{}}
	for _, a := range list {
		p := projectStatus{Project: site.Key(a.Paths), Folder: a.Project, Running: !errors.Is(a.Err, site.ErrNoNode)}
		switch {
		case a.Err == nil:
			p.Status = &a.Reply
		case p.Running:
			p.Problem = text.Describe(a.Err)
		}
		out.Projects = append(out.Projects, p)
	}
	return out, nil
}

// sessions are the sessions of projects.
type sessions struct {
	Problems []string         `json:"problems" about:"projects whose daemon does not answer, and why"`
	Sessions []projectSession `json:"sessions"`
}

// projectSession is a session with its project.
type projectSession struct {
	Project string          `json:"project"`
	Session session.Summary `json:"session"`
}

func (s room) sessions(r *http.Request, _ device.Device, p ofProject) (sessions, error) {
	list, problems, err := ask(r, s, p.Project, api.SessionList, op.None{})
	out := sessions{problems, []projectSession{}}
	for _, a := range list {
		for _, one := range a.Reply {
			out.Sessions = append(out.Sessions, projectSession{site.Key(a.Paths), one})
		}
	}
	return out, err
}

// runs are the coding agents of projects.
type runs struct {
	Problems []string     `json:"problems" about:"projects whose daemon does not answer, and why"`
	Runs     []projectRun `json:"runs"`
}

// projectRun is a coding agent with its project.
type projectRun struct {
	Project string                `json:"project"`
	Run     approval.AgentSession `json:"run"`
}

func (s room) runs(r *http.Request, _ device.Device, p ofProject) (runs, error) {
	list, problems, err := ask(r, s, p.Project, api.Runs, op.None{})
	out := runs{problems, []projectRun{}}
	for _, a := range list {
		for _, one := range a.Reply {
			out.Runs = append(out.Runs, projectRun{site.Key(a.Paths), one})
		}
	}
	return out, err
}
