package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/project"
	"mycelium/internal/rpc"
)

type method = func(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error)

func (n *Node) methods() map[string]method {
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

func (n *Node) streams() map[string]daemon.Stream {
	return map[string]daemon.Stream{"mcp": n.mcpStream, "approvals/watch": n.approvalsWatch}
}

// operator refuses a method to agents (decision 9).
func (n *Node) operator(act string, m method) method {
	return func(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
		if why := fence.AgentBehind(c.PID); why != "" {
			return nil, &rpc.Error{Code: api.CodeDenied, Message: fmt.Sprintf("%s: only a person may do this, and %s", act, why)}
		}
		return m(ctx, c, params)
	}
}

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

func (n *Node) stopMethod(context.Context, daemon.Caller, []byte) (any, *rpc.Error) {
	// The answer is written before the connection is closed: Serve waits for its connections.
	n.cancel()
	return struct{}{}, nil
}

func (n *Node) reloadMethod(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	if err := n.reload(ctx); err != nil {
		return nil, internalError(err)
	}
	return struct{}{}, nil
}

// learnMethod refreshes the catalogs of every server.
func (n *Node) learnMethod(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	failed := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup // one that hangs keeps the others from nothing
	for _, s := range n.View().Project.Servers {
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
func (n *Node) mcpStream(ctx context.Context, c daemon.Caller, params []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
	var p api.SessionParams
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
func (n *Node) attach(ctx context.Context, c daemon.Caller, p api.SessionParams) (api.Attached, *gate.Session, func(), *rpc.Error) {
	answer := api.Attached{Token: p.Token}
	if p.Token == "" {
		spec, e := n.spec(c, p)
		if e != nil {
			return answer, nil, nil, e
		}
		s, token, err := n.gate.Mint(ctx, spec)
		if err != nil {
			return answer, nil, nil, &rpc.Error{Code: api.CodeNoRole, Message: err.Error()}
		}
		answer, p = api.Attached{Session: s.ID, Token: token}, api.SessionParams{Token: token, Own: true}
	}
	s, end, e := n.open(ctx, c, p)
	if e != nil {
		return answer, nil, nil, e
	}
	answer.Session = s.ID
	return answer, s, end, nil
}

// Stdio serves one client in this process.
func (n *Node) Stdio(ctx context.Context, p api.SessionParams, in io.Reader, out io.Writer) error {
	_, s, done, e := n.attach(ctx, daemon.Caller{PID: os.Getpid(), UID: os.Getuid()}, p)
	if e != nil {
		return e
	}
	defer done()
	return n.gateway.Stdio(ctx, s, in, out)
}

// environNames are the variables that an attaching client hands over.
func (n *Node) environNames(context.Context, daemon.Caller, []byte) (any, *rpc.Error) {
	return append([]string{}, n.View().Project.File.Env...), nil
}

// environSet lets ${VAR} of server entries expand from what a client hands over, as far as mycelium.yaml names it. What an earlier
// client handed over stays: another one that lacks a variable takes nothing away. An agent's client fills in what is missing and
// replaces nothing: else an agent could choose what the servers of others are started with.
func (n *Node) environSet(_ context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.EnvironParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	named := n.View().Project.File.Env
	agent := fence.AgentBehind(c.PID) != ""
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range p.Environ {
		name, _, ok := strings.Cut(e, "=")
		if !ok || !slices.Contains(named, name) {
			continue
		}
		if is := func(old string) bool { return strings.HasPrefix(old, name+"=") }; agent && (slices.ContainsFunc(n.handed, is) || slices.ContainsFunc(n.Environ, is)) {
			continue
		}
		n.handed = slices.DeleteFunc(n.handed, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		n.handed = append(n.handed, e)
	}
	n.pool.SetEnviron(slices.Concat(n.Environ, n.handed)) // the last one counts
	n.renewChats()
	return struct{}{}, nil
}

// open returns the session of a stdio client, a look or a call: the one of its token, or a new one for as long as it lasts. A
// person may take any role that exists; an agent chooses among session.roles only (decision 9).
func (n *Node) open(ctx context.Context, c daemon.Caller, p api.SessionParams) (*gate.Session, func(), *rpc.Error) {
	if p.Token != "" {
		s, err := n.gate.Authenticate(ctx, p.Token)
		if err != nil {
			return nil, nil, &rpc.Error{Code: api.CodeDenied, Message: "this token is not one of a live session"}
		}
		if p.Role != "" && p.Role != s.Scope().Principal.Role {
			if _, err := n.gate.SetRole(ctx, s, p.Role, gate.ByAgent); err != nil {
				return nil, nil, &rpc.Error{Code: api.CodeNoRole, Message: err.Error()}
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
		return nil, nil, &rpc.Error{Code: api.CodeNoRole, Message: err.Error()}
	}
	return s, func() { n.endSession(ctx, s.ID) }, nil
}

// endSession ends a session whose client has gone; the daemon's own end leaves it, so that the client finds it again.
func (n *Node) endSession(ctx context.Context, id string) {
	if ctx.Err() != nil {
		return
	}
	if err := n.gate.End(ctx, id); err != nil {
		n.logger.Warn("end session", "id", id, "err", err)
	}
}

func (n *Node) spec(c daemon.Caller, p api.SessionParams) (gate.Spec, *rpc.Error) {
	conf := n.View().Project.File.Session
	spec := gate.Spec{Name: p.Name, Principal: project.LocalPrincipal, Role: p.Role, Roles: p.May, Skills: p.Skills}
	if p.Role == "" && p.May == nil {
		spec.Role, spec.Roles = conf.DefaultRole, conf.Roles
	}
	if why := fence.AgentBehind(c.PID); why != "" {
		for _, r := range append([]string{spec.Role}, spec.Roles...) {
			if r != "" && r != conf.DefaultRole && !slices.Contains(conf.Roles, r) {
				return spec, &rpc.Error{Code: api.CodeNoRole, Message: fmt.Sprintf("Unknown role: %s", r)}
			}
		}
	}
	return spec, nil
}
