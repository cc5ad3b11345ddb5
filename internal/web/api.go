package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

// writeJSON sends a value.
func writeJSON(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		http.Error(w, "this answer cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // a client that has gone reads nothing
}

// health says that the server runs. It tells nothing else, because it asks for no cookie.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, struct {
		Status    string    `json:"status"`
		Timestamp time.Time `json:"timestamp"`
	}{"ok", s.o.Now().UTC()})
}

// projectStatus is the state of one project.
type projectStatus struct {
	Project string           `json:"project"`
	Folder  string           `json:"folder"`
	Running bool             `json:"running"`
	Problem string           `json:"problem,omitempty"` // why its node does not answer
	Status  *api.StatusReply `json:"status,omitempty"`
}

func (s *Server) apiStatus(w http.ResponseWriter, r *http.Request, _ device.Device) {
	list, problem := askAll(r.Context(), s, api.Status, api.None{})
	out := struct {
		Version   string          `json:"version"`
		Timestamp time.Time       `json:"timestamp"`
		Problem   string          `json:"problem,omitempty"`
		Projects  []projectStatus `json:"projects"`
	}{s.o.Version, s.o.Now().UTC(), problem, []projectStatus{}}
	for _, a := range list {
		p := projectStatus{Project: keyOf(a.Paths), Folder: a.Project, Running: !errors.Is(a.Err, errNoNode)}
		switch {
		case a.Err == nil:
			p.Status = &a.Reply
		case p.Running:
			p.Problem = text.Describe(a.Err)
		}
		out.Projects = append(out.Projects, p)
	}
	writeJSON(w, out)
}

// projectRequest is a request that waits, with its project.
type projectRequest struct {
	Project string           `json:"project"`
	Request approval.Request `json:"request"`
}

func (s *Server) apiApprovals(w http.ResponseWriter, r *http.Request, _ device.Device) {
	list, problem := askAll(r.Context(), s, api.ApprovalsList, api.None{})
	out := struct {
		Problems []string         `json:"problems"`
		Requests []projectRequest `json:"requests"`
	}{[]string{}, []projectRequest{}}
	if problem != "" {
		out.Problems = append(out.Problems, problem)
	}
	for _, a := range list {
		if a.Err != nil && !errors.Is(a.Err, errNoNode) {
			out.Problems = append(out.Problems, keyOf(a.Paths)+": "+text.Describe(a.Err))
		}
		for _, q := range a.Reply {
			out.Requests = append(out.Requests, projectRequest{keyOf(a.Paths), q})
		}
	}
	writeJSON(w, out)
}
