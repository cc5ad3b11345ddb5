package node

import (
	"context"

	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/hook"
	"mycelium/internal/node/api"
	"mycelium/internal/rpc"
)

// hookMethod answers one event of an agent's hook. It blocks while somebody is asked.
func (n *Node) hookMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p hook.Params
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	var s *gate.Session
	if p.Token != "" {
		var err error
		if s, err = n.gate.Authenticate(ctx, p.Token); err != nil {
			return nil, &rpc.Error{Code: api.CodeDenied, Message: "the session of this agent has ended: its token is not one of a live session"}
		}
	}
	return n.runs.Event(ctx, s, p.Event), nil
}
