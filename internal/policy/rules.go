package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/policy/box"
	"mycelium/internal/policy/when"
)

// rule is one compiled rule.
type rule struct {
	src           *Rule
	effect        Effect
	name          string
	reason        string
	tools         []Pattern
	roles         []nameFilter // empty for any role
	skills        []nameFilter
	stages        []nameFilter
	fields        []field // facts and arguments; all must match
	anyOf         bool    // one field must match: the older form, and match: any
	legacy        bool    // the older form
	when          []*when.Condition
	broken        string // why the rule cannot be evaluated: then it denies, or never allows
	hides         bool
	unclear       bool   // it names the effect unclear
	byArgs        bool   // it looks at arguments
	exact         bool   // it names whole commands by their text
	byAccess      bool   // it looks at paths by what is done to them
	unconditional bool   // it depends only on scope and tool
	opens         bool   // it allows what runs inside of the wall, and opens something there
	fence         bool   // it decides only where there is no wall ([PlaceNoWall])
	ours          bool   // it is one of [Source.Shipped]
	outside       string // why what it decides runs outside of the wall, for people; "": it runs inside
}

// nameFilter is a pattern over roles, skills or stages.
type nameFilter []string

func (f nameFilter) match(s string) bool { return matchStars(f, s) }

func matchesAny(list []nameFilter, s string) bool {
	for _, f := range list {
		if f.match(s) {
			return true
		}
	}
	return false
}

// field is one fact or one argument, with patterns of which one must match.
type field struct {
	kind   fieldKind
	access Access // of fieldAccess
	arg    string // dotted path
	deep   bool   // arg has a dot or a star
	values []matcher
	paths  []pathMatcher
}

type fieldKind uint8

const (
	fieldEffect fieldKind = iota
	fieldPath
	fieldHost
	fieldProgram
	fieldArg
	fieldPathArg // older form: an argument that is a path
	fieldAccess  // the paths with one access
	fieldSecret  // the files with secrets that are opened
)

var fieldKinds = map[string]fieldKind{
	"effect": fieldEffect, "path": fieldPath, "host": fieldHost, "program": fieldProgram, "secret": fieldSecret,
	string(Read): fieldAccess, string(Write): fieldAccess, string(Delete): fieldAccess, string(Execute): fieldAccess,
}

// addRules compiles the rules and sorts them: rules that hide, then deny, ask and allow rules, each in file order.
func (c *compiler) addRules() {
	seen := map[string]bool{}
	ours := slices.Concat(c.roleRules(), c.secretRules())
	shipped := len(c.src.Rules) + len(ours) // the first of them
	ours = append(ours, slices.DeleteFunc(slices.Clone(c.src.Shipped), func(r Rule) bool {
		return slices.ContainsFunc(c.src.Rules, func(own Rule) bool { return own.Name == r.Name })
	})...)
	for i := range len(c.src.Rules) + len(ours) {
		var src *Rule // of a rule of the source itself, because callers of CompiledRules find theirs by its address
		if i < len(c.src.Rules) {
			src = &c.src.Rules[i]
		} else {
			src = &ours[i-len(c.src.Rules)]
		}
		r := c.compileRule(src, i)
		r.ours = i >= shipped
		if seen[r.name] {
			c.ruleProblem(src, r.name, "a rule of this name exists already", "give each rule its own name", true)
		}
		seen[r.name] = true
		if r.effect == Allow && r.broken != "" && src.Result == (Guard{}) {
			continue // the rule allows nothing; with a guard it still guards
		}
		c.p.rules, c.p.boxed = append(c.p.rules, r), c.p.boxed || !src.Sandbox.None()
	}
	slices.SortStableFunc(c.p.rules, func(a, b rule) int { return a.rank() - b.rank() })
	c.p.hiders = newBits(len(c.p.rules))
	for i := range c.p.rules {
		if c.p.rules[i].hides {
			c.p.hiders.set(i)
			c.p.byPerson = c.p.byPerson || slices.ContainsFunc(c.p.rules[i].when, func(c *when.Condition) bool { return c.Who })
		}
	}
	c.addGuards()
	c.p.nobody.rules = c.rulesOf(c.p.nobody)
	for _, r := range c.p.roles {
		r.rules = c.rulesOf(r)
	}
}

func (r *rule) rank() int {
	if r.hides {
		return 0
	}
	return 1 + int(r.effect)
}

