package policy

import (
	"slices"
	"strings"

	"mycelium/internal/policy/box"
)

// Decide answers a call.
func (p *Policy) Decide(c Call) Decision { return p.decide(&c, nil) }

// decide is Decide and Explain; t may be nil. This is the whole order of a decision:
//
//  1. Visibility: the caller and each of its ancestors must see the item. Otherwise the answer is "unknown", as for an item that does not
//     exist.
//  2. Each part of the call is decided for the caller and for each of its ancestors: first by the limits of the active skills, then by the
//     base constraints, then by the folder to which the scope is bound, then by deny, ask and allow rules, and last by the fallback. The
//     strictest answer stands, and a Deny ends the search.
//  3. The place: a command runs inside of the wall, in the sandbox that a rule names, or outside because a rule or the machine says so.
//  4. The guards say what is done to the result.
func (p *Policy) decide(c *Call, t *tracer) Decision {
	e := p.entry(c.Item)
	if e == nil {
		t.step("visibility", false, "", notInCatalog)
		return unknown(notInCatalog, "")
	}
	var v view
	v.set(p, &c.Scope, &c.Scope.Principal)
	var d Decision
	if p.hidden(&d, &v, c, e) {
		t.step("visibility", false, d.Rule, d.Reason)
		return d
	}
	t.step("visibility", true, "", "the catalog has it, and every ceiling admits it")
	parts := c.Facts.Parts
	if len(parts) == 0 {
		parts = noParts[:]
	}
	var strictest Decision
	first := true
	at := p.placing(c)
	for who := &c.Scope.Principal; who != nil; who = who.Parent {
		if who != &c.Scope.Principal {
			v.set(p, &c.Scope, who)
		}
		for i := range parts {
			part := &parts[i]
			switch {
			case v.byLimits(&d, e, c, part, t):
			case p.byBase(&d, c, part, t):
			case p.byFolder(&d, c, part, t):
			case v.byRules(&d, e, c, part, &at, t): // deny, then ask, then allow
			default:
				v.byFallback(&d, e, c, part, &at, t)
			}
			at.add(&d, part)
			if first || d.Effect < strictest.Effect {
				strictest, first = d, false
			}
			if strictest.Effect == Deny {
				return strictest
			}
		}
		at.end()
	}
	at.decide(&strictest, t)
	p.byOnly(&strictest, c, e, t)
	if len(p.guards) > 0 {
		strictest.Guard = p.guarded(&v, e, c, false)
	}
	return strictest
}

// notInCatalog is why an item that does not exist is not visible.
const notInCatalog = "the catalog does not have it"

// noParts stands for the facts of a call that has none. Nobody writes to it.
var noParts [1]Part

// byLimits refuses a part that stays within the limits of no active skill that grants the item.
func (v *view) byLimits(d *Decision, e *entry, c *Call, part *Part, t *tracer) bool {
	if len(e.limits) == 0 {
		return false
	}
	unlimited := false
	active := v.active.words()
	for i := range active {
		w := active[i] & e.skills[i]
		for _, l := range e.limits {
			if l.skill/64 == i {
				w &^= 1 << (l.skill % 64)
			}
		}
		unlimited = unlimited || w != 0
	}
	if unlimited {
		return false
	}
	pl := v.p.with(&c.Facts)
	var texts []string
	name := ""
	for _, l := range e.limits {
		if !active.has(l.skill) {
			continue
		}
		if l.admits(&pl, part) {
			return false
		}
		name = v.p.skills[l.skill].name
		for _, g := range l.groups {
			for _, one := range g {
				texts = append(texts, one.text)
			}
		}
	}
	*d = Decision{Rule: name, Reason: "the active skills grant the tool only as " + strings.Join(texts, ", ")}
	t.step("visibility", true, d.Rule, d.Reason)
	return true
}

// admits reports whether the part stays within one limit of each group.
func (l *skillLimit) admits(pl *places, part *Part) bool {
	for _, g := range l.groups {
		if !slices.ContainsFunc(g, func(one *limit) bool { return one.admits(pl, part) }) {
			return false
		}
	}
	return true
}

// byBase refuses what a base constraint forbids: paths that no agent may touch, and what no agent may do.
func (p *Policy) byBase(d *Decision, c *Call, part *Part, t *tracer) bool {
	b := p.base.refusesPart(&c.Facts, part)
	if b == nil {
		b = banned(part)
	}
	if b == nil {
		t.step("base", false, "", "no base constraint concerns it")
		return false
	}
	t.step("base", true, b.name, b.reason)
	*d = Decision{Rule: b.name, Reason: b.reason}
	return true
}

