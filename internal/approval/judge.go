package approval

import (
	"cmp"
	"context"
	"time"

	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

// Judge is asked before people are. A request that a judge does not decide, or for which it returns an error, goes to people: a judge
// that fails neither allows nor denies a call.
type Judge interface {
	Judge(ctx context.Context, r Request) (Verdict, error)
}

// Verdict is the decision of a judge. The zero value decides nothing. The judge has already applied its threshold and the limits on what
// a model may decide.
type Verdict struct {
	Allow      bool    // the call may run, once
	Deny       bool    // the call is denied, once; set only if the configuration lets a model deny
	Confidence float64 // that the model claims, from 0 to 1
	Reason     string  // of the model: one line without control characters
	Opinion    string  // one line for the people who decide instead: what the model thinks, and why that does not count
	By         string  // the model's id
}

// decides reports whether a verdict settles the request. A verdict that both allows and denies does not.
func (v Verdict) decides() bool { return v.Allow != v.Deny }

// answer returns the answer of a verdict that decides.
func (v Verdict) answer(r Request, at time.Time) Answer {
	return Answer{Allow: v.Allow, For: Once, By: cmp.Or(v.By, "model"), Via: "model", Reason: v.Reason, Digest: r.Digest, Time: at}
}

// askJudge asks the model about a request, and announces the request to people if the model does not settle it. The lock is held.
func (q *Queue) askJudge(e *entry) {
	if q.o.Judge == nil || e.r.Kind != Call {
		close(e.announced)
		q.publish(e)
		return
	}
	ctx, cancel := context.WithCancel(q.ctx)
	e.stop = cancel
	r := e.r
	q.work.Go(func() {
		defer cancel()
		v, err := q.o.Judge.Judge(ctx, r)
		if err == nil && v.decides() {
			if _, err = q.Settle(ctx, r.ID, v.answer(r, q.o.Now()), sign.None); err == nil { // a model has no second sign
				return
			}
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if e.r.State != Pending {
			return
		}
		e.r.Opinion = text.Truncate(cmp.Or(v.Opinion, v.Reason), maxWords)
		if err != nil {
			q.o.Logger.Warn("the model was asked about a call and did not decide", "id", r.ID, "error", err)
			e.r.Opinion = "the model did not decide: " + text.Truncate(err.Error(), maxWords)
		}
		close(e.announced)
		q.publish(e)
	})
}

// Remembered returns the answer that was given for the rest of its session to a request. Then nobody needs to be asked about it.
func (q *Queue) Remembered(r Request) (Answer, bool) {
	r.complete()
	bound, same := r.Bound(), r.same()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.suspended() {
		return Answer{}, false
	}
	return q.remembered(&r, bound, same)
}

// Consult answers a request without people: by an answer for the rest of its session, or by the judge. It reports false if neither
// settles the request; the caller then asks a person elsewhere. Consult stores nothing and tells no watcher.
func (q *Queue) Consult(ctx context.Context, r Request) (Answer, bool) {
	r.complete()
	r.ID, r.State, r.Created = newID(), Pending, q.o.Now()
	if end, ok := ctx.Deadline(); ok {
		r.Deadline = end
	} else if wait := time.Duration(q.deadline.Load()); wait > 0 {
		r.Deadline = r.Created.Add(wait)
	}
	q.mu.Lock()
	answer, known := q.remembered(&r, r.Bound(), r.same())
	over := q.suspended()
	q.mu.Unlock()
	switch {
	case over:
		return Answer{}, false
	case known:
		return answer, true
	case q.o.Judge == nil || len(r.Args) > maxArgs:
		return Answer{}, false
	}
	r = r.masked()
	v, err := q.o.Judge.Judge(ctx, r)
	if err != nil {
		q.o.Logger.Warn("the model was asked about a call and did not decide", "call", r.Call, "error", err)
	}
	if err != nil || !v.decides() || v.Allow && r.Demand().Any() || ctx.Err() != nil {
		return Answer{}, false
	}
	return v.answer(r, q.o.Now()), true
}
