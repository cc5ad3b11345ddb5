// Package rest is the room of the API: what the pages show, as JSON for programs. An operation asks the nodes as a page and a command do.
package rest

import (
	"errors"
	"net/http"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/rest"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// Room is the API. Other rooms have operations of their own.
func Room() site.Room {
	return site.Room{Routes: func(s *site.Site) []site.Route {
		at := room{s}
		health := rest.Get("/health", "health", "server", "Whether the page server runs")
		health.Open = true
		return []site.Route{
			site.Operation(health, at.health),
			site.Operation(rest.Get("/api/status", "status", "server", "All projects, and what runs in them"), at.status),
			site.Operation(rest.Get("/api/sessions", "sessions", "at work", "The sessions of all clients"), at.sessions),
			site.Operation(rest.Get("/api/runs", "runs", "at work", "The coding agents at work, and those that ended lately"), at.runs),
			site.Operation(rest.Get("/api/approvals", "approvals", "approvals", "What waits for a person"), at.approvals),
			site.Row(s, api.ApprovalsShow, nil),
			site.Row(s, api.ApprovalsAnswer, at.answered),
			site.Row(s, api.ApprovalsKeep, at.kept),
			site.Operation(rest.Get("/api/log", "log", "log", "Recorded calls, the newest first"), at.log),
			site.Operation(rest.Get("/api/tools/seen", "seenTools", "policy", "The tools that a role sees, or all with the reason why not"),
				at.tools),
		}
	}}
}

// room is the API of a site.
type room struct{ *site.Site }

// health says that the server runs. It tells nothing else, because it asks for no signature.
type health struct {
	Status    string    `json:"status" of:"ok"`
	Timestamp time.Time `json:"timestamp"`
}

func (s room) health(*http.Request, device.Device, op.None) (health, error) {
	return health{"ok", s.Now().UTC()}, nil
}

// ofProject names a project of those that run.
type ofProject struct {
	Project string `query:"project" about:"key of a project, as /api/status has it; left out: all that run"`
}

// ask asks the node of one project, or those of all that run. A node that does not answer is a problem among the answers of the others.
func ask[P, R any](r *http.Request, s room, key string, m op.Op[P, R], params P) (out []site.Answer[R], problems []string, err error) {
	if key != "" {
		p, err := s.Named(key)
		if err != nil {
			return nil, nil, err
		}
		reply, err := site.Ask(r.Context(), s.Site, p, m, params)
		return []site.Answer[R]{{Paths: p, Reply: reply}}, []string{}, err
	}
	all, problem := site.AskAll(r.Context(), s.Site, m, params)
	problems = []string{}
	if problem != "" {
		problems = append(problems, problem)
	}
	for _, a := range all {
		switch {
		case a.Err == nil:
			out = append(out, a)
		case !errors.Is(a.Err, site.ErrNoNode):
			problems = append(problems, site.Key(a.Paths)+": "+text.Describe(a.Err))
		}
	}
	return out, problems, nil
}
