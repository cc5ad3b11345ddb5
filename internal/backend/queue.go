package backend

import (
	"context"
	"fmt"
	"sync/atomic"
)

// How many calls of one server run and wait, where the configuration says nothing. A server that is slow holds no more than these; one
// more call is told so at once. They are far above what agents do, and a call that waits costs a few KiB.
const (
	DefaultConcurrency = 128  // at work at once
	DefaultQueue       = 1024 // waiting for one of those
)

// queue admits the calls of one server: so many are at work, so many wait for their turn in the order of their coming.
type queue struct {
	slots   chan struct{}
	most    int64
	waiting atomic.Int64
	refused atomic.Int64
}

func newQueue(s *Server) *queue {
	q := &queue{slots: make(chan struct{}, DefaultConcurrency), most: DefaultQueue}
	if s.Concurrency > 0 {
		q.slots = make(chan struct{}, s.Concurrency)
	}
	if s.Queue > 0 {
		q.most = int64(s.Queue)
	}
	return q
}

// take takes a turn where one is free; who has one calls leave.
func (q *queue) take() bool {
	select {
	case q.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// wait waits for a turn. The error is immediate where the queue is full, and ctx's where ctx ended first.
func (q *queue) wait(ctx context.Context) error {
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		q.refused.Add(1)
		return &fullError{at: cap(q.slots), waiting: int(q.most)}
	}
	defer q.waiting.Add(-1)
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) leave() { <-q.slots }

// fullError is a call that was not sent because too many wait already.
type fullError struct{ at, waiting int }

func (e *fullError) Error() string {
	return fmt.Sprintf("it is busy: %d calls are at work and %d wait", e.at, e.waiting)
}

// Hint is how to mend it.
func (e *fullError) Hint() string {
	return "try again later; concurrency and queue of its entry set how many may"
}
