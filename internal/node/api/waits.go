package api

import (
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/config/meaning"
	"mycelium/internal/policy/sign"
)

// WaitsParams say what is wanted besides the list of what waits.
type WaitsParams struct {
	Calls bool   `json:"calls,omitzero"` // what is known about each call that waits
	Ways  string `json:"ways,omitempty"` // the ID of a call: what it can be approved as
}

// WaitsReply is what waits for a person in a node besides calls, and what is known about calls that wait.
type WaitsReply struct {
	Held   []HeldItem           `json:"held,omitempty"`   // definitions in quarantine
	Skills []WaitingSkill       `json:"skills,omitempty"` // of servers
	Files  *WaitingFiles        `json:"files,omitempty"`  // nil: none waits
	Work   []WaitingWork        `json:"work,omitempty"`   // of the swarm
	About  map[string]AboutCall `json:"about,omitempty"`  // by the ID of the request; only if Calls was set
	Ways   []Way                `json:"ways,omitempty"`   // the narrowest first; only if Ways was set
	Faults []string             `json:"faults,omitempty"` // why something could not be looked at
}

// AboutCall is what is known about a call that waits, besides the request.
type AboutCall struct {
	File   string   `json:"file,omitempty"` // where the rule that asks stands; empty: it stands in no file
	Line   int      `json:"line,omitzero"`  // from 1; 0: unknown
	Task   string   `json:"task,omitempty"` // of the agent
	Before []Before `json:"before,omitempty"`
}

// Before is an answer to the like of a call: the same tool, and the same programs; the newest first.
type Before struct {
	Answer approval.Answer `json:"answer"`
	Same   bool            `json:"same"` // it was this very call
	Gist   string          `json:"gist"` // what was asked, on one line
}

// Way is one way to generalise an approval; see [approval.Candidates].
type Way struct {
	As     approval.As `json:"as"`
	Words  string      `json:"words"`            // what it allows, for people
	Except []string    `json:"except,omitempty"` // rules that refuse part of it all the same
	Past   string      `json:"past,omitempty"`   // what it would have allowed of the calls on record
}

// WaitingSkill is a skill that a server serves and nobody has approved as it is now.
type WaitingSkill struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Description string `json:"description"`
	Changed     bool   `json:"changed,omitzero"` // it was approved, and then its files changed
}

// WaitingFiles are the files that govern and differ from what a person has accepted.
type WaitingFiles struct {
	Digest   string           `json:"digest"`
	Changes  []FileChange     `json:"changes"`
	Narrows  bool             `json:"narrows"` // all of them only narrow
	Meaning  []meaning.Change `json:"meaning"`
	Problems []string         `json:"problems"`       // why they cannot be accepted: then they mean nothing yet
	First    bool             `json:"first,omitzero"` // nothing of the folder was ever accepted
	Since    time.Time        `json:"since,omitzero"`
}

// Demand is what putting the files in force demands.
func (w WaitingFiles) Demand() sign.Demand {
	if w.Narrows {
		return sign.Demand{}
	}
	return sign.OfFiles()
}

// FileChange is a file that differs from what is accepted.
type FileChange struct {
	File    string   `json:"file"`
	Yours   bool     `json:"yours"` // of the user's own files
	Kind    string   `json:"change"`
	Lines   []string `json:"lines"`
	Shipped bool     `json:"shipped,omitzero"` // by the program: the file is not in the folder
}

// AcceptFilesParams accept the files that have a digest.
type AcceptFilesParams struct {
	Digest string `json:"digest"`
	Device string `json:"device,omitempty"` // as in Answer
	Sure   bool   `json:"sure,omitzero"`    // as in Answer
}

// WaitingWork is a feature of the swarm that waits for a person, or, without a feature, a session that has ended and whose work can
// be taken.
type WaitingWork struct {
	Session     string     `json:"session"`
	Feature     string     `json:"feature,omitempty"`
	Description string     `json:"description"`
	Reason      string     `json:"reason"`
	Choices     []WorkWord `json:"choices"` // what can be decided, the first one the usual
	Mark        string     `json:"mark"`    // what was looked at: it binds the decision
	Since       time.Time  `json:"since,omitzero"`
	Files       []WorkFile `json:"files,omitempty"`
	Governing   []string   `json:"governing,omitempty"` // those of the files that govern agents
	Diff        string     `json:"diff,omitempty"`      // of the governing ones; of a session, of all
	Into        string     `json:"into,omitempty"`      // the branch that is moved
	Plans       []string   `json:"plans,omitempty"`     // the plans of two planners, as text
}

// Demand is what a decision demands.
func (w WaitingWork) Demand(word WorkWord) sign.Demand {
	switch word {
	case LetLand:
		return sign.OfLanding(w.Feature)
	case TakeOver:
		return sign.OfTaking(w.Into)
	case TryAgain, WithoutIt, LeaveOut:
	}
	return sign.Demand{}
}

// WorkFile is a file that work of the swarm changes.
type WorkFile struct {
	Path           string `json:"path"`
	Added, Deleted int    `json:",omitzero"`
}

// WorkWord is a decision about work of the swarm.
type WorkWord string

// The decisions.
const (
	LetLand   WorkWord = "land"     // let it land although it changes files that govern agents
	TryAgain  WorkWord = "retry"    // have it worked on anew
	TakeOver  WorkWord = "merge"    // move the person's branch to that of the session
	WithoutIt WorkWord = "none"     // go on without a plan
	LeaveOut  WorkWord = "keep-out" // do neither, and do not ask again before something has changed
)

// SwarmParams are a decision about work of the swarm, as it was shown.
type SwarmParams struct {
	Session string   `json:"session"`
	Feature string   `json:"feature,omitempty"`
	Word    WorkWord `json:"word"`
	Mark    string   `json:"mark"`
	Reason  string   `json:"reason,omitempty"`
	Device  string   `json:"device,omitempty"` // as in Answer
	Sure    bool     `json:"sure,omitzero"`    // as in Answer
}
