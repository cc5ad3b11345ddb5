package project

import (
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/web/served"
)

// statusShape returns the reply as `myc status --json` prints it: with every key, and null for a time that is not set.
func statusShape(r api.StatusReply, pages served.Note) any {
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	type owner struct {
		Running bool       `json:"running"`
		PID     int        `json:"pid"`
		Addr    string     `json:"addr"`
		Since   *time.Time `json:"since"`
	}
	type server struct {
		Name  string     `json:"name"`
		State string     `json:"state"`
		Tools int        `json:"tools"`
		Since *time.Time `json:"since"`
		Error string     `json:"error"`
		// Not promised by the reference:
		Hint     string     `json:"hint"`
		Breaker  string     `json:"breaker"`
		Retry    *time.Time `json:"retry"`
		Restarts int        `json:"restarts"`
		Active   int        `json:"active"`
		Waiting  int        `json:"waiting"`
		Refused  int        `json:"refused"`
		Log      string     `json:"log"`
	}
	out := struct {
		Daemon      owner             `json:"daemon"`
		Role        string            `json:"role"`
		Skills      api.SkillsStatus  `json:"skills"`
		Tools       api.ToolsStatus   `json:"tools"`
		Backends    []server          `json:"backends"`
		Sessions    int               `json:"sessions"`
		Asked       string            `json:"asked,omitempty"`
		Agents      []agentAtWork     `json:"agents,omitempty"`
		Approvals   int               `json:"approvals"`
		Cost        float64           `json:"cost"`
		Pending     []api.PendingFile `json:"pending"`
		Damage      []string          `json:"damage"`
		Database    string            `json:"database,omitempty"`
		State       string            `json:"state"`
		Problem     string            `json:"problem,omitempty"`
		Names       []string          `json:"names,omitempty"`
		Unworkable  []string          `json:"unworkable,omitempty"`
		Restart     []string          `json:"restart,omitempty"`
		Hooks       []string          `json:"hooks,omitempty"`
		Environs    []string          `json:"environs,omitempty"`
		Quarantined []string          `json:"quarantined,omitempty"`
		Pages       pagesShape        `json:"pages,omitzero"`
	}{owner{r.Daemon.Running, r.Daemon.PID, r.Daemon.Addr, moment(r.Daemon.Since)}, r.Role, r.Skills, r.Tools, nil, r.Sessions,
		r.Asked, agentsAtWork(r), r.Approvals, r.Cost, r.Pending, r.Damage, r.Database, r.State, r.Problem, r.Names, r.Unworkable, r.Restart, r.Hooks,
		r.Environs, r.Quarantined, pagesShape{pages.Base, pages.Phone, pages.Fingerprint, pages.Problem}}
	for _, b := range r.Backends {
		out.Backends = append(out.Backends, server{b.Name, b.State, b.Tools, moment(b.Since), b.Error,
			b.Hint, b.Breaker, moment(b.Retry), b.Restarts, b.Active, b.Waiting, b.Refused, b.Log})
	}
	return out
}

// pagesShape is where the pages for browsers are, or why they are not served.
type pagesShape struct {
	URL         string `json:"url,omitempty"`
	Phone       string `json:"phone,omitempty"`       // for other machines
	Fingerprint string `json:"fingerprint,omitempty"` // of the certificate: SHA-256
	Problem     string `json:"problem,omitempty"`
}
