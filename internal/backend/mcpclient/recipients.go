package mcpclient

import (
	"bytes"
	"strconv"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// metaTask names, in the revision 2025-11-25, the task that a message belongs to.
const metaTask = "io.modelcontextprotocol/related-task"

// What is remembered beyond the end of a call: as long as a person takes to come back from a web page, and not more than a busy server has
// open at once.
const (
	recipientLife  = time.Hour
	maxRecipients  = 1024
	maxRecipientID = 256 // bytes of an id
)

// recipients are the clients that something concerns which outlives its call: by the id of an elicitation by URL, of a task, and of a task's
// progress. Their notifications come after the call's answer.
type recipients map[string]recipient

type recipient struct {
	peer  Peer
	token []byte // progress: the client's own
	since time.Time
}

func taskProgress(id int64) string { return "progress " + strconv.FormatInt(id, 10) }

// The kinds of keys.
const (
	elicitationKey = "elicitation "
	taskKey        = "task "
)

// rememberPeer remembers the client of a call under an id, a raw JSON string. The lock is held.
func (c *calls) rememberPeer(p *pending, kind string, id []byte) {
	if text, ok := rawjson.Text(id); ok && len(text) <= maxRecipientID {
		c.addRecipient(kind+text, recipient{peer: p.Peer})
	}
}

func (c *calls) addRecipient(key string, o recipient) {
	o.since = c.now()
	if len(c.recipients) >= maxRecipients {
		oldest := ""
		for name, other := range c.recipients {
			if o.since.Sub(other.since) > recipientLife {
				delete(c.recipients, name)
			} else if oldest == "" || other.since.Before(c.recipients[oldest].since) {
				oldest = name
			}
		}
		if len(c.recipients) >= maxRecipients {
			delete(c.recipients, oldest)
		}
	}
	c.recipients[key] = o
}

// codeURLElicitation is the error of the revision 2025-11-25 that names web pages which the user has to visit first.
const codeURLElicitation = -32042

// rememberOutcome looks in the answer of a client's call for what outlives it. The lock is held.
func (c *calls) rememberOutcome(p *pending, m rpc.Message) {
	switch {
	case m.Error != nil:
		if codeOf(m.Error) != codeURLElicitation {
			return
		}
		for one := range rawjson.Elements(rawjson.Path(m.Error, "data", "elicitations")) {
			c.rememberPeer(p, elicitationKey, rawjson.Member(one, "elicitationId"))
		}
	case c.extended.Load() && p.Method == "tools/call":
		id := rawjson.Path(m.Result, "task", "taskId")
		if string(rawjson.Member(m.Result, "resultType")) == `"task"` {
			id = rawjson.Member(m.Result, "taskId")
		}
		if id == nil {
			return
		}
		c.rememberPeer(p, taskKey, id)
		if p.token != nil {
			c.addRecipient(taskProgress(p.id), recipient{peer: p.Peer, token: p.token})
		}
	}
}

// elicitationComplete tells of the end of an elicitation by URL to the client that was asked.
func (c *calls) elicitationComplete(params []byte) {
	id, ok := rawjson.Text(rawjson.Member(params, "elicitationId"))
	if !ok {
		return
	}
	c.mu.Lock()
	o := c.recipients[elicitationKey+id]
	delete(c.recipients, elicitationKey+id)
	c.mu.Unlock()
	if o.peer != nil {
		o.peer.Notify("notifications/elicitation/complete", bytes.Clone(params))
	}
}

// callOfTask is the call that waits for the task which a message names. The lock is held.
func (c *calls) callOfTask(params []byte) *pending {
	id := taskOf(params)
	if id == "" {
		return nil
	}
	for _, p := range c.open {
		if p.Peer == nil || len(p.Method) < 6 || p.Method[:6] != "tasks/" {
			continue
		}
		if own := rawjson.TextAt(p.Params, "taskId"); own == id {
			return p
		}
	}
	return nil
}

// taskOf is the task that a message names, where it names one.
func taskOf(params []byte) string {
	id, ok := rawjson.Text(rawjson.Path(params, "_meta", metaTask, "taskId"))
	if !ok {
		id = rawjson.TextAt(params, "taskId")
	}
	return id
}

// extension passes on a notification that came on no stream.
func (c *calls) extension(method string, params []byte) {
	c.mu.Lock()
	if id := taskOf(params); id != "" {
		// It may also be told to the call that waits for the task, but not to both.
		if o := c.recipients[taskKey+id]; o.peer != nil {
			c.mu.Unlock()
			o.peer.Notify(method, bytes.Clone(params))
			return
		}
		c.post(c.callOfTask(params), event{method: method, params: bytes.Clone(params)})
		c.mu.Unlock()
		return // a task that we know nothing of is somebody else's
	}
	c.post(c.soleCall(), event{method: method, params: bytes.Clone(params)})
	c.mu.Unlock()
}