// rulesOf are the rules whose role filter admits the role or one that it inherits.
func (c *compiler) rulesOf(ro *role) bits {
	b := newBits(len(c.p.rules))
	for i := range c.p.rules {
		if c.p.rules[i].admitsRole(ro) {
			b.set(i)
		}
	}
	return b
}

func (r *rule) admitsRole(ro *role) bool {
	if len(r.roles) == 0 || matchesAny(r.roles, "") {
		return true
	}
	return slices.ContainsFunc(ro.view.Called, func(name string) bool { return matchesAny(r.roles, name) })
}

func (c *compiler) ruleProblem(src *Rule, name, message, hint string, warning bool) {
	c.problems = append(c.problems, Problem{File: src.File, Line: src.Line, Message: "rule " + name + ": " + message, Hint: hint,
		Warning: warning})
}

// compileRule never fails. A rule that cannot be read is broken, and refuses everything that it could have concerned.
func (c *compiler) compileRule(src *Rule, i int) rule {
	r := rule{src: src, name: src.Name, reason: src.Reason}
	if r.name == "" {
		r.name = fmt.Sprintf("#%d", i+1)
		c.ruleProblem(src, r.name, "it has no name", "give it a name: the log and refusals name it", true)
	}
	err := c.ruleAction(&r)
	if e := c.ruleScope(&r); err == nil {
		err = e
	}
	if e := c.ruleFields(&r); err == nil {
		err = e
	}
	if e := src.Result.check(r.effect); err == nil {
		err = e
	}
	in := src.Sandbox
	if r.opens = in.None() && in.Grants(); r.opens {
		if in.Profile = c.src.Wall; in.Profile == NoWall {
			in.Profile = box.Project // the rule decides nothing then
		}
	}
	if e := c.p.boxes.Check(in, r.effect == Deny); err == nil {
		err = e
	}
	if e := r.place(); err == nil {
		err = e
	}
	if err == nil && src.Fault != "" {
		err = errors.New(src.Fault)
	}
	if err == nil && src.When != "" {
		r.when, err = c.conditions.Compile(src.When, src.Checked)
	}
	if err != nil {
		r.broken = fmt.Sprintf("rule %s cannot be evaluated: %v", r.name, err)
		hint := "until this is fixed the rule denies every call of its tools"
		if r.effect == Allow {
			hint = "until this is fixed the rule allows no call"
		}
		c.ruleProblem(src, r.name, err.Error(), hint, false)
	}
	r.unconditional = r.broken == "" && len(r.fields) == 0 && scopeOnly(r.when)
	r.hides = r.effect == Deny && r.unconditional
	r.byArgs = slices.ContainsFunc(r.fields, func(f field) bool { return f.kind == fieldArg }) ||
		slices.ContainsFunc(r.when, func(c *when.Condition) bool { return c.Args })
	r.exact = !r.anyOf && slices.ContainsFunc(r.fields, func(f field) bool { return f.kind == fieldArg && f.arg == commandArg }) &&
		!slices.ContainsFunc(src.Args[commandArg], func(v Value) bool { return v.Literal == nil })
	if r.reason == "" {
		r.reason = "rule " + r.name
	}
	return r
}

// commandArg is the argument of a shell with the command.
const commandArg = "command"

func (c *compiler) ruleAction(r *rule) error {
	e, err := ParseEffect(r.src.Action)
	r.effect = e
	if err != nil {
		return fmt.Errorf("action %q: not one of deny, ask, allow", r.src.Action)
	}
	if e == Allow && r.src.Named {
		return fmt.Errorf("named: an allow rule is about every path of a call; the key is for deny and ask rules")
	}
	if e == Allow && len(r.src.Tool) == 0 {
		return fmt.Errorf("an allow rule names its tools; write tool: \"*\" for every one")
	}
	return nil
}

// ruleScope compiles tool, role, skill, stage and annotations. A list that cannot be read is taken as "any".
func (c *compiler) ruleScope(r *rule) (err error) {
	names := r.src.Tool
	if len(names) == 0 {
		names = Names{"*"}
	}
	for _, s := range names {
		p, e := ParseRuleTool(s)
		if e != nil {
			err = fmt.Errorf("tool: %w", e)
			p, _ = ParsePattern("*")
		}
		r.tools = append(r.tools, p)
	}
	for _, l := range []struct {
		key  string
		from Names
		to   *[]nameFilter
	}{{"role", r.src.Role, &r.roles}, {"skill", r.src.Skill, &r.skills}, {"stage", r.src.Stage, &r.stages}} {
		for _, s := range l.from {
			if s == "" {
				err = fmt.Errorf("%s: an empty name", l.key)
				*l.to = nil
				break
			}
			*l.to = append(*l.to, strings.Split(s, "*"))
		}
	}
	for name := range r.src.Annotations {
		if _, known := (Annotations{}).hint(name); !known {
			err = fmt.Errorf("annotations: %q is not one of readOnlyHint, destructiveHint, idempotentHint, openWorldHint", name)
		}
	}
	return err
}

