package approval

import (
	"cmp"
	"context"
	"time"
)

// Judge is asked before any person is. What it cannot or may not settle it passes on; an error passes on too, so no failure of a
// judge ever lets a call run or refuses one.
type Judge interface {
	Judge(ctx context.Context, r Request) (Verdict, error)
}

// Verdict is what a judge says. The zero value passes on. It stands as it is: thresholds, and what a judge may never settle alone,
// have been applied by the judge already.
type Verdict struct {
	Allow      bool    // the call may run, once
	Deny       bool    // the call is refused, once; only where the configuration lets a model deny
	Confidence float64 // 0 to 1, as the model claims it
	Reason     string  // the model's, one line, without control characters
	Opinion    string  // for the people that the request is passed on to: who thought what, and why it does not count; one line
	By         string  // the model's id
}

// Settled reports whether the verdict answers the request, and with what. One that says both passes on.
func (v Verdict) Settled() (allow, settled bool) { return v.Allow, v.Allow != v.Deny }

// answer is a verdict that settles a request.
func (v Verdict) answer(r Request, at time.Time) Answer {
	allow, _ := v.Settled()
	return Answer{Allow: allow, For: Once, By: cmp.Or(v.By, "model"), Via: "model", Reason: v.Reason, Digest: r.Digest, Time: at}
}
