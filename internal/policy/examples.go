package policy

import (
	"fmt"
	"math"
)

// checkExamples tries the examples that the rules carry. A rule whose example fails stays in force: the problem tells its owner.
func (c *compiler) checkExamples() {
	for i := range c.p.rules {
		r := &c.p.rules[i]
		if r.broken != "" {
			continue
		}
		for n, x := range r.src.Examples.Match {
			c.checkExample(r, &x, fmt.Sprintf("examples.match[%d]", n), true)
		}
		for n, x := range r.src.Examples.NotMatch {
			c.checkExample(r, &x, fmt.Sprintf("examples.not_match[%d]", n), false)
		}
	}
}

func (c *compiler) checkExample(r *rule, x *Example, where string, want bool) {
	it, err := exampleItem(x.Tool)
	if err != nil {
		c.ruleProblem(r.src, r.name, where+": "+err.Error(), "write the name of one tool", false)
		return
	}
	if it == shellTool && c.src.Commands == nil && r.needsFacts() {
		c.ruleProblem(r.src, r.name, where+": not checked, because nothing reads commands here", "", true)
		return
	}
	got := c.tryExample(r, x, it)
	switch {
	case got == fails:
		c.ruleProblem(r.src, r.name, where+": the rule cannot be evaluated for it", "mend the rule or the example", false)
	case (got == matches) != want && want:
		c.ruleProblem(r.src, r.name, where+": the rule does not match it", "mend the rule or the example", false)
	case (got == matches) != want:
		c.ruleProblem(r.src, r.name, where+": the rule matches it", "mend the rule or the example", false)
	}
}

// shellTool is the tool whose argument is a shell command.
var shellTool = Item{Server: AgentServer, Name: "Bash"}

func exampleItem(s string) (Item, error) {
	p, err := parseRuleTool(s)
	if err != nil {
		return Item{}, err
	}
	it, exact := p.Exact()
	if !exact {
		return Item{}, fmt.Errorf("tool %q is a pattern", s)
	}
	return it, nil
}

func (r *rule) needsFacts() bool {
	for i := range r.fields {
		if r.fields[i].kind != fieldArg {
			return true
		}
	}
	return len(r.when) > 0 && !scopeOnly(r.when)
}

// tryExample asks the rule about the call of an example. What the example leaves out is as the rule wants it.
func (c *compiler) tryExample(r *rule, x *Example, it Item) verdict {
	p := c.p
	call := Call{Item: it, Args: Args(normal(x.Args).(map[string]any))}
	call.Scope = Scope{Principal: Principal{ID: "example", Role: x.Role}, Skills: x.Skills, Stage: x.Stage}
	if x.Role == "" {
		call.Scope.Principal.Role = first(r.src.Role)
	}
	if x.Skills == nil && len(r.src.Skill) > 0 {
		call.Scope.Skills = []string{first(r.src.Skill)}
	}
	if x.Stage == "" {
		call.Scope.Stage = first(r.src.Stage)
	}
	var notes Annotations
	if e := p.items[it]; e != nil {
		notes = e.notes
	} else {
		notes = r.src.Annotations
	}
	call.Facts = c.exampleFacts(it, notes, call.Args, orElse(x.Cwd, p.dir))
	var v view
	v.look(p, &call.Scope, &call.Scope.Principal)
	for _, name := range call.Scope.Skills {
		if i, ok := p.skillIndex[name]; ok {
			v.active.words().set(i)
		}
	}
	concerned := false
	for _, t := range r.tools {
		concerned = concerned || t.Match(it)
	}
	if !concerned || !r.admitsNotes(notes) || !r.admitsRole(p, v.role) && call.Scope.Principal.Role != first(r.src.Role) {
		return misses
	}
	return r.admitsAll(p, &v, &call)
}

// admitsAll asks the rule about every part of a call: one that allows is for it only if it is for each.
func (r *rule) admitsAll(p *Policy, v *view, c *Call) verdict {
	best := misses
	for i := range c.Facts.Parts {
		switch got := r.admits(p, v, c, &c.Facts.Parts[i]); {
		case got == fails:
			return fails
		case got == matches:
			best = matches
		case r.effect == Allow:
			return misses
		}
	}
	return best
}

// exampleFacts are the facts of an example: those of the text, as if no link stood in the way.
func (c *compiler) exampleFacts(it Item, notes Annotations, args Args, dir string) Facts {
	if it == shellTool && c.src.Commands != nil {
		command, _ := args["command"].(string)
		return lexical(c.src.Commands(command, dir, c.p.home))
	}
	return lexical(ArgFacts(it, notes, args, dir))
}

func first(n Names) string {
	if len(n) == 0 {
		return ""
	}
	return n[0]
}

// normal gives values from a rules file the types that arguments have.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, e := range v {
			m[key] = normal(e)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = normal(e)
		}
		return list
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
	case int:
		return int64(v)
	}
	return v
}
