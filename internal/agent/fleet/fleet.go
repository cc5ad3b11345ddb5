// Package fleet runs several agents on the tasks of a person: one, all at once, or one after the other, each with the result of the one
// before it.
package fleet

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
	"mycelium/internal/agent/structured"
	"mycelium/internal/gate/guard"
	"mycelium/internal/text"
)

// The modes.
const (
	Single   = "single"
	Parallel = "parallel" // all at once
	Pipeline = "pipeline" // one after the other; the first that is not completed is the last
)

// The defaults of limits (requirements, E16). Costs are in US dollars.
const (
	DefaultAgents = 5
	DefaultBudget = 5.00  // of an agent
	DefaultTotal  = 20.00 // of a run
)

// The states of an agent (requirements, E18).
const (
	Running   = "running"
	Completed = "completed"
	Errored   = "errored"
	Aborted   = "aborted"
	NotRun    = "not run" // an agent before it in the pipeline was not completed, or the budget of the run was spent
)

// maxTask is how much of its task an agent's state has, in cells (requirements, E18).
const maxTask = 100

// Agent is the state of an agent.
type Agent struct {
	ID      string         `json:"id,omitempty"` // of its conversation, by which it is resumed
	Task    string         `json:"task"`         // the beginning of it
	State   string         `json:"state"`
	Session string         `json:"sessionId,omitempty"`
	Turns   int            `json:"turns"` // questions to the model
	Cost    float64        `json:"costUSD"`
	Denials int            `json:"denials"`
	InARow  int            `json:"consecutiveDenials"`
	Result  jsontext.Value `json:"result"` // a string; with a schema, the value; null: none
	Error   string         `json:"error,omitempty"`
}

// Opened is an agent that was opened for a task.
type Opened struct {
	agent.Engine
	Session string // id
}

// Run is a run of agents.
type Run struct {
	Mode   string
	Tasks  []string
	Total  float64 // USD that all agents may cost; 0: no limit
	Each   float64 // USD that one may cost; 0: no limit
	Schema *structured.Schema
	// Open opens the agent of a task, which may cost so much; 0: no limit.
	Open func(ctx context.Context, n int, budget float64) (Opened, error)
	// Tell is told of each event of an agent, and of each change of its state, with the zero event. It is called by one goroutine at a time.
	Tell func(n int, state Agent, e agent.Event)

	mu     sync.Mutex
	agents []Agent
	cost   float64
	stop   context.CancelFunc
	spent  bool // the budget of the run
}

// Do runs the agents, and returns their states in the order of the tasks. When ctx ends, those that run are aborted.
func (r *Run) Do(ctx context.Context) []Agent {
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	for _, task := range r.Tasks {
		r.agents = append(r.agents, Agent{Task: text.Cell(task, maxTask), State: NotRun, Result: jsontext.Value("null")})
	}
	if r.Mode == Parallel {
		var all sync.WaitGroup
		for n, task := range r.Tasks {
			all.Go(func() { r.one(ctx, n, task) })
		}
		all.Wait()
		return r.agents
	}
	before := jsontext.Value(nil)
	for n, task := range r.Tasks {
		if before != nil {
			task = handed(before, task)
		}
		if ctx.Err() != nil || !r.one(ctx, n, task) {
			break
		}
		before = r.agents[n].Result
	}
	return r.agents
}

// handed is a task with the result of the agent before, which is data.
func handed(before jsontext.Value, task string) string {
	return guard.Spotlight("the agent before you, as JSON", string(before)) + "\n\n" + task
}

