package node

import (
	"context"
	"errors"

	"mycelium/internal/gate"
	"mycelium/internal/hook"
	"mycelium/internal/model"
	"mycelium/internal/node/failure"
)

// Runs are the coding agents at work on the project, as their hooks tell of them.
type Runs struct {
	host *hook.Host
	gate *gate.Gate
}

func newRuns(n *Node) *Runs {
	files := n.files
	host := hook.NewHost(hook.HostOptions{
		Gate: n.gate, Spec: func() gate.Spec { return files.View().AgentSession() }, Logger: n.logger, Ask: n.Approvals.queue.Ask,
		Mode: n.chats.Mode, Chat: n.chats.Reachable, Bell: n.chats.Ring,
		Reachable: func() bool { return n.Approvals.watchers.Load() > 0 || n.chats.Reachable() },
		Bounds: hook.Bounds{
			Budget: n.judge.budget, Tell: n.chats.Post,
			Denials: &hook.Denials{Limits: func() (int, int) { return files.Project().File.Agents.Denials.Limits() }},
		},
	})
	return &Runs{host: host, gate: n.gate}
}

// errSessionEnded is the failure of an agent whose token has no live session.
var errSessionEnded = errors.New("the session of this agent has ended: its token is not one of a live session")

// Event answers one event of an agent's hook. token names the agent's session; "" is the default one. It blocks while somebody is
// asked.
func (r *Runs) Event(ctx context.Context, token string, e hook.Event) (hook.Answer, error) {
	var s *gate.Session
	if token != "" {
		var err error
		if s, err = r.gate.Authenticate(ctx, token); err != nil {
			return hook.Answer{}, failure.New(failure.Denied, errSessionEnded, "")
		}
	}
	return r.host.Event(ctx, s, e), nil
}

// PriceOf returns what an agent's use of a model costs in US dollars, by the table of prices. known is false for a model that the
// table does not have.
func PriceOf(u hook.Usage) (usd float64, known bool) {
	return model.Cost(u.Model, model.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHour: u.CacheWriteHour, Searches: u.Searches, Fast: u.Fast,
	})
}
