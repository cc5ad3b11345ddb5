package policytest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Remark is a note for the operator about a rule that is valid and probably not what its author meant.
type Remark struct {
	policy.Problem
	Rule string
	Kind RemarkKind
}

// RemarkKind says what a remark is about.
type RemarkKind string

// The kinds of remarks.
const (
	Shadowed    RemarkKind = "shadowed"    // another rule always answers first
	Unreachable RemarkKind = "unreachable" // no call that anybody may make concerns it, or a part of it
	Ungranted   RemarkKind = "ungranted"   // it is about tools that nobody sees, and about no other
	Wide        RemarkKind = "wide"        // it allows, or refuses, more than it seems to say
)

// Review finds rules that cannot decide and rules that are wider than they look. Every remark is certain, but there may be more to find.
// The remarks are sorted by file, line, rule and kind.
func Review(p *policy.Policy) []Remark {
	v := review{p: p, rules: p.CompiledRules()}
	for i, r := range v.rules {
		if r.Result == (policy.Guard{}) { // a guard holds also where another rule decides
			v.shadow(i)
		}
		v.reach(r)
		v.width(r)
	}
	slices.SortStableFunc(v.remarks, func(a, b Remark) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Kind, b.Kind))
	})
	return v.remarks
}

// review collects the remarks about one policy.
type review struct {
	p       *policy.Policy
	rules   []policy.CompiledRule
	remarks []Remark
}

func (v *review) note(r policy.CompiledRule, kind RemarkKind, hint, format string, a ...any) {
	message := "rule " + r.ID + ": " + fmt.Sprintf(format, a...)
	v.remarks = append(v.remarks, Remark{
		Rule: r.ID, Kind: kind, Problem: policy.Problem{File: r.File, Line: r.Line, Message: message, Hint: hint, Warning: true},
	})
}

// shadow finds the first rule that answers every call which rule i matches.
func (v *review) shadow(i int) {
	r := v.rules[i]
	for _, earlier := range v.rules[:i] {
		if !Covers(earlier, r) {
			continue
		}
		hint := "remove one of the two"
		if earlier.Effect != r.Effect {
			hint = "narrow " + earlier.ID + ", or remove this rule: " + earlier.Effect.String() + " comes before " + r.Effect.String()
		}
		v.note(r, Shadowed, hint, "it never decides: %s (%s) matches every call that it matches, and answers first", earlier.ID, place(earlier))
		return
	}
}

