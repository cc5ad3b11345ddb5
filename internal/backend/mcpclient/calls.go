package mcpclient

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// maxPendingNotices bounds the notifications that wait for the caller of one call. More are dropped: a caller that reads slowly must not
// delay the server's other answers.
const maxPendingNotices = 64

// abandonedFor is how long log lines and questions of a server are passed to no other caller after a call was abandoned. The server may
// still be at work on that call, and they would reach a call that they do not belong to.
const abandonedFor = time.Minute

// AnswerError is an answer that cannot be used. The server did answer.
type AnswerError struct{ what string }

func (e *AnswerError) Error() string { return e.what }

// errTooLong is an answer of more than MaxAnswer bytes.
var errTooLong = &AnswerError{fmt.Sprintf("its answer is longer than %d MiB", MaxAnswer>>20)}

// ErrClosed is returned for a call on a connection that has ended.
var ErrClosed = errors.New("the connection is closed")

// Call is a request to a server.
type Call struct {
	Method    string
	Params    []byte
	Peer      Peer          // the client behind it; nil: the request is our own
	Principal string        // whose it is; empty: it is not known, and belongs to nobody else
	Session   string        // whose share of the queue it takes; empty: our own
	Answer    *rpc.Claim    // holds the answer; nil: the server's own share does
	Limit     time.Duration // for the answer, without the time that the client takes for questions; 0: only the context limits it
}

// pending is a request that waits for its answer. Its id is also its progress token.
type pending struct {
	Call
	id       int64
	declared []byte        // capabilities of the client behind it, raw
	token    []byte        // the caller's own progress token, raw; nil: none
	level    int           // the least severe log line that its caller wants
	answer   chan answer   // holds one
	wake     chan struct{} // holds one when there are events; nil: nobody listens
	stop     func()        // stops what the transport does for it; may be nil

	odd     int     // answers that had reached no call when it was sent
	events  []event // guarded by the table's lock
	notices int     // the notifications among events
	doubted bool    // an answer with the id of no call came, and may be its own; guarded by the table's lock
}

// event is a message of the server about a call: a notification or a question.
type event struct {
	method   string
	params   []byte
	question *question // nil: a notification
}

type answer struct {
	msg  rpc.Message
	err  error
	size int // of the message, if its memory is not claimed yet
}

// listens reports whether the request only opens a stream: the server is not at work on it.
func (p *pending) listens() bool { return IsListen(p.Method) }

// IsListen reports whether a method opens a stream: its answer comes when the stream ends.
func IsListen(method string) bool { return method == methodListen }

// calls is the table of the open requests of one connection, in both directions.
type calls struct {
	now      func() time.Time
	modern   atomic.Bool // the server is of the modern revision: it sends no requests
	batches  atomic.Bool // the revision has batches
	extended atomic.Bool // the server declared extensions, whose notifications are passed on
	learned  atomic.Bool // the catalog was listed once, or could not be: what the server asks at its start is over

	mu          sync.Mutex
	last        int64
	open        map[int64]*pending
	asked       map[string]*question // by the server's raw id
	recipients  recipients
	abandoned   abandonment
	serverLevel int    // log level that was set at the server
	odd         int    // answers that reached no call
	lastOdd     string // the last of them, in words
	err         error  // why the connection ended; nil: it stands
}

// abandonment records the last call that was abandoned.
type abandonment struct {
	who  string
	when time.Time // zero: none
	many bool      // calls of several principals, or of an unknown one, were abandoned
}

func newCalls(now func() time.Time) *calls {
	return &calls{now: now, open: map[int64]*pending{}, asked: map[string]*question{}, recipients: recipients{}, serverLevel: unsetLevel}
}

// add enters a request.
func (c *calls) add(r Call, token []byte, level int) (*pending, error) {
	p := &pending{Call: r, token: token, level: level, answer: make(chan answer, 1)}
	if r.Peer != nil {
		p.wake, p.declared = make(chan struct{}, 1), r.Peer.Capabilities()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	// initialize has the id 1 whether or not server/discover came before it: some small servers answer with numbers of their own.
	if c.last > 0 || r.Method != methodDiscover {
		c.last++
	}
	p.id, p.odd = c.last, c.odd
	c.open[p.id] = p
	return p, nil
}

// complete passes an answer to the request with that id. It reports whether such a request waits.
func (c *calls) complete(id []byte, a answer) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return false
	}
	c.mu.Lock()
	p, ok := c.open[n]
	delete(c.open, n)
	if ok && p.Peer != nil {
		c.rememberOutcome(p, a.msg)
	}
	c.mu.Unlock()
	if ok {
		if err := p.Answer.Hold(a.size); err != nil {
			a = answer{err: err}
		}
		p.answer <- a
	}
	return ok
}

// setOdd records an answer that reached no call.
func (c *calls) setOdd(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.odd++
	c.lastOdd = what
}

// cameMeanwhile returns the last answer that reached no call since p was sent, in words; empty: none did.
func (c *calls) cameMeanwhile(p *pending) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.odd == p.odd {
		return ""
	}
	return c.lastOdd
}

