package mcpclient

import (
	"bytes"
	"strconv"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// metaTask names the task that a message belongs to, in the revision 2025-11-25.
const metaTask = "io.modelcontextprotocol/related-task"

// Bounds of what is remembered after the end of a call: as long as a person takes to come back from a web page, and as much as a busy
// server has open at once.
const (
	recipientLife  = time.Hour
	maxRecipients  = 1024
	maxRecipientID = 256 // bytes of an id
)

// recipients are the clients of what outlives its call: of elicitations by URL, of tasks, and of the progress of tasks, by their ids.
// Their notifications come after the answer of the call.
type recipients map[string]recipient

type recipient struct {
	peer  Peer
	token []byte // the client's own progress token
	since time.Time
}

func taskProgress(id int64) string { return "progress " + strconv.FormatInt(id, 10) }

// Prefixes of the keys.
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

// codeURLElicitation is the error code of the revision 2025-11-25 for a call before which the user has to visit web pages.
const codeURLElicitation = -32042

// rememberOutcome remembers the client of a call if its answer names something that outlives the call. The lock is held.
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

// elicitationComplete passes the end of an elicitation by URL to the client that was asked.
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

// callOfTask is the call that waits for the task that a message names. The lock is held.
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

// taskOf is the id of the task that a message names; empty: it names none.
func taskOf(params []byte) string {
	id, ok := rawjson.Text(rawjson.Path(params, "_meta", metaTask, "taskId"))
	if !ok {
		id = rawjson.TextAt(params, "taskId")
	}
	return id
}

// extension passes on a notification of an extension that came on no stream.
func (c *calls) extension(method string, params []byte) {
	c.mu.Lock()
	if id := taskOf(params); id != "" {
		// It goes to the client of the task or to the call that waits for the task, but not to both.
		if o := c.recipients[taskKey+id]; o.peer != nil {
			c.mu.Unlock()
			o.peer.Notify(method, bytes.Clone(params))
			return
		}
		c.post(c.callOfTask(params), event{method: method, params: bytes.Clone(params)})
		c.mu.Unlock()
		return // an unknown task belongs to somebody else
	}
	c.post(c.soleCall(), event{method: method, params: bytes.Clone(params)})
	c.mu.Unlock()
}
