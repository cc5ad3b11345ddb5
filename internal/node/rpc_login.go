package node

import (
	"context"

	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/rpc"
)

// loginBegin prepares an authorization by a person.
func (n *Node) loginBegin(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.LoginParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	l, err := n.pool.BeginLogin(ctx, p.Server, p.Redirect)
	if err != nil {
		return nil, internalError(err)
	}
	return l, nil
}

// loginEnd takes the browser's return, and learns what the server offers to whom it knows now.
func (n *Node) loginEnd(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.LoginParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	if err := n.pool.EndLogin(ctx, p.Server, p.Query); err != nil {
		return nil, internalError(err)
	}
	r := api.LoginReply{Server: p.Server}
	if err := n.pool.Learn(ctx, p.Server); err != nil {
		r.Problem = err.Error()
	}
	n.recompile()
	for _, s := range n.pool.Status() {
		if s.Name == p.Server {
			r.Tools = s.Tools
		}
	}
	return r, nil
}

// loginForget drops the tokens of a server.
func (n *Node) loginForget(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.LoginParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	had, err := n.pool.Logout(ctx, p.Server)
	if err != nil {
		return nil, internalError(err)
	}
	return api.LogoutReply{Server: p.Server, Had: had}, nil
}
