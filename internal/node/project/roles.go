package project

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/node/roleprompt"
	"mycelium/internal/policy"
	"mycelium/internal/policy/remote"
)

// RoleCheck is `myc policy check --json`.
type RoleCheck struct {
	Role    string       `json:"role"`
	Chain   []string     `json:"chain"`
	Skills  []roleSkill  `json:"skills"`
	Servers []string     `json:"servers"`
	Tools   []RoleTool   `json:"tools"`
	Memory  memoryPolicy `json:"memory"`
	Prompt  string       `json:"prompt"`

	Remote *RemotePrompt `json:"remoteInstruction,omitempty"`

	Model   *policy.Model `json:"model,omitempty"`
	Shipped bool          `json:"shipped,omitzero"` // its file comes with the program and is not in the project
}

type roleSkill struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

// RemotePrompt is the prompt of a server that a role uses in place of its own.
type RemotePrompt struct {
	remote.Instruction
	Accepted string `json:"accepted,omitempty"` // what agents are told; empty: no answer was accepted yet, and the fallback holds
}

// RoleTool is a tool that a role sees.
type RoleTool struct {
	Name string `json:"name"`
	From string `json:"from"` // own, inherited or role file
}

type memoryPolicy struct {
	Policy string   `json:"policy"`
	Teams  []string `json:"teams"`
}

// Check returns what a role may see when every skill that is open to it is active.
func (v *View) Check(role string) (RoleCheck, bool) {
	r, ok := v.Policy.Role(role)
	if !ok {
		return RoleCheck{}, false
	}
	c := RoleCheck{Role: role, Chain: r.Chain, Skills: []roleSkill{}, Servers: []string{}, Tools: []RoleTool{}, Prompt: r.Prompt,
		Model:  r.Model,
		Memory: memoryPolicy{Policy: r.Memory, Teams: r.MemoryTeams}}
	if r.Remote != nil {
		c.Remote = &RemotePrompt{*r.Remote, roleprompt.Accepted(roleprompt.Folder(v.Project.State), r.ID, r.Remote)}
	}
	if len(c.Chain) == 0 {
		c.Chain = []string{role}
	}
	start := v.Policy.StartSkills(role)
	for _, s := range r.Skills {
		c.Skills = append(c.Skills, roleSkill{Name: s, Active: slices.Contains(start, s)})
	}
	scope := policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: r.Skills}
	items := v.Policy.Items(scope, policy.Tool)
	for _, d := range ownTools() {
		if v.Policy.Visible(scope, d.Item) {
			items = append(items, d.Item)
		}
	}
	for _, it := range items {
		if it.IsControl() {
			continue
		}
		c.Tools = append(c.Tools, RoleTool{Name: it.String(), From: v.from(role, r, it)})
		if it.Server != policy.AgentServer && !slices.Contains(c.Servers, it.Server) {
			c.Servers = append(c.Servers, it.Server)
		}
	}
	slices.Sort(c.Servers)
	slices.SortFunc(c.Tools, func(x, y RoleTool) int { return strings.Compare(x.Name, y.Name) })
	return c, true
}

// from says what gives a role a tool: a skill that names the role itself, an inherited one, or the role file.
func (v *View) from(role string, r policy.RoleView, it policy.Item) string {
	inherited := false
	for _, name := range r.Skills {
		sk, ok := v.Skills.Skill(name)
		if !ok || !grantsTool(sk, it) {
			continue
		}
		if len(r.Chain) < 2 || sk.AllowedRoles == nil || slices.Contains(sk.AllowedRoles, role) || slices.Contains(sk.AllowedRoles, "*") {
			return "own"
		}
		inherited = true
	}
	if inherited {
		return "inherited"
	}
	return "role file"
}

// remoteProblems warns of prompts of servers that do not exist.
func (v *View) remoteProblems() (list []policy.Problem) {
	for _, r := range v.Project.Roles {
		if r.Remote == nil {
			continue
		}
		if _, ok := v.Project.File.MCPServers[r.Remote.Backend]; !ok {
			list = append(list, policy.Problem{File: v.Project.Sources["roles."+r.ID], Warning: true,
				Message: fmt.Sprintf("remoteInstruction of role %s names server %q, which mycelium.yaml does not have", r.ID, r.Remote.Backend),
				Hint:    "until it has, agents are told the fallback"})
		}
	}
	return list
}
