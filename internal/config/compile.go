package config

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/config/rules"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/policy/policytest"
	"mycelium/internal/shell"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
)

// check finds the faults that show only in the merged files: circles of inheritance, roles and rules that do not compile, and rules whose
// examples fail. Each breaks what it could have restricted, as a file that cannot be read does.
func (p *Project) check() {
	p.checkState()
	p.checkCircles()
	if len(p.Roles)+len(p.Rules) == 0 {
		return
	}
	pol, problems := policy.New(p.Declared())
	problems = append(problems, policytest.Examples(pol, ReadCommand)...)
	for _, pr := range problems {
		switch {
		case pr.Warning, pr.Skill != "": // Compile reports these, with the catalog
		case pr.Role == "":
			p.Problems = append(p.Problems, pr)
			p.breakWith(policy.Broken{All: pr.Message})
		case p.Broken.Roles[pr.Role] == "":
			p.Problems = append(p.Problems, p.locate(pr))
			p.breakWith(policy.Broken{Roles: map[string]string{pr.Role: pr.Message}})
		}
	}
}

// locate adds the place of the role's declaration to a problem of a role.
func (p *Project) locate(pr policy.Problem) policy.Problem {
	if pr.Role != "" {
		pr.File, pr.Line = p.whereRole(pr.Role)
	}
	return pr
}

// Declared returns the input of the policy compiler with every skill as it is declared, whether a server has its tools or not. A policy
// of it shows what roles and rules say; only one of [Project.Compile] decides calls.
func (p *Project) Declared() policy.Source {
	var grants []policy.Grant
	for _, s := range p.Skills {
		grants = append(grants, s.Grant)
		if p.closed[s.Name] {
			grants = append(grants, policy.Grant{Name: s.Name, AllowedRoles: []string{}})
		}
	}
	return sourceOf(p, nil, grants)
}

// sourceOf returns the input of the policy compiler, with a catalog and grants of skills.
func sourceOf(p *Project, catalog []policy.Definition, grants []policy.Grant) policy.Source {
	return policy.Source{
		Catalog: catalog, Grants: grants, Roles: p.Roles, Rules: p.Rules,
		Default: p.File.Session.DefaultSkills, Fallback: p.File.Policy.Fallback, Strict: p.File.Policy.Strict, Limits: p.File.Limits,
		Dir: p.Dir, Home: p.Home, Programs: p.options.Programs, State: string(p.State.Root), Broken: p.Broken,
		Boxes: p.File.Sandbox.Boxes(), Wall: p.File.Policy.Wall, Shipped: p.shippedRules(),
		Memory: p.File.Memory.Folder(),
	}
}

// Walled reports whether the policy has a wall: commands of coding agents run in the sandbox by default.
func (p *Project) Walled() bool {
	return p.File.Policy.Wall != "" && p.File.Policy.Wall != policy.NoWall
}

// shippedRules returns the rules of the program, which count where the policy says whether it has a wall.
func (p *Project) shippedRules() []policy.Rule {
	if p.File.Policy.Wall == "" {
		return nil
	}
	return ShippedRules()
}

// ShippedRules are the rules of [shipped.Rules]. They have no file, and their examples were checked when the program was made.
var ShippedRules = sync.OnceValue(func() []policy.Rule {
	f, problems := rules.Parse("rules.yaml", shipped.Rules)
	if f == nil || source.Faulty(problems) {
		return nil // not reached: a test reads it. Without these rules, the calls that they allow ask
	}
	for i := range f.Rules {
		r := &f.Rules[i]
		r.File, r.Line, r.Examples = "", 0, policy.Examples{}
	}
	return f.Rules
})

// ReadCommand returns the facts of a command in an example of a rule.
func ReadCommand(command, dir, home string) policy.Facts {
	return shell.Facts(command, shell.Options{Dir: dir, Home: home})
}

// Compile validates the skills against a catalog and compiles the policy. It returns the problems that Load could not find, but for a
// project from its snapshot it does not try the rules' examples again. It does not change the project.
func (p *Project) Compile(c skill.Catalog) (*policy.Policy, *skill.Library, []policy.Problem) {
	var problems []policy.Problem
	lib := skill.Validate(p.Skills, c)
	for _, s := range lib.All() {
		problems = append(problems, s.Problems...)
	}
	src := sourceOf(p, c.Definitions, p.bounded(lib))
	src.Expected = lib.Expected()
	pol, more := policy.New(src)
	if !p.checked {
		more = append(more, policytest.Examples(pol, ReadCommand)...)
	}
	for _, pr := range more {
		if pr.Tool != "" {
			if near := skill.NearestTool(pr.Tool, toolNames(c.Definitions)); near != "" {
				pr.Hint = "did you mean " + near + "? Until then " + pr.Hint
			}
		}
		problems = append(problems, p.locate(pr))
	}
	return pol, lib, without(problems, p.Problems)
}

