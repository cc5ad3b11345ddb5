package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mycelium/internal/backend/redact"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// inbox dispatches the messages of a server.
type inbox struct {
	calls    *calls
	memory   *rpc.Memory                        // whose turns large messages take; nil: they take none
	received *atomic.Int64                      // counts the messages
	odd      func(what string)                  // is told of an answer that reached no call; never waits; may be nil
	reply    func(rpc.Message)                  // sends an answer to the server; never waits, and may drop the answer
	notice   func(method string, params []byte) // gets what concerns no call: list_changed, resources/updated, noticeAcknowledged; never waits
	streams  bool                               // each call has a stream of its own, and holds the memory of what comes there
}

// handle handles one message. of is the call on whose stream the message came; nil: the transport has no such streams. The line is
// handed over: what waits for the message keeps parts of it. A message that is not JSON-RPC is ignored, unless it is an answer.
//
// handle reports whether somebody waited for the message: an answer, the progress of a call, or a question for a client.
func (in *inbox) handle(line []byte, of *pending) bool {
	if len(line) > 0 && line[0] == '[' && in.calls.batches.Load() && rawjson.Valid(line) {
		return in.batch(line, of)
	}
	in.received.Add(1)
	var m rpc.Message
	var bad *rpc.Error
	in.memory.Work(len(line), func() { m, bad = rpc.Parse(line) })
	switch {
	case bad != nil:
		return in.unusable(line, m, bad, of)
	case m.Method == "":
		if of != nil && m.Error != nil && string(m.ID) == "null" { // it could not read the id of the only request on this stream
			m.ID = strconv.AppendInt(nil, of.id, 10)
		}
		a := answer{msg: rpc.Message{Result: m.Result, Error: m.Error}}
		if !in.streams {
			a.size = len(line)
		}
		if in.calls.complete(m.ID, a) {
			return true
		}
		in.unmatched(m.ID, of)
		return false
	case m.ID != nil:
		return in.request(m, of)
	default:
		return in.notification(m, of)
	}
}

// unusable handles a message that is not valid. An answer ends its call, as far as the call is known; anything else is ignored.
func (in *inbox) unusable(line []byte, m rpc.Message, bad *rpc.Error, of *pending) bool {
	if m.Method != "" || rawjson.Member(line, "result") == nil && rawjson.Member(line, "error") == nil {
		return false
	}
	if bad.Code == rpc.CodeParse {
		m.ID = rpc.PartialID(line, line)
	}
	return in.lost(m.ID, of, &AnswerError{"its answer is not valid: " + bad.Message})
}

// lost ends the call whose answer was dropped for a reason. Without an id it is the call of the stream, or the only one that waits. If
// several wait, each that runs into its time-out tells the reason.
func (in *inbox) lost(id []byte, of *pending, reason error) bool {
	if id != nil {
		if in.calls.complete(id, answer{err: reason}) {
			return true
		}
		in.unmatched(id, of)
		return false
	}
	if of == nil {
		of = in.calls.onlyPending()
	}
	if of == nil {
		in.report("an answer whose id cannot be read came, and was dropped: " + reason.Error())
		return false
	}
	in.calls.failOne(of, reason)
	return true
}

// unmatchedWait is how long a call still waits for its own answer after one with an id that no call has. Servers that count by
// themselves send none; those that answer what nobody asked send it soon.
const unmatchedWait = time.Second

// unmatched handles an answer with an id that no call waits for. An answer to a call that was given up, or a second one, is reported.
// Any other id is a mistake of the server: the call that it belongs to is that of the stream, the one with this number, or the only one
// that waits. It fails, and gets no result that may be meant for another call. An answer with the id null may be to a notification.
func (in *inbox) unmatched(id []byte, of *pending) {
	shown := redact.Printable(text.Prefix(string(id), 40))
	in.report("an answer with the id " + shown + " came, and no call waits for it")
	p, at := in.calls.meant(id, of)
	if p == nil {
		return
	}
	err := &AnswerError{fmt.Sprintf("it answered with the id %s, and the id of the call is %d", shown, p.id)}
	if at {
		in.calls.failOne(p, err)
	} else {
		time.AfterFunc(unmatchedWait, func() { in.calls.failOne(p, err) })
	}
}

func (in *inbox) report(what string) {
	in.calls.setOdd(what)
	if in.odd != nil {
		in.odd(what)
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
