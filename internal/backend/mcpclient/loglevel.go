package mcpclient

import (
	"context"
	"slices"

	"mycelium/internal/rawjson"
)

// levels are the levels of log lines, the least severe first (RFC 5424).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

const (
	unsetLevel   = -1 // no level, or an unknown one
	defaultLevel = 1  // info: for a client that asked for no level, once another client made the server log more
)

// levelOf is the level that a raw JSON string names.
func levelOf(raw []byte) int {
	text, _ := rawjson.Text(raw)
	return slices.Index(levels, text)
}

// RaiseLogLevel makes a server of the legacy revisions log as much as the params of a call want. One connection serves many clients, so
// the level is never made stricter; the lines of each call are filtered by the call's own level.
func (c *Conn) RaiseLogLevel(ctx context.Context, params []byte) {
	want := levelOf(rawjson.Path(params, "_meta", metaLevel))
	if want == unsetLevel || c.modern || c.caps.Logging == nil {
		return
	}
	select {
	case c.levelLock <- struct{}{}: // one at a time, so that serverLevel is the level that was set last
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
