package gateway

import (
	"context"
	"strings"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// levels are the log levels of RFC 5424 as MCP spells them, from the least; index + 1 is the value of client.level.
const levels = "debug info notice warning error critical alert emergency"

// levelOf returns the rank of a level, from 1; 0: no such level.
func levelOf(raw []byte) int32 {
	name, _ := rawjson.Text(raw)
	for i, l := range strings.Fields(levels) {
		if l == name {
			return int32(i + 1)
		}
	}
	return 0
}

func (s *Server) setLevel(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	n := levelOf(rawjson.Member(m.Params, "level"))
	if n == 0 {
		return nil, invalidParams(`"level" must be one of ` + strings.ReplaceAll(levels, " ", ", ")).Raw()
	}
	l.level.Store(n)
	return []byte("{}"), nil
}

// wants returns the filter of the notices that belong to a request, or nil if its caller asked for none: progress goes to who
// sent a progress token; log lines to who set a level, and in the old era also to who sent a token and set none.
func (c *client) wants(m rpc.Message) func(method string, params []byte) bool {
	if m.Params == nil {
		return nil
	}
	meta := rawjson.Member(m.Params, "_meta")
	progress := rawjson.Member(meta, "progressToken") != nil
	least := c.level.Load()
	if c.modern() {
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

// peer is the client of one request, as far as servers may reach it; nil where it declared nothing and wants nothing.
func (l link) peer(m rpc.Message) gate.Peer {
	p := peer{capabilities: passable(l.capabilities, l.send != nil || l.modern())}
	if want := l.wants(m); want != nil && l.notice != nil {
		p.notify = func(method string, params []byte) {
			if want(method, params) {
				l.notice(method, params)
			}
		}
	}
	if l.send != nil {
		p.ask = l.ask
	}
	if p.capabilities == nil && p.notify == nil {
		return nil
	}
	return p
}
