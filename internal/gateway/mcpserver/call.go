package mcpserver

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func (s *Server) callTool(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	return s.use(ctx, l, m, policy.Tool)
}

func (s *Server) readResource(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	return s.use(ctx, l, m, policy.Resource)
}

func (s *Server) renderPrompt(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	return s.use(ctx, l, m, policy.Prompt)
}

// use serves tools/call, resources/read and prompts/get: it calls the gate.
func (s *Server) use(ctx context.Context, l Link, m rpc.Message, kind policy.Kind) (result, refusal []byte) {
	r, bad := s.request(l, m, kind)
	if bad != nil {
		return nil, bad.Raw()
	}
	r.Surface = l.surface
	r.Peer = l.peer(m)
	if level := l.level.Load(); level > 0 && !l.Modern() { // servers get the level with each call, as in the modern era
		meta := rawjson.Set(rawjson.Member(r.Params, "_meta"), metaLogLevel, rawjson.Quote(levels[level-1]))
		r.Params = rawjson.Set(r.Params, "_meta", meta)
	}
	reply, asked, err := s.call(ctx, l, r)
	switch {
	case err != nil:
		return refused(l, r, err)
	case asked != nil:
		return asked, nil
	case reply.Error != nil:
		return visitFirst(l, reply.Error)
	case reply.Open != "":
		return s.forwardInput(ctx, l, r, reply)
	}
	noteLinks(l.session, r.Item.Server, reply.Result)
	if kind == policy.Tool {
		reply.Result = s.sealTasks(l, r.Item, reply.Result)
	}
	return completed(l, reply.Result, kind == policy.Resource), nil
}

// errAnswers says what is wrong with answers that are no object.
const errAnswers = "inputResponses must be an object"

// call makes the call, or continues the one of which this is a retry. asked is the result that puts the questions of a parked call to a
// modern client.
func (s *Server) call(ctx context.Context, l Link, r gate.Request) (reply gate.Reply, asked []byte, err error) {
	if !l.Modern() {
		// Members of the other era cannot be genuine.
		r.Params = rawjson.Set(rawjson.Set(r.Params, "requestState", nil), "inputResponses", nil)
		if reply, err = s.gate.Call(ctx, l.session, r); err == nil && reply.Open != "" {
			reply, err = s.fulfilInput(ctx, l, r, reply)
		}
		return reply, nil, err
	}
	if state := rawjson.Member(r.Params, "requestState"); state != nil {
		var st requestState
		st, r.Invalid = s.sealer.openState(l.session, &r, state)
		answers := rawjson.Member(r.Params, "inputResponses")
		switch {
		case r.Invalid == "" && answers != nil && !isObject(answers):
			r.Invalid = errAnswers
		case r.Invalid == "" && st.Round > 0:
			return s.continueParked(ctx, l, r, st, answers)
		case r.Invalid == "":
			r.Continues, r.Params = st.Call, st.restore(r.Params)
		}
		reply, err = s.gate.Call(ctx, l.session, r)
		return reply, nil, err
	}
	// Answers without a state of ours belong to no question of ours. A server may take them with the first request: it knows what it asks.
	if answers := rawjson.Member(r.Params, "inputResponses"); answers != nil && !isObject(answers) {
		r.Invalid = errAnswers
	}
	if canBeAsked(l.capabilities) {
		return s.callAskable(ctx, l, r)
	}
	reply, err = s.gate.Call(ctx, l.session, r)
	return reply, nil, err
}

// request makes the gate's request of a message: it resolves the name, and takes our own members out of _meta.
func (s *Server) request(l Link, m rpc.Message, kind policy.Kind) (gate.Request, *rpc.Error) {
	r := gate.Request{Method: m.Method, Params: m.Params}
	// We and the backend must read the same members (T1).
	if err := rpc.CheckCase(m.Params, "name", "arguments", "uri", "_meta"); err != nil {
		return r, err
	}
	key := "name"
	if kind == policy.Resource {
		key = "uri"
	}
	asked, ok := rawjson.Text(rawjson.Member(m.Params, key))
	if !ok || asked == "" {
		return r, rpc.InvalidParams(`"` + key + `" must be a string that is not empty`)
	}
	r.Asked = asked
	if kind != policy.Resource {
		if r.Args = rawjson.Member(m.Params, "arguments"); r.Args != nil && !isObject(r.Args) {
			return r, rpc.InvalidParams(`"arguments" must be an object`)
		}
	}
	meta, taken, err := takeMeta(&r)
	if err != nil {
		return r, err
	}
	r.Item = s.resolve(l, kind, asked)
	switch known := r.Item.Server != ""; {
	case known && taken:
		r.Params = rawjson.SetBoth(r.Params, key, rawjson.Quote(r.Item.Name), "_meta", meta)
	case known:
		r.Params = rawjson.Set(r.Params, key, rawjson.Quote(r.Item.Name))
	case taken:
		r.Params = rawjson.Set(r.Params, "_meta", meta)
	}
	return r, nil
}

// takeMeta takes out of _meta what is for us: the reasoning, and what describes the connection between client and gateway, which
// is not the one between gateway and backend. If taken, kept is what is left, or nil if that is nothing.
func takeMeta(r *gate.Request) (kept []byte, taken bool, _ *rpc.Error) {
	meta := rawjson.Member(r.Params, "_meta")
	if meta == nil {
		return nil, false, nil
	}
	if !isObject(meta) {
		return nil, false, rpc.InvalidParams(`"_meta" must be an object`)
	}
	if id, ok := rawjson.Text(rawjson.Member(meta, metaToolUse)); ok && len(id) <= maxToolUse {
		r.ToolUse = id // stays in _meta: the client tells it the server
	}
	kept = meta
	for _, key := range [...]string{metaThinking, MetaVersion, metaClientInfo, metaCapabilities} {
		value := rawjson.Member(kept, key)
		if value == nil {
			continue
		}
		if key == metaThinking {
			if err := takeThinking(r, value); err != nil {
				return nil, false, err
			}
		}
		kept = rawjson.Set(kept, key, nil)
	}
	switch {
	case len(kept) == len(meta):
		return nil, false, nil
	case string(bytes.Trim(kept, " \t\r\n")) == "{}":
		return nil, true, nil
	default:
		return kept, true, nil
	}
}

// maxToolUse bounds an agent's id of a call, in bytes. The ids of Anthropic's models have about 30.
const maxToolUse = 200

// takeThinking reads the reasoning: an object as in the audit's record, or only its text.
func takeThinking(r *gate.Request, value []byte) *rpc.Error {
	if value[0] == '"' {
		value = rawjson.Set(nil, "thinking", value)
	}
	if !isObject(value) || json.Unmarshal(value, &r.Thinking) != nil {
		return rpc.InvalidParams(`_meta: "` + metaThinking + `" must be a string, or an object with the text under "thinking"`)
	}
	r.Thinking.Claimed = true // the client says so; we did not observe it
	return nil
}
