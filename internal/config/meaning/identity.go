package meaning

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/policy/identity"
	"mycelium/internal/skill"
)

// identities tells how the rules of a skill changed that give roles to agents by their cards; nil stands for a skill that is not there.
// That a rule is gone is unclear: a later one may count instead, or the role of agents that no rule matches.
func (d *diff) identities(was, is *skill.Skill) {
	a, b := rulesOf(was), rulesOf(is)
	name, file := was, is
	if name == nil {
		name = is
	}
	if file == nil {
		file = was
	}
	at, what := place{file: file.File}, "skill "+name.Name
	more, fewer := lacking(b.SkillMatching, a.SkillMatching), lacking(a.SkillMatching, b.SkillMatching)
	for _, r := range more {
		d.add(Widens, at, what, " gives the role ", ruleWords(&r))
	}
	for _, r := range fewer {
		d.add(Unclear, at, what, " no longer gives the role ", ruleWords(&r))
	}
	if len(more)+len(fewer) == 0 && !reflect.DeepEqual(a.SkillMatching, b.SkillMatching) {
		d.add(Unclear, at, what, " has its rules for agents' cards in another order: of equal priorities the first counts")
	}
	if !slices.Equal(a.TrustedPrefixes, b.TrustedPrefixes) && len(b.SkillMatching) > 0 {
		d.add(Unclear, at, what, " gives roles to ", agentsCalled(b.TrustedPrefixes), "; until now to ", agentsCalled(a.TrustedPrefixes))
	}
}

func rulesOf(s *skill.Skill) identity.Declared {
	if s == nil || s.Identity == nil {
		return identity.Declared{}
	}
	return *s.Identity
}

// lacking returns the rules that are not in others.
func lacking(rules, others []identity.Rule) (out []identity.Rule) {
	for _, r := range rules {
		if !slices.ContainsFunc(others, func(o identity.Rule) bool { return reflect.DeepEqual(o, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// agentsCalled says which agents trusted prefixes admit.
func agentsCalled(prefixes []string) string {
	if prefixes == nil {
		return "every agent"
	}
	return "agents whose names begin with " + list(prefixes)
}

// ruleWords says to whom a rule gives its role, and when.
func ruleWords(r *identity.Rule) string {
	var has []string
	if len(r.RequiredSkills) > 0 {
		has = append(has, strings.Join(r.RequiredSkills, " and "))
	}
	if len(r.AnySkills) > 0 {
		least := 1
		if r.MinSkillMatch != nil {
			least = *r.MinSkillMatch
		}
		has = append(has, strconv.Itoa(least)+" of "+list(r.AnySkills))
	}
	if len(r.ForbiddenSkills) > 0 {
		has = append(has, "not "+strings.Join(r.ForbiddenSkills, " or "))
	}
	out := r.Role + " to agents whose card has " + strings.Join(has, ", and ")
	if c := r.Context; c != nil {
		if c.AllowedTime != "" {
			out += ", " + c.AllowedTime
		}
		var days []string
		for _, n := range c.AllowedDays {
			days = append(days, time.Weekday(n).String())
		}
		if days != nil {
			out += ", on " + list(days)
		}
		if c.Timezone != "" {
			out += " (" + c.Timezone + ")"
		}
	}
	if r.Priority != 0 {
		out += ", with priority " + strconv.Itoa(r.Priority)
	}
	return out
}
