package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

type method = func(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error)

func (n *node) methods() map[string]method {
	return map[string]method{
		"status":           n.statusMethod,
		"stop":             n.operator("stop the daemon", n.stopMethod),
		"tools":            n.toolsMethod,
		"call":             n.callMethod,
		"held":             n.operator("look at the quarantine", n.heldMethod),
		"accept":           n.operator("accept a definition", n.acceptMethod),
		"skill/served":     n.operator("look at a server's skill", n.servedMethod),
		"skill/approve":    n.operator("approve a skill", n.approveMethod),
		"reload":           n.reloadMethod,
		"learn":            n.learnMethod,
		"login/begin":      n.operator("log in to a server", n.loginBegin),
		"login/end":        n.operator("log in to a server", n.loginEnd),
		"login/forget":     n.operator("log out of a server", n.loginForget),
		"environ/names":    n.environNames,
		"environ/set":      n.environSet,
		"approvals/list":   n.operator("look at approvals", n.approvalsList),
		"approvals/show":   n.operator("look at approvals", n.approvalsShow),
		"approvals/token":  n.operator("make the operator's token", n.approvalsToken),
		"approvals/answer": n.operator("answer an approval", n.approvalsAnswer),
		"session/new":      n.operator("mint a session", n.sessionNew),
		"session/list":     n.operator("list sessions", n.sessionList),
		"session/change":   n.operator("change a session", n.sessionChange),
		"session/end":      n.operator("end a session", n.sessionEnd),
		"hook":             n.hookMethod,
	}
}

func (n *node) streams() map[string]daemon.Stream {
	return map[string]daemon.Stream{"mcp": n.mcpStream, "approvals/watch": n.approvalsWatch}
}

// operator refuses a method to agents (decision 9).
func (n *node) operator(act string, m method) method {
	return func(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
		if why := agentBehind(c.PID); why != "" {
			return nil, &rpc.Error{Code: codeDenied, Message: fmt.Sprintf("%s: only a person may do this, and %s", act, why)}
		}
		return m(ctx, c, params)
	}
}

// codeDenied is our error code for a refused operator's act; codeNoRole for a role that does not exist or may not be taken.
const (
	codeDenied = -32050
	codeNoRole = -32051
)

// decode reads parameters; both ends are this program, so a fault is a bug or a stranger.
func decode(params []byte, into any) *rpc.Error {
	if len(params) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, into, json.RejectUnknownMembers(true)); err != nil {
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "parameters: " + err.Error()}
	}
	return nil
}

func internalError(err error) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()}
}

func (n *node) stopMethod(context.Context, daemon.Caller, []byte) (any, *rpc.Error) {
	// The answer is written before the connection is closed: Serve waits for its connections.
	n.cancel()
	return struct{}{}, nil
}

func (n *node) reloadMethod(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	if err := n.reload(ctx); err != nil {
		return nil, internalError(err)
	}
	return struct{}{}, nil
}

// learnMethod refreshes the catalogs of every server.
func (n *node) learnMethod(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	failed := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup // one that hangs keeps the others from nothing
	for _, s := range n.current().project.Servers {
		if s.Disabled || s.Builtin != "" {
			continue
		}
		all.Go(func() {
			if err := n.pool.Learn(ctx, s.Name); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[s.Name] = err.Error()
			}
		})
	}
	all.Wait()
	n.recompile()
	return map[string]any{"failed": failed}, nil
}

// mcpStream serves MCP to a client that attached over the socket.
func (n *node) mcpStream(ctx context.Context, c daemon.Caller, params []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
	var p sessionParams
	if e := decode(params, &p); e != nil {
		return nil, nil, e
	}
	answer, s, end, e := n.attach(ctx, c, p)
	if e != nil {
		return nil, nil, e
	}
	serve := func(ctx context.Context, conn net.Conn) error {
		defer end()
		return n.gateway.Stdio(ctx, s, conn, conn)
	}
	return answer, serve, nil
}

// attach opens the session of a stdio client: that of its token, else a new one, whose token lets the client attach again.
func (n *node) attach(ctx context.Context, c daemon.Caller, p sessionParams) (attached, *gate.Session, func(), *rpc.Error) {
	answer := attached{Token: p.Token}
	if p.Token == "" {
		spec, e := n.spec(c, p)
		if e != nil {
			return answer, nil, nil, e
		}
		s, token, err := n.gate.Mint(ctx, spec)
		if err != nil {
			return answer, nil, nil, &rpc.Error{Code: codeNoRole, Message: err.Error()}
		}
		answer, p = attached{Session: s.ID, Token: token}, sessionParams{Token: token, Own: true}
	}
	s, end, e := n.open(ctx, c, p)
	if e != nil {
		return answer, nil, nil, e
	}
	answer.Session = s.ID
	return answer, s, end, nil
}

// environNames are the variables that an attaching client hands over.
func (n *node) environNames(context.Context, daemon.Caller, []byte) (any, *rpc.Error) {
	return append([]string{}, n.current().project.File.Env...), nil
}

// environParams are variables that a client hands over, as NAME=VALUE.
type environParams struct {
	Environ []string `json:"environ"`
}

