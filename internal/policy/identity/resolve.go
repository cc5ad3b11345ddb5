package identity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings are what the configuration says besides the rules.
type Settings struct {
	DefaultRole     string   // of an agent that no rule matches; empty: it is refused
	Strict          bool     // a card that lacks what an agent card must have is refused
	TrustedPrefixes []string // beginnings of names; nil: every name
	Bound           []string // the only roles that rules of Bounded sources may give; nil: any
}

// Source is one declaration, and where it comes from.
type Source struct {
	From string // the name of the skill
	Declared
	Bounded bool // it is of a project: Settings.Bound holds for it
}

// compiled is one rule, ready to be asked.
type compiled struct {
	Rule
	from     string
	index    int
	prefixes []string
	window   *window // nil: always
	broken   string  // why it never matches; empty if it may
}

// Resolver gives roles to cards. It is immutable.
type Resolver struct {
	settings Settings
	rules    []compiled
}

// New compiles declarations. A rule with a fault never matches, and its verdicts say why.
func New(sources []Source, s Settings, zone Zone) *Resolver {
	r := &Resolver{settings: s}
	for _, src := range sources {
		for n, rule := range src.SkillMatching {
			c := compiled{Rule: rule, from: src.From, index: n, prefixes: src.TrustedPrefixes}
			rule.check("the rule", zone, func(_, message, _ string) { c.broken = cmp.Or(c.broken, message) })
			if c.broken == "" && src.Bounded && s.Bound != nil && !slices.Contains(s.Bound, rule.Role) {
				c.broken = "the user's session does not allow role " + rule.Role
			}
			if c.broken == "" && rule.Context != nil {
				w, _ := rule.Context.window(zone)
				c.window = &w
			}
			r.rules = append(r.rules, c)
		}
	}
	slices.SortStableFunc(r.rules, func(a, b compiled) int { return cmp.Compare(b.Priority, a.Priority) })
	return r
}

// Verdict is what one rule says about a card.
type Verdict struct {
	From        string `json:"skill"` // the skill that declares the rule
	Rule        int    `json:"rule"`  // its place in identity.skillMatching, from 0
	Role        string `json:"role"`
	Priority    int    `json:"priority"`
	Description string `json:"description,omitempty"`
	Match       bool   `json:"match"`
	Why         string `json:"why"`
}

// Resolution is the role of a card, or why it has none.
type Resolution struct {
	Role     string    // empty: the agent is refused
	Reason   string    // for the operator
	Until    time.Time // when the rule that gave the role ends to apply; zero: never
	Verdicts []Verdict // of every rule, in the order in which they are tried; nil if the card was refused before
}

// Resolve returns the role of a card at a time. The zero Resolution is a refusal.
func (r *Resolver) Resolve(card Card, at time.Time) Resolution {
	s := &r.settings
	switch {
	case strings.TrimSpace(card.Name) == "":
		return Resolution{Reason: "the card does not name its agent"}
	case s.Strict && len(card.Lacks) > 0:
		return Resolution{Reason: "strictValidation: the card lacks " + strings.Join(card.Lacks, ", ")}
	case !trusted(card.Name, s.TrustedPrefixes):
		return Resolution{Reason: "its name begins with none of identity.trustedPrefixes (" + strings.Join(s.TrustedPrefixes, ", ") + ")"}
	}
	out := Resolution{}
	for i := range r.rules {
		c := &r.rules[i]
		v := Verdict{From: c.from, Rule: c.index, Role: c.Role, Priority: c.Priority, Description: c.Description}
		var end time.Time
		v.Why, end, v.Match = c.matches(&card, at)
		if v.Match && out.Role == "" {
			out.Role, out.Until = c.Role, end
			out.Reason = fmt.Sprintf("rule %d of skill %s: %s", c.index, c.from, v.Why)
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	if out.Role != "" {
		return out
	}
	if out.Role = s.DefaultRole; out.Role == "" {
		out.Reason = "no rule matches it, and unknown agents are refused"
		return out
	}
	out.Reason = "no rule matches it: identity.defaultRole"
	return out
}

// trusted reports whether a name has one of the prefixes. Nil prefixes trust every name.
func trusted(name string, prefixes []string) bool {
	return prefixes == nil || slices.ContainsFunc(prefixes, func(p string) bool { return p != "" && strings.HasPrefix(name, p) })
}

// matches reports whether a rule matches, why, and until when it does (zero: always). What forbids is looked at first.
func (c *compiled) matches(card *Card, at time.Time) (why string, until time.Time, ok bool) {
	if c.broken != "" {
		return c.broken, until, false
	}
	for _, name := range c.ForbiddenSkills {
		if card.resembles(name) {
			return "the card has the forbidden skill " + name, until, false
		}
	}
	if !trusted(card.Name, c.prefixes) {
		return "its name begins with none of the skill's trustedPrefixes (" + strings.Join(c.prefixes, ", ") + ")", until, false
	}
	for _, name := range c.RequiredSkills {
		if !card.has(name) {
			return "the card lacks the required skill " + name, until, false
		}
	}
	if len(c.AnySkills) > 0 {
		var found []string
		for _, name := range distinct(c.AnySkills) {
			if card.has(name) {
				found = append(found, name)
			}
		}
		need := 1
		if c.MinSkillMatch != nil {
			need = *c.MinSkillMatch
		}
		if len(found) < need {
			return fmt.Sprintf("the card has %d of anySkills, and the rule wants %d", len(found), need), until, false
		}
	}
	if c.window == nil {
		return "the skills match", until, true
	}
	if until, ok = c.window.until(at); !ok {
		return fmt.Sprintf("%s is outside of %s", at.In(c.window.zone).Format("Mon 15:04"), c.window), time.Time{}, false
	}
	return "the skills match, within " + c.window.String(), until, true
}

// has reports whether the card has a skill of exactly this id.
func (c *Card) has(id string) bool {
	return slices.ContainsFunc(c.Skills, func(s Skill) bool { return s.ID == id })
}

// resembles reports whether the card has a skill with this id, name or tag, in any case. What is forbidden is not allowed under another
// spelling.
func (c *Card) resembles(name string) bool {
	same := func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), strings.TrimSpace(name)) }
	return slices.ContainsFunc(c.Skills, func(s Skill) bool {
		return same(s.ID) || same(s.Name) || slices.ContainsFunc(s.Tags, same)
	})
}
