package mcpserver

import (
	"errors"
	"strconv"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// modernTail ends a result of our own for a modern client with the members that say that it is complete, not to be cached, and ours.
func (s *Server) modernTail(b []byte) []byte {
	b = append(b, `,"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"`+metaServerInfo+`":`...)
	return append(s.info(b), `}}`...)
}

// completed adds to a backend's result the members that a modern client needs and the result lacks. Results for older clients stay as
// they are.
func completed(l Link, result []byte, cacheable bool) []byte {
	if !l.Modern() || !isObject(result) {
		return result
	}
	missing := []rawjson.Field{{Name: "resultType", Value: []byte(`"complete"`)}}
	if cacheable {
		missing = append(missing, rawjson.Field{Name: "ttlMs", Value: []byte("0")}, rawjson.Field{Name: "cacheScope", Value: []byte(`"private"`)})
	}
	return rawjson.Default(result, missing...)
}

// codeDenied is the error for a visible resource or prompt that the policy refuses. It is our own code, outside of the range that
// JSON-RPC and MCP reserve (-32768 to -32000), and equals the HTTP status.
const codeDenied = 403

// refused translates the error of a call.
func refused(l Link, r gate.Request, err error) (result, refusal []byte) {
	kind := r.Item.Kind
	var denied *gate.DeniedError
	switch {
	case errors.As(err, &denied) && denied.Decision.Unknown:
		return nil, unknown(l, kind, r.Asked).Raw()
	case errors.As(err, &denied) && denied.Invalid:
		return nil, rpc.InvalidParams(denied.Decision.Reason).Raw()
	case errors.As(err, &denied):
		text := "Denied by policy: " + denied.Decision.Reason
		if denied.Decision.Rule != "" {
			text += " (rule: " + denied.Decision.Rule + ")"
		}
		for _, more := range []string{denied.Advice, denied.Halt} {
			if more != "" {
				text += "\n" + more
			}
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
		result := toolError(l, text.Describe(err))
		if errors.Is(err, rpc.ErrBusy) {
			result = rawjson.Set(result, "_meta", rawjson.Set(nil, metaRetry, strconv.AppendInt(nil, rpc.RetryBusy.Milliseconds(), 10)))
		}
		return result, nil
	default:
		e := &rpc.Error{Code: rpc.CodeInternal, Message: text.Describe(err)}
		if errors.Is(err, rpc.ErrBusy) {
			e.Data = rpc.ErrBusy.Data
		}
		return nil, e.Raw()
	}
}

// unknown is the same answer for an item that does not exist and for one that is hidden (T7).
func unknown(l Link, kind policy.Kind, asked string) *rpc.Error {
	switch kind {
	case policy.Resource:
		e := &rpc.Error{Code: -32002, Message: "Resource not found", Data: rawjson.Set(nil, "uri", rawjson.Quote(asked))}
		if l.Modern() {
			e.Code = rpc.CodeInvalidParams // SEP-2164
		}
		return e
	case policy.Prompt:
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown prompt: " + asked}
	default:
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown tool: " + asked}
	}
}

// toolError is the result of a failure that the model should read.
func toolError(l Link, text string) []byte {
	b := append([]byte(`{"content":[{"type":"text","text":`), rawjson.Quote(text)...)
	return completed(l, append(b, `}],"isError":true}`...), false)
}
