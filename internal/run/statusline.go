package run

import (
	"context"
	"slices"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// statusLine returns the status line of an agent: what waits for a person in the project and which approval can be kept, then the role and
// the active skills of its own session, and how often people were asked lately. What a person can act on comes first, because the agent cuts
// the line at the width of its terminal. It begins no run and records nothing.
func (g *Registry) statusLine(ctx context.Context, s *session.Session, e harness.Event) (string, error) {
	var parts []string
	if g.Queue != nil {
		waiting, err := g.Queue.List(ctx)
		if err != nil {
			return "", err
		}
		waiting = slices.DeleteFunc(waiting, func(r approval.Request) bool { return r.Kind == approval.Stop }) // an agent at its prompt
		if n := len(waiting); n > 0 {
			parts = append(parts, text.Count(n, "call")+" "+text.Plural(n, "waits", "wait")+" for an answer")
		}
	}
	if line := g.offerOf(ctx, s, e); line != "" {
		parts = append(parts, line)
	}
	if g.Alone {
		parts = append(parts, "no daemon runs")
	}
	if g.Waiting != nil {
		if files := g.Waiting(); files != "" {
			parts = append(parts, "waiting for myc trust: "+files)
		}
	}
	if s == nil {
		var err error
		if s, err = g.sessionOf(ctx, e); err != nil {
			return "", err
		}
	}
	if s != nil {
		parts = append(parts, standing(control.Brief(s, nil, 0)))
		if g.Wall != nil {
			switch lost, none := g.Wall(s.ID); {
			case lost != "" && none != "":
				parts = append(parts, "no light wall, and for myc trust: "+text.OneLine(lost))
			case lost != "":
				parts = append(parts, "the light wall has a hole: "+text.OneLine(lost))
			case none != "":
				parts = append(parts, "no light wall")
			}
		}
	}
	if g.Rate != nil {
		if rate := g.Rate(ctx); rate != "" {
			parts = append(parts, rate)
		}
	}
	if mode := ownMode(g.all(), s, e); mode != "" {
		parts = append(parts, "own mode: "+text.OneLine(mode))
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
