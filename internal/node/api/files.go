package api

import (
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/replay"
	"mycelium/internal/op"
	"mycelium/internal/policy"
)

// The methods of the files that govern a project. They name a file by its path in the project folder, with slashes.
var (
	FilesList    = op.Op[op.None, []GovernedFile]{Name: "files/list", Act: "look at the files that govern"}
	FilesRead    = op.Op[FilesParams, []FileText]{Name: "files/read", Act: "look at the files that govern"}
	FilesCheck   = op.Op[FilesEdit, FilesChecked]{Name: "files/check", Act: "edit what governs agents"}
	FilesSave    = op.Op[FilesEdit, FilesSaved]{Name: "files/save", Act: "edit what governs agents"}
	FilesHistory = op.Op[FilesParams, []FileVersion]{Name: "files/history", Act: "look at the files that govern"} // the newest first
	FilesReplay  = op.Op[FilesEdit, replay.Report]{Name: "files/replay", Act: "edit what governs agents"}         // of the last recorded calls
	Declared     = op.Op[op.None, DeclaredReply]{Name: "declared", Act: "look at the files that govern"}
	FilesVersion = op.Op[VersionParams, FileText]{Name: "files/version", Act: "look at the files that govern"}
)

// Kinds of a [GovernedFile].
const (
	FileMain    = "settings" // mycelium.yaml
	FileServers = "servers"  // another file of which the servers are read
	FileRules   = "rules"
	FileRole    = "role"
	FileSkill   = "skill" // a file of a skill
	FileOther   = "other"
)

// GovernedFile is a file of which the configuration of a project consists.
type GovernedFile struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Waits   string `json:"waits,omitempty"` // how it differs from what is accepted: new, changed, removed; empty: it is in force
	Shipped bool   `json:"shipped,omitzero"`
}

// FilesParams name files; empty: all.
type FilesParams struct {
	Names []string `json:"names,omitempty"`
}

// FileText is what a file says.
type FileText struct {
	Name     string `json:"name"`
	Text     string `json:"text"`
	Digest   string `json:"digest"` // of the text; empty: there is no such file
	Shipped  bool   `json:"shipped,omitzero"`
	Accepted string `json:"accepted,omitempty"` // what is in force of it, if it is something else
	Waits    bool   `json:"waits,omitzero"`     // it has lines that nobody has accepted
}

// FileEdit is what a file shall say.
type FileEdit struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Gone   bool   `json:"gone,omitzero"` // it shall go
	Digest string `json:"digest"`        // of what it said when the person began; empty: there was none
}

// FilesEdit is a change of files: all of them, or none.
type FilesEdit struct {
	Files   []FileEdit `json:"files"`
	Seen    bool       `json:"seen,omitzero"`    // the person has seen the lines that nobody has accepted, and accepts them too
	Device  string     `json:"device,omitempty"` // the browser in which the person does it; empty: a terminal
	Because string     `json:"because,omitempty"`
}

// FileProblem is a problem in a file, at a place.
type FileProblem struct {
	policy.Problem
	Column int  `json:"column,omitzero"` // in characters, from 1; 0: not known
	Blocks bool `json:"blocks,omitzero"` // while it is there, nothing is saved
}

// FilesChecked says what a change would do. Nothing is in the way of saving it if no problem blocks, and Stale and Unseen are empty.
type FilesChecked struct {
	Problems []FileProblem    `json:"problems"`
	Means    []meaning.Change `json:"means"`  // for those whom the files govern
	Diffs    []FileDiff       `json:"diffs"`  // of the files that would change
	Stale    []FileText       `json:"stale"`  // files that changed since the person began, as they are now
	Unseen   []FileText       `json:"unseen"` // files with lines that nobody has accepted, nor said to have seen
}

// Faulty reports whether one of the problems is in the way.
func (c FilesChecked) Faulty() bool {
	for _, p := range c.Problems {
		if p.Blocks {
			return true
		}
	}
	return false
}

// FileDiff is how a file changes, line by line, each with its mark (text.Diff).
type FileDiff struct {
	Name string `json:"name"`
	Diff string `json:"diff"`
}

// FilesSaved is the end of a save.
type FilesSaved struct {
	FilesChecked
	Saved  bool   `json:"saved"`
	Record string `json:"record,omitempty"` // the id of the record
	// NotInForce says why the node does not use what was saved; empty: it does.
	NotInForce string `json:"notInForce,omitempty"`
}

// VersionParams name a version of a file.
type VersionParams struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// FileVersion is what a file said at some time, as a person accepted it.
type FileVersion struct {
	Name    string    `json:"name"`
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	By      string    `json:"by,omitempty"`
	InForce bool      `json:"inForce,omitzero"`
	Gone    bool      `json:"gone,omitzero"` // the file was removed
	Kept    bool      `json:"kept"`          // its text can be restored
	Diff    string    `json:"diff"`          // against the version before
}

// DeclaredReply is what the files in force declare, with the place of each.
type DeclaredReply struct {
	Rules   []RuleAt   `json:"rules"` // in the order in which they are asked
	Skills  []SkillAt  `json:"skills"`
	Servers []ServerAt `json:"servers"`
}

// At is a place in a file, as shown. Name is that of a file of the project, which can be edited; else it is empty.
type At struct {
	File string `json:"file"`
	Line int    `json:"line,omitzero"`
	Name string `json:"name,omitempty"`
}

// RuleAt is a rule in force.
type RuleAt struct {
	At
	Rule     string   `json:"rule"`
	Action   string   `json:"action"`
	Tools    []string `json:"tools"`
	Roles    []string `json:"roles"`
	Reason   string   `json:"reason,omitempty"`
	Examples int      `json:"examples"` // calls by which the rule is tested
}

// SkillAt is a skill.
type SkillAt struct {
	At
	Skill       string   `json:"skill"`
	State       string   `json:"state"` // valid, invalid or pending
	Source      string   `json:"source"`
	Description string   `json:"description"`
	Roles       []string `json:"roles"` // to which it is open
	Tools       []string `json:"tools"`
	Problems    []string `json:"problems"`
}

// ServerAt is a server, with its state and what it offers.
type ServerAt struct {
	At
	Status   backend.Status `json:"status"`
	Runs     string         `json:"runs"` // the command, without its arguments, or the address
	Offers   []string       `json:"offers"`
	Disabled bool           `json:"disabled,omitzero"`
}
