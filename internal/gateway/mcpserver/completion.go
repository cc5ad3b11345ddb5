package mcpserver

import (
	"context"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// complete serves completion/complete. It is decided and recorded like a use of the prompt or the resource template that is completed. A
// hidden one is answered like one that does not exist (T6).
func (s *Server) complete(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	if err := rpc.CheckCase(m.Params, "ref", "argument", "context", "_meta"); err != nil {
		return nil, err.Raw()
	}
	ref := rawjson.Member(m.Params, "ref")
	if err := rpc.CheckCase(ref, "type", "name", "uri"); err != nil {
		return nil, err.Raw()
	}
	kind, key := policy.Prompt, "name"
	switch t, _ := rawjson.Text(rawjson.Member(ref, "type")); t {
	case "ref/prompt":
	case "ref/resource":
		kind, key = policy.Resource, "uri"
	default:
		return nil, rpc.InvalidParams(`"ref" must be an object with the type ref/prompt or ref/resource`).Raw()
	}
	asked, ok := rawjson.Text(rawjson.Member(ref, key))
	if !ok || asked == "" {
		return nil, rpc.InvalidParams(`"ref" needs "` + key + `", a string that is not empty`).Raw()
	}
	r := gate.Request{Method: m.Method, Params: m.Params, Asked: asked, Surface: l.surface, Peer: l.peer(m)}
	meta, taken, bad := takeMeta(&r)
	if bad != nil {
		return nil, bad.Raw()
	}
	if taken {
		r.Params = rawjson.Set(r.Params, "_meta", meta)
	}
	r.Item = s.resolve(l, kind, asked)
	r.Params = rawjson.Set(r.Params, "ref", rawjson.Set(ref, key, rawjson.Quote(r.Item.Name)))
	reply, err := s.gate.Call(ctx, l.session, r)
	switch {
	case err != nil:
		return refused(l, r, err)
	case reply.Error != nil:
		return nil, reply.Error
	case reply.Open != "": // only tools, prompts and resources may ask for input
		r.Continues = reply.Open
		s.gate.Abandon(ctx, l.session, r, errNobody)
		return refused(l, r, errNobody)
	}
	return completed(l, reply.Result, false), nil
}
