package approval

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// SessionState is the state of an agent's session.
type SessionState string

// The states of an agent's session.
const (
	Active            SessionState = "active"
	Idle              SessionState = "idle"
	PermissionPending SessionState = "permission_pending" // a call of it waits for an answer
	Halted            SessionState = "halted"             // a person or a limit has ended it: its next call is denied
)

// AgentSession is one session of a coding agent, as people see it.
type AgentSession struct {
	ID      string       `json:"id"` // the agent's own session id, or "pane:%3" for an agent that is known from tmux only
	Agent   string       `json:"agent"`
	Session string       `json:"session,omitempty"` // its session here, as in the log
	Label   string       `json:"label"`             // its tmux window, else its folder's name
	Dir     string       `json:"dir,omitempty"`
	Role    string       `json:"role,omitempty"`
	Pane    string       `json:"pane,omitempty"` // of tmux, %3
	Tmux    string       `json:"tmux,omitempty"` // its tmux server: the value of TMUX, or the path of a socket
	State   SessionState `json:"state"`
	Since   time.Time    `json:"since,omitzero"`
	Seen    time.Time    `json:"seen,omitzero"` // last sign of life
	Calls   int          `json:"calls,omitempty"`
	Cost    float64      `json:"cost,omitempty"` // US dollars; 0: unknown
	Last    string       `json:"last,omitempty"` // what it said or did last
}

// Mode is who answers the calls for which the policy says ask.
type Mode string

// The modes.
const (
	Auto   Mode = "auto"   // the queue if somebody watches it, else the agent's own terminal
	Local  Mode = "local"  // the agent's own terminal
	Remote Mode = "remote" // the queue
)

// Known reports whether it is one of the modes.
func (m Mode) Known() bool { return m == Auto || m == Local || m == Remote }

// Costs are the costs of models, in US dollars.
type Costs struct {
	Sessions float64 `json:"sessions"` // the sessions of agents that are known now
	Budget   float64 `json:"budget,omitempty"`
	Today    float64 `json:"today"` // Mycelium's own questions to models
	Month    float64 `json:"month"`
}

// Agents are the coding agents that people can ask about in a chat.
type Agents interface {
	Sessions(ctx context.Context) ([]AgentSession, error)
	// Past returns the sessions that ended and can be resumed, the newest first.
	Past(ctx context.Context) ([]AgentSession, error)
	// Summary says in a few lines what happened lately in a session.
	Summary(ctx context.Context, s AgentSession) (string, error)
}

// AgentControl is what people can do in a chat with an agent that runs.
type AgentControl interface {
	// Send types a text into the terminal of the session and presses Enter. An error says why the text did not arrive.
	Send(ctx context.Context, s AgentSession, text string) error
	// Abort ends the session: its next call is refused, and the agent is told to stop.
	Abort(ctx context.Context, s AgentSession) error
}

// Starter starts agents.
type Starter interface {
	// Places returns the folders that a name given by a person can mean, absolute. See [Places].
	Places(ctx context.Context, name string) ([]string, error)
	// Start starts an agent in a folder that Places returned, with a first prompt unless it is empty, and returns the name of its
	// window. resume names a past session to resume; "" is a new one.
	Start(ctx context.Context, dir, prompt, resume string) (label string, err error)
}

// Settings are the settings that people can see and change in a chat.
type Settings interface {
	Mode() Mode
	SetMode(ctx context.Context, m Mode) error
	Costs(ctx context.Context) (Costs, error)
}

// MergeSessions merges the sessions that reported themselves with those seen in tmux. A session in both takes the name of its tmux window.
// A session without a label is called by its folder.
func MergeSessions(known, seen []AgentSession) []AgentSession {
	out := slices.Clone(known)
	type place struct{ tmux, pane string }
	at := map[place]int{}
	for i, s := range out {
		if s.Pane == "" {
			continue
		}
		// A pane shows one agent at a time: it belongs to the session with the last sign of life.
		if j, twice := at[place{socketOf(s.Tmux), s.Pane}]; !twice || out[j].Seen.Before(s.Seen) {
			at[place{socketOf(s.Tmux), s.Pane}] = i
		}
	}
	for _, s := range seen {
		i, ok := at[place{socketOf(s.Tmux), s.Pane}]
		if !ok {
			out = append(out, s)
			continue
		}
		if s.Label != "" {
			out[i].Label = s.Label
		}
	}
	for i, s := range out {
		if s.Label == "" && s.Dir != "" {
			out[i].Label = filepath.Base(s.Dir)
		}
	}
	slices.SortStableFunc(out, func(a, b AgentSession) int { return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.ID, b.ID)) })
	return out
}

// socketOf returns the socket of a tmux server. TMUX has the form socket,pid,session.
func socketOf(tmux string) string {
	socket, _, _ := strings.Cut(tmux, ",")
	return socket
}
