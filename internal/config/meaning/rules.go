package meaning

import (
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy"
	"mycelium/internal/policy/policytest"
)

// rules compares the rules as a set of what they say, because their order does not change a decision. A rule that is in one version only
// was removed or added; two of one name are one changed rule.
func (d *diff) rules() {
	removed, added := without(d.old.Rules, d.new.Rules), without(d.new.Rules, d.old.Rules)
	for _, o := range removed {
		gone, at := d.removed(o), place{file: o.File, was: o.Line}
		i := slices.IndexFunc(added, func(n *policy.Rule) bool { return n.Name == o.Name && n.Name != "" })
		if i < 0 {
			d.add(gone, at, "rule ", ruleName(o), " is gone: it ", describe(o))
			continue
		}
		n := added[i]
		added = slices.Delete(added, i, i+1)
		if at = (place{n.File, n.Line, o.Line}); n.File != o.File {
			at.was = 0
		}
		d.add(worse(gone, d.added(n)), at, "rule ", ruleName(n), " changed: it ", describe(n), "; until now it ", describe(o), d.reach(n))
	}
	for _, n := range added {
		d.add(d.added(n), place{file: n.File, line: n.Line}, "rule ", ruleName(n), " is new: it ", describe(n), d.reach(n))
	}
	d.reasons()
}

// without returns the rules of which the others have none that says the same.
func without(rules, others []policy.Rule) []*policy.Rule {
	said := map[string]bool{}
	for i := range others {
		said[says(&others[i])] = true
	}
	var out []*policy.Rule
	for i := range rules {
		if !said[says(&rules[i])] {
			out = append(out, &rules[i])
		}
	}
	return out
}

// says is what a rule decides, as a text that two rules share if they decide the same.
func says(r *policy.Rule) string {
	bare := *r
	bare.Name, bare.Reason, bare.Examples, bare.File, bare.Line = "", "", policy.Examples{}, "", 0
	if e, err := policy.ParseEffect(bare.Action); err == nil {
		bare.Action = e.String()
	}
	bare.Tool = nil
	for _, s := range r.Tool {
		if p, err := policy.ParseRuleTool(s); err == nil {
			s = p.String()
		}
		bare.Tool = append(bare.Tool, s)
	}
	slices.Sort(bare.Tool)
	raw, err := json.Marshal(bare, json.Deterministic(true))
	if err != nil { // not UTF-8: no two such rules are the same
		return r.Name + "\x00" + r.File
	}
	return string(raw)
}

// removed is the mark of a rule that is no longer there.
func (d *diff) removed(o *policy.Rule) Mark {
	old, sound := d.old.compiled[o]
	switch {
	case o.Result != (policy.Guard{}):
		return Widens // results that were redacted or cut are so no longer
	case o.Action == policy.Allow.String() && o.Sandbox.None():
		return Narrows
	case !sound:
		return Widens // it denied what it could have concerned
	}
	for i := range d.new.Rules {
		r, ok := d.new.compiled[&d.new.Rules[i]]
		if ok && r.Effect <= old.Effect && policytest.Covers(r, old) && (r.Effect == policy.Deny || d.boxed(&d.new.Rules[i], o)) {
			return Narrows
		}
	}
	return Widens
}

// added is the mark of a rule that was not there.
func (d *diff) added(n *policy.Rule) Mark {
	r, sound := d.new.compiled[n]
	effect, err := policy.ParseEffect(n.Action)
	switch {
	case err != nil || !sound && effect != policy.Deny:
		return Unclear
	case effect == policy.Deny:
		return Narrows
	case effect == policy.Ask:
		return mark(!d.fallsBackToDeny(r) && !n.Sandbox.Grants(), Widens)
	}
	for i := range d.old.Rules {
		o, ok := d.old.compiled[&d.old.Rules[i]]
		if ok && o.Effect == policy.Allow && policytest.Covers(o, r) && d.boxed(n, &d.old.Rules[i]) {
			return Narrows
		}
	}
	return Widens
}

