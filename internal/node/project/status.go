package project

import (
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/run"
	"mycelium/internal/sandbox/quarantine"
	"mycelium/internal/skill"
)

// Status returns what can be said without a node: the view of the default role.
func (v *View) Status() api.StatusReply {
	role := v.Project.File.Session.DefaultRole
	r := api.StatusReply{Role: role, Backends: v.Pool.Status(), State: v.Project.State.Folder()}
	r.Skills.Active = v.Policy.StartSkills(role)
	count := v.Skills.Count()
	r.Skills.Valid, r.Skills.Invalid, r.Skills.Pending = count[skill.Valid], count[skill.Invalid], count[skill.Pending]
	for _, p := range v.Project.Problems { // a file that does not parse counts as an invalid skill
		if !p.Warning && IsSkillFile(p.File) {
			r.Skills.Invalid++
		}
	}
	scope := policy.Scope{Principal: policy.Principal{Role: role}, Skills: r.Skills.Active}
	r.Pending = []api.PendingFile{}
	if c, err := v.Project.Candidate(); err == nil {
		for _, ch := range c.Changes {
			r.Pending = append(r.Pending, api.PendingFile{File: ch.File, Since: ch.Since, Shipped: ch.Shipped})
		}
	}
	r.Damage = []string{}
	if kept, err := quarantine.Waiting(v.Project.State.Sandbox("quarantine")); err == nil { // myc doctor says why it cannot be read
		for _, q := range kept {
			r.Quarantined = append(r.Quarantined, q.Path)
		}
	}
	for _, p := range v.Names() {
		if !p.Warning {
			r.Names = append(r.Names, ProblemText(p))
		}
	}
	for _, p := range v.Unworkable() {
		r.Unworkable = append(r.Unworkable, ProblemText(p))
	}
	r.Unworkable = append(r.Unworkable, v.unacceptedTexts()...)
	r.Cost, _ = run.CostOn(v.Project.State.Costs(), time.Now()) // myc cost says why the costs cannot be read
	for _, d := range v.Catalog.Definitions {
		if d.Item.Kind == policy.Tool && !d.Item.IsControl() {
			r.Tools.Catalog++
		}
	}
	r.Tools.Concealment = skill.Concealment(v.Policy, scope, v.Catalog.Definitions)
	for _, it := range v.Policy.Items(scope, policy.Tool) {
		if !it.IsControl() {
			r.Tools.Visible++
		}
	}
	return r
}
