package book

import (
	"time"

	"mycelium/internal/swarm/proposal"
)

// Designing is the state of a feature for which two planners compete.
const Designing State = "planning"

// The ways in which a plan is chosen.
const (
	ByRubric = "rubric"
	ByModel  = "model"
	ByHand   = "hand"
)

// Unplanned is the winner where a feature is worked on without a plan.
const Unplanned = "none"

// Planning is the competition of two planners for a feature.
type Planning struct {
	Planners []*Planner `json:"planners,omitempty"` // A and B; empty: they have not begun
	Prompts  [2]string  `json:"prompts,omitzero"`   // what A and B are told besides
	Judge    string     `json:"judge"`              // rubric or model
	Winner   string     `json:"winner,omitempty"`   // A, B or none; empty: it is not decided
	By       string     `json:"by,omitempty"`       // rubric, model or hand
	Margin   int        `json:"margin,omitzero"`    // of the rubric, in points
	How      string     `json:"how,omitempty"`      // near equal, moderate or clear
	Reason   string     `json:"reason,omitempty"`
	Cost     float64    `json:"costUSD,omitzero"` // of the model that judged
	// Alone: only the planning was asked for, in a session that starts what is asked for; the worker is not started by it.
	Alone bool `json:"alone,omitzero"`
}

// Planned ends what was asked for where that was only the planning of a feature.
func (f *Feature) Planned() {
	if f.Planning.Alone {
		f.Planning.Alone, f.Wanted = false, time.Time{}
	}
}

// Planner is one of the two.
type Planner struct {
	Name    string             `json:"name"`  // A or B
	State   State              `json:"state"` // starting, running, completed, failed or stopped
	Reason  string             `json:"reason,omitempty"`
	Runs    int                `json:"runs"`           // how often it was started
	Tried   int                `json:"tried,omitzero"` // how often it came to nothing
	Base    string             `json:"base"`
	Folder  string             `json:"folder"`
	Window  string             `json:"window"`
	Began   time.Time          `json:"began"`
	Ended   time.Time          `json:"ended,omitzero"`
	Session string             `json:"session,omitempty"` // at the door
	Cost    float64            `json:"costUSD,omitzero"`
	Plan    *proposal.Proposal `json:"plan,omitempty"`
	Score   *proposal.Score    `json:"score,omitempty"`
}

// Live reports whether a planner may be at work.
func (p *Planner) Live() bool { return p.State == Starting || p.State == Running }

// Planner is the planner of a name; nil: there is none.
func (p *Planning) Planner(name string) *Planner {
	for _, one := range p.Planners {
		if one.Name == name {
			return one
		}
	}
	return nil
}

// Chosen is the plan that the worker of a feature is given; nil: there is none.
func (f *Feature) Chosen() *proposal.Proposal {
	if f.Planning == nil || f.Planning.Winner == "" {
		return nil
	}
	if p := f.Planning.Planner(f.Planning.Winner); p != nil {
		return p.Plan
	}
	return nil
}

// Spent is what the planning of a feature has cost, in US dollars.
func (p *Planning) Spent() (usd float64) {
	if p == nil {
		return 0
	}
	for _, one := range p.Planners {
		usd += one.Cost
	}
	return usd + p.Cost
}
