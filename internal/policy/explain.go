package policy

import "slices"

// Explanation is a decision with its whole trace, in the shape of `myc policy explain --json`.
type Explanation struct {
	Decision `json:"-"`
	Effect   string   `json:"effect"` // allow, ask, deny or unknown
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Tool     string   `json:"tool"`
	Role     string   `json:"role"`
	Skills   []string `json:"skills"`
	Result   *Guard   `json:"result,omitempty"` // what would be done to the result; nil: nothing
	Trace    []Step   `json:"trace"`
}

// Step is one step of a decision.
type Step struct {
	Step  string `json:"step"` // visibility, base, deny, ask, allow or fallback
	Match bool   `json:"match"`
	Rule  string `json:"rule"`
	Why   string `json:"why"`
}

// Explain decides as Decide does, by the same code, and keeps the trace. A call of several parts, or of a principal with a
// parent, has the steps of each in turn.
func (p *Policy) Explain(c Call) Explanation {
	t := &tracer{}
	d := p.decide(&c, t)
	x := Explanation{
		Decision: d, Effect: d.Effect.String(), Rule: d.Rule, Reason: d.Reason, Tool: c.Item.String(),
		Role: c.Scope.Principal.Role, Skills: slices.Clone(c.Scope.Skills), Trace: t.steps,
	}
	if d.Unknown {
		x.Effect = "unknown"
	}
	if d.Guard != (Guard{}) {
		x.Result = &d.Guard
	}
	if x.Skills == nil {
		x.Skills = []string{}
	}
	return x
}

// tracer keeps the steps of a decision. A nil tracer keeps nothing.
type tracer struct{ steps []Step }

func (t *tracer) step(step string, match bool, rule, why string) {
	if t != nil {
		t.steps = append(t.steps, Step{Step: step, Match: match, Rule: rule, Why: why})
	}
}

func (t *tracer) rule(r *rule, got verdict) {
	if t == nil {
		return
	}
	switch got {
	case matches:
		t.step(r.effect.String(), true, r.name, r.reason)
	case fails:
		t.step(r.effect.String(), r.effect != Allow, r.name, orElse(r.broken, "it cannot be evaluated for this call"))
	default:
		t.step(r.effect.String(), false, r.name, "it does not match")
	}
}
