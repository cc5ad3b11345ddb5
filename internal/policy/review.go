package policy

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Remark is something about a rule that is valid and probably not meant: for the operator.
type Remark struct {
	Problem
	Rule string
	Kind RemarkKind
}

// RemarkKind says what a remark is about.
type RemarkKind string

// The kinds of remarks.
const (
	Shadowed    RemarkKind = "shadowed"    // another rule always answers first
	Unreachable RemarkKind = "unreachable" // no call that anybody may make concerns it
	Wide        RemarkKind = "wide"        // it allows, or refuses, more than it seems to say
)

// Review looks for rules that cannot decide and for rules that are wider than they look. It judges the rules as they are written: what
// it finds is certain, what it does not find is not proved absent. Sorted by file, line and kind.
func (p *Policy) Review() []Remark {
	var out []Remark
	for i := range p.rules {
		r := &p.rules[i]
		if r.broken != "" {
			continue // a problem already
		}
		note := func(kind RemarkKind, hint, format string, a ...any) {
			out = append(out, Remark{Rule: r.name, Kind: kind, Problem: Problem{
				File: r.src.File, Line: r.src.Line, Message: "rule " + r.name + ": " + fmt.Sprintf(format, a...), Hint: hint, Warning: true,
			}})
		}
		if r.src.Result == (Guard{}) { // what guards results does so also where another rule decides
			p.reviewShadow(i, note)
		}
		p.reviewReach(r, note)
		p.reviewWidth(r, note)
	}
	slices.SortStableFunc(out, func(a, b Remark) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

type remark func(kind RemarkKind, hint, format string, a ...any)

// reviewShadow finds the first rule that answers every call which rule i matches.
func (p *Policy) reviewShadow(i int, note remark) {
	r := &p.rules[i]
	for j := range p.rules[:i] {
		first := &p.rules[j]
		if !first.covers(r) {
			continue
		}
		hint := "remove one of the two"
		if first.effect != r.effect {
			hint = "narrow " + first.name + ", or remove this rule: " + first.effect.String() + " comes before " + r.effect.String()
		}
		note(Shadowed, hint, "it never decides: %s (%s) matches every call that it matches, and answers first", first.name, place(first.src))
		return
	}
}

func place(r *Rule) string {
	if r.File == "" {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// covers reports whether r matches whatever o matches, as far as that can be told from the text of the two.
func (r *rule) covers(o *rule) bool {
	if r.broken != "" || r.anyOf || o.anyOf || r.src.When != "" && r.src.When != o.src.When {
		return false
	}
	for name, want := range r.src.Annotations {
		if have, said := o.src.Annotations[name]; !said || have != want {
			return false
		}
	}
	for _, tool := range o.tools {
		if !slices.ContainsFunc(r.tools, func(p Pattern) bool { return p.coversPattern(tool) }) {
			return false
		}
	}
	return namesCover(r.src.Role, o.src.Role) && namesCover(r.src.Skill, o.src.Skill) && namesCover(r.src.Stage, o.src.Stage) &&
		fieldsCover(r.src.Match, o.src.Match) && fieldsCover(r.src.Args, o.src.Args)
}

// coversPattern reports whether p matches whatever o matches. A star of o can only stand where p has one.
func (p Pattern) coversPattern(o Pattern) bool {
	return p.text == o.text || matchStars(p.parts, o.text)
}

// namesCover reports whether a list without which nothing is restricted names all that another names.
func namesCover(wide, narrow Names) bool {
	if len(wide) == 0 {
		return true
	}
	if len(narrow) == 0 {
		return false
	}
	return !slices.ContainsFunc([]string(narrow), func(s string) bool {
		return !slices.ContainsFunc([]string(wide), func(w string) bool { return w == s || matchStars(strings.Split(w, "*"), s) })
	})
}

// fieldsCover reports whether every field of wide is one of narrow too, with no less patterns.
func fieldsCover(wide, narrow map[string]Values) bool {
	for key, patterns := range wide {
		theirs, ok := narrow[key]
		if !ok || slices.ContainsFunc(theirs, func(v Value) bool { return !slices.ContainsFunc(patterns, v.same) }) {
			return false
		}
	}
	return true
}

// same reports whether two patterns are written alike.
func (v Value) same(o Value) bool {
	return sameText(v.Literal, o.Literal) && sameText(v.Glob, o.Glob) && sameText(v.Regex, o.Regex) && v.Legacy == o.Legacy
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// reviewReach finds rules that concern nothing that anybody sees.
func (p *Policy) reviewReach(r *rule, note remark) {
	for _, name := range r.src.Role {
		if !strings.Contains(name, "*") && !p.knowsRole(name) {
			note(Unreachable, "myc policy roles lists the roles that exist", "no skill and no role file names the role %q", name)
		}
	}
	for _, name := range r.src.Skill {
		if _, known := p.skillIndex[name]; !strings.Contains(name, "*") && !known {
			note(Unreachable, "myc skill list shows the skills", "there is no skill %q", name)
		}
	}
	if len(r.src.Tool) == 0 {
		return
	}
	anySeen := slices.ContainsFunc(r.tools, func(tool Pattern) bool { _, seen := p.reach(r, tool); return seen })
	for i, tool := range r.tools {
		switch some, seen := p.reach(r, tool); {
		case !some && tool.server() != AgentServer:
			note(Unreachable, "myc tools --all lists the tools that exist", "no tool of any server is named %s", r.src.Tool[i])
		case r.effect == Deny && anySeen: // it may well name more than is granted today
		case some && !seen && len(r.src.Role) == 0:
			note(Unreachable, "a skill has to name the tool in allowedTools", "no skill that is open to a role grants %s", r.src.Tool[i])
		case some && !seen:
			note(Unreachable, "a skill that is open to the role has to name the tool in allowedTools", "none of its roles sees %s", r.src.Tool[i])
		}
	}
}

func (p *Policy) knowsRole(name string) bool {
	_, known := p.roleIndex[name]
	return known
}

// reach reports whether a pattern of a rule names anything, and whether one of the rule's roles may see some of that.
func (p *Policy) reach(r *rule, tool Pattern) (some, seen bool) {
	for it, e := range p.items {
		if it.Kind != Tool || !tool.Match(it) {
			continue
		}
		some = true
		if e.control {
			return true, true
		}
		for _, ro := range p.roles {
			if r.admitsRole(p, ro) && e.skills.meets(ro.open) && !e.denied.has(ro.index) {
				return true, true
			}
		}
	}
	return some, false
}

// reviewWidth finds patterns that match more than their author probably thought of.
func (p *Policy) reviewWidth(r *rule, note remark) {
	if r.effect != Allow {
		if r.anyOf && r.regexAnywhere() {
			note(Wide, "write {regex: …}, which matches the whole value", "its regular expression is not anchored: it matches anywhere in the text")
		}
		return
	}
	for _, tool := range r.tools {
		if text := tool.String(); strings.HasPrefix(text, "*") || text == AgentServer+separator+"*" {
			note(Wide, "name the tools", "it allows %s: every tool, also those that come later", text)
		}
	}
	if p.agent == Ask && len(r.fields) == 0 && r.when == nil {
		p.reviewUnasked(r, note)
	}
	for _, fields := range []map[string]Values{r.src.Match, r.src.Args} {
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			p.reviewPatterns(r, key, fields[key], note)
		}
	}
}

// reviewUnasked finds a rule without any condition over an agent's own tool that changes things: nothing of the tool is asked any more.
func (p *Policy) reviewUnasked(r *rule, note remark) {
	for _, tool := range r.tools {
		it, exact := tool.Exact()
		if !exact || it.Server != AgentServer {
			continue
		}
		if KindOf(it).Changes {
			note(Wide, "give it a match: or args:, so that what it does not mean is still asked", "every call of %s is allowed, also one that was not understood: without this rule those would be asked", tool)
		}
	}
}

// regexAnywhere reports whether the older form of a rule has a regular expression.
func (r *rule) regexAnywhere() bool {
	for _, fields := range []map[string]Values{r.src.Match, r.src.Args} {
		for _, vs := range fields {
			if slices.ContainsFunc(vs, func(v Value) bool {
				return v.Regex != nil && (!strings.HasPrefix(*v.Regex, "^") || !strings.HasSuffix(*v.Regex, "$"))
			}) {
				return true
			}
		}
	}
	return false
}

// reviewPatterns judges the patterns of one field of an allow rule.
func (p *Policy) reviewPatterns(r *rule, key string, vs Values, note remark) {
	for _, v := range vs {
		switch {
		case v.Regex != nil && (openEnd(*v.Regex) || key != "host" && openStart(*v.Regex)):
			note(Wide, "say what stands at both ends; for paths a glob is clearer", "the regular expression %q of %s is open at its end: it also matches what somebody adds there", *v.Regex, key)
		case v.Glob != nil && changesPath(key) && !r.readsOnly() && p.leaves(*v.Glob):
			note(Wide, "begin it with a folder of the project; a relative glob starts there, and read: is for what is only read", "the glob %q leaves the project", *v.Glob)
		}
	}
}

// changesPath reports whether a field is over paths that may be changed.
func changesPath(key string) bool {
	return key == "path" || key == string(Write) || key == string(Delete) || key == string(Execute) || isPathName(key)
}

func openStart(re string) bool {
	return strings.HasPrefix(strings.TrimPrefix(re, "^"), ".*")
}

func openEnd(re string) bool { return strings.HasSuffix(strings.TrimSuffix(re, "$"), ".*") }

// readsOnly reports whether a rule is limited to reading.
func (r *rule) readsOnly() bool {
	effects := r.src.Match["effect"]
	return len(effects) > 0 && !slices.ContainsFunc(effects, func(v Value) bool { return v.Literal == nil || *v.Literal != EffectRead && *v.Literal != EffectExecute })
}

// leaves reports whether a glob over paths matches outside of the project. The folders for temporary files are everybody's.
func (p *Policy) leaves(glob string) bool {
	for _, free := range [...]string{"/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/dev/null"} {
		if strings.HasPrefix(glob, free) {
			return false
		}
	}
	if strings.HasPrefix(glob, "~") || strings.HasPrefix(glob, "**") {
		return true
	}
	clean := path.Clean(glob)
	if strings.HasPrefix(clean, "/") {
		return p.dir == "" || clean != p.dir && !strings.HasPrefix(clean, p.dir+"/")
	}
	return clean == ".." || strings.HasPrefix(clean, "../")
}
