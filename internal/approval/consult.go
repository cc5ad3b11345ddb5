package approval

import (
	"cmp"
	"context"
)

// Consult answers a request without people: with what somebody has answered for the rest of its session, or else the judge. False: neither
// settles it, and whoever called asks a person elsewhere. Nobody is told of it and nothing of it is kept, but the log's record and the
// model's costs; a failure settles nothing.
func (q *Queue) Consult(ctx context.Context, r Request) (Answer, bool) {
	r.Kind = cmp.Or(r.Kind, Call)
	if r.Digest == "" {
		r.Digest = r.Sum(r.Args)
	}
	r.ID, r.State, r.Created = newID(), Pending, q.o.Now()
	if end, ok := ctx.Deadline(); ok {
		r.Deadline = end
	} else if q.o.Deadline > 0 {
		r.Deadline = r.Created.Add(q.o.Deadline)
	}
	q.mu.Lock()
	k, known := q.kept[r.Bound()]
	over := q.suspended()
	q.mu.Unlock()
	switch {
	case over:
		return Answer{}, false
	case known:
		return k.answer, true
	case q.o.Judge == nil || len(r.Args) > maxArgs:
		return Answer{}, false
	}
	r = r.masked()
	v, err := q.o.Judge.Judge(ctx, r)
	if err != nil {
		q.o.Logger.Warn("the model was asked about a call and did not decide", "call", r.Call, "error", err)
		return Answer{}, false
	}
	if _, settled := v.Settled(); !settled || ctx.Err() != nil {
		return Answer{}, false
	}
	return v.answer(r, q.o.Now()), true
}