// byRules asks the deny rules, then the ask rules, then the allow rules, each in file order. An ask rule that cannot be evaluated denies,
// also where an ask rule before it matches.
func (v *view) byRules(d *Decision, e *entry, c *Call, part *Part, at *placing, t *tracer) bool {
	p, r := v.p, v.role
	var asked *rule
	for w, set := range e.rules {
		for set &= r.rules[w] &^ p.hiders[w]; set != 0; set &= set - 1 {
			rl := &p.rules[w*64+lowestBit(set)]
			if rl.effect == Allow && asked != nil {
				break
			}
			if rl.opens && at.wall.None() || rl.fence && !at.wall.None() {
				continue // it is about commands on the other side of the wall
			}
			got := rl.admits(p, v, c, part)
			t.rule(rl, got)
			switch {
			case got == fails && rl.effect != Allow:
				*d = Decision{Rule: rl.name, Reason: orElse(rl.broken, "a rule cannot be evaluated for this call, so the call is denied")}
				return true
			case got != matches:
			case rl.effect == Ask:
				if asked == nil {
					asked = rl
				}
			default:
				*d = Decision{Effect: rl.effect, Rule: rl.name, Reason: rl.reason, Sandbox: rl.src.Sandbox, Outside: rl.outside}
				return true
			}
		}
	}
	if asked != nil {
		*d = Decision{Effect: Ask, Rule: asked.name, Reason: asked.reason, Sandbox: asked.src.Sandbox, Outside: asked.outside}
		return true
	}
	return false
}

// byFallback answers where no rule does. Outside of the wall it never allows a part that was not understood, nor one that changes files
// outside the folders of the ceiling.
func (v *view) byFallback(d *Decision, e *entry, c *Call, part *Part, at *placing, t *tracer) {
	*d = Decision{Effect: v.p.mcp, Reason: "no rule decides; an active skill grants the tool"}
	if at.byWall(d, part) {
		t.step("fallback", true, "", d.Reason)
		return
	}
	switch {
	case e.control || e.open:
		*d = Decision{Effect: Allow, Reason: "a control tool"}
	case e.item.Server == AgentServer:
		*d = Decision{Effect: v.p.agent, Reason: part.why(v.p.agent)}
	case d.Effect != Allow:
		d.Reason = "no rule allows it, and policy.fallback.mcp is " + d.Effect.String()
	}
	if d.Effect == Allow && isUnclear(part) {
		*d = Decision{Effect: Ask, Reason: "no rule decides, and part of the call was not understood"}
		if len(part.Unclear) > 0 {
			d.Reason += ": " + part.Unclear[0]
		}
	}
	if d.Effect == Allow {
		if at := v.p.outside(&c.Facts, part); at != "" {
			*d = Decision{Effect: Ask, Reason: "no rule allows changes to " + at + ", outside the project and the temporary folders"}
		}
	}
	t.step("fallback", true, "", d.Reason)
}

// Explanation is a decision with its trace. It is what `myc policy explain --json` prints.
type Explanation struct {
	Decision `json:"-"`
	Effect   string   `json:"effect"` // allow, ask, deny or unknown
	Rule     string   `json:"rule"`
	Reason   string   `json:"reason"`
	Tool     string   `json:"tool"`
	Role     string   `json:"role"`
	Skills   []string `json:"skills"`
	Result   *Guard   `json:"result,omitempty"`  // what is done to the result; nil if nothing is
	Sandbox  box.Box  `json:"sandbox,omitzero"`  // that the call runs in; the zero value is none
	Outside  string   `json:"outside,omitempty"` // why a command runs outside of the wall
	Trace    []Step   `json:"trace"`
}

// WithoutFallback returns what the limits, constraints and rules say, and whether they say nothing about some part of the call: only the
// fallback answers there.
func (x Explanation) WithoutFallback() (e Effect, left bool) {
	if x.Decision.Effect == Deny {
		return Deny, false
	}
	e = Allow
	for _, s := range x.Trace {
		switch {
		case s.Step == "ask" && s.Match:
			e = Ask
		case s.Step == "fallback":
			left = true
		}
	}
	return e, left
}

// Step is one step of a decision.
type Step struct {
	Step  string `json:"step"` // visibility, base, session, deny, ask, allow, fallback or place
	Match bool   `json:"match"`
	Rule  string `json:"rule"`
	Why   string `json:"why"`
}

// Explain decides as Decide does, by the same code, and keeps the trace. For a call of several parts, or of a principal with a parent, the
// trace has the steps of each in turn.
func (p *Policy) Explain(c Call) Explanation {
	t := &tracer{}
	d := p.decide(&c, t)
	x := Explanation{
		Decision: d, Effect: d.Effect.String(), Rule: d.Rule, Reason: d.Reason, Tool: c.Item.String(),
		Role: c.Scope.Principal.Role, Skills: slices.Clone(c.Scope.Skills), Sandbox: d.Sandbox,
		Outside: d.Outside, Trace: t.steps,
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
