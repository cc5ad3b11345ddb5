package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"mycelium/internal/approval"
	"mycelium/internal/backend"
	"mycelium/internal/gate"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/roleprompt"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Tools are the tools of all servers: what a session sees of them, a call, and what is in quarantine.
type Tools struct {
	gate     *gate.Gate
	pool     *backend.Pool
	sessions *Sessions
	files    *reloader
	acts     acts.Recorder
	prompts  *roleprompt.Prompts
	stopped  func() bool // the node ends because a person has stopped it
}

// List returns the tools that a session with these parameters would see.
func (t *Tools) List(c op.Caller, p api.ToolsParams) ([]api.Tool, error) {
	if p.All {
		if err := fence.PersonOnly(c, "list hidden tools"); err != nil {
			return nil, err
		}
	}
	spec, err := t.sessions.spec(c, p.SessionParams)
	if err != nil {
		return nil, err
	}
	v := t.files.Latest()
	scope, err := v.Scope(spec.Role, spec.Skills)
	if err != nil {
		return nil, noRole(err)
	}
	scope.Principal.Roles = spec.Roles
	return v.Tools(scope, p.All)
}

// Call calls one tool in the session of the parameters.
func (t *Tools) Call(ctx context.Context, c op.Caller, p api.CallParams) (api.CallReply, error) {
	if limit := cmp.Or(t.files.Project().File.Server.MaxBody, rpc.MaxMessage); len(p.Args) > limit {
		return api.CallReply{}, failure.New(failure.Invalid,
			fmt.Errorf("call: the arguments are too large: the limit is %d bytes (server.maxBody)", limit), "")
	}
	s, done, err := t.sessions.open(ctx, c, p.SessionParams)
	if err != nil {
		return api.CallReply{}, err
	}
	defer done()
	it, _ := policy.ParseTool(p.Tool) // the gate refuses and records a malformed name too
	args := p.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	req := gate.Request{Item: it, Asked: p.Tool, Method: "tools/call", Args: args, Surface: "cli",
		Asks: cmp.Or(p.Ask, approval.AskReached), Told: tellOf(c)}
	req.Params = rawjson.Set(rawjson.Set([]byte("{}"), "name", rawjson.Quote(it.Name)), "arguments", args)
	reply, err := t.gate.Call(ctx, s, req)
	var denied *gate.DeniedError
	switch {
	case errors.As(err, &denied) && denied.Ending && t.stopped():
		return api.CallReply{}, failure.New(failure.Unavailable,
			errors.New("call: the daemon was stopped (myc stop) while the call waited for an approval, so the call has not run"),
			"the request is kept: start a daemon with myc serve, and make the same call again")
	case errors.As(err, &denied) && denied.Ending:
		return api.CallReply{}, failure.New(failure.Ending, denied, "")
	case errors.As(err, &denied):
		return api.CallReply{Error: deniedCall(p.Tool, denied).Raw(), Denied: true}, nil
	case err != nil:
		return api.CallReply{}, err
	case reply.Open != "":
		err = errors.New("the server asks for input, and the command line cannot ask for it; call the tool from a client that can")
		req.Continues = reply.Open
		t.gate.Abandon(ctx, s, req, err)
		return api.CallReply{}, err
	}
	return api.CallReply{Result: reply.Result, Error: reply.Error, Denied: reply.Refused}, nil
}

// tellOf returns what tells a caller that its call waits.
func tellOf(c op.Caller) func(approval.Request) {
	return func(r approval.Request) { c.Tell(api.CallWaits, api.Waiting{ID: r.ID, Deadline: r.Deadline}) }
}

// deniedCall is a denial as an MCP client would read it.
func deniedCall(asked string, denied *gate.DeniedError) *rpc.Error {
	if denied.Decision.Unknown {
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown tool: " + asked}
	}
	e := &rpc.Error{Code: failure.Denied.RPC(), Message: denied.Error()}
	if denied.RetryAfter > 0 {
		e.Data = rawjson.Set(nil, "retryAfterMs", strconv.AppendInt(nil, max(1, denied.RetryAfter.Milliseconds()), 10))
	}
	return e
}

// Held returns what is in quarantine under the name of an item or a server; all of it for "".
func (t *Tools) Held(name string) []api.HeldItem {
	cat := t.pool.Catalog()
	held := cat.Held
	if name != "" {
		held = cat.HeldBy(name)
	}
	items := []api.HeldItem{}
	for _, h := range held {
		items = append(items, api.HeldItem{
			Name: h.Name(), Cause: h.Cause, Reason: h.Reason, Former: h.Former, Digest: h.Digest,
			Accepted: string(h.Old), Offered: string(h.New), Diff: definitionDiff(h.Old, h.New), Findings: h.Findings, KeptOut: h.KeptOut,
		})
	}
	for _, h := range t.prompts.Held(name) {
		items = append(items, api.HeldItem{Name: h.Name, Cause: h.Cause, Reason: h.Reason, Digest: h.Digest, Accepted: string(h.Old),
			Offered: string(h.New), Diff: definitionDiff(h.Old, h.New), Findings: h.Findings, KeptOut: h.KeptOut})
	}
	return items
}

// Accept takes definitions out of quarantine for a person. One in which the scan found something dangerous demands the second sign. What
// cannot be recorded is not done.
func (t *Tools) Accept(ctx context.Context, items []backend.Acceptance, s sign.Sign, by acts.By) error {
	for _, it := range items {
		for _, h := range t.Held(it.Name) {
			if err := h.Demand().Check(s); err != nil && h.Name == it.Name {
				return err
			}
		}
	}
	if err := t.recorded(ctx, items, "accept", "accepted", by, func() error { return t.accept(items) }); err != nil {
		return err
	}
	t.files.Recompile()
	return nil
}

// KeepOut keeps definitions in quarantine for a person. They are not offered again before they change. What cannot be recorded is not done.
func (t *Tools) KeepOut(ctx context.Context, items []backend.Acceptance, by acts.By) error {
	return t.recorded(ctx, items, "keep out", "kept out", by, func() error {
		var rest []backend.Acceptance
		for _, it := range items {
			if !roleprompt.Named(it.Name) {
				rest = append(rest, it)
			} else if err := t.prompts.KeepOut(it.Name, it.Digest, by.String()); err != nil {
				return err
			}
		}
		return t.pool.KeepOut(rest, by.String())
	})
}

// recorded records what is done with definitions, and does it.
func (t *Tools) recorded(ctx context.Context, items []backend.Acceptance, act, done string, by acts.By, do func() error) error {
	for _, it := range items {
		server := ""
		if held := t.pool.Catalog().HeldBy(it.Name); len(held) > 0 {
			server = held[0].Item.Server
		}
		if err := t.acts.Record(ctx, acts.Act{Act: act, Item: it.Name, Digest: it.Digest, By: by}, server,
			"the definition of "+it.Name+" is "+done); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		for _, it := range items {
			_ = t.acts.Record(ctx, acts.Act{Act: act + " failed", Item: it.Name, Digest: it.Digest, By: by}, "",
				"the definition of "+it.Name+" was not "+done+": "+err.Error())
		}
		return failure.New(failure.Invalid, err, "")
	}
	return nil
}

// accept accepts definitions, and prompts of roles.
func (t *Tools) accept(items []backend.Acceptance) error {
	var rest []backend.Acceptance
	for _, it := range items {
		if !roleprompt.Named(it.Name) {
			rest = append(rest, it)
		} else if err := t.prompts.Accept(it.Name, it.Digest); err != nil {
			return err
		}
	}
	return t.pool.Accept(rest)
}
