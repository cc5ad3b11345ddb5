package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/policy/box"
)

// Guard says what is done to the results of a call before the caller reads them. The zero value does nothing.
type Guard struct {
	Redact    bool `yaml:"redact" json:"redact,omitzero" about:"texts that look like secrets are replaced"`
	Spotlight bool `yaml:"spotlight" json:"spotlight,omitzero" about:"texts are marked as data that are not instructions"`
	MaxBytes  int  `yaml:"maxBytes" json:"maxBytes,omitzero" about:"longer results are cut; 0 is no bound"`
}

// And is a guard that does what both guards do, with the smaller of their bounds.
func (g Guard) And(o Guard) Guard {
	return Guard{g.Redact || o.Redact, g.Spotlight || o.Spotlight, int(Count(g.MaxBytes).and(Count(o.MaxBytes)))}
}

// String says what the guard does, for people.
func (g Guard) String() string {
	var does []string
	if g.Redact {
		does = append(does, "secrets redacted")
	}
	if g.Spotlight {
		does = append(does, "texts marked as data")
	}
	if g.MaxBytes > 0 {
		does = append(does, fmt.Sprintf("cut at %d bytes", g.MaxBytes))
	}
	return strings.Join(does, ", ")
}

// minGuardBytes is the smallest bound of a result: below it there is no room for the note that the result was cut.
const minGuardBytes = 256

// check refuses a guard that its author cannot have meant.
func (g Guard) check(e Effect) error {
	switch {
	case g == Guard{}:
		return nil
	case g.MaxBytes != 0 && g.MaxBytes < minGuardBytes:
		return fmt.Errorf("result.maxBytes is %d; write %d or more", g.MaxBytes, minGuardBytes)
	case e == Deny:
		return errors.New("result: a call that is denied has no result; write it in a rule that allows or asks")
	}
	return nil
}

// Confine makes a call that another principal bounds run in the sandboxes of both: in what both allow.
func (p *Policy) Confine(d *Decision, b box.Box) { d.box(p.boxes.And(d.Sandbox, b)) }

// box makes a call run in a sandbox. ask is why people must be asked; "" if they need not be.
func (d *Decision) box(b box.Box, ask string) {
	if ask != "" && d.Effect == Allow {
		d.Effect, d.Reason = Ask, ask
	}
	if d.Sandbox = b; !b.None() {
		d.Outside = ""
	}
}

// runsCode reports whether a part may use more than its files: it runs code that nobody has read, or reaches beyond the machine.
func (p *Part) runsCode() bool {
	return isUnclear(p) || slices.ContainsFunc(p.Effects, func(e string) bool {
		return e != EffectExecute && e != EffectRead && e != EffectWrite && e != EffectDelete // what known programs do
	})
}

// guard is a rule with a guard. It concerns a call as a rule that restricts does: if any value of a fact matches, and also if the rule
// cannot be evaluated. It does not matter whether the rule answers the call.
type guard struct {
	Guard
	index int // of the rule
	rule  rule
}

// addGuards collects the guards. The rules must be sorted already.
func (c *compiler) addGuards() {
	for i := range c.p.rules {
		if g := c.p.rules[i].src.Result; g != (Guard{}) {
			r := c.p.rules[i]
			r.effect = Ask
			c.p.guards = append(c.p.guards, guard{g, i, r})
		}
	}
}

// Guards is what the guards do to some call of an item, whatever its arguments. It is for a result of a call whose arguments are not
// known any more.
func (p *Policy) Guards(s Scope, it Item) Guard {
	e := p.entry(it)
	if e == nil || len(p.guards) == 0 {
		return Guard{}
	}
	var v view
	return p.guarded(&v, e, &Call{Scope: s, Item: it}, true)
}

// guarded is what all guards that concern a call do together. With anyFacts, the facts of the call do not matter. guarded overwrites v.
func (p *Policy) guarded(v *view, e *entry, c *Call, anyFacts bool) (out Guard) {
	if e.control || e.open {
		return out // the result is our own
	}
	parts := c.Facts.Parts
	if len(parts) == 0 {
		parts = noParts[:]
	}
	for who := &c.Scope.Principal; who != nil; who = who.Parent {
		v.set(p, &c.Scope, who)
		for i := range p.guards {
			g := &p.guards[i]
			if !e.rules.has(g.index) || !v.role.rules.has(g.index) {
				continue
			}
			for n := range parts {
				if anyFacts && g.rule.inScope(v) || g.rule.admits(p, v, c, &parts[n]) != misses {
					out = out.And(g.Guard)
					break
				}
			}
		}
	}
	return out
}
