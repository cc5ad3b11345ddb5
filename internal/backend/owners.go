package backend

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
	ownedFor   = time.Hour
	maxOwners  = 1024
	maxOwnedID = 256 // bytes of an id
)

// owners are the clients that something concerns which outlives its call: by the id of an elicitation by URL, of a task, and of a task's
// progress. Their notifications come after the call's answer.
type owners map[string]owner

type owner struct {
	peer  Peer
	token []byte // progress: the client's own
	since time.Time
}

func taskProgress(id int64) string { return "progress " + strconv.FormatInt(id, 10) }

// The kinds of keys.
const (
	ownsElicitation = "elicitation "
	ownsTask        = "task "
)

// keep remembers the client of a call under an id, a raw JSON string. The lock is held.
func (c *calls) keep(p *pending, kind string, id []byte) {
	if text, ok := rawjson.Text(id); ok && len(text) <= maxOwnedID {
		c.store(kind+text, owner{peer: p.peer})
	}
}

func (c *calls) store(key string, o owner) {
	o.since = c.now()
	if len(c.owners) >= maxOwners {
		oldest := ""
		for name, other := range c.owners {
			if o.since.Sub(other.since) > ownedFor {
				delete(c.owners, name)
			} else if oldest == "" || other.since.Before(c.owners[oldest].since) {
				oldest = name
			}
		}
		if len(c.owners) >= maxOwners {
			delete(c.owners, oldest)
		}
	}
	c.owners[key] = o
}

// codeURLElicitation is the error of the revision 2025-11-25 that names web pages which the user has to visit first.
const codeURLElicitation = -32042

// remember looks in the answer of a client's call for what outlives it. The lock is held.
func (c *calls) remember(p *pending, m rpc.Message) {
	switch {
	case m.Error != nil:
		if codeOf(m.Error) != codeURLElicitation {
			return
		}
		for one := range rawjson.Elements(rawjson.Path(m.Error, "data", "elicitations")) {
			c.keep(p, ownsElicitation, rawjson.Member(one, "elicitationId"))
		}
	case c.extended.Load() && p.method == "tools/call":
		id := rawjson.Path(m.Result, "task", "taskId")
		if string(rawjson.Member(m.Result, "resultType")) == `"task"` {
			id = rawjson.Member(m.Result, "taskId")
		}
		if id == nil {
			return
		}
		c.keep(p, ownsTask, id)
		if p.token != nil {
			c.store(taskProgress(p.id), owner{peer: p.peer, token: p.token})
		}
	}
}

// completed tells of the end of an elicitation by URL to the client that was asked.
func (c *calls) completed(params []byte) {
	id, ok := rawjson.Text(rawjson.Member(params, "elicitationId"))
	if !ok {
		return
	}
	c.mu.Lock()
	o := c.owners[ownsElicitation+id]
	delete(c.owners, ownsElicitation+id)
	c.mu.Unlock()
	if o.peer != nil {
		o.peer.Notify("notifications/elicitation/complete", bytes.Clone(params))
	}
}

// related is the call that waits for the task which a message names. The lock is held.
func (c *calls) related(params []byte) *pending {
	id := taskOf(params)
	if id == "" {
		return nil
	}
	for _, p := range c.open {
		if p.peer == nil || len(p.method) < 6 || p.method[:6] != "tasks/" {
			continue
		}
		if own := rawjson.TextAt(p.params, "taskId"); own == id {
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
		if o := c.owners[ownsTask+id]; o.peer != nil {
			c.mu.Unlock()
			o.peer.Notify(method, bytes.Clone(params))
			return
		}
		c.post(c.related(params), news{method: method, params: bytes.Clone(params)})
		c.mu.Unlock()
		return // a task that we know nothing of is somebody else's
	}
	c.post(c.whose(), news{method: method, params: bytes.Clone(params)})
	c.mu.Unlock()
}
