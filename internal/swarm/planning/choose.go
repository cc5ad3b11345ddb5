package planning

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/proposal"
	"mycelium/internal/text"
)

// Ask asks a model, without any tools, for an answer that fits a JSON Schema. It is asked once more if the first answer does not fit.
type Ask func(ctx context.Context, schema, said string) (answer jsontext.Value, usd float64, err error)

// Competition is how two planners are to compete for a feature.
type Competition struct {
	Force   bool      // also where the feature is not as complex as the threshold
	Prompts [2]string // what planners A and B are told besides
	Judge   string    // rubric or model; empty: that of the session
}

// maxPrompt bounds what a planner is told besides, in bytes.
const maxPrompt = 4000

// Compete has two planners compete for a feature before its worker begins (row C23). What was planned before is void. In a session that
// starts only what is asked for, the planners are what is asked for, and the worker is not. by is who wants it.
func Compete(s *book.Session, feature string, c Competition, by string) (book.Event, error) {
	f, err := open(s, feature)
	if err != nil {
		return book.Event{}, err
	}
	threshold := s.Settings.Planned
	if threshold == 0 {
		threshold = plan.Threshold
	}
	if score := plan.Score(f.Feature).Total; score < threshold && !c.Force {
		return book.Event{}, text.Hinted(fmt.Errorf("feature %s is not complex: %d of 100, and two planners compete from %d", feature,
			score, threshold),
			"--force, or forceCompetitive of the tool, has them compete all the same")
	}
	for _, p := range c.Prompts {
		if len(p) > maxPrompt {
			return book.Event{}, fmt.Errorf("a prompt has %d bytes, and %d is the limit", len(p), maxPrompt)
		}
	}
	if c.Judge != "" && c.Judge != book.ByRubric && c.Judge != book.ByModel {
		return book.Event{}, fmt.Errorf("the judge %q is neither rubric nor model", text.TruncateRunes(c.Judge, 64))
	}
	anew := &book.Planning{Prompts: c.Prompts, Judge: c.Judge}
	if f.Planning != nil {
		for _, p := range f.Planning.Planners { // none begins in the folder of one before it, and what they cost was spent
			anew.Planners = append(anew.Planners, &book.Planner{Name: p.Name, Runs: p.Runs, Cost: p.Cost})
		}
		anew.Cost = f.Planning.Cost
	}
	f.Planning = anew
	f.State, f.Reason = book.Pending, ""
	if s.Settings.Manual && f.Wanted.IsZero() {
		f.Wanted, anew.Alone = time.Now(), true
	}
	return book.Event{Kind: "plan", Feature: feature, Text: by + " has two planners compete for it"}, nil
}

// Choose takes the plan of a planner, or none, for a feature (row C24 by hand). It is given to the next worker. by is who chooses.
func Choose(s *book.Session, feature, winner, reason, by string) (book.Event, error) {
	f, err := open(s, feature)
	if err != nil {
		return book.Event{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return book.Event{}, text.Hinted(errors.New("a plan is chosen for a reason"),
			"say it with --reason, or selectionReason of the tool: it is kept with the choice")
	}
	if f.Planning == nil {
		return book.Event{}, text.Hinted(fmt.Errorf("feature %s has no plans", feature),
			"myc swarm plan compete "+feature+", or the tool start_competitive_planning, has two made")
	}
	switch p := f.Planning.Planner(winner); {
	case winner == book.Unplanned:
	case winner != proposal.A && winner != proposal.B:
		return book.Event{}, fmt.Errorf("%q is not one of A, B, none", text.TruncateRunes(winner, 64))
	case p == nil || p.Plan == nil:
		return book.Event{}, text.Hinted(fmt.Errorf("planner %s has no plan for %s", winner, feature),
			"myc swarm plan show "+feature+", or the tool evaluate_plans, says why")
	}
	f.Planning.Winner, f.Planning.By, f.Planning.Reason = winner, book.ByHand, text.Truncate(reason, 2000)
	f.Planned()
	if f.State == book.Waiting {
		f.State, f.Reason = book.Pending, ""
	}
	return book.Event{Kind: "plan", Feature: feature, Text: "plan " + winner + " is chosen by " + by + ": " + reason}, nil
}

// SetRoute says who may work on a feature, and beside whom (row C35). What would not be obeyed is refused. by is who says it.
func SetRoute(s *book.Session, feature string, r plan.Route, rights Rights, by string) (book.Event, error) {
	f, err := open(s, feature)
	if err != nil {
		return book.Event{}, err
	}
	p, err := s.Plan().Route(feature, r)
	if err != nil {
		return book.Event{}, err
	}
	routed, _ := p.Feature(feature)
	if err := CheckRoute(routed, s.Settings, rights); err != nil {
		return book.Event{}, err
	}
	f.Route = r
	b, err := json.Marshal(r, json.Deterministic(true))
	return book.Event{Kind: "plan", Feature: feature, Text: by + " gave it the route " + string(b)}, err
}

// SetContext gives a feature something to be read by its worker (row C33): beside what it has, or in its place. by is who gives it, and
// stands where a text does not name its source.
func SetContext(s *book.Session, feature string, c material.Context, merge bool, by string) (book.Event, error) {
	f, err := open(s, feature)
	if err != nil {
		return book.Event{}, err
	}
	c = c.From(by)
	if merge {
		c = f.Context.With(c)
	}
	if err := c.Check(); err != nil {
		return book.Event{}, err
	}
	f.Context = c
	return book.Event{Kind: "plan", Feature: feature, Text: fmt.Sprintf("%s gives its worker %s and %s", by,
		text.Count(len(c.Documentation), "document"), text.Count(len(c.Prepared), "prepared text"))}, nil
}

// open is a feature that a worker has not taken or finished, and whose plan can be changed.
func open(s *book.Session, feature string) (*book.Feature, error) {
	f, err := s.Feature(feature)
	switch {
	case err != nil:
		return nil, err
	case s.Closed:
		return nil, text.Hinted(fmt.Errorf("session %s is closed", s.ID), "begin a new one: myc swarm init PLAN.md")
	case f.Live() != nil || f.State == book.Designing:
		return nil, text.Hinted(fmt.Errorf("a worker or a planner is at work on %s", feature), "stop it first: myc swarm pause")
	case f.State == book.Completed || f.State == book.Queued:
		return nil, fmt.Errorf("the work on %s is done", feature)
	}
	return f, nil
}
