package mcpserver

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// taskRef is the content of a sealed task id. A server may answer a call with a task, whose result the client asks for later (2025-11-25,
// and the extension io.modelcontextprotocol/tasks of 2026-07-28). Clients get the server's id sealed, together with their session and the
// tool that made the task: no client can name a task of another session, and we need no table of tasks.
type taskRef struct {
	Session string `json:"s"`
	Server  string `json:"v"`
	Tool    string `json:"t"`
	ID      string `json:"i"`
}

const (
	taskSeal    = "task"
	relatedTask = "io.modelcontextprotocol/related-task" // in _meta
)

// sealTasks seals the ids of tasks in the result of a tool, which may be a task, contain one, or belong to one.
func (s *Server) sealTasks(l Link, it policy.Item, result []byte) []byte {
	if !bytes.Contains(result, []byte(`"taskId"`)) {
		return result
	}
	seal := func(object []byte) []byte {
		id, ok := rawjson.Text(rawjson.Member(object, "taskId"))
		if !ok {
			return object
		}
		plain, err := json.Marshal(taskRef{l.session.ID, it.Server, it.Name, id})
		if err != nil {
			return rawjson.Set(object, "taskId", nil)
		}
		return rawjson.Set(object, "taskId", rawjson.Quote(s.sealer.seal(taskSeal, plain)))
	}
	if kind := rawjson.TextAt(result, "resultType"); kind == "task" || rawjson.Member(result, "status") != nil {
		result = seal(result)
	}
	if task := rawjson.Member(result, "task"); isObject(task) {
		result = rawjson.Set(result, "task", seal(task))
	}
	meta := rawjson.Member(result, "_meta")
	if related := rawjson.Member(meta, relatedTask); isObject(related) {
		result = rawjson.Set(result, "_meta", rawjson.Set(meta, relatedTask, seal(related)))
	}
	return result
}

// task serves tasks/get, tasks/result, tasks/update and tasks/cancel. The request goes to the task's server. It is decided and recorded
// like a call, without arguments, of the tool that made the task. A task of another session is answered like one that does not exist.
func (s *Server) task(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	if err := rpc.CheckCase(m.Params, "taskId", "_meta"); err != nil {
		return nil, err.Raw()
	}
	task, ok := rawjson.Text(rawjson.Member(m.Params, "taskId"))
	if !ok {
		return nil, rpc.InvalidParams(`"taskId" must be a string`).Raw()
	}
	absent := &rpc.Error{Code: rpc.CodeInvalidParams, Message: "Unknown task: " + task}
	var ref taskRef
	if plain, ok := s.sealer.open(taskSeal, task); !ok || json.Unmarshal(plain, &ref) != nil || ref.Session != l.session.ID {
		return nil, absent.Raw()
	}
	r := gate.Request{
		Item: policy.Item{Kind: policy.Tool, Server: ref.Server, Name: ref.Tool}, Method: m.Method, Surface: l.surface, Peer: l.peer(m),
		Params: rawjson.Set(m.Params, "taskId", rawjson.Quote(ref.ID)),
	}
	r.Asked = s.gate.ClientName(r.Item)
	meta, taken, bad := takeMeta(&r)
	if bad != nil {
		return nil, bad.Raw()
	}
	if taken {
		r.Params = rawjson.Set(r.Params, "_meta", meta)
	}
	reply, err := s.gate.Call(ctx, l.session, r)
	switch {
	case gate.IsUnknown(err):
		return nil, absent.Raw()
	case err != nil:
		return nil, (&rpc.Error{Code: rpc.CodeInternal, Message: text.Describe(err)}).Raw()
	case reply.Error != nil:
		return nil, reply.Error
	case reply.Open != "": // a task asks for input in its status
		r.Continues = reply.Open
		s.gate.Abandon(ctx, l.session, r, errNobody)
		return refused(l, r, errNobody)
	}
	noteLinks(l.session, r.Item.Server, reply.Result)
	return completed(l, s.sealTasks(l, r.Item, reply.Result), false), nil
}
