package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/backend/pin"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/gate/session"
	"mycelium/internal/memory"
	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// Annotations returns the annotations of a tool, if its server is trusted.
func (v *View) Annotations(it policy.Item) policy.Annotations {
	for _, d := range v.Catalog.Definitions {
		if d.Item == it {
			return d.Annotations
		}
	}
	return nil
}

// Scope returns the scope of a role with active skills; nil stands for the skills that are active at the start.
func (v *View) Scope(role string, skills []string) (policy.Scope, error) {
	if role != "" {
		if _, ok := v.Policy.Role(role); !ok {
			return policy.Scope{}, fmt.Errorf("Unknown role: %s", role) //nolint:staticcheck,revive // the same words everywhere
		}
	}
	open := v.Policy.OpenSkills(role)
	for _, name := range skills {
		if !slices.Contains(open, name) {
			return policy.Scope{}, &session.SkillError{Skill: name, To: "this role", Open: open}
		}
	}
	if skills == nil {
		skills = v.Policy.StartSkills(role)
	}
	return policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: skills}, nil
}

// Tools describes the tools that a scope sees; with all, every tool with the reason why it is visible or hidden.
func (v *View) Tools(scope policy.Scope, all bool) ([]api.Tool, error) {
	categories, err := toolindex.Read(v.Project.Dir, v.Project.Servers)
	if err != nil {
		return nil, err
	}
	rows := []api.Tool{}
	for _, d := range v.All(scope) {
		if d.Item.Kind != policy.Tool {
			continue
		}
		visible := v.Policy.Visible(scope, d.Item)
		if !visible && !all {
			continue
		}
		info := categories.Describe(d)
		r := api.Tool{
			Name: d.Item.String(), Server: d.Item.Server, Title: info.Title, Description: info.Description,
			Category: info.Category, Mutates: info.Mutates, SaysReads: info.SaysReads,
			Skills: v.granting(scope, d.Item), Parameters: info.Parameters,
		}
		if all {
			x := v.Policy.Explain(policy.Call{Scope: scope, Item: d.Item, Time: time.Now()})
			r.Visible, r.Reason = &visible, x.Reason
			if names := v.inactive(scope, d.Item); !visible && len(names) > 0 {
				r.Reason = fmt.Sprintf("%s (%s would)", x.Reason, strings.Join(names, ", "))
			}
		}
		rows = append(rows, r)
	}
	if all {
		noteFindings(rows, v.Pool.Review())
		rows = append(rows, heldRows(categories, v.Pool.Catalog().Held)...)
	}
	slices.SortFunc(rows, func(x, y api.Tool) int { return cmp.Compare(x.Name, y.Name) })
	return rows, nil
}

// All are the definitions of all tools, in the form that a scope gets.
func (v *View) All(scope policy.Scope) []policy.Definition {
	all := append(ownTools(), v.Catalog.Definitions...)
	if !memory.Widens(v.Policy, scope) {
		return all
	}
	for _, wider := range v.Memory.Wider() {
		for i := range all {
			if all[i].Item == wider.Item {
				all[i].Raw = wider.Raw
			}
		}
	}
	return all
}

// granting returns the active skills that make a tool visible.
func (v *View) granting(scope policy.Scope, it policy.Item) []string {
	out := []string{}
	for _, name := range scope.Skills {
		one := scope
		one.Skills = []string{name}
		if sk, ok := v.Skills.Skill(name); ok && (grantsTool(sk, it) || it.Server == policy.MemoryServer) && v.Policy.Visible(one, it) {
			out = append(out, name)
		}
	}
	return out
}

// inactive returns the skills that are open to the role and would make a tool visible if they were active.
func (v *View) inactive(scope policy.Scope, it policy.Item) []string {
	scope.Skills = v.Policy.OpenSkills(scope.Principal.Role)
	return v.granting(scope, it)
}

// Granting returns the valid skills that grant a tool, to whichever roles they are open.
func (v *View) Granting(it policy.Item) []string {
	out := []string{}
	for _, s := range v.Skills.All() {
		if sk, ok := v.Skills.Skill(s.Name); ok && grantsTool(sk, it) && !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out
}

func grantsTool(sk *skill.Skill, it policy.Item) bool {
	return slices.ContainsFunc(sk.AllowedTools, func(s string) bool {
		p, err := policy.ParsePattern(skill.ToolPattern(s))
		return err == nil && p.Match(it)
	})
}

// heldRows returns the tools in quarantine for the list of all tools.
func heldRows(categories *toolindex.Categories, held []pin.Held) []api.Tool {
	var rows []api.Tool
	hidden := false
	for _, h := range held {
		if h.Item.Kind != policy.Tool || h.Item.Name == "" {
			continue
		}
		info := categories.Describe(policy.Definition{Item: h.Item, Raw: h.New})
		rows = append(rows, api.Tool{
			Name: h.Name(), Server: h.Item.Server, Title: info.Title, Description: info.Description, Category: info.Category,
			Mutates: info.Mutates, SaysReads: info.SaysReads,
			Skills: []string{}, Visible: &hidden, Reason: "in quarantine: " + h.Reason + " (myc tools diff " + h.Name() + ")",
		})
	}
	return rows
}

// noteFindings adds what the scan found to the reasons of visible and hidden tools.
func noteFindings(rows []api.Tool, found []backend.Reviewed) {
	for _, r := range found {
		i := slices.IndexFunc(rows, func(row api.Tool) bool { return r.Item.Kind == policy.Tool && row.Name == r.Item.String() })
		if i >= 0 {
			rows[i].Reason = fmt.Sprintf("scan: %s %s: %s; %s", r.Findings[0].Severity, r.Findings[0].Family, r.Findings[0].Why,
				rows[i].Reason)
		}
	}
}

// heldItems returns the items in quarantine, for the validation of skills.
func heldItems(held []pin.Held) []policy.Item {
	var out []policy.Item
	for _, h := range held {
		if !h.Template && h.Item.Name != "" {
			out = append(out, h.Item)
		}
	}
	return out
}
