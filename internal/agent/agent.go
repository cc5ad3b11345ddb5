// Package agent is our own agent: a turn loop around a language model whose tools are those that the door shows now, and nothing else.
//
// An [Engine] carries on one conversation. What it does is told as it happens, as [Event] values: the chat draws them, a command with one
// question prints the last of them, a test compares them. The engine asks nobody: a call that waits for a person is told as [Waiting],
// and
// is answered through the queue of approvals, as every other call.
package agent

import (
	"context"
	"encoding/json"
	"time"

	"mycelium/internal/model"
)

// Engine carries on one conversation. It is used by one goroutine at a time.
type Engine interface {
	// Name is api or claude.
	Name() string
	// Say runs one turn: a person said something, and the agent works until it has answered. Each event is told in order, by the
	// goroutine of Say. When ctx ends, the turn is aborted: what was told stays in the conversation, and a tool call that had begun has
	// an outcome. An error is a turn that could not be ended; the conversation goes on with the next Say.
	Say(ctx context.Context, said string, tell func(Event)) (Turn, error)
	// ID is the id of the conversation, by which it can be resumed.
	ID() string
	// Close ends what the engine started.
	Close() error
}

// Turn is what one turn came to.
type Turn struct {
	Text  string   // the last answer
	Stop  string   // end_turn, max_turns, budget, refusal, limit, aborted
	Tools []string // names of the tools that were called, each once, in order of the first call
	Usage model.Usage
	Cost  float64 // USD, of this turn
	Turns int     // questions to the model
}

// Event is one thing that happened in a turn. Exactly one field is set.
type Event struct {
	Text     string   // a piece of the answer, as it streams
	Thinking string   // a piece of the model's thinking
	Call     *Call    // a tool is called
	Waiting  *Waiting // the call waits for a person
	Done     *Done    // a call has its outcome
	Skills   *Skills  // the skills or the role of the session changed
	Heard    string   // the id of a message that has reached the agent
	Limit    *Limit   // the provider answers later, or answers again
	Note     string   // something that a person should know: a retry, a compaction, a tool list that changed
	Spent    *Spent   // after each answer of the model
}

// Call is a tool call of the model, before the door has decided.
type Call struct {
	ID   string // of the model's tool_use block
	Tool string // server__name, or agent__Name
	Args json.RawMessage
}

// Waiting is a call that waits for an approval.
type Waiting struct {
	CallID  string
	Request string // id of the request, for `myc approvals`; empty: not known
	Why     string
	// Deadline is when it is denied if nobody has answered; zero: never.
	Deadline time.Time
}

// Done is the outcome of a call.
type Done struct {
	CallID string
	Effect string // allow, ask (a person or the model allowed it), deny; empty: not known to this engine
	Failed bool   // the tool answered with an error, or the call was denied
	Text   string // what the model is shown
}

// Skills is what a session has after a change.
type Skills struct {
	Role           string
	Active         []string
	Added, Removed []string
}

// Spent is what the conversation has used so far.
type Spent struct {
	Usage   model.Usage
	Cost    float64 // USD
	Context int     // tokens of the last question and its answer
	Parts   []Part  // where they are; nil: the engine does not know
}
