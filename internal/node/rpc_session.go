package node

import (
	"context"
	"os"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/rpc"
)

func (n *Node) sessionNew(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.SessionParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	conf := n.View().Project.File.Session
	if p.Role == "" {
		p.Role = conf.DefaultRole
	}
	s, token, err := n.gate.Mint(ctx, gate.Spec{Name: p.Name, Role: p.Role, Roles: p.May, Skills: p.Skills, TTL: time.Duration(p.TTL)})
	if err != nil {
		return nil, &rpc.Error{Code: api.CodeNoRole, Message: err.Error()}
	}
	scope := s.Scope()
	return api.SessionReply{ID: s.ID, Token: token, Role: scope.Principal.Role, Skills: scope.Skills, Expires: n.expiry(ctx, s.ID)}, nil
}

func (n *Node) expiry(ctx context.Context, id string) time.Time {
	infos, err := n.gate.Sessions(ctx)
	if err != nil {
		return time.Time{}
	}
	for _, i := range infos {
		if i.ID == id {
			return i.Expires
		}
	}
	return time.Time{}
}

func (n *Node) sessionList(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	infos, err := n.gate.Sessions(ctx)
	if err != nil {
		return nil, internalError(err)
	}
	return infos, nil
}

// sessionChange switches the role or the active skills of a live session, as its operator.
func (n *Node) sessionChange(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.ChangeParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	s, err := n.gate.Session(ctx, p.ID)
	if err != nil {
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "no live session has the id " + p.ID}
	}
	if p.Role != "" {
		if _, err := n.gate.SetRole(ctx, s, p.Role, gate.ByOperator); err != nil {
			return nil, &rpc.Error{Code: api.CodeNoRole, Message: err.Error()}
		}
	}
	if len(p.Add)+len(p.Remove) > 0 {
		if err := n.gate.SetSkills(ctx, s, p.Add, p.Remove, gate.ByOperator); err != nil {
			return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error()}
		}
	}
	scope := s.Scope()
	return api.SessionReply{ID: s.ID, Role: scope.Principal.Role, Skills: scope.Skills, Expires: n.expiry(ctx, s.ID)}, nil
}

func (n *Node) sessionEnd(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.ChangeParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	if _, err := n.gate.Session(ctx, p.ID); err != nil {
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "no live session has the id " + p.ID}
	}
	if err := n.gate.End(ctx, p.ID); err != nil {
		return nil, internalError(err)
	}
	return struct{}{}, nil
}

// statusMethod is the state of the owner, seen by the default role.
func (n *Node) statusMethod(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	v := n.View()
	r := v.Status()
	r.Daemon = api.DaemonStatus{Running: true, PID: os.Getpid(), Addr: n.addr, Since: n.since}
	r.Backends = n.pool.Status()
	infos, err := n.gate.Sessions(ctx)
	if err != nil {
		return nil, internalError(err)
	}
	r.Sessions = len(infos)
	if pending, err := n.asks.List(ctx); err == nil {
		r.Approvals = len(pending)
	}
	n.mu.Lock()
	if n.bad != nil {
		r.Problem = project.FirstProblem(n.bad)
	}
	n.mu.Unlock()
	return r, nil
}