// ParseRuleTool reads a tool pattern of a rule. A bare name is an agent's own tool, and another name of such a tool is replaced by its one
// name.
func ParseRuleTool(s string) (Pattern, error) {
	if s != "" && !strings.Contains(s, separator) && strings.Trim(s, "*") != "" && !strings.HasPrefix(s, "*") && !strings.HasSuffix(s, "*") {
		s = AgentServer + separator + s
	}
	if name, ok := strings.CutPrefix(s, AgentServer+separator); ok {
		name, _ = AgentTool(name)
		s = AgentServer + separator + name
	}
	return parseText(s)
}

// admitsNotes reports whether the rule is about a tool with these annotations.
func (r *rule) admitsNotes(notes Annotations) bool {
	if r.broken != "" {
		return true
	}
	for name, want := range r.src.Annotations {
		if have, _ := notes.hint(name); have != want {
			return false
		}
	}
	return true
}

// ruleFields compiles match and args.
func (c *compiler) ruleFields(r *rule) error {
	r.legacy = isLegacy(r.src.Match) || isLegacy(r.src.Args)
	r.anyOf = r.legacy || r.src.Match.Any()
	if r.legacy {
		c.ruleProblem(r.src, r.name, "it is written with {pattern, type}: it matches if any one of its fields does",
			"write {literal: …}, {glob: …} or {regex: …}; then every field must match", true)
	}
	for _, key := range sortedKeys(r.src.Match) {
		if key == anyField && r.src.Match.Any() {
			continue
		}
		kind, known := fieldKinds[key]
		if r.legacy {
			kind, known = fieldArg, true
			if IsPathArg(key) {
				kind = fieldPathArg
			}
		}
		if !known {
			return fmt.Errorf("match: unknown field %q; the fields are effect, path, read, write, delete, execute, secret, host and program, "+
				"and arguments stand under args", key)
		}
		if err := c.addField(r, kind, key, r.src.Match[key]); err != nil {
			return fmt.Errorf("match.%s: %w", key, err)
		}
	}
	for _, key := range sortedKeys(r.src.Args) {
		if err := c.addField(r, fieldArg, key, r.src.Args[key]); err != nil {
			return fmt.Errorf("args.%s: %w", key, err)
		}
	}
	return nil
}

func isLegacy(fields map[string]Values) bool {
	return slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(fields))...), func(v Value) bool { return v.Legacy })
}

// IsPathArg reports whether an argument of this name is a path.
func IsPathArg(key string) bool {
	return key == "path" || key == "file_path" || key == "notebook_path"
}

func (c *compiler) addField(r *rule, kind fieldKind, key string, vs Values) error {
	if len(vs) == 0 {
		return fmt.Errorf("no pattern")
	}
	f := field{kind: kind, arg: key, deep: strings.ContainsAny(key, ".*")}
	if kind == fieldAccess {
		f.access, r.byAccess = Access(key), true
	}
	search := r.legacy && r.effect != Allow
	for _, v := range vs {
		if kind == fieldPath || kind == fieldPathArg || kind == fieldAccess || kind == fieldSecret {
			pm, err := c.p.compile(v, search)
			if err != nil {
				return err
			}
			f.paths = append(f.paths, pm)
			if kind != fieldPathArg {
				continue
			}
		}
		if kind == fieldHost {
			v = lowerValue(v)
		}
		m, err := compileValue(v, search)
		if err != nil {
			return err
		}
		f.values = append(f.values, m)
		r.unclear = r.unclear || kind == fieldEffect && m.match("unclear")
	}
	r.fields = append(r.fields, f)
	return nil
}

// lowerValue returns a pattern over hosts in lower case, in which hosts are compared.
func lowerValue(v Value) Value {
	lower := func(s *string) *string {
		if s == nil {
			return nil
		}
		l := strings.ToLower(*s)
		return &l
	}
	v.Literal, v.Glob = lower(v.Literal), lower(v.Glob)
	return v
}
