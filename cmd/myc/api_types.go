package main

import (
	"time"

	"mycelium/internal/backend"
)

// What the owner of a project answers on its socket, and what commands ask. Both sides are this program.

// sessionParams describe a session: of a stdio client, of a new credential, or of one look or call.
type sessionParams struct {
	Token  string   `json:"token,omitempty"`
	Name   string   `json:"name,omitempty"`
	Role   string   `json:"role,omitempty"`
	May    []string `json:"may,omitempty"`
	Skills []string `json:"skills,omitempty"`
	TTL    int64    `json:"ttl,omitzero"` // nanoseconds
	Own    bool     `json:"own,omitzero"` // the session ends with this connection
}

// attached answers a stdio client: with the token it finds its session again after the daemon's death.
type attached struct {
	Session string `json:"session"`
	Token   string `json:"token"`
}

// changeParams change a live session.
type changeParams struct {
	ID     string   `json:"id"`
	Role   string   `json:"role,omitempty"`
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

type callParams struct {
	sessionParams
	Tool string `json:"tool"`
	Args []byte `json:"args,omitempty"`
}

// callResult is the answer of a call: a result or a JSON-RPC error, as the gateway would send it.
type callResult struct {
	Result []byte `json:"result"`
	Error  []byte `json:"error"`
	Denied bool   `json:"denied,omitempty"`
}

// statusReply is `myc status --json`.
type statusReply struct {
	Daemon    daemonStatus     `json:"daemon"`
	Role      string           `json:"role"`
	Skills    skillsStatus     `json:"skills"`
	Tools     toolsStatus      `json:"tools"`
	Backends  []backend.Status `json:"backends"`
	Sessions  int              `json:"sessions"`
	Approvals int              `json:"approvals"`
	Problem   string           `json:"problem,omitempty"` // why the files on disk are not in force
}

type daemonStatus struct {
	Running bool      `json:"running"`
	PID     int       `json:"pid,omitempty"`
	Addr    string    `json:"addr,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

type skillsStatus struct {
	Active  []string `json:"active"`
	Valid   int      `json:"valid"`
	Invalid int      `json:"invalid"`
	Pending int      `json:"pending"`
}

type toolsStatus struct {
	Catalog     int     `json:"catalog"`
	Visible     int     `json:"visible"`
	Concealment float64 `json:"concealment"`
}
