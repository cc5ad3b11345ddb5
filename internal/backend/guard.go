package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/internal/text"
)

// guarded is a call behind the queue and the breaker of its server. The time that it waits for its turn is part of its time-out: a caller
// waits no longer for a busy server than for a slow one.
func (e *entry) guarded(ctx context.Context, r call) (result, rpcErr []byte, err error) {
	if r.method == methodListen { // its answer is its end
		return e.call(ctx, r)
	}
	if err := e.breaker.open(); err != nil {
		return nil, nil, err
	}
	q, limit := e.turns()
	r.limit = limit
	if !q.take() {
		if r.limit, err = q.join(ctx, limit); err != nil {
			return nil, nil, err
		}
	}
	defer q.leave()
	done, err := e.breaker.allow()
	if err != nil {
		return nil, nil, err
	}
	verdict := errNoVerdict // also of a panic
	defer func() { done(verdict) }()
	result, rpcErr, err = e.call(ctx, r)
	var missed *missedError
	switch {
	case err == nil:
		verdict = nil
	case errors.As(err, &missed):
		verdict = missed
	}
	return result, rpcErr, err
}

// join waits for a turn, and returns what is left of the time-out then: more than nothing, because 0 means no limit at all. A turn that
// comes at the last moment is given back.
func (q *queue) join(ctx context.Context, limit time.Duration) (time.Duration, error) {
	queued, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	until, _ := queued.Deadline()
	err := q.wait(queued)
	if err == nil {
		left := time.Until(until)
		if left > 0 {
			return left, nil
		}
		q.leave()
		err = context.DeadlineExceeded
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = text.Hinted(fmt.Errorf("it is busy: the call waited %v for its turn", limit), "concurrency of its entry sets how many run at once")
	}
	return 0, err
}

// turns is the queue of an entry and the time-out of its calls.
func (e *entry) turns() (*queue, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queue, e.cfg.Timeout.or(DefaultCall)
}

// missedError is a call that got no answer from a server whose connection stands.
type missedError struct{ text string }

func (e *missedError) Error() string { return e.text }
