package mcpclient

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// inbox sorts what a server sends.
type inbox struct {
	calls    *calls
	received *atomic.Int64                      // counts what comes
	reply    func(rpc.Message)                  // sends an answer to the server; never waits, and may drop it
	notice   func(method string, params []byte) // what concerns no call: list_changed, resources/updated, noticeAcknowledged; never waits
	streams  bool                               // what names no call does not come on a call's stream: the transport has such streams
}

// take handles one message. of is the call to whose stream it belongs, where the transport has such streams. The line may be used
// again afterwards. A message that is no JSON-RPC is passed over, unless it names a call that waits.
// The answer is whether somebody waited for it: an answer, the progress of a call, or a question that goes to its client.
func (in *inbox) take(line []byte, of *pending) bool {
	if len(line) > 0 && line[0] == '[' && in.calls.batches.Load() && rawjson.Valid(line) {
		return in.batch(line, of)
	}
	in.received.Add(1)
	m, bad := rpc.Parse(line)
	switch {
	case bad != nil:
		return m.ID != nil && m.Method == "" && in.calls.complete(m.ID, answer{err: errors.New("its answer is not valid: " + bad.Message)})
	case m.Method == "":
		return in.calls.complete(m.ID, answer{msg: rpc.Message{Result: bytes.Clone(m.Result), Error: bytes.Clone(m.Error)}})
	case m.ID != nil:
		return in.request(m, of)
	default:
		return in.notification(m, of)
	}
}

// batch takes several messages at once, which the revision 2025-03-26 has.
func (in *inbox) batch(line []byte, of *pending) (asked bool) {
	for one := range rawjson.Elements(line) {
		if one[0] == '{' {
			asked = in.take(one, of) || asked
		}
	}
	return asked
}

// request takes what a server asks of us.
func (in *inbox) request(m rpc.Message, of *pending) bool {
	if in.calls.modern.Load() {
		return false // the modern revision has no requests of servers, and forbids to answer them
	}
	switch m.Method {
	case "ping":
		in.reply(rpc.Message{ID: bytes.Clone(m.ID), Result: []byte("{}")})
	case methodElicit, methodSample, methodRoots:
		q := newQuestion(m)
		e := in.calls.ask(q, of, in.streams)
		if e != nil {
			in.refuse(q, e)
		}
		return e == nil
	default:
		e := &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "Method not found: " + m.Method}
		in.reply(rpc.Message{ID: bytes.Clone(m.ID), Error: e.Raw()})
	}
	return false
}

// refuse answers a question that no client is asked. Outside of a call there are no roots, which is no fault.
func (in *inbox) refuse(q *question, e *rpc.Error) {
	q.cancel()
	if q.method == methodRoots && e == errNoCall {
		in.reply(rpc.Message{ID: q.id, Result: []byte(`{"roots":[]}`)})
		return
	}
	in.reply(rpc.Message{ID: q.id, Error: e.Raw()})
}

func (in *inbox) notification(m rpc.Message, of *pending) bool {
	switch m.Method {
	case "notifications/progress":
		return in.calls.progress(m.Params)
	case "notifications/message":
		in.calls.log(m.Params, of)
	case "notifications/cancelled":
		in.cancelled(m.Params)
	case "notifications/elicitation/complete":
		in.calls.elicitationComplete(m.Params)
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		in.notice(m.Method, m.Params)
	case noticeAcknowledged, noticeUpdated:
		if p := in.calls.subscriber(m.Params, of); p != nil && p.Peer != nil {
			in.calls.tell(p, m.Method, m.Params)
			break
		}
		in.notice(m.Method, m.Params)
	default:
		in.extension(m, of)
	}
	return false
}

// cancelled takes a server's word that it wants no answer any more to a question of its, or, in the modern revision, that it ends a
// stream of notices.
func (in *inbox) cancelled(params []byte) {
	id := rawjson.Member(params, "requestId")
	if !in.calls.modern.Load() {
		in.calls.cancelQuestion(id)
		return
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return
	}
	in.calls.mu.Lock()
	p := in.calls.open[n]
	in.calls.mu.Unlock()
	if p != nil && p.listens() {
		in.calls.failOne(p, errors.New("the server ended the subscription"))
	}
}

// extension passes on a notification that only an extension can know, if the server declared one: to the client of the task that it
// names, of the stream that it came on, or of the call that it can only belong to.
func (in *inbox) extension(m rpc.Message, of *pending) {
	if !in.calls.extended.Load() || !strings.HasPrefix(m.Method, "notifications/") || isClients(m.Method) {
		return
	}
	if p := in.calls.subscriber(m.Params, of); p != nil {
		in.calls.tell(p, m.Method, m.Params)
		return
	}
	in.calls.extension(m.Method, m.Params)
}

// isClients reports whether a notification is one that only clients send.
func isClients(method string) bool {
	return method == "notifications/initialized" || method == "notifications/roots/list_changed"
}