// one runs one agent, and reports whether it was completed.
func (r *Run) one(ctx context.Context, n int, task string) bool {
	budget, ok := r.begin(n)
	if !ok {
		return false
	}
	e, err := r.Open(ctx, n, budget)
	if err != nil {
		r.change(n, func(a *Agent) { a.end(ctx, agent.Turn{}, err) })
		return false
	}
	r.change(n, func(a *Agent) { a.ID, a.Session = e.ID(), e.Session })
	before := 0.0
	tell := func(ev agent.Event) { before = r.take(n, before, ev) }
	var turn agent.Turn
	var value jsontext.Value
	if r.Schema != nil {
		turn, value, err = r.Schema.Say(ctx, e, task, tell)
	} else {
		turn, err = e.Say(ctx, task, tell)
	}
	if closing := e.Close(); err == nil {
		err = closing
	}
	r.change(n, func(a *Agent) {
		a.end(ctx, turn, err)
		switch {
		case a.State != Completed && r.spent && turn.Stop == agent.StopAborted:
			a.Error = spentAll
		case a.State == Completed && value != nil:
			a.Result = value
		}
		r.cost += turn.Cost - a.Cost
		a.Turns, a.Cost = turn.Turns, turn.Cost
	})
	return r.agents[n].State == Completed
}

// spentAll is why an agent ended, or did not begin.
const spentAll = "the budget of the run is spent"

// begin lets an agent run, unless the agents have cost what the run may, and says what it may cost; 0: there is no limit.
func (r *Run) begin(n int) (budget float64, ok bool) {
	r.change(n, func(a *Agent) {
		left := r.Total - r.cost
		if r.Total > 0 && left <= 0 {
			a.Error = spentAll
			return
		}
		a.State, budget, ok = Running, r.Each, true
		if r.Total > 0 && (r.Each == 0 || left < r.Each) {
			budget = left
		}
	})
	return budget, ok
}

// take counts an event of an agent. When the run has cost what it may, all its agents end. before is what the agent's conversation had cost
// at the event before, and the result is what it has now.
func (r *Run) take(n int, before float64, e agent.Event) float64 {
	r.change(n, func(a *Agent) {
		switch {
		case e.Spent != nil:
			a.Turns++
			a.Cost += e.Spent.Cost - before
			r.cost += e.Spent.Cost - before
			before = e.Spent.Cost
			if r.Total > 0 && r.cost >= r.Total && !r.spent && r.Mode == Parallel {
				r.spent = true
				r.stop()
			}
		case e.Done != nil && e.Done.Effect == "deny":
			a.Denials++
			a.InARow++
		case e.Done != nil:
			a.InARow = 0
		}
		if r.Tell != nil {
			r.Tell(n, *a, e)
		}
	})
	return before
}

// change changes the state of an agent, and tells of it.
func (r *Run) change(n int, f func(*Agent)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.agents[n].State
	f(&r.agents[n])
	if r.Tell != nil && r.agents[n].State != was {
		r.Tell(n, r.agents[n], agent.Event{})
	}
}

// end takes the end of an agent's turn.
func (a *Agent) end(ctx context.Context, t agent.Turn, err error) {
	if raw, bad := json.Marshal(t.Text); bad == nil && t.Text != "" {
		a.Result = raw
	}
	switch {
	case t.Stop == agent.StopAborted || err != nil && ctx.Err() != nil:
		a.State, a.Error = Aborted, "it was aborted"
	case err != nil:
		a.State, a.Error = Errored, err.Error()
	case t.Stop == agent.StopBudget:
		a.State, a.Error = Errored, "its budget is spent"
	case t.Stop == agent.StopTurns:
		a.State, a.Error = Errored, fmt.Sprintf("it asked the model %s", text.Count(t.Turns, "time"))
	case t.Stop == agent.StopDenials:
		a.State, a.Error = Errored, fmt.Sprintf("%d calls in a row were refused", a.InARow)
	case t.Stop == agent.StopRefusal:
		a.State, a.Error = Errored, "the model refused to answer"
	default:
		a.State = Completed
	}
}

// Cost is what the agents cost in all, in US dollars.
func Cost(agents []Agent) (usd float64) {
	for _, a := range agents {
		usd += a.Cost
	}
	return usd
}