func place(r policy.CompiledRule) string {
	if r.File == "" {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// reach finds rules about roles, skills, tools and effects that do not exist.
func (v *review) reach(r policy.CompiledRule) {
	for _, name := range r.Role {
		if _, known := v.p.Role(name); !strings.Contains(name, "*") && !known {
			v.note(r, Unreachable, "myc policy roles lists the roles that exist", "no skill and no role file names the role %q", name)
		}
	}
	for _, name := range r.Skill {
		if !strings.Contains(name, "*") && !v.p.HasSkill(name) {
			v.note(r, Unreachable, "myc skill list shows the skills", "there is no skill %q", name)
		}
	}
	for _, effect := range r.Match["effect"] {
		if effect.Literal == nil {
			continue
		}
		if _, known := policy.EffectNamed(*effect.Literal); !known {
			v.note(r, Unreachable, "the effects are "+effectNames(), "no call has the effect %q", *effect.Literal)
		}
	}
	if len(r.Tool) == 0 {
		return
	}
	v.reachTools(r)
}

// reachTools finds the tools of a rule that do not exist, and those that nobody sees.
func (v *review) reachTools(r policy.CompiledRule) {
	anySeen := slices.ContainsFunc(r.Patterns, func(tool policy.Pattern) bool { _, seen := r.Reach(tool); return seen })
	var unseen []string
	for i, tool := range r.Patterns {
		switch exists, seen := r.Reach(tool); {
		case !exists && tool.Server() != policy.AgentServer:
			v.note(r, Unreachable, "myc tools --all lists the tools that exist", "no tool of any server is named %s", r.Tool[i])
		case r.Effect == policy.Deny && anySeen: // a deny rule may name more than is granted today
		case exists && !seen:
			unseen = append(unseen, r.Tool[i])
		}
	}
	kind := Ungranted
	if anySeen {
		kind = Unreachable
	}
	switch names := strings.Join(unseen, ", "); {
	case len(unseen) == 0:
	case len(r.Role) == 0:
		v.note(r, kind, "a skill has to name the tool in allowedTools", "no skill that is open to a role grants %s", names)
	default:
		v.note(r, kind, "a skill that is open to the role must name the tool in allowedTools", "no role of the rule sees %s", names)
	}
}

func effectNames() string {
	var names []string
	for _, e := range policy.Effects() {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// width finds patterns that match more than their author probably thought of.
func (v *review) width(r policy.CompiledRule) {
	if r.Effect != policy.Allow {
		if regexAnywhere(r) {
			v.note(r, Wide, "write {regex: …}, which matches the whole value",
				"its regular expression is not anchored: it matches anywhere in the text")
		}
		return
	}
	for _, tool := range r.Patterns {
		if text := tool.String(); strings.HasPrefix(text, "*") || text == policy.AgentServer+"__*" {
			v.note(r, Wide, "name the tools", "it allows %s: every tool, also those that come later", text)
		}
	}
	if v.p.AgentFallback() == policy.Ask && !r.Conditional() && r.When == "" {
		v.unasked(r)
	}
	for _, fields := range []map[string]policy.Values{r.Match, r.Args} {
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			v.patterns(r, key, fields[key])
		}
	}
}

// unasked finds an allow rule without conditions for an agent's own tool that changes things: the tool then runs without a question.
func (v *review) unasked(r policy.CompiledRule) {
	for _, tool := range r.Patterns {
		if it, exact := tool.Exact(); exact && it.Server == policy.AgentServer && policy.KindOf(it).Changes {
			v.note(r, Wide, "give it a match: or args:, so that what it does not mean is still asked",
				"every call of %s is allowed, also one that was not understood: without this rule those would be asked", tool)
		}
	}
}

// regexAnywhere reports whether the older form of a rule has a regular expression that is not anchored at both ends.
func regexAnywhere(r policy.CompiledRule) bool {
	for _, fields := range []map[string]policy.Values{r.Match, r.Args} {
		for _, vs := range fields {
			if slices.ContainsFunc(vs, func(v policy.Value) bool {
				return v.Legacy && v.Regex != nil && (!strings.HasPrefix(*v.Regex, "^") || !strings.HasSuffix(*v.Regex, "$"))
			}) {
				return true
			}
		}
	}
	return false
}

// patterns judges the patterns of one field of an allow rule.
func (v *review) patterns(r policy.CompiledRule, key string, vs policy.Values) {
	for _, p := range vs {
		switch {
		case p.Regex != nil && (openEnd(*p.Regex) || key != "host" && openStart(*p.Regex)):
			v.note(r, Wide, "write both ends of the expression; for paths a glob is clearer",
				"the regular expression %q of %s is open at its end: it also matches what somebody adds there", *p.Regex, key)
		case p.Glob != nil && changesPath(key) && !readsOnly(r) && LeavesProject(*p.Glob, v.p.Dir()):
			v.note(r, Wide, "begin it with a folder of the project; a relative glob starts there, and read: is for what is only read",
				"the glob %q leaves the project", *p.Glob)
		}
	}
}

// changesPath reports whether a field is over paths that may be changed.
func changesPath(key string) bool {
	return key == "path" || key == string(policy.Write) || key == string(policy.Delete) ||
		key == string(policy.Execute) || policy.IsPathArg(key)
}

func openStart(re string) bool {
	return strings.HasPrefix(strings.TrimPrefix(re, "^"), ".*")
}

func openEnd(re string) bool { return strings.HasSuffix(strings.TrimSuffix(re, "$"), ".*") }

// readsOnly reports whether a rule is limited to reading.
func readsOnly(r policy.CompiledRule) bool {
	effects := r.Match["effect"]
	return len(effects) > 0 && !slices.ContainsFunc(effects, func(v policy.Value) bool {
		return v.Literal == nil || *v.Literal != policy.EffectRead && *v.Literal != policy.EffectExecute
	})
}

// LeavesProject reports whether a glob over paths matches outside of the project folder dir. The folders for temporary files do not count.
func LeavesProject(glob, dir string) bool {
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
		return dir == "" || clean != dir && !strings.HasPrefix(clean, dir+"/")
	}
	return clean == ".." || strings.HasPrefix(clean, "../")
}
