// Package rest is the room of the API: what the pages show, as JSON for programs. An operation asks the nodes as a page and a command do.
package rest

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/openapi"
	"mycelium/internal/web/site"
)

// Room is the API. Other rooms have operations of their own.
func Room() site.Room {
	return site.Room{Routes: func(s *site.Site) []site.Route {
		at := room{s}
		get := func(path, id, tag, summary string) openapi.Operation {
			return openapi.Operation{Method: http.MethodGet, Path: path, ID: id, Tag: tag, Summary: summary}
		}
		health := get("/health", "health", "server", "Whether the page server runs")
		health.Open = true
		answer := openapi.Operation{Method: http.MethodPost, Path: "/api/approvals/{project}/{id}", ID: "answerApproval", Tag: "approvals",
			Summary: "Answer a call that waits",
			About: "The answer is that of the person who signed the browser in, and the record names the browser. It is bound to the digest of " +
				"the request: if the request has become another one, or has been answered, nothing changes and the status is 409."}
		return []site.Route{
			site.Operation(health, at.health),
			site.Operation(get("/api/status", "status", "server", "All projects, and what runs in them"), at.status),
			site.Operation(get("/api/sessions", "sessions", "at work", "The sessions of all clients"), at.sessions),
			site.Operation(get("/api/runs", "runs", "at work", "The coding agents at work, and those that ended lately"), at.runs),
			site.Operation(get("/api/approvals", "approvals", "approvals", "What waits for a person"), at.approvals),
			site.Operation(get("/api/approvals/{project}/{id}", "approval", "approvals", "One request, also one that is settled"), at.approval),
			site.Operation(answer, at.answer),
			site.Operation(openapi.Operation{Method: http.MethodPost, Path: "/api/approvals/{project}/{id}/keep", ID: "keepApproval",
				Tag: "approvals", Summary: "Keep an approval that was given once, as a rule"}, at.keep),
			site.Operation(get("/api/log", "log", "log", "Recorded calls, the newest first"), at.log),
			site.Operation(get("/api/tools/seen", "seenTools", "policy", "The tools that a role sees, or all with the reason why not"), at.tools),
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

func (s room) health(*http.Request, device.Device, api.None) (health, error) {
	return health{"ok", s.Now().UTC()}, nil
}

// ofProject names a project of those that run.
type ofProject struct {
	Project string `query:"project" about:"key of a project, as /api/status has it; left out: all that run"`
}

// ask asks the node of one project, or those of all that run. A node that does not answer is a problem among the answers of the others.
func ask[P, R any](r *http.Request, s room, key string, m api.Method[P, R], params P) (out []site.Answer[R], problems []string, err error) {
	if key != "" {
		p, err := s.project(key)
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

// project returns the project with a key. An empty key is the only project of the user.
func (s room) project(key string) (state.Paths, error) {
	if key == "" {
		list, _ := s.Projects()
		if len(list) == 1 {
			return list[0], nil
		}
		return state.Paths{}, failure.New(failure.Usage, fmt.Errorf("there are %d projects: say which one", len(list)),
			"project=KEY, with a key that /api/status has")
	}
	p, known := s.Project(key)
	if !known {
		return p, failure.New(failure.NotFound, fmt.Errorf("there is no project %q", text.OneLine(key)), "/api/status has the keys of all")
	}
	return p, nil
}
