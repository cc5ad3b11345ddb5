package main

import (
	"context"
	"os"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/skill"
)

// sessionReply is `myc session new --json`: the token is shown once.
type sessionReply struct {
	ID      string    `json:"id"`
	Token   string    `json:"token"`
	Role    string    `json:"role"`
	Skills  []string  `json:"skills"`
	Expires time.Time `json:"expires"`
}

func (n *node) sessionNew(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p sessionParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	conf := n.current().project.File.Session
	if p.Role == "" {
		p.Role = conf.DefaultRole
	}
	s, token, err := n.gate.Mint(ctx, gate.Spec{Name: p.Name, Role: p.Role, Roles: p.May, Skills: p.Skills, TTL: time.Duration(p.TTL)})
	if err != nil {
		return nil, &rpc.Error{Code: codeNoRole, Message: err.Error()}
	}
	scope := s.Scope()
	return sessionReply{ID: s.ID, Token: token, Role: scope.Principal.Role, Skills: scope.Skills, Expires: n.expiry(ctx, s.ID)}, nil
}

func (n *node) expiry(ctx context.Context, id string) time.Time {
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

func (n *node) sessionList(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	infos, err := n.gate.Sessions(ctx)
	if err != nil {
		return nil, internalError(err)
	}
	return infos, nil
}

// sessionChange switches the role or the active skills of a live session, as its operator.
func (n *node) sessionChange(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p changeParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	s, err := n.gate.Session(ctx, p.ID)
	if err != nil {
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "no live session has the id " + p.ID}
	}
	if p.Role != "" {
		if _, err := n.gate.SetRole(ctx, s, p.Role, gate.ByOperator); err != nil {
			return nil, &rpc.Error{Code: codeNoRole, Message: err.Error()}
		}
	}
	if len(p.Add)+len(p.Remove) > 0 {
		if err := n.gate.SetSkills(ctx, s, p.Add, p.Remove, gate.ByOperator); err != nil {
			return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error()}
		}
	}
	scope := s.Scope()
	return sessionReply{ID: s.ID, Role: scope.Principal.Role, Skills: scope.Skills, Expires: n.expiry(ctx, s.ID)}, nil
}

func (n *node) sessionEnd(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p changeParams
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
func (n *node) statusMethod(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	v := n.current()
	r := v.status()
	r.Daemon = daemonStatus{Running: true, PID: os.Getpid(), Addr: n.addr, Since: n.since}
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
		r.Problem = firstProblem(n.bad)
	}
	n.mu.Unlock()
	return r, nil
}

// status is what can be said without an owner: the view of the default role.
func (v *view) status() statusReply {
	role := v.project.File.Session.DefaultRole
	r := statusReply{Role: role, Backends: v.pool.Status()}
	r.Skills.Active = v.policy.StartSkills(role)
	count := v.skills.Count()
	r.Skills.Valid, r.Skills.Invalid, r.Skills.Pending = count[skill.Valid], count[skill.Invalid], count[skill.Pending]
	for _, p := range v.project.Problems { // a file that did not even parse is an invalid skill too
		if !p.Warning && isSkillFile(p.File) {
			r.Skills.Invalid++
		}
	}
	scope := policy.Scope{Principal: policy.Principal{Role: role}, Skills: r.Skills.Active}
	for _, d := range v.catalog.Definitions {
		if d.Item.Kind == policy.Tool && !d.Item.IsControl() {
			r.Tools.Catalog++
		}
	}
	r.Tools.Concealment = skill.Concealment(v.policy, scope, v.catalog.Definitions)
	for _, it := range v.policy.Items(scope, policy.Tool) {
		if !it.IsControl() {
			r.Tools.Visible++
		}
	}
	return r
}