// meant returns the call to which an answer belongs that has the id of no open call; nil: it is not known, or the answer was asked for.
// If certain is false, the call may still get an answer of its own. A call is returned as uncertain once.
func (c *calls) meant(id []byte, of *pending) (p *pending, certain bool) {
	number, isText := rawjson.Text(id)
	if !isText {
		number = string(id)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	c.mu.Lock()
	given := err == nil && 0 <= n && n <= c.last
	named := c.open[n]
	c.mu.Unlock()
	if number == "null" && !isText || given && !isText {
		return nil, false
	}
	if of != nil {
		return of, true
	}
	if p = named; p == nil || !isText {
		p = c.onlyPending()
	}
	if p == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.doubted {
		return nil, false
	}
	p.doubted = true
	return p, false
}

// failOne ends one request with err, if the request still waits.
func (c *calls) failOne(p *pending, err error) {
	c.mu.Lock()
	_, ok := c.open[p.id]
	delete(c.open, p.id)
	c.mu.Unlock()
	if ok {
		p.answer <- answer{err: err}
	}
}

// failLast ends one request with err, and refuses every later one with why: whoever tries the request again must not find this connection.
func (c *calls) failLast(p *pending, err, why error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = why
	}
	c.mu.Unlock()
	c.failOne(p, err)
}

// abandon removes a request because its caller is gone. It returns false if the answer is already there.
func (c *calls) abandon(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.open[p.id]
	delete(c.open, p.id)
	if ok && p.Peer != nil && !p.listens() {
		recent := !c.abandoned.when.IsZero() && c.now().Sub(c.abandoned.when) < abandonedFor
		c.abandoned.many = p.Principal == "" || recent && (c.abandoned.many || c.abandoned.who != p.Principal)
		c.abandoned.who, c.abandoned.when = p.Principal, c.now()
	}
	return ok
}

// failAll ends every request, and every later one, with err.
func (c *calls) failAll(err error) {
	c.mu.Lock()
	open := c.open
	c.open = map[int64]*pending{}
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	for _, p := range open {
		p.answer <- answer{err: err}
	}
}

// isComplete reports whether a request has its answer, or was abandoned.
func (c *calls) isComplete(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.open[p.id]
	return !ok
}

// closedBy is why the connection ended; nil while it stands.
func (c *calls) closedBy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// onlyPending is the one request that waits, if there is exactly one and the server cannot be at work on another.
func (c *calls) onlyPending() *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	var one *pending
	for _, p := range c.open {
		if !p.listens() {
			if one != nil {
				return nil
			}
			one = p
		}
	}
	if one == nil || !c.attributable("") {
		return nil
	}
	return one
}

// attributable reports whether a message that names no call can be attributed to a call of the principal: no call of another principal
// was abandoned a short time ago. The lock is held.
func (c *calls) attributable(principal string) bool {
	last := c.abandoned
	return last.when.IsZero() || c.now().Sub(last.when) >= abandonedFor || !last.many && principal != "" && last.who == principal
}

// soleCall is the call to which a message belongs that names no call: the only call of a client, or the latest of several calls of one
// principal. Nil: there is no call, or it is not clear which. The lock is held.
func (c *calls) soleCall() *pending {
	var one *pending
	for _, p := range c.open {
		switch {
		case p.Peer == nil || p.listens():
		case one == nil:
			one = p
		case p.Principal == "" || p.Principal != one.Principal:
			return nil
		case p.id > one.id:
			one = p
		}
	}
	if one == nil || !c.attributable(one.Principal) {
		return nil
	}
	return one
}

// post queues an event for a call, if the call still waits and somebody listens. The lock is held.
func (c *calls) post(p *pending, e event) bool {
	if p == nil || p.wake == nil || c.open[p.id] != p {
		return false
	}
	if e.question == nil {
		if p.notices >= maxPendingNotices {
			return false
		}
		p.notices++
	}
	p.events = append(p.events, e)
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return true
}

// takeEvents takes the events of a call.
func (c *calls) takeEvents(p *pending) []event {
	if p.wake == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := p.events
	p.events, p.notices = nil, 0
	return list
}

// progress passes a progress notification to the call whose token it carries, with the caller's own token. It reports whether somebody
// asked for it.
func (c *calls) progress(params []byte) bool {
	n, err := strconv.ParseInt(string(rawjson.Member(params, "progressToken")), 10, 64)
	if err != nil {
		return false
	}
	c.mu.Lock()
	p := c.open[n]
	if p != nil {
		defer c.mu.Unlock()
		if p.token == nil {
			return false
		}
		c.post(p, event{method: "notifications/progress", params: rawjson.Set(params, "progressToken", p.token)})
		return true
	}
	o := c.recipients[taskProgress(n)]
	c.mu.Unlock()
	if o.peer != nil {
		o.peer.Notify("notifications/progress", rawjson.Set(params, "progressToken", o.token))
	}
	return o.peer != nil
}

// log passes a log line on: a line on a stream belongs to the stream's call, any other line to soleCall.
func (c *calls) log(params []byte, of *pending) {
	level := levelOf(rawjson.Member(params, "level"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if of == nil {
		of = c.soleCall()
	}
	if of == nil {
		return
	}
	least := of.level
	if least == unsetLevel && c.serverLevel != unsetLevel {
		least = defaultLevel // another call made the server log more
	}
	if level == unsetLevel || least == unsetLevel || level >= least {
		c.post(of, event{method: "notifications/message", params: bytes.Clone(params)})
	}
}

// subscriber is the request that a notification belongs to, by its stream or by the id that it names.
func (c *calls) subscriber(params []byte, of *pending) *pending {
	if of != nil {
		return of
	}
	n, err := strconv.ParseInt(string(rawjson.Path(params, "_meta", metaSubscription)), 10, 64)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[n]
}

// notify queues a notification for one call.
func (c *calls) notify(p *pending, method string, params []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.post(p, event{method: method, params: bytes.Clone(params)})
}

// busy counts the calls that the server is at work on.
func (c *calls) busy() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.open {
		if !p.listens() {
			n++
		}
	}
	return n
}