// boxed reports whether the sandbox of a rule allows a call nothing that the sandbox of another rule does not allow.
func (d *diff) boxed(r, o *policy.Rule) bool {
	return d.new.File.Sandbox.Boxes().Within(r.Sandbox, o.Sandbox) && (r.Place == "" || o.Place != "")
}

// fallsBackToDeny reports whether a call that a rule concerns may have been denied only because no rule decided it.
func (d *diff) fallsBackToDeny(r policy.CompiledRule) bool {
	f, deny := d.old.File.Policy.Fallback, policy.Deny.String()
	for _, tool := range r.Patterns {
		server := tool.Server()
		if f.Agent == deny && (server == policy.AgentServer || server == "") || f.MCP == deny && server != policy.AgentServer {
			return true
		}
	}
	return false
}

// worse is the mark of two changes that are told as one.
func worse(a, b Mark) Mark {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// reach says what an allow rule opens beyond the project.
func (d *diff) reach(r *policy.Rule) string {
	compiled, sound := d.new.compiled[r]
	if !sound || compiled.Effect != policy.Allow || !slices.ContainsFunc(compiled.Patterns, changes) {
		return ""
	}
	for _, key := range []string{"path", "write", "delete", "execute"} {
		for _, v := range r.Match[key] {
			if v.Glob != nil && policytest.LeavesProject(*v.Glob, d.new.Dir) {
				who := "every role"
				if len(r.Role) > 0 {
					who = list(r.Role)
				}
				return ": " + who + " may now write outside the project"
			}
		}
	}
	return ""
}

// changes reports whether a pattern may stand for a tool that changes files.
func changes(p policy.Pattern) bool {
	it, exact := p.Exact()
	return !exact || policy.KindOf(it).Changes
}

// reasons tells of rules that decide the same under another name or with another reason.
func (d *diff) reasons() {
	was := map[string]*policy.Rule{}
	for i := range d.old.Rules {
		o := &d.old.Rules[i]
		was[says(o)], was[says(o)+o.Name] = o, o
	}
	for i := range d.new.Rules {
		n := &d.new.Rules[i]
		o := was[says(n)+n.Name]
		if o == nil {
			o = was[says(n)]
		}
		switch at := (place{file: n.File, line: n.Line}); {
		case o == nil:
		case o.Name != n.Name:
			d.add(Narrows, at, "rule ", ruleName(o), " is called ", ruleName(n), " now")
		case o.Reason != n.Reason:
			d.add(Narrows, at, "rule ", ruleName(n), " gives another reason: ", n.Reason)
		}
	}
}

// sensitive reports whether a skill that is no longer active can open a call: a rule that refuses looks at the skill, or some condition
// looks at the active skills.
func (d *diff) sensitive(name string) bool {
	return d.anyRule(func(r *policy.Rule) bool {
		refuses := r.Action != policy.Allow.String() || r.Result != (policy.Guard{})
		return wordSkills().MatchString(r.When) || refuses && len(r.Skill) > 0 && (name == "" || r.Skill.Cover(policy.Names{name}))
	})
}

// controlSensitive reports whether a principal that loses its role can open a control tool: such a tool needs no role, and a rule that
// refuses it looks at the role.
func (d *diff) controlSensitive() bool {
	return d.anyRule(func(r *policy.Rule) bool {
		if r.Action == policy.Allow.String() || len(r.Role) == 0 && r.When == "" {
			return false
		}
		return len(r.Tool) == 0 || slices.ContainsFunc(r.Tool, func(s string) bool {
			p, err := policy.ParseRuleTool(s)
			return err != nil || concernsControl(p)
		})
	})
}

// concernsControl reports whether a pattern may stand for a control tool.
func concernsControl(p policy.Pattern) bool {
	server := p.Server()
	return server == "" || server == policy.RouterServer || server == policy.SkillsServer
}

// anyRule reports whether a rule of either version has a property.
func (d *diff) anyRule(has func(*policy.Rule) bool) bool {
	for _, rules := range [][]policy.Rule{d.old.Rules, d.new.Rules} {
		for i := range rules {
			if has(&rules[i]) {
				return true
			}
		}
	}
	return false
}
