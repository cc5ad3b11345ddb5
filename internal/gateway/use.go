package gateway

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

func (s *Server) callTool(ctx context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.use(ctx, l, m, policy.Tool)
}

func (s *Server) readResource(ctx context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.use(ctx, l, m, policy.Resource)
}

func (s *Server) prompt(ctx context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.use(ctx, l, m, policy.Prompt)
}

// use takes one use of a tool, resource or prompt through the gate.
func (s *Server) use(ctx context.Context, l link, m rpc.Message, kind policy.Kind) (result, refusal []byte) {
	r, bad := s.request(m, kind)
	if bad != nil {
		return nil, bad.Raw()
	}
	r.Surface = l.surface
	r.Peer = l.peer(m)
	if level := l.level.Load(); level > 0 && !l.modern() { // servers are told with each call, as in the modern era
		meta := rawjson.Set(rawjson.Member(r.Params, "_meta"), metaLogLevel, rawjson.Quote(strings.Fields(levels)[level-1]))
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
		return s.passOn(ctx, l, r, reply)
	}
	if kind == policy.Tool {
		reply.Result = s.sealTasks(l, r.Item, reply.Result)
	}
	return completed(l, reply.Result, kind == policy.Resource), nil
}

// call makes the call, or goes on with the one that a retry continues. asked is the result that asks a modern client for what
// the server of a parked call wants to know.
func (s *Server) call(ctx context.Context, l link, r gate.Request) (reply gate.Reply, asked []byte, err error) {
	if !l.modern() {
		r.Params = rawjson.Set(rawjson.Set(r.Params, "requestState", nil), "inputResponses", nil) // of the other era: they cannot be genuine
		if reply, err = s.gate.Call(ctx, l.session, r); err == nil && reply.Open != "" {
			reply, err = s.fulfil(ctx, l, r, reply)
		}
		return reply, nil, err
	}
	if state := rawjson.Member(r.Params, "requestState"); state != nil {
		var st requestState
		st, r.Invalid = s.openState(l.session, &r, state)
		answers := rawjson.Member(r.Params, "inputResponses")
		switch {
		case r.Invalid == "" && answers != nil && !isObject(answers):
			r.Invalid = "inputResponses must be an object"
		case r.Invalid == "" && st.Round > 0:
			return s.continueParked(ctx, l, r, st, answers)
		case r.Invalid == "":
			r.Continues, r.Params = st.Call, st.restore(r.Params)
		}
		reply, err = s.gate.Call(ctx, l.session, r)
		return reply, nil, err
	}
	r.Params = rawjson.Set(r.Params, "inputResponses", nil) // without a state of ours they answer nothing
	if canBeAsked(l.capabilities) {
		return s.callAskable(ctx, l, r)
	}
	reply, err = s.gate.Call(ctx, l.session, r)
	return reply, nil, err
}

