// Package book keeps the state of the swarm: a session, its features, the attempts at them, and what happened, in the database of the
// project. Each change is one transaction with at least one event.
package book

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/swarm/plan"
)

// State is what a session, a feature or an attempt is at.
type State string

// Words is a state as people read it.
func (s State) Words() string { return strings.ReplaceAll(string(s), "_", " ") }

// The states of a session (requirements, C60).
const (
	Going     State = "in_progress"
	Paused    State = "paused"
	Completed State = "completed"
	Faulty    State = "completed_with_failures"
)

// The states of a feature; in_progress and completed are as above. Between the two it is queued: its worker is done, and its work is
// brought onto the session's branch.
const (
	Pending State = "pending"
	Queued  State = "queued"
	Waiting State = "waiting" // for a person, and Reason says for what
	Failed  State = "failed"
)

// The states of an attempt; queued and failed are as above.
const (
	Starting State = "starting" // its worktree is made, and its worker started
	Running  State = "running"
	Landed   State = "landed"
	Stopped  State = "stopped" // by a person, or because its session was paused
)

// Session is one run of the swarm on a repository.
type Session struct {
	ID       string    `json:"id"`
	Task     string    `json:"task,omitzero"` // what the person asked for, where features were made of it
	State    State     `json:"state"`
	Branch   string    `json:"branch"`           // full name of the ref on which features land
	Base     string    `json:"base"`             // commit from which the branch began
	Target   string    `json:"target,omitempty"` // full name of the person's branch at the beginning; empty: none was checked out
	Settings Settings  `json:"settings"`
	Began    time.Time `json:"began"`
	Changed  time.Time `json:"changed"`
	Ended    time.Time `json:"ended,omitzero"`
	Closed   bool      `json:"closed,omitzero"` // its branch and worktrees are removed, so nothing can be added to it
	// Landing is a landing that has begun. It is recorded before the ref is moved, so that the next driver knows what to look for.
	Landing *Landing `json:"landing,omitempty"`

	Features []*Feature `json:"-"`
}

// Settings are what a person chose for a session.
type Settings struct {
	Workers  int        `json:"workers"`          // at once
	Retries  int        `json:"retries"`          // how often a feature is tried again
	Budget   float64    `json:"budget,omitzero"`  // USD of all workers; 0: no limit
	Runner   string     `json:"runner"`           // claude or command
	Command  []string   `json:"command,omitzero"` // of the runner command
	Role     string     `json:"role,omitempty"`   // of features that name none
	Model    string     `json:"model,omitempty"`
	Verify   [][]string `json:"verify,omitempty"` // argument vectors that each landing must pass
	Strategy string     `json:"strategy,omitempty"`
	// Manual: only features that were asked for are started; see Feature.Wanted.
	Manual bool `json:"manual,omitzero"`
	// Threshold is the confidence below which a worker is reported, 0 to 100; nil: that of package confidence.
	Threshold *int `json:"threshold,omitzero"`
	Quiet     bool `json:"quiet,omitzero"` // such a worker is not reported
}

// Landing is the intent to move the branch of a session.
type Landing struct {
	Old      string            `json:"old"`
	New      string            `json:"new"`
	Features []string          `json:"features"`
	Commits  map[string]string `json:"commits"` // what lands of each of them
}

// Feature is a unit of work with what came of it.
type Feature struct {
	plan.Feature
	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"` // why it failed or waits
	Tried  int       `json:"tried,omitzero"`   // attempts that count against the limit
	Retry  time.Time `json:"retry,omitzero"`   // it is not tried again before
	Commit string    `json:"commit,omitempty"` // that landed
	// Accepted is the tip of an attempt that a person lets land although it changes files that govern agents.
	Accepted string     `json:"accepted,omitempty"`
	Attempts []*Attempt `json:"attempts,omitempty"`
	Wanted   time.Time  `json:"wanted,omitzero"`  // when it was asked to be started; what was asked for is started first
	Asked    string     `json:"asked,omitempty"`  // what its worker is asked besides
	Retries  *int       `json:"retries,omitzero"` // how often it is tried again; nil: as the session says
}

// Attempt is the work of one worker on a feature.
type Attempt struct {
	N         int       `json:"n"` // from 1
	State     State     `json:"state"`
	Reason    string    `json:"reason,omitempty"`
	Base      string    `json:"base"`               // commit that it began from
	Tip       string    `json:"tip,omitempty"`      // its last commit, when it was queued
	Folder    string    `json:"folder"`             // what its worker reads and writes
	Window    string    `json:"window"`             // its tmux session
	Asked     int       `json:"asked,omitzero"`     // how many workers went on with it after the first
	Sent      int       `json:"sent,omitzero"`      // how often it was sent back for what was missing
	Conflicts int       `json:"conflicts,omitzero"` // how often it was sent back because of a conflict
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"`
	Session   string    `json:"session,omitempty"` // id of its session at the door
	Cost      float64   `json:"costUSD,omitzero"`
	Turns     int       `json:"turns,omitzero"`
	Result    string    `json:"result,omitempty"` // what it said at the end
	Claim     *Claim    `json:"claim,omitzero"`   // what was said of it while its worker was at work; nil: nothing
}

// Claim is what somebody says of an attempt whose worker is at work. It has the worker stopped, and the facts looked at.
type Claim struct {
	Failed bool   `json:"failed,omitzero"` // it is to be given up, whatever it made; else it is said to be done
	Why    string `json:"why,omitempty"`
}

// Live reports whether the worker of an attempt may be at work.
func (a *Attempt) Live() bool { return a.State == Starting || a.State == Running }

// Last is the last attempt; nil: there is none.
func (f *Feature) Last() *Attempt {
	if len(f.Attempts) == 0 {
		return nil
	}
	return f.Attempts[len(f.Attempts)-1]
}

// Live is the attempt whose worker may be at work; nil: there is none.
func (f *Feature) Live() *Attempt {
	if a := f.Last(); a != nil && a.Live() {
		return a
	}
	return nil
}

// Over reports whether nothing more becomes of a feature by itself.
func (f *Feature) Over() bool { return f.State == Completed || f.State == Failed || f.State == Waiting }

// Feature returns the feature with an id.
func (s *Session) Feature(id string) (*Feature, error) {
	if i := slices.IndexFunc(s.Features, func(f *Feature) bool { return f.ID == id }); i >= 0 {
		return s.Features[i], nil
	}
	return nil, fmt.Errorf("the session has no feature %q", id)
}

// Open reports whether a session goes on.
func (s *Session) Open() bool { return s.State == Going || s.State == Paused }

// Cost is what the workers of a session cost, in US dollars.
func (s *Session) Cost() (usd float64) {
	for _, f := range s.Features {
		for _, a := range f.Attempts {
			usd += a.Cost
		}
	}
	return usd
}

// The kinds of events of workers that get on badly.
const (
	Stuck = "stuck" // it was told that it looks stuck
	Alert = "alert" // its confidence is below the threshold
)

// Event is one thing that happened.
type Event struct {
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Feature string    `json:"feature,omitempty"`
	Attempt int       `json:"attempt,omitzero"`
	Text    string    `json:"text"`
}
