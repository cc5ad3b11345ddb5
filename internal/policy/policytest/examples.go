package policytest

import (
	"errors"
	"fmt"
	"math"

	"mycelium/internal/policy"
)

// Commands reads a shell command that would run in the folder dir, for a user with the home folder home.
type Commands func(command, dir, home string) policy.Facts

// Examples tries the examples that the rules of p carry. A rule whose example fails stays in force: the problem tells its owner.
// Without commands, examples of shell commands are not checked where the rule looks at what the command does.
func Examples(p *policy.Policy, commands Commands) []policy.Problem {
	t := trial{p: p, commands: commands}
	for _, r := range p.CompiledRules() {
		for n, x := range r.Examples.Match {
			t.try(r, &x, fmt.Sprintf("examples.match[%d]", n), true)
		}
		for n, x := range r.Examples.NotMatch {
			t.try(r, &x, fmt.Sprintf("examples.not_match[%d]", n), false)
		}
	}
	return t.problems
}

// trial collects the problems of examples.
type trial struct {
	p        *policy.Policy
	commands Commands
	problems []policy.Problem
}

// try asks a rule about one of its examples. where is the example's place in the rule.
func (t *trial) try(r policy.CompiledRule, x *policy.Example, where string, want bool) {
	note := func(message, hint string, warning bool) {
		message = "rule " + r.ID + ": " + where + ": " + message
		t.problems = append(t.problems, policy.Problem{File: r.File, Line: r.Line, Message: message, Hint: hint, Warning: warning})
	}
	it, err := exampleItem(x.Tool)
	if err != nil {
		note(err.Error(), "write the name of one tool", false)
		return
	}
	if it == policy.Bash && t.commands == nil && r.NeedsFacts() {
		note("not checked, because nothing reads commands here", "", true)
		return
	}
	switch matched, err := r.Matches(t.call(r, x, it)); {
	case err != nil:
		note(err.Error(), "fix the rule or the example", false)
	case want && !matched:
		note("the rule does not match it", "fix the rule or the example", false)
	case !want && matched:
		note("the rule matches it", "fix the rule or the example", false)
	}
}

// exampleItem reads the tool of an example.
func exampleItem(tool string) (policy.Item, error) {
	p, err := policy.ParseRuleTool(tool)
	if err != nil {
		return policy.Item{}, err
	}
	it, exact := p.Exact()
	if !exact {
		return policy.Item{}, errors.New("tool " + fmt.Sprintf("%q", tool) + " is a pattern")
	}
	return it, nil
}

// call is the call of an example. What the example leaves out is as the rule wants it.
func (t *trial) call(r policy.CompiledRule, x *policy.Example, it policy.Item) (policy.Call, policy.Annotations) {
	call := policy.Call{Item: it, Args: policy.Args(normal(x.Args).(map[string]any))}
	call.Scope = policy.Scope{Principal: policy.Principal{ID: "example", Role: x.Role}, Skills: x.Skills, Stage: x.Stage}
	if x.Role == "" {
		call.Scope.Principal.Role = first(r.Role)
	}
	if x.Skills == nil && len(r.Skill) > 0 {
		call.Scope.Skills = []string{first(r.Skill)}
	}
	if x.Stage == "" {
		call.Scope.Stage = first(r.Stage)
	}
	notes, listed := t.p.Hints(it)
	if !listed {
		notes = r.Annotations
	}
	dir := x.Cwd
	if dir == "" {
		dir = t.p.Dir()
	}
	if command, _ := call.Args["command"].(string); it == policy.Bash && t.commands != nil {
		call.Facts = t.commands(command, dir, t.p.Home()).WithoutLinks()
	} else {
		call.Facts = policy.ArgFacts(it, notes, call.Args, dir).WithoutLinks()
	}
	return call, notes
}

func first(n policy.Names) string {
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
