package gateway

import (
	"bytes"
	"context"
	"sync"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

const (
	maxRunning = 256  // requests of one stdio client that are served at once
	maxQueued  = 4096 // open requests of one client; more are refused
)

// requests are the open requests of one client.
type requests struct {
	mu   sync.Mutex
	open map[string]context.CancelFunc // by idKey
}

// begin notes a request, so that it can be cancelled.
func (q *requests) begin(id []byte, cancel context.CancelFunc) *rpc.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := idKey(id)
	if q.open[key] != nil {
		return rpc.InvalidRequest("a request with this id is still open")
	}
	if len(q.open) >= maxQueued {
		return &rpc.Error{Code: rpc.CodeInternal, Message: "too many open requests"}
	}
	if q.open == nil {
		q.open = map[string]context.CancelFunc{}
	}
	q.open[key] = cancel
	return nil
}

func (q *requests) end(id []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, idKey(id))
}

// none reports whether every request was answered.
func (q *requests) none() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.open) == 0
}

// notification serves a notification of the client: the only one that does anything cancels a request.
func (q *requests) notification(m rpc.Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if cancel := q.open[idKey(rawjson.Member(m.Params, "requestId"))]; cancel != nil {
		cancel()
	}
}

// idKey makes equal ids equal text.
func idKey(id []byte) string {
	if bytes.IndexByte(id, '\\') >= 0 {
		if text, ok := rawjson.Text(id); ok {
			return string(rawjson.Quote(text))
		}
	}
	return string(id)
}
