package meaning

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/config/profiles"
)

// figure is the rule of a bound: a smaller figure is stricter. With none, 0 is no bound.
func figure(none bool, text string) keyRule {
	return func(_ *diff, was, is any) (string, Mark) {
		a, b := number(was, none), number(is, none)
		shown := func(n float64) any {
			if math.IsInf(n, 1) {
				return "any number of"
			}
			return n
		}
		return fmt.Sprintf(text, shown(b)) + fmt.Sprintf(" instead of %v", shown(a)), mark(b <= a, Widens)
	}
}

// number is an int, or a pointer to a number that may be nil.
func number(v any, none bool) float64 {
	at := reflect.Indirect(reflect.ValueOf(v))
	n := 0.0
	switch {
	case !at.IsValid():
	case at.CanInt():
		n = float64(at.Int())
	case at.CanFloat():
		n = at.Float()
	}
	if none && n == 0 {
		return math.Inf(1)
	}
	return n
}

// denials is the rule of a number of refusals, of which 0 is never.
func denials(text string) keyRule {
	return func(d *diff, was, is any) (string, Mark) {
		before := func(v any, preset int) float64 {
			if reflect.ValueOf(v).IsNil() {
				return float64(preset)
			}
			return number(v, true)
		}
		preset, end := d.new.File.Agents.Denials, strings.Contains(text, "ends")
		preset.Alert, preset.End = nil, nil
		n, last := preset.Limits()
		if end {
			n = last
		}
		a, b := before(was, n), before(is, n)
		if math.IsInf(b, 1) {
			return "no longer so: " + fmt.Sprintf(text, int(a)), Widens
		}
		return fmt.Sprintf(text, int(b)), mark(b <= a, Widens)
	}
}

// redact is the rule of the words whose values the log hides. A log that hides more tells people less, so a person has to agree.
func redact(_ *diff, was, is any) (string, Mark) {
	a, b := was.([]string), is.([]string)
	var texts []string
	m := Unclear
	if g := gained(a, b); g != nil {
		texts = append(texts, "the log hides the values of "+list(g))
	}
	if l := gained(b, a); l != nil {
		texts, m = append(texts, "the log no longer hides the values of "+list(l)), Widens
	}
	return strings.Join(texts, "; "), m
}

// defaultRole is the rule of the role that an agent starts with.
func defaultRole(d *diff, was, is any) (string, Mark) {
	a, b := was.(string), is.(string)
	switch {
	case a == "":
		return "an agent starts as role " + b, Widens
	case b == "":
		return "an agent starts without a role, and no longer as " + a, mark(!d.hidesControl(a), Unclear)
	}
	return "an agent starts as role " + b + ", and no longer as " + a, Unclear
}

// agentRole is the rule of the role that an agent under the hook starts with.
func agentRole(_ *diff, was, is any) (string, Mark) {
	a, b := was.(string), is.(string)
	switch {
	case a == "":
		return "an agent under the hook starts as role " + b, Widens
	case b == "":
		return "an agent under the hook starts with session.defaultRole, and no longer as " + a, Unclear
	}
	return "an agent under the hook starts as role " + b + ", and no longer as " + a, Unclear
}

// defaultSkills is the rule of the skills that are active at the start of a session.
func defaultSkills(d *diff, was, is any) (string, Mark) {
	a, b := was.([]string), is.([]string)
	if a != nil && b != nil && slices.Equal(a, b) {
		return "", Narrows
	}
	var more, fewer []string
	for _, role := range d.new.policy.Roles() {
		start, before := d.new.policy.StartSkills(role), d.old.policy.StartSkills(role)
		more = append(more, gained(before, start)...)
		fewer = append(fewer, gained(start, before)...)
	}
	more, fewer = gained(nil, more), gained(nil, fewer)
	switch {
	case len(more) > 0:
		return "skill " + list(more) + " is active from the start of a session", Widens
	case len(fewer) > 0 && b != nil:
		return "skill " + list(fewer) + " is no longer active from the start of a session",
			mark(!slices.ContainsFunc(fewer, d.sensitive), Unclear)
	case b == nil:
		return "every skill that is open to a role is active from the start of a session", Widens
	case a != nil && gained(a, b) == nil && !slices.ContainsFunc(gained(b, a), d.sensitive):
		return "skill " + list(gained(b, a)) + " is no longer named by session.defaultSkills", Narrows
	}
	return "session.defaultSkills names other skills: " + list(b), Unclear
}

