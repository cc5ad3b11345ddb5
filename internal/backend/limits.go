package backend

import (
	"context"
	"errors"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/turns"
)

// How many calls of one server run and wait, where the configuration says nothing. A slow server holds no more than these; the next
// call is refused at once. They are far above what agents do, and a waiting call costs a few KiB.
const (
	DefaultConcurrency = 128  // at work at once
	DefaultQueue       = 1024 // waiting for one of those
)

func newQueue(s *Server) *turns.Queue {
	slots, waiting := DefaultConcurrency, DefaultQueue
	if s.Concurrency > 0 {
		slots = s.Concurrency
	}
	if s.Queue > 0 {
		waiting = s.Queue
	}
	return turns.New(slots, waiting)
}

// limitedCall is a call behind the queue and the breaker of its server. The time in the queue is part of the call's time-out: a caller
// waits no longer for a busy server than for a slow one.
func (e *entry) limitedCall(ctx context.Context, r mcpclient.Call) (result, rpcErr []byte, err error) {
	if mcpclient.IsListen(r.Method) { // the answer comes when the stream ends
		return e.call(ctx, r)
	}
	if err := e.breaker.open(); err != nil {
		return nil, nil, err
	}
	q, limit := e.limits()
	r.Limit = limit
	if !q.TryAcquire(r.Session) {
		if r.Limit, err = q.AcquireWithin(ctx, r.Session, limit); err != nil {
			return nil, nil, err
		}
	}
	defer q.Release(r.Session)
	done, err := e.breaker.allow()
	if err != nil {
		return nil, nil, err
	}
	outcome := errNoVerdict // also of a panic
	defer func() { done(outcome) }()
	result, rpcErr, err = e.call(ctx, r)
	var lost *noAnswerError
	var unusable *mcpclient.AnswerError
	switch {
	case err == nil, errors.As(err, &unusable):
		outcome = nil
	case errors.As(err, &lost):
		outcome = lost
	}
	return result, rpcErr, err
}

// limits are the queue of an entry and the time-out of its calls.
func (e *entry) limits() (*turns.Queue, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queue, e.cfg.Timeout.or(DefaultCall)
}

// noAnswerError is a call that got no answer from a server whose connection stands.
type noAnswerError struct{ text string }

func (e *noAnswerError) Error() string { return e.text }
