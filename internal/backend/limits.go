package backend

import (
	"context"
	"errors"
	"time"

	"mycelium/internal/backend/mcpclient"
)

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
	if !q.tryAcquire(r.Session) {
		if r.Limit, err = q.acquireWithin(ctx, r.Session, limit); err != nil {
			return nil, nil, err
		}
	}
	defer q.release(r.Session)
	done, err := e.breaker.allow()
	if err != nil {
		return nil, nil, err
	}
	outcome := errNoVerdict // also of a panic
	defer func() { done(outcome) }()
	result, rpcErr, err = e.call(ctx, r)
	var lost *noAnswerError
	switch {
	case err == nil:
		outcome = nil
	case errors.As(err, &lost):
		outcome = lost
	}
	return result, rpcErr, err
}

// limits are the queue of an entry and the time-out of its calls.
func (e *entry) limits() (*queue, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queue, e.cfg.Timeout.or(DefaultCall)
}

// noAnswerError is a call that got no answer from a server whose connection stands.
type noAnswerError struct{ text string }

func (e *noAnswerError) Error() string { return e.text }
