package engine

import (
	"cmp"
	"context"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/internal/agent"
	"mycelium/internal/approval"
)

// turns is how many questions to the model one turn may take; 0: no limit. Nobody watches a worker who could say "go on" to one that was
// cut by a limit that nobody set.
func (o *Options) turns() int {
	if o.Worker {
		return o.MaxTurns
	}
	return cmp.Or(o.MaxTurns, agent.DefaultMaxTurns)
}

// Options say what is to be opened.
type Options struct {
	Role     string
	Skills   []string
	Model    string
	Engine   string             // api or claude; empty: chosen
	Ask      approval.WhenAsked // what becomes of calls that need an approval
	Resume   string             // id of the conversation to go on with
	Continue bool               // go on with the last one
	Budget   float64            // USD; 0: none
	MaxTurns int                // 0: agent.DefaultMaxTurns, and none for a worker
	// Confirm asks the person whether a skill may be active that their text asked for, in the mode confirm of promotion; nil: nobody is asked.
	Confirm func(ctx context.Context, skill string) bool
	// Opened is told of the agent before it is used, and may put another engine in front of its own; nil: nobody is told.
	Opened   func(ctx context.Context, e *Agent) error
	Above    string // of a sub-agent: the id of the session that started it
	Anywhere bool   // the engine claude runs a myc that lies where an agent may write
	Wall     agents.Wall
	Tell     func(line string) // tells the person of the engine claude that no light wall stands; nil: standard error does
	// Messages returns what is said to the engine while it works; see agent.Options.
	Messages func() ([]agent.Message, error)
	Prove    bool // the engine claude proves first that the hook and the gateway are in place where it works
	// Within is, for the engine claude, the profile of the sandbox for commands that no rule has in one; empty: they run outside.
	Within string
	Dir    string // where it works: a linked worktree of the project; empty: the project's folder
	Writes string // the only file that it may change, absolute, links resolved; empty: what the policy says
	Worker bool   // it is a worker of the swarm, which starts no swarm itself
	// Toolless says that it has no tools: it answers from what it is told.
	Toolless bool
}
