package mcpclient

import (
	"context"
	"slices"

	"mycelium/internal/rawjson"
)

// levels are those of log lines, from the least severe one on (RFC 5424).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

const (
	unsetLevel   = -1 // none, or none that we know
	defaultLevel = 1  // info: what a client sees that asked for nothing, once the server was made to say more
)

// levelOf reads a raw JSON string.
func levelOf(raw []byte) int {
	text, _ := rawjson.Text(raw)
	return slices.Index(levels, text)
}

// RaiseLogLevel makes a server of the old revisions log as much as a call wants. One connection serves many clients, so that the level only ever
// falls, and each call's lines are sorted out by its own.
func (c *Conn) RaiseLogLevel(ctx context.Context, params []byte) {
	want := levelOf(rawjson.Path(params, "_meta", metaLevel))
	if want == unsetLevel || c.modern || c.caps.Logging == nil {
		return
	}
	select {
	case c.levelLock <- struct{}{}: // one at a time, so that the level that stands is the last that was set
		defer func() { <-c.levelLock }()
	case <-ctx.Done():
		return
	}
	c.calls.mu.Lock()
	enough := c.calls.serverLevel != unsetLevel && c.calls.serverLevel <= want
	c.calls.mu.Unlock()
	if enough {
		return
	}
	_, _, err := c.Request(ctx, Call{Method: "logging/setLevel", Params: []byte(`{"level":"` + levels[want] + `"}`)})
	if err != nil {
		return // the next call tries again
	}
	c.calls.mu.Lock()
	c.calls.serverLevel = want
	c.calls.mu.Unlock()
}
