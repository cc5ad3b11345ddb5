package run

import (
	"context"
	"fmt"
	"strings"

	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
)

// statusLine returns the status line of an agent: the role and the active skills of its own session, the files that wait for a person, and
// how many calls of the project wait for an answer. It begins no run and records nothing.
func (g *Registry) statusLine(ctx context.Context, s *session.Session, e harness.Event) (string, error) {
	var parts []string
	if s == nil {
		var err error
		if s, err = g.sessionOf(ctx, e); err != nil {
			return "", err
		}
	}
	if s != nil {
		parts = append(parts, standing(control.Brief(s, nil, 0)))
	}
	if g.Waiting != nil {
		if files := g.Waiting(); files != "" {
			parts = append(parts, "waiting for myc trust: "+files)
		}
	}
	if g.Queue != nil {
		waiting, err := g.Queue.List(ctx)
		if err != nil {
			return "", err
		}
		switch n := len(waiting); {
		case n == 1:
			parts = append(parts, "1 call waits for an answer")
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d calls wait for an answer", n))
		}
	}
	if g.Alone {
		parts = append(parts, "no daemon runs")
	}
	if parts == nil {
		return "", nil
	}
	return "mycelium: " + strings.Join(parts, " · "), nil
}

// sessionOf returns the session of a run whose hook brings no token, or nil if there is no such run. Where no daemon knows the runs, it is
// opened in this process only.
func (g *Registry) sessionOf(ctx context.Context, e harness.Event) (*session.Session, error) {
	g.mu.Lock()
	r := g.runs[key{agent: e.Agent, id: e.Session}]
	g.mu.Unlock()
	if r == nil && g.Alone {
		var err error
		if r, err = g.find(ctx, nil, e); err != nil {
			return nil, err
		}
	}
	if r == nil {
		return nil, nil //nolint:nilnil // an agent whose hooks have not told of it
	}
	return r.gateSession(), nil
}

// standing names the role and the active skills of a session, as in developer [common, code-modifier].
func standing(b control.Briefing) string {
	if b.Role == "" {
		return b.Header
	}
	return b.Role + " " + bracketed(b.Active)
}

func bracketed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
