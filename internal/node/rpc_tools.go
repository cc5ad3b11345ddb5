package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func (n *Node) callMethod(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.CallParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	if limit := cmp.Or(n.View().Project.File.Server.MaxBody, rpc.MaxMessage); len(p.Args) > limit {
		return nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: fmt.Sprintf("call: the arguments are too large: the limit is %d bytes (server.maxBody)", limit)}
	}
	s, end, e := n.open(ctx, c, p.SessionParams)
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
		return api.CallResult{Error: (&rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown tool: " + p.Tool}).Raw(), Denied: true}, nil
	case errors.As(err, &denied):
		e := &rpc.Error{Code: api.CodeDenied, Message: denied.Error()}
		if denied.RetryAfter > 0 {
			e.Data = rawjson.Set(nil, "retryAfterMs", strconv.AppendInt(nil, max(1, denied.RetryAfter.Milliseconds()), 10))
		}
		return api.CallResult{Error: e.Raw(), Denied: true}, nil
	case err != nil:
		return nil, internalError(err)
	case reply.Open != "":
		err = errors.New("the server asks for input, and on the command line nobody can be asked; call it from a client that can")
		req.Continues = reply.Open
		n.gate.Abandon(ctx, s, req, err)
		return nil, internalError(err)
	}
	return api.CallResult{Result: reply.Result, Error: reply.Error}, nil
}

// toolsMethod lists what a session with these parameters would see.
func (n *Node) toolsMethod(_ context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.ToolsParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	if p.All {
		if why := fence.AgentBehind(c.PID); why != "" {
			return nil, &rpc.Error{Code: api.CodeDenied, Message: "list hidden tools: only a person may do this, and " + why}
		}
	}
	spec, e := n.spec(c, p.SessionParams)
	if e != nil {
		return nil, e
	}
	v := n.View()
	scope, err := v.Scope(spec.Role, spec.Skills)
	if err != nil {
		return nil, &rpc.Error{Code: api.CodeNoRole, Message: err.Error()}
	}
	scope.Principal.Roles = spec.Roles
	rows, err := v.ToolRows(scope, p.All)
	if err != nil {
		return nil, internalError(err)
	}
	return rows, nil
}

// heldMethod tells an operator what is in quarantine.
func (n *Node) heldMethod(_ context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.HeldParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	rows := []api.HeldRow{}
	cat := n.pool.Catalog()
	held := cat.Held
	if p.Name != "" {
		held = cat.HeldBy(p.Name)
	}
	for _, h := range held {
		rows = append(rows, api.HeldRow{
			Name: h.Name(), Cause: h.Cause, Reason: h.Reason, Former: h.Former, Digest: h.Digest,
			Accepted: string(h.Old), Offered: string(h.New), Diff: definitionDiff(h.Old, h.New), Findings: h.Findings,
		})
	}
	return rows, nil
}

// acceptMethod takes items out of quarantine. What cannot be recorded is not done.
func (n *Node) acceptMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.AcceptParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	for _, it := range p.Items {
		server := ""
		if held := n.pool.Catalog().HeldBy(it.Name); len(held) > 0 {
			server = held[0].Item.Server
		}
		if err := n.recordAct(ctx, act{Act: "accept", Item: it.Name, Digest: it.Digest}, server, "the definition of "+it.Name+" is accepted"); err != nil {
			return nil, internalError(err)
		}
	}
	if err := n.pool.Accept(p.Items); err != nil {
		for _, it := range p.Items { // the record says what came of it
			_ = n.recordAct(ctx, act{Act: "accept failed", Item: it.Name, Digest: it.Digest}, "", "the definition of "+it.Name+" was not accepted: "+err.Error())
		}
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error()}
	}
	n.recompile()
	return struct{}{}, nil
}

// act is what is recorded of an operator's act.
type act struct {
	Act    string `json:"act"`
	Item   string `json:"item"`
	Digest string `json:"digest,omitempty"`
}

// recordAct records an operator's act.
func (n *Node) recordAct(ctx context.Context, what act, server, note string) error {
	args, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("record %s: %w", what.Act, err)
	}
	return n.log.Append(context.WithoutCancel(ctx), audit.Record{
		ID: audit.NewID(), Kind: audit.Operator, Time: time.Now(), Principal: "operator", Surface: "cli",
		Server: server, Tool: what.Item, Args: args, Note: note,
	})
}
