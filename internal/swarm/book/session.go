// Package book keeps the state of the swarm: a session, its features, the attempts at them, and what happened, in the database of the
// project. Each change is one transaction with at least one event.
package book

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// State is what a session, a feature or an attempt is at.
type State string

// Words is a state as people read it.
func (s State) Words() string { return strings.ReplaceAll(string(s), "_", " ") }

// The states of a session (requirements, C60).
const (
	Going     State = "in_progress"
	Reviewing State = "reviewing"
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
	Landed   string    `json:"landed,omitzero"`  // commit that landed last; empty: none has, or an older version did not record it
	Target   string    `json:"target,omitempty"` // full name of the person's branch at the beginning; empty: none was checked out
	Lacks    []string  `json:"lacks,omitempty"`  // what workers do not have as the person has it, a sentence each; see [ground.Repo.Lacks]
	Settings Settings  `json:"settings"`
	Began    time.Time `json:"began"`
	Changed  time.Time `json:"changed"`
	Ended    time.Time `json:"ended,omitzero"`
	GivenUp  bool      `json:"givenUp,omitzero"` // a person ends it: it is paused until its workers are gone
	Closed   bool      `json:"closed,omitzero"`  // its branch and worktrees are removed, so nothing can be added to it
	// Landing is a landing that has begun. It is recorded before the ref is moved, so that the next driver knows what to look for.
	Landing *Landing `json:"landing,omitempty"`

	Reviews []*Review `json:"reviews,omitempty"` // of each type the last one counts
	// Unsandboxed is when and by whom it was accepted that workers run outside of a sandbox; nil: they do not.
	Unsandboxed *Unsandboxed `json:"unsandboxed,omitempty"`
	// Limits are the accounts that wait for a limit of their provider, by the runner that uses them.
	Limits map[string]Limit `json:"limits,omitempty"`

	// KeptOut is what a person does not want to be asked about again, as it was then.
	KeptOut []KeptOut `json:"keptOut,omitempty"`

	Features []*Feature `json:"-"`
}

// Tip returns the commit that landed last, at which the branch of the session stands. It is empty if something has landed in a session
// that was begun by a version that did not record it.
func (s *Session) Tip() ground.Commit {
	switch {
	case s.Landed != "":
		return ground.Commit(s.Landed)
	case !slices.ContainsFunc(s.Features, func(f *Feature) bool { return f.Commit != "" || f.TakenBack != "" }):
		return ground.Commit(s.Base)
	}
	return ""
}

// CheckLanded refuses a commit at which the branch of the session stands, and which is not the one that landed last: something other than
// the merge queue has moved the branch.
func (s *Session) CheckLanded(c ground.Commit) error {
	tip := s.Tip()
	if c == tip || s.Landing != nil && string(c) == s.Landing.New {
		return nil
	}
	if tip == "" && slices.ContainsFunc(s.Features, func(f *Feature) bool { return string(c) == f.Commit || string(c) == f.TakenBack }) {
		return nil
	}
	branch := strings.TrimPrefix(s.Branch, "refs/heads/")
	hint := "git log " + branch + " shows what is on it; begin a new session for what is left"
	if tip != "" {
		hint = fmt.Sprintf("git log %.12s..%s shows what it has more; git update-ref refs/heads/%s %s puts it back", tip, branch, branch, tip)
	}
	return text.Hinted(fmt.Errorf("the branch %s is at %.12s, which has not landed there: something other than the merge queue has moved it",
		branch, c), hint)
}

