// Package judge asks a language model about calls that the policy marks ask, and about the replies that people write.
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

// Asker answers one question: [model.Client], or what stands for it.
type Asker interface {
	Ask(ctx context.Context, q model.Question) (model.Answer, error)
}

// Bounds of what a model is asked to judge. A call that is larger is not cut: it goes to a person.
const (
	maxJudged  = 32 << 10 // bytes of arguments
	maxPast    = 10       // decisions of the same session that it is told of
	maxExcerpt = 400      // bytes of anything else that an agent wrote
)

// Options of a [Judge]. Model is required.
type Options struct {
	Model      Asker
	Name       string                   // of the model; empty: DefaultJudge
	Confidence float64                  // a verdict that claims less is passed on; 0: DefaultConfidence
	MayDeny    bool                     // a confident no refuses the call; else it is passed on too
	Timeout    time.Duration            // of one judgement; 0: DefaultThinking. Never more than half of what the request has left
	Policies   func() ([]Policy, error) // an error: there are some and they cannot be read, so nothing is judged
	Rules      func() []policy.Rule
	// Past are the last decisions of a session, newest first, at most n.
	Past   func(ctx context.Context, session string, n int) ([]Past, error)
	Ledger *model.Ledger    // nil: costs are not kept
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now
}

// Past is a decision of the same session, for the judge to see what went before.
type Past struct {
	Tool   string `json:"tool"`
	Call   string `json:"call"`   // its arguments, or what of them is short enough
	Effect string `json:"effect"` // allow or deny
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Judge lets a language model judge. It is safe for concurrent use.
//
// What it is asked about was written by an agent that somebody may have talked into something, so the answer can only do so much:
// deny rules and base constraints were applied before and are applied again after; a critical call is never for it to allow; what it
// is less sure of than the threshold, and whatever goes wrong, goes to a person.
type Judge struct{ o Options }

// New makes a judge. A confidence that is no share from 0 to 1 is taken as 1: nothing is settled by mistake.
func New(o Options) *Judge {
	if o.Name == "" {
		o.Name = approval.DefaultJudge
	}
	if o.Confidence == 0 {
		o.Confidence = approval.DefaultConfidence
	}
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
	return &Judge{o}
}

// errNotJudged is why a model was not asked.
var errNotJudged = errors.New("not for a model")

// Judge asks the model about a call. The error says why there is no judgement; the request then goes to a person.
func (j *Judge) Judge(ctx context.Context, r approval.Request) (approval.Verdict, error) {
	switch {
	case r.Kind != approval.Call:
		return approval.Verdict{}, fmt.Errorf("judge a %s: %w", r.Kind, errNotJudged)
	case r.Risk == policy.Critical && !j.o.MayDeny:
		return approval.Verdict{Opinion: "no model was asked: a critical call is for a person"}, nil
	case !r.Risk.Known():
		return approval.Verdict{}, fmt.Errorf("judge a call of %s risk: %w", cmp.Or(string(r.Risk), "unknown"), errNotJudged)
	case len(r.Args) > maxJudged:
		return approval.Verdict{}, fmt.Errorf("judge %d bytes of arguments: %w", len(r.Args), errNotJudged)
	}
	q, err := j.question(ctx, r)
	if err != nil {
		return approval.Verdict{}, fmt.Errorf("judge a call: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, j.patience(r))
	defer cancel()
	a, err := j.o.Model.Ask(ctx, q)
	keep(j.o.Ledger, j.o.Logger, "judge", r.Session, a)
	if err != nil {
		return approval.Verdict{}, fmt.Errorf("judge a call: %w", err)
	}
	op, err := parseJudgement(a.Text)
	if err != nil {
		return approval.Verdict{}, fmt.Errorf("judge a call: %w", err)
	}
	return j.verdict(r, op), nil
}

// patience is how long the model may think: people need time too.
func (j *Judge) patience(r approval.Request) time.Duration {
	if r.Deadline.IsZero() {
		return j.o.Timeout
	}
	return max(0, min(j.o.Timeout, r.Deadline.Sub(j.o.Now())/2))
}

// verdict makes of a judgement what it may settle.
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
	case op.allow && r.Risk == policy.Critical:
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

// judgement is what the model answered, checked.
type judgement struct {
	allow      bool
	confidence float64
	reason     string
}

// parseJudgement reads an answer. Whatever is not exactly what was asked for is an error: a key too many or too few, a confidence
// that is none, no reason, words around it.
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

// excerpt is a text on one line, without anything hidden, not longer than most bytes.
func excerpt(s string, most int) string {
	return text.Truncate(text.OneLine(s), most)
}

// keep writes down what an answer cost, also of one that was no use.
func keep(l *model.Ledger, logger *slog.Logger, purpose, session string, a model.Answer) {
	if l == nil || a.Usage == (model.Usage{}) {
		return
	}
	if err := l.Record(purpose, session, a); err != nil {
		logger.Warn("what a question to a model cost is not recorded", "purpose", purpose, "cents", a.Cost*100, "error", err)
	}
}
