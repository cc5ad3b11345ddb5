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

// inbox dispatches the messages of a server.
type inbox struct {
	calls    *calls
	received *atomic.Int64                      // counts the messages
	reply    func(rpc.Message)                  // sends an answer to the server; never waits, and may drop the answer
	notice   func(method string, params []byte) // gets what concerns no call: list_changed, resources/updated, noticeAcknowledged; never waits
	streams  bool                               // each call has a stream of its own, and holds the memory of what comes there
}

// handle handles one message. of is the call on whose stream the message came; nil: the transport has no such streams. The line is
// handed over: what waits for the message keeps parts of it. A message that is not JSON-RPC is ignored, unless it names a call that waits.
//
// handle reports whether somebody waited for the message: an answer, the progress of a call, or a question for a client.
func (in *inbox) handle(line []byte, of *pending) bool {
	if len(line) > 0 && line[0] == '[' && in.calls.batches.Load() && rawjson.Valid(line) {
		return in.batch(line, of)
	}
	in.received.Add(1)
	m, bad := rpc.Parse(line)
	switch {
	case bad != nil:
		return m.ID != nil && m.Method == "" && in.calls.complete(m.ID, answer{err: errors.New("its answer is not valid: " + bad.Message)})
	case m.Method == "":
		a := answer{msg: rpc.Message{Result: m.Result, Error: m.Error}}
		if !in.streams {
			a.size = len(line)
		}
		return in.calls.complete(m.ID, a)
	case m.ID != nil:
		return in.request(m, of)
	default:
		return in.notification(m, of)
	}
}

// batch handles several messages in one, as the revision 2025-03-26 has them.
func (in *inbox) batch(line []byte, of *pending) (asked bool) {
	for one := range rawjson.Elements(line) {
		if one[0] == '{' {
			asked = in.handle(one, of) || asked
		}
	}
	return asked
}

// request handles a request of the server.
func (in *inbox) request(m rpc.Message, of *pending) bool {
	if in.calls.modern.Load() {
		return false // the modern revision has no requests of servers, and forbids us to answer them
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

// refuse answers a question that no client is asked. Outside of a call the list of roots is empty.
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
			in.calls.notify(p, m.Method, m.Params)
			break
		}
		in.notice(m.Method, m.Params)
	default:
		in.extension(m, of)
	}
	return false
}

// cancelled handles a cancellation by the server: of one of its questions or, in the modern revision, of a stream that we opened.
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

// extension passes on a notification that is not of the core protocol, if the server declared an extension. It goes to the client of
// the task that it names, of the stream that it came on, or of soleCall.
func (in *inbox) extension(m rpc.Message, of *pending) {
	if !in.calls.extended.Load() || !strings.HasPrefix(m.Method, "notifications/") || isClients(m.Method) {
		return
	}
	if p := in.calls.subscriber(m.Params, of); p != nil {
		in.calls.notify(p, m.Method, m.Params)
		return
	}
	in.calls.extension(m.Method, m.Params)
}

// isClients reports whether a notification is one that only clients send.
func isClients(method string) bool {
	return method == "notifications/initialized" || method == "notifications/roots/list_changed"
}
