package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/config/servers"
	"mycelium/internal/harness"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/state"
)

// noProject is the role of an agent outside of every project if the user's files name no default role, and the skill that stands for
// what the agent has by itself.
const noProject = "no-project"

// noteOutside returns where the note of the person is for calls outside of every project. There is one for all folders.
func noteOutside(p state.Paths) state.Paths { return p.Outside(string(p.Root)) }

// KnowOutside notes, for calls outside of every project, what this environment says about the person.
func (l *Loader) KnowOutside() (state.Paths, error) {
	p, agent, err := l.place()
	if err != nil || agent {
		return p, err
	}
	return p, l.know(noteOutside(p))
}

// loadOutside reads the user's own files, for a folder that belongs to no project.
func (l *Loader) loadOutside(s state.Paths) (*config.Project, error) {
	o := l.options(s)
	o.UserOnly = true
	unaccepted := failure.New(failure.Denied,
		errors.New("nobody has accepted the user's own files, which hold outside of every project, or that there are none"),
		"a person does: myc trust; what was accepted is looked for in "+string(s.Root))
	if l.ofAgent() {
		switch note, err := noteOutside(s).ReadNote(); {
		case errors.Is(err, state.ErrUnknown):
			return nil, unaccepted
		case err != nil:
			return nil, err
		default:
			o.Home, o.UserDir, o.Environ = note.Home, note.Config, []string{"HOME=" + note.Home}
		}
	}
	p, err := config.Load(o)
	if err != nil {
		return nil, err
	}
	switch {
	case !l.ofAgent(): // a person who looks at the log
	case p.Broken.All != "":
		return nil, failure.New(failure.Denied, errors.New(p.Broken.All), "a person runs: myc trust")
	case !p.User.Trusted:
		return nil, unaccepted
	}
	l.logs = p.File.Log
	return p, nil
}

// OutsideTool returns the name by which rules know the tool of an event outside of every project. The server of an MCP tool may have
// characters that ours do not have.
func OutsideTool(e harness.Event) (string, error) {
	name := e.Tool
	if e.Server != "" {
		server, tool, _ := strings.Cut(e.Tool, "__")
		if server = servers.MapName(server); server == policy.AgentServer {
			return "", fmt.Errorf("the MCP server %q would stand for the agent's own tools; call it something else", e.Server)
		}
		name = server + "__" + tool
	}
	it, err := policy.ParseTool(name)
	return it.String(), err
}

// CompileOutside compiles the policy for one tool of an agent that works outside of every project. Nobody grants there: the agent has the
// tool by itself, so a skill stands for that. The base constraints and the user's own roles, limits and rules hold as in a project.
// abstains reports whether a call about which only the fallback would decide is left to the agent: unless the user's own files have a
// stricter fallback.
func (v *View) CompileOutside(tool string) (abstains func(policy.Item) bool) {
	p := *v.Project
	role := p.File.Session.RoleOfAgent()
	if role == "" {
		role = noProject
		p.File.Session.DefaultRole = role
	}
	if p.File.Session.DefaultSkills != nil {
		p.File.Session.DefaultSkills = append(slices.Clone(p.File.Session.DefaultSkills), noProject)
	}
	p.Skills = append(slices.Clone(p.Skills), skill.Skill{
		Grant:       policy.Grant{Name: noProject, AllowedRoles: []string{role}, AllowedTools: []string{tool}},
		Description: "What an agent has by itself.",
	})
	fallback := &p.File.Policy.Fallback
	left := map[bool]bool{} // by whether the tool is an agent's own
	for own, f := range map[bool]*string{true: &fallback.Agent, false: &fallback.MCP} {
		key := map[bool]string{true: "policy.fallback.agent", false: "policy.fallback.mcp"}[own]
		if left[own] = *f == policy.Allow.String() || p.Sources[key] == config.Default; left[own] {
			*f = policy.Allow.String() // so that a rule that asks about another part of the call is stricter
		}
	}
	v.Catalog = catalogOf(v.Pool)
	if it, err := policy.ParseTool(tool); err == nil && it.Server != policy.AgentServer &&
		!slices.ContainsFunc(v.Catalog.Definitions, func(d policy.Definition) bool { return d.Item == it }) {
		v.Catalog.Definitions = append(v.Catalog.Definitions, policy.Definition{Item: it, Raw: fmt.Appendf(nil, `{"name":%q}`, it.Name)})
	}
	v.Project = &p
	v.Policy, v.Skills, v.Problems = p.Compile(v.Catalog)
	return func(it policy.Item) bool { return left[it.Server == policy.AgentServer] }
}
