package approval

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"mycelium/internal/policy/sign"
)

// SessionState is the state of an agent's session.
type SessionState string

// The states of an agent's session.
const (
	Active            SessionState = "active"
	Idle              SessionState = "idle"
	PermissionPending SessionState = "permission_pending" // a call of it waits for an answer
	Halted            SessionState = "halted"             // a person or a limit has ended it: its next call is denied
	Done              SessionState = "completed"          // it ended well
	Failed            SessionState = "errored"            // it ended with an error
)

// AgentSession is one session of a coding agent, as people see it.
type AgentSession struct {
	ID      string       `json:"id"` // the agent's own session id, or "pane:%3" for an agent that is known from tmux only
	Agent   string       `json:"agent"`
	Session string       `json:"session,omitempty"` // its session here, as in the log
	Label   string       `json:"label"`             // what people call it: one word that no other live session has
	Dir     string       `json:"dir,omitempty"`
	Start   string       `json:"start,omitempty"` // the folder in which it began
	Role    string       `json:"role,omitempty"`
	Pane    string       `json:"pane,omitempty"` // of tmux, %3
	Tmux    string       `json:"tmux,omitempty"` // its tmux server: the value of TMUX, or the path of a socket
	State   SessionState `json:"state"`
	Since   time.Time    `json:"since,omitzero"`
	Seen    time.Time    `json:"seen,omitzero"`  // last sign of life
	Ended   time.Time    `json:"ended,omitzero"` // when it told of its end
	Task    string       `json:"task,omitempty"` // its first prompt, shortened
	Turns   int          `json:"turns,omitempty"`
	Calls   int          `json:"calls,omitempty"`
	Denials int          `json:"denials,omitempty"` // calls that were denied
	Cost    float64      `json:"cost,omitempty"`    // US dollars; 0: unknown
	Tokens  int64        `json:"tokens,omitzero"`   // that its model read and wrote, with those of its cache; 0: unknown
	Last    string       `json:"last,omitempty"`    // the tool that it called last
	Result  string       `json:"result,omitempty"`  // what it said at the end of its last turn

	Transcript string `json:"transcript,omitempty"`
	Resumable  bool   `json:"-"` // of a past session: it can be resumed

	// Project is the name of the project, on a surface that shows several; the surface sets it. Empty: it shows one.
	Project string `json:"-"`
}

// TerminalPrefix begins the id of a question of an agent's own terminal.
const TerminalPrefix = "terminal:"

// Mode is who answers the calls for which the policy says ask.
type Mode string

// The modes.
const (
	// Auto is the queue if somebody watches it. Else it is a chat if nobody is at the machine, and the agent's own terminal if somebody is.
	// If that cannot be told, it is the chat, and without one the terminal.
	Auto   Mode = "auto"
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

	// Project is the name of the project, on a surface that shows several; the surface sets it. Empty: it shows one.
	Project string `json:"-"`
}

// Agents are the coding agents that people can ask about in a chat.
type Agents interface {
	Sessions(ctx context.Context) ([]AgentSession, error)
	// Past returns the sessions that are not at work, the newest first.
	Past(ctx context.Context) ([]AgentSession, error)
	// Summary says in a few lines what happened lately in a session.
	Summary(ctx context.Context, s AgentSession) (string, error)
}

// AgentControl is what people can do in a chat with an agent that runs.
type AgentControl interface {
	// Send types a text into the terminal of the session and presses Enter. If that is not possible now, it keeps the text, types it as
	// soon as it is, and returns why. An error says why the text does not arrive at all.
	Send(ctx context.Context, s AgentSession, text string) (kept string, err error)
	// Question returns what the agent's own terminal asks, by its id. ok is false if the question is over, or not known.
	Question(ctx context.Context, id string) (r Request, ok bool)
	// AnswerThere answers a question of the agent's own terminal by the keys of its dialog, and says what was chosen. The first answer wins.
	// An error says why nothing was chosen: a *sign.MissingError if an approval lacks the second sign that the request demands.
	AnswerThere(ctx context.Context, id string, a Answer, second sign.Sign) (did string, err error)
	// Abort ends the session: its next call is refused, and the agent is told to stop.
	Abort(ctx context.Context, s AgentSession) error
}

// Starter starts agents.
type Starter interface {
	// Places returns the folders that a name given by a person can mean, absolute. See [Places].
	Places(ctx context.Context, name string) ([]string, error)
	// Start starts an agent in a folder that Places returned, with a first prompt unless it is empty, and returns the name of its session.
	// resume is the id of a past session to resume; "" is a new one.
	Start(ctx context.Context, dir, prompt, resume string) (name string, err error)
}

// Settings are the settings that people can see and change in a chat.
type Settings interface {
	// Asked says the mode and what follows from it now, for people: "auto: nobody is at the machine, so the chat is asked".
	Asked() string
	SetMode(ctx context.Context, m Mode) error
	Costs(ctx context.Context) ([]Costs, error) // of each project
}

// MergeSessions adds the agents that were seen in tmux to the sessions that reported themselves, unless one of these has their pane. name
// names those that it adds.
func MergeSessions(known, seen []AgentSession, name func([]AgentSession)) []AgentSession {
	at := func(s AgentSession) [2]string { return [2]string{SocketOf(s.Tmux), s.Pane} }
	told := map[[2]string]bool{}
	for _, s := range known {
		told[at(s)] = told[at(s)] || s.Pane != ""
	}
	seen = slices.DeleteFunc(slices.Clone(seen), func(s AgentSession) bool { return told[at(s)] })
	name(seen)
	out := slices.Concat(known, seen)
	slices.SortStableFunc(out, func(a, b AgentSession) int { return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.ID, b.ID)) })
	return out
}

// SocketOf returns the socket of a tmux server. TMUX has the form socket,pid,session.
func SocketOf(tmux string) string {
	socket, _, _ := strings.Cut(tmux, ",")
	return socket
}
