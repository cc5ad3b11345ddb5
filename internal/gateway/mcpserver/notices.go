package mcpserver

import (
	"context"
	"slices"
	"strings"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// levels are the log levels of RFC 5424 as MCP spells them, the least first; index + 1 is the value of Client.level.
var levels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelOf returns the rank of a level, from 1; 0: no such level.
func levelOf(raw []byte) int32 {
	name, _ := rawjson.Text(raw)
	return int32(slices.Index(levels[:], name) + 1)
}

func (s *Server) setLevel(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	n := levelOf(rawjson.Member(m.Params, "level"))
	if n == 0 {
		return nil, rpc.InvalidParams(`"level" must be one of ` + strings.Join(levels[:], ", ")).Raw()
	}
	l.level.Store(n)
	return []byte("{}"), nil
}

// wanted returns the filter of the notices that belong to a request, or nil if its client asked for none. Progress goes to a client
// that sent a progress token. Log lines go to a client that set a level, and in the old era also to one that sent a token and set no
// level.
func (c *Client) wanted(m rpc.Message) func(method string, params []byte) bool {
	if m.Params == nil {
		return nil
	}
	meta := rawjson.Member(m.Params, "_meta")
	progress := rawjson.Member(meta, "progressToken") != nil
	least := c.level.Load()
	if c.Modern() {
		least = levelOf(rawjson.Member(meta, metaLogLevel))
	} else if least == 0 && progress {
		least = 1
	}
	if !progress && least == 0 {
		return nil
	}
	return func(method string, params []byte) bool {
		switch method {
		case "notifications/progress":
			return progress
		case "notifications/message":
			return least > 0 && levelOf(rawjson.Member(params, "level")) >= least
		}
		return false
	}
}
