// Package why explains how the policy of a project decides a call, and what would have to be different for another decision.
package why

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate/facts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/policy"
	"mycelium/internal/worktree"
)

// Handle adds what explains decisions to the methods that a socket answers.
func Handle(to socket.Table, view func() *project.View) {
	socket.Handle(to, api.Why, func(_ context.Context, _ op.Caller, q api.Question) (api.Explained, error) {
		return Explain(view(), q)
	})
}

// Question is a call to judge.
type Question struct {
	Tool   string
	Args   jsontext.Value
	Role   string   // empty: session.defaultRole
	Skills []string // active ones; nil: those that are active at the start
	Cwd    string   // absolute; empty: the project
}

// Call returns a question as a call. An unknown role is not an error: the policy answers it.
func Call(v *project.View, q Question) (policy.Call, error) {
	args, err := policy.ParseArgs(q.Args)
	if err != nil {
		return policy.Call{}, fmt.Errorf("args: %w", err)
	}
	role := q.Role
	if role == "" {
		role = v.Project.File.Session.DefaultRole
	}
	skills := q.Skills
	if skills == nil {
		skills = v.Policy.StartSkills(role)
	}
	dir := v.Project.Dir
	if q.Cwd != "" {
		if !filepath.IsAbs(q.Cwd) {
			return policy.Call{}, fmt.Errorf("cwd: %q is not absolute", q.Cwd)
		}
		dir = filepath.Clean(q.Cwd)
	}
	it, err := policy.ParseTool(canonicalTool(q.Tool))
	if err != nil {
		it = policy.Item{Name: q.Tool}
	}
	trees := &worktree.Cache{Workers: v.Project.State.Workers()}
	f, err := facts.Of(it, v.Annotations(it), args, facts.At(v.Policy, dir, v.Project.Home, trees))
	if err != nil {
		return policy.Call{}, err
	}
	return policy.Call{
		Scope: policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: skills},
		Item:  it, Args: args, Facts: f, Time: time.Now(),
	}, nil
}

// canonicalTool completes a bare name to the name of an agent's own tool, as in rules.
func canonicalTool(name string) string {
	if !strings.Contains(name, "__") {
		return policy.AgentServer + "__" + name
	}
	return name
}

// Explain explains how a call is decided.
func Explain(v *project.View, q api.Question) (api.Explained, error) {
	if q.Tool == "" {
		return api.Explained{}, failure.New(failure.Invalid, fmt.Errorf("why: which tool?"), "")
	}
	if q.Args == "" {
		q.Args = "{}"
	}
	asked := Question{Tool: q.Tool, Args: jsontext.Value(q.Args), Role: q.Role, Skills: append([]string{}, q.Skills...), Cwd: q.Dir}
	if q.Start {
		asked.Skills = nil
	}
	c, err := Call(v, asked)
	if err != nil {
		return api.Explained{}, failure.New(failure.Invalid, fmt.Errorf("why: %w", err), "")
	}
	out := api.Explained{Explanation: v.Policy.Explain(c), Facts: c.Facts, Otherwise: []api.Otherwise{}}
	out.File, out.Line = ruleAt(v, out.Rule)
	out.Otherwise = append(out.Otherwise, bySkills(v, c, out.Effect)...)
	out.Otherwise = append(out.Otherwise, byRoles(v, c, out.Effect)...)
	out.Otherwise = append(out.Otherwise, withoutRule(v, c, out)...)
	return out, nil
}

// ruleAt is where a rule stands; nowhere if the decision comes from no rule of a file.
func ruleAt(v *project.View, name string) (file string, line int) {
	for i, r := range v.Project.Rules {
		if name != "" && (r.Name == name || r.Name == "" && name == fmt.Sprintf("#%d", i+1)) {
			return r.File, r.Line
		}
	}
	return "", 0
}

// decided is how a call would be decided, under a difference; false if that is as it is now.
func decided(p *policy.Policy, c policy.Call, difference, now string) (api.Otherwise, bool) {
	x := p.Explain(c)
	return api.Otherwise{If: difference, Effect: x.Effect, Rule: x.Rule, Reason: x.Reason}, x.Effect != now
}

// bySkills tries each skill that is open to the role and not active, and each that is active.
func bySkills(v *project.View, c policy.Call, now string) (out []api.Otherwise) {
	active := c.Scope.Skills
	for _, s := range v.Policy.OpenSkills(c.Scope.Principal.Role) {
		said := "with the skill " + s + ", which the session may activate"
		c.Scope.Skills = append(slices.Clone(active), s)
		if slices.Contains(active, s) {
			said = "without the skill " + s
			c.Scope.Skills = slices.DeleteFunc(slices.Clone(active), func(a string) bool { return a == s })
		}
		if o, differs := decided(v.Policy, c, said, now); differs {
			out = append(out, o)
		}
	}
	return out
}

// byRoles tries every other role, with the skills that are open to it.
func byRoles(v *project.View, c policy.Call, now string) (out []api.Otherwise) {
	role := c.Scope.Principal.Role
	for _, other := range v.Policy.Roles() {
		c.Scope.Principal.Role, c.Scope.Skills = other, v.Policy.OpenSkills(other)
		if o, differs := decided(v.Policy, c, "as role "+other+" with its skills", now); differs && other != role {
			out = append(out, o)
		}
	}
	return out
}

// withoutRule tries what holds if the rule that decided were not there.
func withoutRule(v *project.View, c policy.Call, x api.Explained) []api.Otherwise {
	if x.File == "" {
		return nil
	}
	p := *v.Project
	p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r policy.Rule) bool { return r.File == x.File && r.Line == x.Line })
	next := v.With(&p)
	next.Compile()
	if o, differs := decided(next.Policy, c, "without the rule "+x.Rule, x.Effect); differs {
		return []api.Otherwise{o}
	}
	return nil
}
