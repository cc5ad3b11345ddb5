package rest

import (
	"net/http"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// approvals are the requests that wait in projects.
type approvals struct {
	Problems []string         `json:"problems" about:"projects whose daemon does not answer, and why"`
	Requests []projectRequest `json:"requests"`
}

// projectRequest is a request with its project.
type projectRequest struct {
	Project string           `json:"project"`
	Request approval.Request `json:"request"`
}

func (s room) approvals(r *http.Request, _ device.Device, p ofProject) (approvals, error) {
	list, problems, err := ask(r, s, p.Project, api.ApprovalsList, op.None{})
	out := approvals{problems, []projectRequest{}}
	for _, a := range list {
		for _, q := range a.Reply {
			out.Requests = append(out.Requests, projectRequest{site.Key(a.Paths), q})
		}
	}
	return out, err
}

func (s room) answered(d device.Device, at state.Paths, q approval.Request) {
	s.Tell("answered by " + d.ID + ": " + text.OneLine(q.ID) + " of " + site.Name(at))
}

func (s room) kept(d device.Device, at state.Paths, k api.KeepReply) {
	if k.Rule != "" {
		s.Tell("kept by " + d.ID + ": " + text.OneLine(k.Request.ID) + " of " + site.Name(at))
	}
}
