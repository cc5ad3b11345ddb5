package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

// overview is what is at work.
type overview struct {
	Projects []projectAtWork
	Quiet    []string // folders of projects of which no node runs
	Problem  string
}

// projectAtWork is a project whose node runs.
type projectAtWork struct {
	Name, Dir string
	Problem   string // why its node does not answer
	Warnings  []string
	Waiting   int // calls that wait for a person
	Since     time.Time
	Agents    []agentAtWork
	Sessions  []sessionAtWork
}

// agentAtWork is a session of a coding agent.
type agentAtWork struct {
	Label, Agent, Role, Task, Dir, Last string
	State                               string
	Since, Seen                         time.Time
	Turns, Calls, Denials               int
	Cost                                float64
}

// sessionAtWork is a session of any client.
type sessionAtWork struct {
	ID, Name, Principal, Role string
	Skills                    []string
	Since                     time.Time
}

// stateOf says in words what an agent does.
func stateOf(s approval.SessionState) string {
	switch s {
	case approval.Active:
		return "works"
	case approval.Idle:
		return "is idle"
	case approval.PermissionPending:
		return "waits for a person"
	case approval.Halted:
		return "was ended"
	case approval.Done:
		return "has ended"
	case approval.Failed:
		return "has ended with an error"
	}
	return text.OneLine(string(s))
}

// work is what is at work in one project.
type work struct {
	Agents   []approval.AgentSession
	Sessions []session.Summary
}

// workOf asks a node what is at work.
func (s *Server) workOf(ctx context.Context, p state.Paths) (w work, err error) {
	if w.Agents, err = ask(ctx, s, p, api.Runs, api.None{}); err != nil {
		return w, err
	}
	w.Sessions, err = ask(ctx, s, p, api.SessionList, api.None{})
	return w, err
}

// atWork returns a text that is another one when something else is at work in a project.
func (s *Server) atWork(ctx context.Context, p state.Paths) (string, error) {
	w, err := s.workOf(ctx, p)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(w, json.Deterministic(true))
	return string(b), err
}

func (s *Server) home(w http.ResponseWriter, r *http.Request, d device.Device) {
	list, problem := askAll(r.Context(), s, api.Status, api.None{})
	shown := overview{Problem: problem}
	for _, a := range list {
		switch {
		case errors.Is(a.Err, errNoNode):
			shown.Quiet = append(shown.Quiet, text.OneLine(a.Project))
		case a.Err != nil:
			shown.Projects = append(shown.Projects, projectAtWork{Name: nameOf(a.Paths), Dir: text.OneLine(a.Project),
				Problem: text.Visible(text.Describe(a.Err))})
		default:
			shown.Projects = append(shown.Projects, s.projectAtWork(r.Context(), a.Paths, a.Reply))
		}
	}
	s.show(w, r, http.StatusOK, "home", d, page{Title: "At work", Here: "/", Live: "sse:work, sse:inbox, sse:node, sse:resync", Body: shown})
}

func (s *Server) projectAtWork(ctx context.Context, p state.Paths, st api.StatusReply) projectAtWork {
	out := projectAtWork{Name: nameOf(p), Dir: text.OneLine(p.Project), Waiting: st.Approvals, Since: st.Daemon.Since}
	out.Warnings = warningsOf(st)
	w, err := s.workOf(ctx, p)
	if err != nil {
		out.Problem = text.Visible(text.Describe(err))
	}
	for _, a := range w.Agents {
		out.Agents = append(out.Agents, agentOf(a))
	}
	out.Sessions = sessionsOf(w.Sessions)
	return out
}

// agentOf returns what a page shows of an agent.
func agentOf(a approval.AgentSession) agentAtWork {
	return agentAtWork{Label: text.OneLine(cmp.Or(a.Label, a.ID)), Agent: text.OneLine(a.Agent), Role: text.OneLine(a.Role),
		Task: text.OneLine(a.Task), Dir: text.OneLine(a.Dir), Last: text.OneLine(a.Last),
		State: stateOf(a.State), Since: a.Since, Seen: a.Seen, Turns: a.Turns, Calls: a.Calls,
		Denials: a.Denials, Cost: a.Cost}
}

// warningsOf returns what a person should know of a node.
func warningsOf(st api.StatusReply) (out []string) {
	for _, said := range [][]string{st.Damage, st.Unworkable, st.Hooks, st.Environs, st.Quarantined} {
		for _, line := range said {
			out = append(out, text.Visible(line))
		}
	}
	if st.Problem != "" {
		out = append(out, text.Visible(st.Problem))
	}
	if n := len(st.Pending); n > 0 {
		out = append(out, text.Count(n, "file")+" of the policy "+text.Plural(n, "waits", "wait")+" for myc trust")
	}
	return out
}

// sessionsOf returns what a page shows of the sessions that live, the newest first.
func sessionsOf(list []session.Summary) (out []sessionAtWork) {
	for _, v := range list {
		if !v.Live {
			continue
		}
		shown := sessionAtWork{ID: text.OneLine(v.ID), Name: text.OneLine(v.Name), Principal: text.OneLine(v.Principal),
			Role: text.OneLine(v.Role), Since: v.Created}
		for _, k := range v.Skills {
			shown.Skills = append(shown.Skills, text.OneLine(k))
		}
		out = append(out, shown)
	}
	slices.SortFunc(out, func(a, b sessionAtWork) int { return cmp.Or(b.Since.Compare(a.Since), strings.Compare(a.ID, b.ID)) })
	return out
}
