package project

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/config/names"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/agentcard"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/identity"
	"mycelium/internal/skill"
)

// Identified says which role an agent gets, and why. It is `myc policy test -a --json`.
type Identified struct {
	Agent    string             `json:"agent"`
	Skills   []string           `json:"skills"` // ids on its card
	Time     time.Time          `json:"time"`
	Signed   string             `json:"signed"`         // verified, unsigned, or why its signature does not count
	Role     string             `json:"role,omitempty"` // empty: it is refused
	Reason   string             `json:"reason"`
	Until    time.Time          `json:"until,omitzero"` // when the rule that gave the role ends to apply
	Verdicts []identity.Verdict `json:"rules"`
}

// Whether a card has a signature that counts.
const (
	cardVerified = "verified"
	cardUnsigned = "unsigned"
)

// Principal is who an agent is for policy and record. The name on a card counts only if the signature does; "" means the session itself.
func (i *Identified) Principal() string {
	if i.Signed != cardVerified {
		return ""
	}
	return "a2a:" + i.Agent
}

// identityRules are the declarations that give roles. What a server brings gives none.
func (v *View) identityRules() (out []identity.Source) {
	for _, s := range v.Skills.All() {
		if s.State == skill.Valid && s.Identity != nil && !strings.HasPrefix(string(s.Source), "mcp:") {
			out = append(out, identity.Source{From: s.Name, Declared: *s.Identity, Bounded: s.Source == "project"})
		}
	}
	return out
}

// Identify returns the role of an agent at a time, by its card.
func (v *View) Identify(ctx context.Context, card *agentcard.Card, at time.Time) Identified {
	out := Identified{Agent: card.Name, Skills: []string{}, Time: at, Signed: cardUnsigned, Verdicts: []identity.Verdict{}}
	for _, s := range card.Skills {
		out.Skills = append(out.Skills, s.ID)
	}
	conf := v.Project.File.Identity
	if v.Project.Broken.All != "" {
		out.Reason = v.Project.Broken.All
		return out
	}
	if conf != nil && conf.Keys != nil {
		if err := card.Verify(ctx, conf.Keys, v.Project.Dir); err != nil {
			out.Signed, out.Reason = err.Error(), "the card is not verified: "+err.Error()
			return out
		}
		out.Signed = cardVerified
	}
	settings := conf.Settings()
	got := identity.New(v.identityRules(), settings, time.LoadLocation).Resolve(card.Card, at)
	out.Role, out.Reason, out.Until = got.Role, got.Reason, got.Until
	out.Verdicts = append(out.Verdicts, got.Verdicts...)
	if _, ok := v.Policy.Role(out.Role); !ok && out.Role != "" {
		out.Role, out.Reason = "", fmt.Sprintf("no skill and no role file names role %q (%s)", got.Role, got.Reason)
	}
	return out
}

// ByCard completes the spec of a session that an operator mints from an agent card. The card alone decides the role, and the session ends
// with the window of the rule that gave it.
func (v *View) ByCard(ctx context.Context, text string, spec *session.Spec) error {
	card, err := agentcard.Parse([]byte(text))
	if err != nil {
		return failure.New(failure.Invalid, fmt.Errorf("agent card: %w", err), "")
	}
	now := time.Now()
	who := v.Identify(ctx, card, now)
	if who.Role == "" {
		return failure.New(failure.Denied, fmt.Errorf("agent %q is refused: %s", who.Agent, who.Reason),
			"myc policy test -a CARD says what each rule makes of it")
	}
	spec.Role, spec.Roles, spec.Principal = who.Role, nil, who.Principal()
	spec.Name = cmp.Or(spec.Name, who.Agent)
	if left := who.Until.Sub(now); !who.Until.IsZero() && left < cmp.Or(spec.TTL, session.DefaultTTL) {
		spec.TTL = left
	}
	return nil
}

// identityNames are the roles that the rules for agents' cards give.
func (v *View) identityNames() (out []names.Setting) {
	for _, s := range v.Skills.All() {
		if s.Identity == nil {
			continue
		}
		for i, r := range s.Identity.SkillMatching {
			key := fmt.Sprintf("identity.skillMatching[%d]", i)
			file, line := s.Place(key)
			out = append(out, names.Setting{Key: "skill " + s.Name + ": " + key, Kind: "role", Name: r.Role, File: file, Line: line})
		}
	}
	return out
}
