package approval

import (
	"context"
	"time"
)

// The answers that hold for the rest of a session.

// kept is an answer for the rest of a session, with the request that it answered.
type kept struct {
	same    [32]byte
	answer  Answer
	request Request
}

// key returns where an answer for the rest of a session is kept: an approval is for the code as it is, a denial for whatever it becomes.
func (e *entry) key(a *Answer) [32]byte {
	if a.Allow {
		return e.bound
	}
	return e.same
}

// remembered returns the answer that was given for the rest of the session to a request, if there is one. The lock is held.
func (q *Queue) remembered(r *Request, bound, same [32]byte) (Answer, bool) {
	if k, ok := q.kept[same]; ok {
		return k.answer, true // a denial
	}
	if k, ok := q.kept[bound]; ok {
		return k.answer, true
	}
	for _, k := range q.kept {
		if k.covers(r) {
			return k.answer, true
		}
	}
	return Answer{}, false
}

// changedSince says what is different since the same call was approved for the session, or returns "". The lock is held.
func (q *Queue) changedSince(r *Request, same [32]byte) string {
	var last kept
	for _, k := range q.kept {
		if k.same == same && k.answer.Time.After(last.answer.Time) {
			last = k
		}
	}
	if last.request.ID == "" {
		return ""
	}
	return r.WhatChanged(&last.request)
}

// Unused takes an approval back that its call could not use, because something other than people refused it in the end. The same call, if
// it comes again soon, finds the answer, once.
func (q *Queue) Unused(r Request, a Answer) {
	r.complete()
	e := &entry{bound: r.Bound(), same: r.same()}
	e.r = r.masked()
	e.r.State, e.r.Answer, e.r.Waiting = Allowed, &a, 0
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, taken := q.byBound[e.bound]; taken || q.suspended() || a.For != Once || !a.Allow {
		return // another call waits for an answer of its own, or the answer is kept anyway
	}
	q.byBound[e.bound] = e
	e.timer = time.AfterFunc(rejoinTime, func() { q.dropAnswer(e) })
}

// Forget ends a session: it denies the requests that wait in it and drops the answers for the rest of it.
func (q *Queue) Forget(ctx context.Context, session string) error {
	q.mu.Lock()
	var waiting []*entry
	for _, e := range q.open {
		if e.r.Session == session {
			waiting = append(waiting, e)
		}
	}
	q.mu.Unlock()
	for _, e := range waiting {
		q.expire(e, BySession)
	}
	return q.Reset(ctx, session)
}

// Reset drops the answers for the rest of a session, so that the same calls are asked about again.
func (q *Queue) Reset(ctx context.Context, session string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	had := false
	for b, k := range q.kept {
		if k.request.Session == session {
			delete(q.kept, b)
			had = true
		}
	}
	if !had {
		return nil
	}
	return q.forgetAnswers(ctx, session)
}
