package node

import (
	"context"
	"errors"
	"os"

	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/rpc"
)

// hookMethod answers one event of an agent's hook. It blocks while somebody is asked.
func (n *Node) hookMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var r hook.Request
	if e := decode(params, &r); e != nil {
		return nil, e
	}
	return r.Answer(ctx, hook.Command{
		Decide: func(ctx context.Context, e harness.Event) (harness.Answer, error) {
			return n.decideEvent(ctx, r.Token, e)
		},
		Note: func(ctx context.Context, e harness.Event, why string) { NoteDenial(ctx, n.Loader, e, why) },
		Own: func(program string) bool {
			self, err := os.Executable()
			return err == nil && hook.SameProgram(self, program)
		},
	}), nil
}

// decideEvent decides an event of the session of a token; without a token it is one of the default principal's.
func (n *Node) decideEvent(ctx context.Context, token string, e harness.Event) (harness.Answer, error) {
	if token == "" {
		return n.runs.Event(ctx, nil, e), nil
	}
	s, err := n.gate.Authenticate(ctx, token)
	if err != nil {
		return harness.Answer{}, errors.New("the session of this agent has ended: its token is not one of a live session")
	}
	return n.runs.Event(ctx, s, e), nil
}
