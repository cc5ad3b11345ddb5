package mcpclient

import (
	"bytes"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// maxNotes bounds the notifications that wait for one call's caller. What comes beyond it is dropped: a caller that reads
// slowly must not hold up the server's other answers.
const maxNotes = 64

// abandonedFor is how long log lines and questions of a server are passed to nobody else after a call was given up: the server may still be
// at work on it, and they would reach somebody else's call.
const abandonedFor = time.Minute

var ErrClosed = errors.New("the connection is closed")

// Call is a request to a server.
type Call struct {
	Method    string
	Params    []byte
	Peer      Peer          // the client behind it; nil: the request is our own
	Principal string        // whose it is; empty: it is not known, and belongs to nobody else
	Limit     time.Duration // for the answer, without the time that the client takes for questions; 0: only the context limits it
}

// pending is one request that waits for its answer. Its id is also its progress token.
type pending struct {
	Call
	id       int64
	declared []byte        // the capabilities of the client behind it, raw
	token    []byte        // the caller's own progress token, raw; nil: none
	level    int           // the least severe log line that its caller wants
	answer   chan answer   // one
	wake     chan struct{} // holds one when there is news; nil: nobody listens
	stop     func()        // ends what the transport does for it; may be nil

	events []event // guarded by the table's lock
	notes  int     // of them notifications
}

// event is what a server says about a call: a notification, or a question.
type event struct {
	method   string
	params   []byte
	question *question // nil: a notification
}

type answer struct {
	msg rpc.Message
	err error
}

// listens reports whether a request only listens: the server is not at work on it.
func (p *pending) listens() bool { return IsListen(p.Method) }

// IsListen reports whether a method opens a stream: its answer comes when the stream ends.
func IsListen(method string) bool { return method == methodListen }

// calls is the table of the pending requests of one connection, in both directions.
type calls struct {
	now      func() time.Time
	modern   atomic.Bool // a server of the modern revision: it asks nothing
	batches  atomic.Bool // its revision knows batches
	extended atomic.Bool // it declared extensions, whose notifications are passed on
	learned  atomic.Bool // what it says at its start was said: its catalog was learned once, or could not be

	mu          sync.Mutex
	last        int64
	open        map[int64]*pending
	asked       map[string]*question // by the server's raw id
	recipients  recipients
	abandoned   abandonment
	serverLevel int   // the level that was set at the server
	err         error // why the connection is gone; nil: it stands
}

// abandonment remembers the last calls that were given up: those of one principal, and the last of anybody.
type abandonment struct {
	who  string
	when time.Time // zero: none
	many bool      // of more than one principal, or of one that is not known
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
	c.last++
	p.id = c.last
	c.open[p.id] = p
	return p, nil
}

// complete hands an answer to the request of that id; false if none waits.
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
		p.answer <- a
	}
	return ok
}

// failOne completes one request from our side, if it still waits.
func (c *calls) failOne(p *pending, err error) {
	c.mu.Lock()
	_, ok := c.open[p.id]
	delete(c.open, p.id)
	c.mu.Unlock()
	if ok {
		p.answer <- answer{err: err}
	}
}

// abandon takes a request out because its caller went; false if the answer is already there.
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

// isComplete reports whether a request has its answer, or nobody waits for it.
func (c *calls) isComplete(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.open[p.id]
	return !ok
}

// closedBy is why the connection is gone; nil while it stands.
func (c *calls) closedBy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// onlyPending is the one request that waits, if there is exactly one and no other may still be at work.
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

// attributable reports whether no call of another principal was given up a short while ago. The lock is held.
func (c *calls) attributable(principal string) bool {
	return c.abandoned.when.IsZero() || c.now().Sub(c.abandoned.when) >= abandonedFor || !c.abandoned.many && principal != "" && c.abandoned.who == principal
}

// soleCall is the call that something can only belong to which names none: the only one of a client, or the latest of several that are all
// of one principal. Nil: there is none, or there is a doubt. The lock is held.
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

// post queues news for a call, if it still waits and somebody listens. The lock is held.
func (c *calls) post(p *pending, e event) bool {
	if p == nil || p.wake == nil || c.open[p.id] != p {
		return false
	}
	if e.question == nil {
		if p.notes >= maxNotes {
			return false
		}
		p.notes++
	}
	p.events = append(p.events, e)
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return true
}

// read takes the news of a call.
func (c *calls) read(p *pending) []event {
	if p.wake == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := p.events
	p.events, p.notes = nil, 0
	return list
}

// progress passes a progress notification to the call whose token it carries, with the caller's own token; false if nobody asked for it.
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

// log passes a log line on: on a stream it belongs to the stream's call, elsewhere to the one that it can only belong to.
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
		least = defaultLevel // the server was made to say more for the sake of another call
	}
	if level == unsetLevel || least == unsetLevel || level >= least {
		c.post(of, event{method: "notifications/message", params: bytes.Clone(params)})
	}
}

// subscriber is the request to which a notification says that it belongs, on a stream or by its id.
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

// tell queues a notification for one call.
func (c *calls) tell(p *pending, method string, params []byte) {
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