// KeptOut is the decision of a person not to take the work of a session, or of a feature of it, as it was at a commit.
type KeptOut struct {
	Feature string    `json:"feature,omitempty"` // empty: the session
	Mark    string    `json:"mark"`              // the commit that was shown
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// Keeps returns the decision about the work of a feature, or of the session, at a commit; nil: there is none.
func (s *Session) Keeps(feature, mark string) *KeptOut {
	for i, k := range s.KeptOut {
		if k.Feature == feature && k.Mark == mark {
			return &s.KeptOut[i]
		}
	}
	return nil
}

// Unsandboxed is the act of a person who has workers run outside of a sandbox.
type Unsandboxed struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`     // user of this machine
	Record string    `json:"record"` // id in the log
}

// Limit is a limit of a provider, which concerns every worker of the account.
type Limit struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
}

// Limited returns the limit for which the workers of a runner wait at a time; nil: they wait for none.
func (s *Session) Limited(runner string, now time.Time) *Limit {
	if l, ok := s.Limits[runner]; ok && now.Before(l.Until) {
		return &l
	}
	return nil
}

// Settings are what a person chose for a session.
type Settings struct {
	Workers  int        `json:"workers"`          // at once
	Retries  int        `json:"retries"`          // how often a feature is tried again
	Budget   float64    `json:"budget,omitzero"`  // USD of all workers; 0: no limit
	Turns    int        `json:"turns,omitzero"`   // answers of the model that a worker may take; 0: no limit
	Runner   string     `json:"runner"`           // claude or command
	Command  []string   `json:"command,omitzero"` // of the runner command
	Role     string     `json:"role,omitempty"`   // of features that name none
	Model    string     `json:"model,omitempty"`
	Verify   [][]string `json:"verify,omitempty"`   // argument vectors that each landing must pass
	Added    [][]string `json:"added,omitempty"`    // those of Verify that agents have added
	Programs []string   `json:"programs,omitempty"` // that a person allows for verifications besides the known ones
	Strategy string     `json:"strategy,omitempty"`
	Planned  int        `json:"planThreshold,omitzero"` // complexity from which two planners compete for a feature; 0: for none
	Judge    string     `json:"planJudge,omitempty"`    // of their plans: rubric or model
	Bare     bool       `json:"bare,omitzero"`          // workers are given no documents and files of the project
	Reviews  Reviews    `json:"reviews,omitzero"`
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
	State   State     `json:"state"`
	Reason  string    `json:"reason,omitempty"` // why it failed or waits
	Governs bool      `json:"governs,omitzero"` // it waits because it changes files that govern agents
	Tried   int       `json:"tried,omitzero"`   // attempts that count against the limit
	Retry   time.Time `json:"retry,omitzero"`   // it is not tried again before
	Commit  string    `json:"commit,omitempty"` // that landed
	Proof   *Proof    `json:"proof,omitempty"`  // of what landed
	// Taking is set while landed work waits in the merge queue to be taken back, or to come again.
	Taking    *Taking `json:"taking,omitempty"`
	TakenBack string  `json:"takenBack,omitempty"` // the commit that took its work back
	// Accepted is the tip of an attempt that a person lets land although it changes files that govern agents.
	Accepted string           `json:"accepted,omitempty"`
	Planning *Planning        `json:"planning,omitempty"`
	Context  material.Context `json:"context,omitzero"` // what its worker is given to read besides
	Attempts []*Attempt       `json:"attempts,omitempty"`
	Wanted   time.Time        `json:"wanted,omitzero"`  // when it was asked to be started; what was asked for is started first
	Asked    string           `json:"asked,omitempty"`  // what its worker is asked besides
	Retries  *int             `json:"retries,omitzero"` // how often it is tried again; nil: as the session says
}

// Attempt is the work of one worker on a feature.
type Attempt struct {
	N      int    `json:"n"` // from 1
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
	Base   string `json:"base"`          // commit that it began from
	Tip    string `json:"tip,omitempty"` // its last commit, when it was queued
	// Criteria are what the feature itself must pass, as this attempt met them when its worker ended.
	Criteria  []Criterion `json:"criteria,omitempty"`
	Proof     *Proof      `json:"proof,omitempty"`    // of what it had made when its worker ended
	Folder    string      `json:"folder"`             // what its worker reads and writes
	Window    string      `json:"window"`             // its tmux session
	Asked     int         `json:"asked,omitzero"`     // how many workers went on with it after the first
	Sent      int         `json:"sent,omitzero"`      // how often it was sent back for what was missing
	Conflicts int         `json:"conflicts,omitzero"` // how often it was sent back because of a conflict
	Revived   int         `json:"revived,omitzero"`   // how often another worker went on with the conversation of one that died
	Limited   int         `json:"limited,omitzero"`   // how often a worker of it ended because of a limit of the provider
	Began     time.Time   `json:"began"`
	Ended     time.Time   `json:"ended,omitzero"`
	Session   string      `json:"session,omitempty"` // id of its session at the door
	Cost      float64     `json:"costUSD,omitzero"`
	Turns     int         `json:"turns,omitzero"`
	Result    string      `json:"result,omitempty"` // what it said at the end
	Claim     *Claim      `json:"claim,omitzero"`   // what was said of it while its worker was at work; nil: nothing
}

// Claim is what somebody says of an attempt whose worker is at work. It has the worker stopped, and the facts looked at.
type Claim struct {
	Failed bool   `json:"failed,omitzero"` // it is to be given up, whatever it made; else it is said to be done
	Why    string `json:"why,omitempty"`
}

// Criterion is one thing that must hold before a feature is complete.
type Criterion struct {
	What  string `json:"what"`
	Met   bool   `json:"met"`
	Says  string `json:"says,omitempty"` // why it is not met
	Warns bool   `json:"warns,omitzero"` // it is recorded, and keeps nothing from landing
	Later bool   `json:"later,omitzero"` // it is looked at on the branch, and not here
}

// Proof is what git knows of work (requirements, C91).
type Proof struct {
	Before      string        `json:"beforeHash"`
	After       string        `json:"afterHash"`
	Branch      bool          `json:"branch"`                // the branch of the attempt existed, and its worktree was on it
	Uncommitted []string      `json:"uncommitted,omitempty"` // files that were left so, at most [MostFiles]
	Changed     int           `json:"filesChanged"`
	Files       []ground.File `json:"files"` // of these, at most MostFiles
	Added       int           `json:"linesAdded"`
	Deleted     int           `json:"linesDeleted"`
	Diff        string        `json:"diffSHA256"` // of the difference as git prints it: the same change has the same one
}

// MostFiles is how many files a proof names.
const MostFiles = 500

// NewProof is the proof of a difference.
func NewProof(before, after ground.Commit, files []ground.File, sum string) *Proof {
	p := &Proof{Before: string(before), After: string(after), Changed: len(files), Files: files[:min(len(files), MostFiles)], Diff: sum}
	for _, f := range files {
		p.Added += f.Added
		p.Deleted += f.Deleted
	}
	return p
}

// Taking is the intent to take landed work back, or to have again what was taken back.
type Taking struct {
	Commit string `json:"commit"` // the candidate of the merge queue
	Of     string `json:"of"`     // the commit that it takes back
	Again  bool   `json:"again,omitzero"`
	From   State  `json:"from"` // what the feature was, and is again if it does not land
	Then   State  `json:"then"` // what the feature is once it has landed
}

// NameOf is the name of an attempt at a feature, by which its worktree and its folder are found.
func NameOf(feature string, n int) string { return feature + "-" + strconv.Itoa(n) }

// Live reports whether the worker of an attempt may be at work.
func (a *Attempt) Live() bool { return a.State == Starting || a.State == Running }

// Same reports whether two looks at an attempt saw the same worker of it.
func (a *Attempt) Same(b *Attempt) bool { return a.N == b.N && a.Asked == b.Asked }

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

// Plan is the plan of a session.
func (s *Session) Plan() plan.Plan {
	p := plan.Plan{Programs: s.Settings.Programs}
	for _, f := range s.Features {
		p.Features = append(p.Features, f.Feature)
	}
	return p
}

// Startable reports whether the features that a feature depends on have landed.
func (s *Session) Startable(f *Feature) bool {
	for _, id := range f.DependsOn {
		if d, err := s.Feature(id); err != nil || d.State != Completed {
			return false
		}
	}
	return true
}

// Busy reports whether something more becomes of a feature by itself.
func (s *Session) Busy() bool {
	return slices.ContainsFunc(s.Features, func(f *Feature) bool {
		return f.Live() != nil || f.State == Queued || f.State == Designing || f.State == Pending && s.Startable(f)
	})
}

// Has reports whether a feature is in a state.
func (s *Session) Has(state State) bool {
	return slices.ContainsFunc(s.Features, func(f *Feature) bool { return f.State == state })
}

// Open reports whether a session goes on.
func (s *Session) Open() bool { return s.State == Going || s.State == Reviewing || s.State == Paused }

// CheckClosed refuses a session that is closed: nothing more becomes of it.
func (s *Session) CheckClosed() error {
	if s.Closed {
		return text.Hinted(fmt.Errorf("session %s is closed: it was merged or given up", s.ID), "begin a new one: myc swarm init PLAN.md")
	}
	return nil
}

// Reopen has a session go on that has ended, or that is reviewed, because there is more to do. It is refused when the session is closed.
func (s *Session) Reopen() error {
	if err := s.CheckClosed(); err != nil {
		return err
	}
	if s.State != Paused {
		s.State, s.Ended = Going, time.Time{}
	}
	return nil
}

// Cost is what the workers and reviewers of a session cost, in US dollars.
func (s *Session) Cost() (usd float64) {
	for _, f := range s.Features {
		usd += f.Planning.Spent()
		for _, a := range f.Attempts {
			usd += a.Cost
		}
	}
	for _, r := range s.Reviews {
		usd += r.Cost
	}
	return usd
}

// The kinds of events of work that goes badly.
const (
	Stuck = "stuck" // a worker was told that it looks stuck
	Alert = "alert" // the confidence of a worker is below the threshold
	Red   = "red"   // a commit that would make the branch red did not land, and went back to its worker
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
