package project

import (
	"fmt"
	"maps"
	"slices"

	"mycelium/internal/config"
	"mycelium/internal/config/names"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// Names returns what is wrong with the names in rules, roles and settings, against what is known of the servers now: see package
// names. While a file does not load there is nothing to say, because it may declare what the others name.
func (v *View) Names() []policy.Problem { return v.NamesIn(v.Project.Rules) }

// NamesIn is Names for other rules in the same project.
func (v *View) NamesIn(rules []policy.Rule) []policy.Problem {
	if v.Project.Broken.All != "" {
		return nil
	}
	return names.Check(rules, v.declarations(), append(namesIn(v.Project), v.identityNames()...), v.known())
}

// declarations are the roles, each with its place.
func (v *View) declarations() (out []names.Role) {
	seen := map[string]int{}
	for _, r := range v.Project.Roles {
		n := seen[r.ID]
		seen[r.ID]++
		out = append(out, names.Role{Role: r, Place: func(key string) (string, int) { return config.PlaceOf(v.Project, r.ID, n, key) }})
	}
	return out
}

// namesIn are the names in mycelium.yaml of roles, skills and tools that have to exist.
func namesIn(p *config.Project) (out []names.Setting) {
	add := func(kind, key, name string) {
		if name != "" {
			file, line := p.Where(key)
			out = append(out, names.Setting{Key: key, Kind: kind, Name: name, File: file, Line: line})
		}
	}
	s := &p.File.Session
	add("role", "session.defaultRole", s.DefaultRole)
	add("role", "session.agentRole", s.AgentRole)
	for i, r := range s.Roles {
		add("role", fmt.Sprintf("session.roles[%d]", i), r)
	}
	for i, name := range s.DefaultSkills {
		add("skill", fmt.Sprintf("session.defaultSkills[%d]", i), name)
	}
	add("role", "server.anonymous", p.File.Server.Anonymous)
	if conf := p.File.Identity; conf != nil {
		add("role", "identity.defaultRole", conf.DefaultRole)
	}
	for _, r := range slices.Sorted(maps.Keys(p.File.Limits)) {
		add("role", "limits."+r, r)
		l := p.File.Limits[r]
		for _, tools := range []map[string]policy.Rates{l.Tools, l.Session.Tools} {
			for _, tool := range slices.Sorted(maps.Keys(tools)) {
				add("tool", "limits."+r+".tools", tool)
			}
		}
	}
	return out
}

// known is what rules and roles may name. A server of which nothing is known yet is pending, also one that is not in the pool.
func (v *View) known() names.Known {
	k := names.Known{Catalog: v.Catalog.Definitions, Held: v.Catalog.Held, Args: argumentsOf(append(ownTools(), v.Catalog.Definitions...))}
	has := map[string]bool{}
	for _, d := range k.Catalog {
		has[d.Item.Server] = true
	}
	for _, it := range k.Held {
		has[it.Server] = true
	}
	for _, s := range v.Project.Servers {
		if _, waits := v.Catalog.Pending[s.Name]; waits || !has[s.Name] {
			k.Pending = append(k.Pending, s.Name)
		}
	}
	for _, id := range v.Policy.Roles() {
		r, _ := v.Policy.Role(id)
		k.Called = append(k.Called, r.Called...)
		k.Roles = append(k.Roles, id)
	}
	for _, s := range v.Skills.All() {
		k.Skills = append(k.Skills, s.Name)
		k.Roles = append(k.Roles, s.AllowedRoles...)
	}
	shipped, _ := skill.Load(skill.Shipped(), "shipped", "shipped")
	for _, s := range shipped { // those of the program can be added, or are there already
		k.Skills = append(k.Skills, s.Name)
	}
	for _, list := range []*[]string{&k.Roles, &k.Skills} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return k
}

// argumentsOf tells of a tool which arguments it declares; nil if that is not known, or if it takes others too.
func argumentsOf(defs []policy.Definition) func(policy.Item) []string {
	return func(it policy.Item) []string {
		i := slices.IndexFunc(defs, func(d policy.Definition) bool { return d.Item == it })
		if i < 0 {
			return nil
		}
		return skill.Arguments(defs[i])
	}
}
