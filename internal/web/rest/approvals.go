package rest

import (
	"errors"
	"net/http"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
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
	list, problems, err := ask(r, s, p.Project, api.ApprovalsList, api.None{})
	out := approvals{problems, []projectRequest{}}
	for _, a := range list {
		for _, q := range a.Reply {
			out.Requests = append(out.Requests, projectRequest{site.Key(a.Paths), q})
		}
	}
	return out, err
}

// named names a request.
type named struct {
	Project string `path:"project" about:"key of the project, as /api/status has it"`
	ID      string `path:"id" about:"id of the request"`
}

func (s room) approval(r *http.Request, _ device.Device, p named) (approval.Request, error) {
	at, err := s.project(p.Project)
	if err != nil {
		return approval.Request{}, err
	}
	return site.Ask(r.Context(), s.Site, at, api.ApprovalsShow, api.ApprovalParams{ID: p.ID})
}

// keeping keeps an approval.
type keeping struct {
	Project string `path:"project" about:"key of the project, as /api/status has it"`
	ID      string `path:"id" about:"id of the request, or its first letters"`
	How     how    `body:"json"`
}

// how is how an approval is kept.
type how struct {
	As     approval.As `json:"as,omitempty" about:"which calls the rule allows; left out: this call, or of a tool that reaches hosts those hosts"`
	Digest string      `json:"digest,omitempty" about:"of the request, as it was read; look needs none"`
	Reason string      `json:"reason,omitempty" about:"it stands above the rule"`
	Sure   bool        `json:"sure,omitzero" about:"a critical call is kept only with true: somebody has read what it would do"`
	Look   bool        `json:"look,omitzero" about:"nothing is written: the reply says what the rule would have answered"`
}

func (s room) keep(r *http.Request, d device.Device, p keeping) (api.KeepReply, error) {
	at, err := s.project(p.Project)
	if err != nil {
		return api.KeepReply{}, err
	}
	if p.How.Digest == "" && !p.How.Look {
		return api.KeepReply{}, failure.New(failure.Usage, errors.New("it is not said which request is kept"),
			"send the digest that the request had when it was read")
	}
	k, err := site.Ask(r.Context(), s.Site, at, api.ApprovalsKeep, api.KeepParams{ID: p.ID, As: p.How.As, Digest: p.How.Digest,
		Reason: p.How.Reason, Device: d.ID, Sure: p.How.Sure, Look: p.How.Look})
	if err == nil && !p.How.Look {
		s.Tell("kept by " + d.ID + ": " + text.OneLine(k.Request.ID) + " of " + site.Name(at))
	}
	return k, err
}

// answering is an answer to a request.
type answering struct {
	Project string `path:"project" about:"key of the project, as /api/status has it"`
	ID      string `path:"id" about:"id of the request"`
	Said    said   `body:"json"`
}

// said is what a person says about a request.
type said struct {
	Allow  *bool        `json:"allow" about:"whether the call may run; null is refused"`
	Digest string       `json:"digest" about:"of the request, as it was read"`
	For    approval.For `json:"for,omitempty" of:"once,session,rule,never" about:"how long it holds; left out: once"`
	As     approval.As  `json:"as,omitempty" about:"of a rule: which calls it allows"`
	Reason string       `json:"reason,omitempty" about:"the agent reads it if it is refused"`
	Text   string       `json:"text,omitempty" about:"an instruction for the agent; the answer to a question"`
	Sure   bool         `json:"sure,omitzero" about:"a critical call is allowed only with true: somebody has read what it would do"`
}

func (s room) answer(r *http.Request, d device.Device, p answering) (approval.Request, error) {
	at, err := s.project(p.Project)
	if err != nil {
		return approval.Request{}, err
	}
	q, err := site.Ask(r.Context(), s.Site, at, api.ApprovalsShow, api.ApprovalParams{ID: p.ID})
	if err != nil {
		return q, err
	}
	switch {
	case p.Said.Allow == nil:
		return q, failure.New(failure.Usage, errors.New("the answer says neither to allow nor to deny"), `"allow": true or false`)
	case p.Said.Digest == "":
		return q, failure.New(failure.Usage, errors.New("the answer does not say which request it answers"),
			"send the digest that the request had when it was read")
	}
	reply, err := site.Ask(r.Context(), s.Site, at, api.ApprovalsAnswer, api.Answer{ID: q.ID, Allow: p.Said.Allow, For: p.Said.For,
		As: p.Said.As, Reason: p.Said.Reason, Text: p.Said.Text, Digest: p.Said.Digest, Device: d.ID,
		Sure: p.Said.Sure})
	if err == nil {
		s.Tell("answered by " + d.ID + ": " + text.OneLine(q.ID) + " of " + site.Name(at))
	}
	return reply, err
}