// Ahead is the policy as it will be when the pending skills of a library take effect. It says whose skills those are, and decides no call.
func (p *Project) Ahead(lib *skill.Library) *policy.Policy {
	grants := p.bounded(lib)
	for _, s := range lib.Pending() {
		grants = append(grants, s.Grant)
	}
	pol, _ := policy.New(sourceOf(p, nil, grants))
	return pol
}

// toolNames are the names of the tools of a catalog, sorted.
func toolNames(defs []policy.Definition) []string {
	var out []string
	for _, d := range defs {
		if d.Item.Kind == policy.Tool {
			out = append(out, d.Item.String())
		}
	}
	slices.Sort(out)
	return out
}

// bounded returns the grants of the valid skills. If the user's folder has a skill of the same name that did not load, a grant to no role
// is added, because a broken skill must still bound the other.
func (p *Project) bounded(lib *skill.Library) []policy.Grant {
	grants := lib.Grants()
	for _, name := range slices.Sorted(maps.Keys(p.closed)) {
		if _, ok := lib.Skill(name); ok {
			grants = append(grants, policy.Grant{Name: name, AllowedRoles: []string{}})
		}
	}
	return grants
}

// without returns the problems that are not known, each once.
func without(problems, known []policy.Problem) []policy.Problem {
	var out []policy.Problem
	for _, p := range problems {
		if !slices.Contains(known, p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Where returns the place that sets a dotted key of mycelium.yaml, such as approval.judge.mayDeny or mcpServers.fs, or that declares
// roles.ID or skills.NAME. The file is empty where no file does, and the line is 0 where it is not known.
func (p *Project) Where(key string) (file string, line int) {
	if id, ok := strings.CutPrefix(key, "roles."); ok {
		return p.whereRole(id)
	}
	for at, _, _ := strings.Cut(key, "["); at != ""; {
		if file = p.Sources[at]; file != "" && file != Default {
			break
		}
		file = ""
		at = at[:max(0, strings.LastIndexByte(at, '.'))]
	}
	return file, source.Line(p.texts[file], key)
}

// Reads reports whether a file, as shown, was read as configuration, so that the project has what it says. The files of skills do not
// count.
func Reads(p *Project, file string) bool {
	_, ok := p.texts[file]
	return ok
}

// checkCircles finds roles that inherit themselves through others.
func (p *Project) checkCircles() {
	parent := map[string]string{}
	for _, r := range p.Roles {
		if r.Inherits != "" {
			parent[r.ID] = r.Inherits
		}
	}
	told := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(parent)) {
		chain := []string{id}
		for next, ok := parent[id]; ok; next, ok = parent[next] {
			if i := slices.Index(chain, next); i >= 0 {
				p.reportCircle(append(chain[i:], next), told)
				break
			}
			chain = append(chain, next)
		}
	}
}

// reportCircle reports a circle once and breaks every role in it.
func (p *Project) reportCircle(circle []string, told map[string]bool) {
	ids := circle[:len(circle)-1]
	if told[slices.Min(ids)] {
		return
	}
	told[slices.Min(ids)] = true
	way := strings.Join(circle, " → ")
	file, line := p.whereRole(circle[0])
	p.Problems = append(p.Problems, source.Fault(file, line, "roles inherit each other in a circle: "+way, "remove inherits from one of them"))
	broken := policy.Broken{Roles: map[string]string{}}
	for _, id := range ids {
		broken.Roles[id] = "its inheritance is a circle: " + way
	}
	p.breakWith(broken)
}

// Declares returns the files that declare a role, as shown, the user's first.
func Declares(p *Project, id string) (files []string) {
	for _, at := range p.places[id] {
		files = append(files, at.file)
	}
	return files
}

// PlaceOf returns the place of a key of the nth declaration of a role.
func PlaceOf(p *Project, id string, n int, key string) (file string, line int) {
	if n < len(p.places[id]) {
		file, line = p.places[id][n].file, yamlfile.Line(p.texts[p.places[id][n].file], p.places[id][n].at+"."+key)
	}
	return file, line
}

// whereRole returns the place of a role's first declaration, at its inherits if it has one.
func (p *Project) whereRole(id string) (file string, line int) {
	at := p.places[id]
	if len(at) == 0 {
		return "", 0
	}
	data := p.texts[at[0].file]
	if line = yamlfile.Line(data, at[0].at+".inherits"); line == 0 {
		line = yamlfile.Line(data, at[0].at)
	}
	return at[0].file, line
}