// request makes the gate's request of a message: the name resolved, our own _meta taken out.
func (s *Server) request(m rpc.Message, kind policy.Kind) (gate.Request, *rpc.Error) {
	r := gate.Request{Method: m.Method, Params: m.Params}
	// Our reading of these members and the backend's must not differ (T1).
	if err := rpc.CheckCase(m.Params, "name", "arguments", "uri", "_meta"); err != nil {
		return r, err
	}
	key := "name"
	if kind == policy.Resource {
		key = "uri"
	}
	asked, ok := rawjson.Text(rawjson.Member(m.Params, key))
	if !ok || asked == "" {
		return r, invalidParams(`"` + key + `" must be a string that is not empty`)
	}
	r.Asked = asked
	if kind != policy.Resource {
		if r.Args = rawjson.Member(m.Params, "arguments"); r.Args != nil && !isObject(r.Args) {
			return r, invalidParams(`"arguments" must be an object`)
		}
	}
	meta, taken, err := takeMeta(&r)
	if err != nil {
		return r, err
	}
	r.Item = s.gate.Resolve(kind, asked)
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
// says nothing about the one between gateway and backend. taken: something was, and kept is what is left; nil: nothing.
func takeMeta(r *gate.Request) (kept []byte, taken bool, _ *rpc.Error) {
	meta := rawjson.Member(r.Params, "_meta")
	if meta == nil {
		return nil, false, nil
	}
	if !isObject(meta) {
		return nil, false, invalidParams(`"_meta" must be an object`)
	}
	if id, ok := rawjson.Text(rawjson.Member(meta, metaToolUse)); ok && len(id) <= maxToolUse {
		r.ToolUse = id // it stays where it is: it is the client's word to the server
	}
	kept = meta
	for _, key := range [...]string{metaThinking, metaVersion, metaClientInfo, metaCapabilities} {
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

// maxToolUse bounds an agent's id of a call, in bytes; those of Anthropic's models have about 30.
const maxToolUse = 200

// takeThinking reads reasoning: an object in the shape of the audit's record, or just its text.
func takeThinking(r *gate.Request, value []byte) *rpc.Error {
	if value[0] == '"' {
		value = rawjson.Set(nil, "thinking", value)
	}
	if !isObject(value) || json.Unmarshal(value, &r.Thinking) != nil {
		return invalidParams(`_meta: "` + metaThinking + `" must be a string, or an object with the text under "thinking"`)
	}
	r.Thinking.Claimed = true // we did not see it happen
	return nil
}

// codeDenied is ours, outside of what JSON-RPC and MCP reserve (-32768 to -32000): the policy refuses a resource or prompt that is
// visible. It is the status that HTTP has for it.
const codeDenied = 403

// refused translates what the gate refused or could not do.
func refused(l link, r gate.Request, err error) (result, refusal []byte) {
	kind := r.Item.Kind
	var denied *gate.DeniedError
	switch {
	case errors.As(err, &denied) && denied.Decision.Unknown:
		return nil, unknown(l, kind, r.Asked).Raw()
	case errors.As(err, &denied) && denied.Invalid:
		return nil, invalidParams(denied.Decision.Reason).Raw()
	case errors.As(err, &denied):
		text := "Denied by policy: " + denied.Decision.Reason
		if denied.Decision.Rule != "" {
			text += " (rule: " + denied.Decision.Rule + ")"
		}
		var retry []byte // in milliseconds
		if denied.RetryAfter > 0 {
			retry = strconv.AppendInt(nil, max(1, denied.RetryAfter.Milliseconds()), 10)
		}
		if kind == policy.Tool {
			result := toolError(l, text)
			if retry != nil {
				result = rawjson.Set(result, "_meta", rawjson.Set(nil, metaRetry, retry))
			}
			return result, nil
		}
		e := &rpc.Error{Code: codeDenied, Message: text}
		if retry != nil {
			e.Data = rawjson.Set(nil, "retryAfterMs", retry)
		}
		return nil, e.Raw()
	case kind == policy.Tool:
		return toolError(l, text.Describe(err)), nil
	default:
		return nil, (&rpc.Error{Code: rpc.CodeInternal, Message: text.Describe(err)}).Raw()
	}
}

// unknown is the one answer to what does not exist and to what may not be seen (T7).
func unknown(l link, kind policy.Kind, asked string) *rpc.Error {
	switch kind {
	case policy.Resource:
		e := &rpc.Error{Code: -32002, Message: "Resource not found", Data: rawjson.Set(nil, "uri", rawjson.Quote(asked))}
		if l.modern() {
			e.Code = rpc.CodeInvalidParams // SEP-2164
		}
		return e
	case policy.Prompt:
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown prompt: " + asked}
	default:
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown tool: " + asked}
	}
}

// toolError is a failure that the model is meant to read.
func toolError(l link, text string) []byte {
	b := append([]byte(`{"content":[{"type":"text","text":`), rawjson.Quote(text)...)
	return completed(l, append(b, `}],"isError":true}`...), false)
}
