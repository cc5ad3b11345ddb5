// Package judge asks a language model about calls for which the policy says ask, and about the replies that people write.
package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/model"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Asker answers one question. [model.Client] implements it.
type Asker interface {
	Ask(ctx context.Context, q model.Question) (model.Answer, error)
}

// Bounds of a question to a model. A call with larger arguments goes to a person.
const (
	maxJudged  = 32 << 10 // bytes of arguments
	maxPast    = 10       // earlier decisions of the same session
	maxExcerpt = 400      // bytes of any other text of an agent
)

// Options configure a [Judge] or an [Evaluator]. A Judge requires Model; an Evaluator without one understands plain words only, and does
// not use MayDeny, Policies, Rules and Past.
type Options struct {
	Model      Asker
	Name       string                   // of the model; empty: DefaultJudge
	Confidence float64                  // the least that counts; 0: DefaultConfidence
	MayDeny    bool                     // a confident no denies the call; otherwise the call goes to people
	Timeout    time.Duration            // of one question; 0: DefaultThinking. A judge takes at most half of the time until the deadline
	Policies   func() ([]Policy, error) // after an error no call is judged
	Rules      func() []policy.Rule
	// Past returns the last decisions of a session, the newest first, at most n.
	Past   func(ctx context.Context, session string, n int) ([]Past, error)
	Ledger *model.Ledger    // nil: costs are not recorded
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now
}

// setDefaults fills in the defaults. A confidence outside of 0 to 1 becomes 1, so that a mistake settles no call.
func (o *Options) setDefaults() {
	o.Name = cmp.Or(o.Name, approval.DefaultJudge)
	o.Confidence = cmp.Or(o.Confidence, approval.DefaultConfidence)
	if !(o.Confidence > 0 && o.Confidence <= 1) {
		o.Confidence = 1
	}
	if o.Timeout <= 0 {
		o.Timeout = approval.DefaultThinking
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// ask asks the model and records the cost of the answer, also of one that is an error.
func (o *Options) ask(ctx context.Context, limit time.Duration, purpose, session string, q model.Question) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	q.Model = o.Name
	a, err := o.Model.Ask(ctx, q)
	if o.Ledger != nil && a.Usage != (model.Usage{}) {
		if err := o.Ledger.Record(purpose, session, a); err != nil {
			o.Logger.Warn("the cost of a question to a model is not recorded", "purpose", purpose, "cents", a.Cost*100, "error", err)
		}
	}
	return a.Text, err
}

// Past is an earlier decision of the same session.
type Past struct {
	Tool   string `json:"tool"`
	Call   string `json:"call"`   // its arguments, possibly cut
	Effect string `json:"effect"` // allow or deny
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Judge asks a language model about calls. It is safe for concurrent use.
//
// The text that it judges comes from an agent, which may be manipulated, so the power of a judge is limited. Deny rules and base
// constraints apply before and after. A judge never allows a critical call. If its confidence is below the threshold, or on any error, a
// person decides.
type Judge struct{ o Options }

// New returns a judge.
func New(o Options) *Judge {
	o.setDefaults()
	return &Judge{o}
}

// errNotJudged refuses a question before the model is asked.
var errNotJudged = errors.New("not for a model")

// Judge asks the model about a call. After an error the request goes to a person.
func (j *Judge) Judge(ctx context.Context, r approval.Request) (approval.Verdict, error) {
	switch {
	case r.Kind != approval.Call:
		return approval.Verdict{}, fmt.Errorf("judge a %s: %w", r.Kind, errNotJudged)
	case !r.Risk.Known():
		return approval.Verdict{}, fmt.Errorf("judge a call of %s risk: %w", cmp.Or(string(r.Risk), "unknown"), errNotJudged)
	case r.Demand().Any() && !j.o.MayDeny:
		return approval.Verdict{Opinion: "no model was asked: a critical call is for a person"}, nil
	case len(r.Args) > maxJudged:
		return approval.Verdict{}, fmt.Errorf("judge %d bytes of arguments: %w", len(r.Args), errNotJudged)
	}
	q, err := j.question(ctx, r)
	if err != nil {
		return approval.Verdict{}, fmt.Errorf("judge a call: %w", err)
	}
	answer, err := j.o.ask(ctx, j.timeLimit(r), "judge", r.Session, q)
	if err != nil {
		return approval.Verdict{}, fmt.Errorf("judge a call: %w", err)
	}
	op, err := parseJudgement(answer)
	if err != nil {
		return approval.Verdict{}, fmt.Errorf("judge a call: %w", err)
	}
	return j.verdict(r, op), nil
}

// timeLimit returns how long the model may take. It leaves people half of the time until the deadline.
func (j *Judge) timeLimit(r approval.Request) time.Duration {
	if r.Deadline.IsZero() {
		return j.o.Timeout
	}
	return max(0, min(j.o.Timeout, r.Deadline.Sub(j.o.Now())/2))
}

// verdict applies the limits of a judge to a judgement.
func (j *Judge) verdict(r approval.Request, op judgement) approval.Verdict {
	v := approval.Verdict{Confidence: op.confidence, Reason: op.reason, By: j.o.Name}
	word, sure := "refuse", op.confidence >= j.o.Confidence
	if op.allow {
		word = "allow"
	}
	because := ""
	switch {
	case !sure:
		because = fmt.Sprintf("; too unsure to count, below %.2f", j.o.Confidence)
	case op.allow && r.Demand().Any():
		because = "; a critical call is for a person"
	case op.allow:
		v.Allow = true
	case j.o.MayDeny:
		v.Deny = true
	default:
		because = "; only people refuse here"
	}
	v.Opinion = fmt.Sprintf("%s would %s it (confidence %.2f%s): %s", j.o.Name, word, op.confidence, because, op.reason)
	return v
}

// judgement is the parsed answer of the model.
type judgement struct {
	allow      bool
	confidence float64
	reason     string
}

// parseJudgement reads an answer strictly: unknown or missing keys, an invalid confidence, an empty reason, and text around the JSON are
// errors.
func parseJudgement(text string) (judgement, error) {
	var raw struct {
		Allow      *bool    `json:"allow"`
		Confidence *float64 `json:"confidence"`
		Reason     *string  `json:"reason"`
	}
	if err := json.Unmarshal([]byte(text), &raw, json.RejectUnknownMembers(true)); err != nil {
		return judgement{}, errors.New("the model did not answer in the form that was asked for")
	}
	if raw.Allow == nil || raw.Confidence == nil || raw.Reason == nil {
		return judgement{}, errors.New("the model left out a part of the answer")
	}
	c := *raw.Confidence
	if math.IsNaN(c) || c < 0 || c > 1 {
		return judgement{}, fmt.Errorf("the model claims a confidence of %v", c)
	}
	reason := excerpt(strings.TrimSpace(*raw.Reason), maxExcerpt)
	if reason == "" {
		return judgement{}, errors.New("the model gave no reason")
	}
	return judgement{*raw.Allow, c, reason}, nil
}

// excerpt returns a text on one line, with invisible characters shown, cut to n bytes.
func excerpt(s string, n int) string { return text.Truncate(text.OneLine(s), n) }