// deadline is the rule of the time that a question waits.
func deadline(d *diff, _, _ any) (string, Mark) {
	a, b := d.old.File.Approval.Wait(), d.new.File.Approval.Wait()
	if a == b {
		return "", Narrows
	}
	said := "as long as its caller"
	if b > 0 {
		said = b.String()
	}
	shorter := b > 0 && (a < 0 || b < a)
	return "a question waits " + said, mark(shorter && !d.judgeDenies(), map[bool]Mark{true: Unclear, false: Widens}[shorter])
}

// judgeDenies reports whether a model may deny calls under either version. Whatever keeps it from judging then leaves more to people.
func (d *diff) judgeDenies() bool {
	return d.old.File.Approval.Judge.MayDeny || d.new.File.Approval.Judge.MayDeny
}

// pushed is the rule of the switch of Web Push.
func pushed(d *diff, _, _ any) (string, Mark) {
	switch on, was := d.new.File.Web.Pushes(), d.old.File.Web.Pushes(); {
	case on == was:
		return "web.push changed", Unclear
	case on:
		return "browsers may ask to be told of questions by Web Push", Widens
	}
	return "no browser is told of questions by Web Push", Narrows
}

// judgeEnabled is the rule of the switch of the judge.
func judgeEnabled(d *diff, _, _ any) (string, Mark) {
	switch off, was := d.new.File.Approval.Judge.Off(), d.old.File.Approval.Judge.Off(); {
	case off == was:
		return "approval.judge.enabled changed", Unclear
	case off:
		return "no model is asked any more before people are", mark(!d.judgeDenies(), Unclear)
	}
	return "a model may allow calls before people are asked", Widens
}

// judgeConfidence is the rule of the confidence from which on a model decides.
func judgeConfidence(d *diff, _, _ any) (string, Mark) {
	a, b := d.old.File.Approval.Judge.Threshold(), d.new.File.Approval.Judge.Threshold()
	text := fmt.Sprintf("the judge decides from a confidence of %v on, instead of %v", b, a)
	switch {
	case b < a:
		return text, Widens
	case b > a:
		return text, mark(!d.judgeDenies(), Unclear)
	}
	return "", Narrows
}

// people is the rule of the people who may answer by Telegram.
func people(_ *diff, was, is any) (string, Mark) {
	a, b := was.([]int64), is.([]int64)
	if more := gained(a, b); more != nil {
		return fmt.Sprintf("%v may answer by Telegram", more), Widens
	}
	if fewer := gained(b, a); fewer != nil {
		return fmt.Sprintf("%v may no longer answer by Telegram", fewer), mark(b[0] == a[0], Unclear) // the first one is asked
	}
	return "the people who may answer by Telegram have another order", Unclear
}

// sources is the rule of the registries of the sandbox.
func sources(_ *diff, was, is any) (string, Mark) {
	changes, narrows := profiles.ChangedRegistries(profiles.Section{Registries: was.(map[string]profiles.Registry)},
		profiles.Section{Registries: is.(map[string]profiles.Registry)})
	return strings.Join(changes, "; "), mark(narrows, Widens)
}

// boxes is the rule of the profiles of the sandbox.
func boxes(_ *diff, was, is any) (string, Mark) {
	a, b := profiles.Section{Profiles: was.(map[string]profiles.Profile)}, profiles.Section{Profiles: is.(map[string]profiles.Profile)}
	names := slices.Collect(maps.Keys(a.Profiles))
	names = slices.AppendSeq(names, maps.Keys(b.Profiles))
	slices.Sort(names)
	var texts []string
	m := Narrows
	for _, name := range slices.Compact(names) {
		if change, narrows := profiles.Changed(a, b, name); change != "" {
			texts = append(texts, change)
			m = worse(m, mark(narrows, Widens))
		}
	}
	return strings.Join(texts, "; "), m
}
