// Package agents has the section agents: of mycelium.yaml, which says how far coding agents may go.
package agents

import (
	"fmt"
	"math"

	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
)

// Section is the agents: section. In every part of it, absent and 0 mean no bound unless it says otherwise.
type Section struct {
	Budget  Budget  `yaml:"budget" json:"budget,omitzero" about:"US dollars"`
	Denials Denials `yaml:"denials" json:"denials,omitzero" about:"how many calls in a row may be refused"`
	Turns   *int    `yaml:"turns" json:"turns,omitzero" about:"answers of the model in one session, without those of its subagents"`
}

// Budget bounds the cost of agents' models in US dollars, as far as their transcripts report it.
type Budget struct {
	Session *float64 `yaml:"session" json:"session,omitzero" about:"of one session over its life"`
	Total   *float64 `yaml:"total" json:"total,omitzero" about:"of all sessions of a day"`
	Warn    *float64 `yaml:"warn" json:"warn,omitzero" about:"share of either at which people are told; absent: 0.8"`
}

// Denials says what happens after many refusals in a row.
type Denials struct {
	Alert *int `yaml:"alert" json:"alert,omitzero" about:"after so many, the agent and people are told; absent: 5; 0: never"`
	End   *int `yaml:"end" json:"end,omitzero" about:"after so many the session ends; absent: 10; 0: never"`
}

// mostDenials is the largest number of refusals in a row. Larger values are mistakes.
const mostDenials = 1000

// Check reports values that are out of range.
func (s *Section) Check(bad source.Report) {
	for key, v := range map[string]*float64{"session": s.Budget.Session, "total": s.Budget.Total} {
		if v != nil && !(*v >= 0 && *v <= rules.MostOfABound) {
			bad("agents.budget."+key, fmt.Sprintf("agents.budget.%s is %v", key, *v), "write US dollars, such as 5.00; 0 is no bound")
		}
	}
	if v := s.Budget.Warn; v != nil && !(*v > 0 && *v <= 1) {
		bad("agents.budget.warn", fmt.Sprintf("agents.budget.warn is %v", *v), "write a share above 0 and up to 1, such as 0.8")
	}
	if v := s.Turns; v != nil && (*v < 0 || *v > rules.MostOfABound) {
		bad("agents.turns", fmt.Sprintf("agents.turns is %d", *v), "write how often the model may answer in a session, such as 50; 0 is no bound")
	}
	for key, v := range map[string]*int{"alert": s.Denials.Alert, "end": s.Denials.End} {
		if v != nil && (*v < 0 || *v > mostDenials) {
			bad("agents.denials."+key, fmt.Sprintf("agents.denials.%s is %d", key, *v), "write a number of refusals from 1 to 1000; 0 is never")
		}
	}
}

// Tighten joins the bounds of a rules file. The smaller counts. It returns the keys that have a new value.
func (s *Section) Tighten(f *rules.File) (keys []string) {
	if b := s.Budget.Session; f.Budget != 0 && (b == nil || *b == 0 || f.Budget < *b) {
		s.Budget.Session, keys = &f.Budget, append(keys, "agents.budget.session")
	}
	if t := s.Turns; f.Turns != 0 && (t == nil || *t == 0 || f.Turns < *t) {
		s.Turns, keys = &f.Turns, append(keys, "agents.turns")
	}
	return keys
}

// Limits returns the budgets with their defaults: US dollars, with 0 for no bound, and the share at which people are told.
func (b Budget) Limits() (session, total, warn float64) {
	return value(b.Session), value(b.Total), math.Max(value(b.Warn), 0)
}

// TurnLimit returns how often the model may answer in a session; 0 is no bound.
func (s Section) TurnLimit() int { return value(s.Turns) }

// Limits returns the numbers of refusals with their defaults.
func (d Denials) Limits() (alert, end int) {
	alert, end = 5, 10
	if d.Alert != nil {
		alert = *d.Alert
	}
	if d.End != nil {
		end = *d.End
	}
	return alert, end
}

// value is what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
