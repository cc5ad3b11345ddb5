package api

import (
	"mycelium/internal/op"
	"mycelium/internal/policy"
)

// Why explains how the policy in force decides a call.
var Why = op.Op[Question, Explained]{Name: "policy/why", Act: "look at what governs"}

// Question is a call to explain. Nothing is called.
type Question struct {
	Tool   string   `json:"tool"`
	Args   string   `json:"args"`             // a JSON object; empty: none
	Role   string   `json:"role"`             // empty: session.defaultRole
	Skills []string `json:"skills,omitempty"` // active ones; none with Start: those that are active at the start
	Start  bool     `json:"start"`
	Dir    string   `json:"dir,omitempty"` // where the call works, absolute; empty: the project
}

// Explained is a decision with where it comes from.
type Explained struct {
	policy.Explanation
	File      string       `json:"file,omitempty"` // of the rule that decided
	Line      int          `json:"line,omitzero"`
	Facts     policy.Facts `json:"facts"`
	Otherwise []Otherwise  `json:"otherwise"` // what would have to be different for another decision
}

// Otherwise is one difference by which the call would be decided in another way.
type Otherwise struct {
	If     string `json:"if"`
	Effect string `json:"effect"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}