// environSet lets ${VAR} of server entries expand from what a client hands over, as far as mycelium.yaml names it. What an earlier
// client handed over stays: another one that lacks a variable takes nothing away. An agent's client fills in what is missing and
// replaces nothing: else an agent could choose what the servers of others are started with.
func (n *node) environSet(_ context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p environParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	named := n.current().project.File.Env
	agent := agentBehind(c.PID) != ""
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range p.Environ {
		name, _, ok := strings.Cut(e, "=")
		if !ok || !slices.Contains(named, name) {
			continue
		}
		if is := func(old string) bool { return strings.HasPrefix(old, name+"=") }; agent && (slices.ContainsFunc(n.handed, is) || slices.ContainsFunc(n.app.environ, is)) {
			continue
		}
		n.handed = slices.DeleteFunc(n.handed, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		n.handed = append(n.handed, e)
	}
	n.pool.SetEnviron(slices.Concat(n.app.environ, n.handed)) // the last one counts
	n.renewChats()
	return struct{}{}, nil
}

// open returns the session of a stdio client, a look or a call: the one of its token, or a new one for as long as it lasts. A
// person may take any role that exists; an agent chooses among session.roles only (decision 9).
func (n *node) open(ctx context.Context, c daemon.Caller, p sessionParams) (*gate.Session, func(), *rpc.Error) {
	if p.Token != "" {
		s, err := n.gate.Authenticate(ctx, p.Token)
		if err != nil {
			return nil, nil, &rpc.Error{Code: codeDenied, Message: "this token is not one of a live session"}
		}
		if p.Role != "" && p.Role != s.Scope().Principal.Role {
			if _, err := n.gate.SetRole(ctx, s, p.Role, gate.ByAgent); err != nil {
				return nil, nil, &rpc.Error{Code: codeNoRole, Message: err.Error()}
			}
		}
		if p.Own {
			return s, func() { n.endSession(ctx, s.ID) }, nil
		}
		return s, func() {}, nil
	}
	spec, e := n.spec(c, p)
	if e != nil {
		return nil, nil, e
	}
	s, err := n.gate.Open(ctx, spec)
	if err != nil {
		return nil, nil, &rpc.Error{Code: codeNoRole, Message: err.Error()}
	}
	return s, func() { n.endSession(ctx, s.ID) }, nil
}

// endSession ends a session whose client has gone; the daemon's own end leaves it, so that the client finds it again.
func (n *node) endSession(ctx context.Context, id string) {
	if ctx.Err() != nil {
		return
	}
	if err := n.gate.End(ctx, id); err != nil {
		n.logger.Warn("end session", "id", id, "err", err)
	}
}

// localPrincipal is the default principal: this user, on this machine, without a credential of ours.
const localPrincipal = "local"

func (n *node) spec(c daemon.Caller, p sessionParams) (gate.Spec, *rpc.Error) {
	conf := n.current().project.File.Session
	spec := gate.Spec{Name: p.Name, Principal: localPrincipal, Role: p.Role, Roles: p.May, Skills: p.Skills}
	if p.Role == "" && p.May == nil {
		spec.Role, spec.Roles = conf.DefaultRole, conf.Roles
	}
	if why := agentBehind(c.PID); why != "" {
		for _, r := range append([]string{spec.Role}, spec.Roles...) {
			if r != "" && r != conf.DefaultRole && !slices.Contains(conf.Roles, r) {
				return spec, &rpc.Error{Code: codeNoRole, Message: fmt.Sprintf("Unknown role: %s", r)}
			}
		}
	}
	return spec, nil
}

func (n *node) callMethod(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p callParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	if limit := cmp.Or(n.current().project.File.Server.MaxBody, rpc.MaxMessage); len(p.Args) > limit {
		return nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: fmt.Sprintf("call: the arguments are too large: the limit is %d bytes (server.maxBody)", limit)}
	}
	s, end, e := n.open(ctx, c, p.sessionParams)
	if e != nil {
		return nil, e
	}
	defer end()
	it, _ := policy.ParseTool(p.Tool) // a name that is none is asked for all the same: the gate records it
	args := p.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	req := gate.Request{Item: it, Asked: p.Tool, Method: "tools/call", Args: args, Surface: "cli"}
	req.Params = rawjson.Set(rawjson.Set([]byte("{}"), "name", rawjson.Quote(it.Name)), "arguments", args)
	reply, err := n.gate.Call(ctx, s, req)
	var denied *gate.DeniedError
	switch {
	case errors.As(err, &denied) && denied.Decision.Unknown:
		return callResult{Error: (&rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown tool: " + p.Tool}).Raw(), Denied: true}, nil
	case errors.As(err, &denied):
		e := &rpc.Error{Code: codeDenied, Message: denied.Error()}
		if denied.RetryAfter > 0 {
			e.Data = rawjson.Set(nil, "retryAfterMs", strconv.AppendInt(nil, max(1, denied.RetryAfter.Milliseconds()), 10))
		}
		return callResult{Error: e.Raw(), Denied: true}, nil
	case err != nil:
		return nil, internalError(err)
	case reply.Open != "":
		err = errors.New("the server asks for input, and on the command line nobody can be asked; call it from a client that can")
		req.Continues = reply.Open
		n.gate.Abandon(ctx, s, req, err)
		return nil, internalError(err)
	}
	return callResult{Result: reply.Result, Error: reply.Error}, nil
}
