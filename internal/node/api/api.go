// Package api has what the owner of a project and its clients say to each other on the socket. Both ends are this program.
package api

import (
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/backend"
	"mycelium/internal/scan"
)

// codeDenied is our error code for a refused operator's act; codeNoRole for a role that does not exist or may not be taken.
const (
	CodeDenied = -32050
	CodeNoRole = -32051
)

// EnvironParams are variables that a client hands over, as NAME=VALUE.
type EnvironParams struct {
	Environ []string `json:"environ"`
}

// CodeSettled is our error code for an answer that comes too late, or is about something else.
const CodeSettled = -32052

// AnswerParams is an operator's answer.
type AnswerParams struct {
	ID     string       `json:"id"`
	Allow  bool         `json:"allow"`
	For    approval.For `json:"for,omitempty"`
	Reason string       `json:"reason,omitempty"`
	Text   string       `json:"text,omitempty"`   // an instruction for the agent; of a question, the answers
	Digest string       `json:"digest,omitempty"` // of what was shown; empty: whatever has this id
}

// SessionReply is `myc session new --json`: the token is shown once.
type SessionReply struct {
	ID      string    `json:"id"`
	Token   string    `json:"token"`
	Role    string    `json:"role"`
	Skills  []string  `json:"skills"`
	Expires time.Time `json:"expires"`
}

// What the owner of a project answers on its socket, and what commands ask. Both sides are this program.

// SessionParams describe a session: of a stdio client, of a new credential, or of one look or call.
type SessionParams struct {
	Token  string   `json:"token,omitempty"`
	Name   string   `json:"name,omitempty"`
	Role   string   `json:"role,omitempty"`
	May    []string `json:"may,omitempty"`
	Skills []string `json:"skills,omitempty"`
	TTL    int64    `json:"ttl,omitzero"` // nanoseconds
	Own    bool     `json:"own,omitzero"` // the session ends with this connection
}

// Attached answers a stdio client: with the token it finds its session again after the daemon's death.
type Attached struct {
	Session string `json:"session"`
	Token   string `json:"token"`
}

// ChangeParams change a live session.
type ChangeParams struct {
	ID     string   `json:"id"`
	Role   string   `json:"role,omitempty"`
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

type CallParams struct {
	SessionParams
	Tool string `json:"tool"`
	Args []byte `json:"args,omitempty"`
}

// CallResult is the answer of a call: a result or a JSON-RPC error, as the gateway would send it.
type CallResult struct {
	Result []byte `json:"result"`
	Error  []byte `json:"error"`
	Denied bool   `json:"denied,omitempty"`
}

// StatusReply is `myc status --json`.
type StatusReply struct {
	Daemon    DaemonStatus     `json:"daemon"`
	Role      string           `json:"role"`
	Skills    SkillsStatus     `json:"skills"`
	Tools     ToolsStatus      `json:"tools"`
	Backends  []backend.Status `json:"backends"`
	Sessions  int              `json:"sessions"`
	Approvals int              `json:"approvals"`
	Problem   string           `json:"problem,omitempty"` // why the files on disk are not in force
}

type DaemonStatus struct {
	Running bool      `json:"running"`
	PID     int       `json:"pid,omitempty"`
	Addr    string    `json:"addr,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

type SkillsStatus struct {
	Active  []string `json:"active"`
	Valid   int      `json:"valid"`
	Invalid int      `json:"invalid"`
	Pending int      `json:"pending"`
}

type ToolsStatus struct {
	Catalog     int     `json:"catalog"`
	Visible     int     `json:"visible"`
	Concealment float64 `json:"concealment"`
}

// TokenParams ask for a token, or take it away.
type TokenParams struct {
	Revoke bool `json:"revoke,omitzero"`
}

// LoginParams are what the owner is asked; each method uses some.
type LoginParams struct {
	Server   string `json:"server"`
	Redirect string `json:"redirect,omitempty"`
	Query    string `json:"query,omitempty"`
}

// LoginReply is the end of a login.
type LoginReply struct {
	Server  string `json:"server"`
	Tools   int    `json:"tools"`
	Problem string `json:"problem,omitempty"` // we are authorized, and the server is not usable all the same
}

type LogoutReply struct {
	Server string `json:"server"`
	Had    bool   `json:"had"`
}

// Info is what daemon.json says of a daemon, for people and for `stop -f`.
type Info struct {
	PID   int       `json:"pid"`
	Addr  string    `json:"addr,omitempty"`
	Since time.Time `json:"since"`
}

// ServedReply is a served skill as an operator sees it before approving it.
type ServedReply struct {
	Name     string         `json:"name"`
	Digest   string         `json:"digest"`
	Text     string         `json:"text"`
	Tools    []string       `json:"tools"`
	Problems []string       `json:"problems"`
	Findings []scan.Finding `json:"findings"`
}

type ServedParams struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty"`
}

// ToolRow is one tool in the shape of `myc tools --json`; Visible and Reason only with --all.
type ToolRow struct {
	Name        string   `json:"name"`
	Server      string   `json:"server"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Mutates     bool     `json:"mutates"`
	Skills      []string `json:"skills"`
	Visible     *bool    `json:"visible,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

type ToolsParams struct {
	SessionParams
	All bool `json:"all,omitempty"`
}

type HeldParams struct {
	Name string `json:"name"`
}

// HeldRow is one item in quarantine, between the owner and a command, and as `myc tools diff --json` prints it.
type HeldRow struct {
	Name     string   `json:"name"`
	Cause    string   `json:"cause"`
	Reason   string   `json:"reason"`
	Former   string   `json:"former,omitempty"`
	Digest   string   `json:"digest"`
	Accepted string   `json:"accepted,omitempty"` // the definition that was accepted, JSON text
	Offered  string   `json:"offered"`            // the present one
	Diff     []string `json:"diff"`

	Findings []scan.Finding `json:"findings"`
}

type AcceptParams struct {
	Items []backend.Acceptance `json:"items"`
}
