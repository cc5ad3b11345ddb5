package meaning

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// model is a project that a test writes: JSON is YAML.
type model struct {
	main   map[string]any
	skills map[string]policy.Grant
	roles  map[string]policy.Role
	rules  []policy.Rule
}

// The words of the models. Some tools are unknown, some roles have names, and some patterns concern control tools.
var (
	lawRoles  = []string{"guest", "dev", "admin", "heir"}
	lawSkills = []string{"s0", "s1", "s2"}
	lawTools  = []string{"files__read_file", "files__write_file", "db__query", "db__drop", "agent__Bash", "agent__Write",
		"mycelium-router__set_role", "mycelium-skills__get_skill"}
	lawGrants = []string{"files__*", "db__*", "files__read_file", "db__drop", "agent__Bash", "agent__Bash(git *)", "agent__Write(src/**)",
		"agent__*", "?db__query"}
	lawWhens = []string{"", "", "", `role == "dev"`, `args.mode == "x"`, `"s1" in skills`, `args.n > 3`, `!("s0" in skills)`}
)

func some[T any](t *rapid.T, label string, of []T) []T {
	out := []T{}
	for _, e := range of {
		if rapid.Bool().Draw(t, label) {
			out = append(out, e)
		}
	}
	return out
}

func one[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

func drawRule(t *rapid.T, name string) policy.Rule {
	r := policy.Rule{Name: name, Action: one(t, "action", "deny", "ask", "allow"),
		Tool: policy.Names{one(t, "tool", "*", "files__*", "db__query", "Bash", "Write", "*__read_file", "mycelium-router__*")}}
	if one(t, "byRole", true, false) {
		r.Role = policy.Names{one(t, "role", "guest", "dev", "*", "Boss")}
	}
	if one(t, "bySkill", true, false, false) {
		r.Skill = policy.Names{one(t, "skill", "s0", "s1", "role:*")}
	}
	switch one(t, "match", 0, 0, 1, 2, 3) {
	case 1:
		r.Match = map[string]policy.Values{"path": drawGlobs(t)}
	case 2:
		r.Match = map[string]policy.Values{"read": drawGlobs(t)}
		if one(t, "writes", true, false) {
			r.Match["write"] = drawGlobs(t)
		}
	case 3:
		word := one(t, "effect", "unclear", "execute", "read")
		r.Match = map[string]policy.Values{"effect": {{Literal: &word}}}
	}
	if one(t, "byArg", true, false, false) {
		s := one(t, "arg", "x", "y")
		r.Args = map[string]policy.Values{"mode": {{Literal: &s}}}
	}
	r.When = one(t, "when", lawWhens...)
	if r.Action == "deny" && len(r.Match)+len(r.Args) == 0 && r.When == "" {
		r.Role = policy.Names{"guest"} // otherwise too little is visible
	}
	if r.Action != "deny" && one(t, "guard", true, false, false, false) {
		r.Result = policy.Guard{Redact: true}
	}
	return r
}

func drawGlobs(t *rapid.T) policy.Values {
	var out policy.Values
	for _, g := range append(some(t, "globs", []string{"src/**", "**/.env*"}), "**") {
		out = append(out, policy.Value{Glob: &g})
	}
	return out[:max(1, len(out)-1)]
}

func drawGrant(t *rapid.T, name string) policy.Grant {
	g := policy.Grant{Name: name, AllowedTools: some(t, "grants", lawGrants)}
	if one(t, "unknown", true, false, false, false, false) {
		g.AllowedTools = append(g.AllowedTools, one(t, "absent", "absent__tool", "?absent__tool"))
	}
	if one(t, "listed", true, true, true, false) {
		g.AllowedRoles = append(some(t, "openTo", []string{"admin", "*", "guest"}), one(t, "first", "dev", "dev", "guest"))
	}
	g.Grants.Memory = one(t, "memory", "", "", "isolated", "all")
	return g
}

func drawRole(t *rapid.T, id string) policy.Role {
	r := policy.Role{ID: id}
	if one(t, "denies", true, false) {
		r.Deny = some(t, "deny", []string{"db__drop", "agent__*", "files__write_*", "mycelium-router__*"})
	}
	if one(t, "ceiling", true, false, false) {
		r.AllowedSkills = some(t, "ceilingOf", append([]string{"*"}, lawSkills...))
	}
	if one(t, "toolIds", true, false, false) {
		r.ToolIDs = some(t, "toolIdsOf", []string{"read_file", "db__*", "agent__Bash", "nothing"})
	}
	if id == "heir" && one(t, "inherits", true, true, false) {
		r.Inherits = one(t, "parent", "guest", "dev", "nobody")
	}
	if one(t, "called", true, false, false, false) {
		r.Name = one(t, "name", "Boss", "admin")
	}
	return r
}

func drawMain(t *rapid.T) map[string]any {
	m := map[string]any{"policy": map[string]any{"strict": rapid.IntRange(0, 9).Draw(t, "strict") == 9, "fallback": map[string]any{
		"mcp": one(t, "mcp", "allow", "ask", "deny"), "agent": one(t, "agent", "ask", "allow", "deny")}}}
	if one(t, "limited", true, false) {
		m["limits"] = map[string]any{one(t, "limitOf", append([]string{"*"}, lawRoles...)...): map[string]any{
			"perMinute": one(t, "perMinute", 5, 10, 20)}}
	}
	session := map[string]any{"roles": some(t, "mayTake", lawRoles), "promotion": one(t, "promotion", "auto", "manual")}
	if one(t, "starts", true, false) {
		session["defaultSkills"] = some(t, "start", lawSkills)
	}
	m["session"] = session
	return m
}

func drawModel(t *rapid.T) model {
	m := model{main: drawMain(t), skills: map[string]policy.Grant{}, roles: map[string]policy.Role{}}
	for _, s := range append(some(t, "skills", lawSkills), "s0") {
		m.skills[s] = drawGrant(t, s)
	}
	for _, id := range some(t, "roles", lawRoles) {
		m.roles[id] = drawRole(t, id)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		m.rules = append(m.rules, drawRule(t, fmt.Sprintf("r%d", i)))
	}
	return m
}

// edited is the model after a few edits, most of them small and many of them narrowing.
func edited(t *rapid.T, m model) model {
	m = model{maps.Clone(m.main), maps.Clone(m.skills), maps.Clone(m.roles), slices.Clone(m.rules)}
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		switch one(t, "edit", "rule", "rule", "grant", "grant", "role", "role", "main", "order") {
		case "rule":
			m.editRule(t)
		case "grant":
			m.editGrant(t)
		case "role":
			m.editRole(t)
		case "main":
			fresh := drawMain(t)
			for _, key := range some(t, "keys", []string{"policy", "limits", "session"}) {
				delete(m.main, key)
				if v, ok := fresh[key]; ok {
					m.main[key] = v
				}
			}
		case "order":
			m.rules = rapid.Permutation(m.rules).Draw(t, "order")
		}
	}
	return m
}

func (m *model) editRule(t *rapid.T) {
	i := rapid.IntRange(0, len(m.rules)).Draw(t, "which")
	switch how := one(t, "how", "add", "remove", "widen", "widen", "again"); {
	case how == "add" || i == len(m.rules):
		m.rules = slices.Insert(m.rules, i, drawRule(t, fmt.Sprintf("n%d", len(m.rules))))
	case how == "remove":
		m.rules = slices.Delete(m.rules, i, i+1)
	case how == "widen": // it matches more: it refuses more, or allows more
		r := m.rules[i]
		r.Match, r.Args, r.When = pick(t, r.Match), pick(t, r.Args), one(t, "stillWhen", r.When, "")
		if one(t, "anyRole", true, false) {
			r.Role = nil
		}
		m.rules[i] = r
	default:
		m.rules[i] = drawRule(t, m.rules[i].Name)
	}
}

func pick(t *rapid.T, m map[string]policy.Values) map[string]policy.Values {
	if len(m) == 0 || one(t, "none", true, false) {
		return nil
	}
	return m
}

func (m *model) editGrant(t *rapid.T) {
	name := one(t, "skill", lawSkills...)
	g, ok := m.skills[name]
	switch how := one(t, "how", "fewer", "fewer", "roles", "memory", "remove", "again"); {
	case !ok || how == "again":
		g = drawGrant(t, name)
	case how == "remove":
		delete(m.skills, name)
		return
	case how == "fewer":
		g.AllowedTools = some(t, "kept", g.AllowedTools)
	case how == "roles" && g.AllowedRoles != nil:
		g.AllowedRoles = some(t, "keptRoles", g.AllowedRoles)
	case how == "memory":
		g.Grants.Memory = one(t, "memory", "", "all")
	}
	m.skills[name] = g
}

func (m *model) editRole(t *rapid.T) {
	id := one(t, "role", lawRoles...)
	r, ok := m.roles[id]
	switch how := one(t, "how", "deny", "fewer", "tools", "remove", "again"); {
	case !ok || how == "again":
		r = drawRole(t, id)
	case how == "remove":
		delete(m.roles, id)
		return
	case how == "deny":
		r.Deny = append(slices.Clone(r.Deny), one(t, "denied", "db__*", "read_file", "*"))
	case how == "fewer" && r.AllowedSkills != nil:
		r.AllowedSkills = some(t, "keptSkills", r.AllowedSkills)
	case how == "tools" && r.ToolIDs != nil:
		r.ToolIDs = some(t, "keptTools", r.ToolIDs)
	}
	m.roles[id] = r
}

// load writes the files of the model and loads them.
func (m model) load(t testing.TB, dir string) *config.Project {
	folder := t.TempDir()
	put := func(name string, v any) {
		raw, err := json.Marshal(v)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), raw, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("mycelium.yaml", m.main)
	put("rules.yaml", map[string]any{"rules": append([]policy.Rule{}, m.rules...)})
	for name, g := range m.skills {
		put("skills/"+name+"/SKILL.yaml", struct {
			policy.Grant
			Description string `json:"description"`
		}{g, "d"})
	}
	for id, r := range m.roles {
		put("roles/"+id+".yaml", r)
	}
	return loadFolder(t, dir, folder)
}

func loadFolder(t testing.TB, dir, folder string) *config.Project {
	t.Helper()
	p, err := config.Load(config.Options{Dir: dir, Policy: folder, Home: dir, UserDir: filepath.Join(dir, "none"),
		Environ: []string{"HOME=" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// catalog has the tools of the models that a server offers.
func catalog() skill.Catalog {
	var c skill.Catalog
	for _, s := range lawTools {
		if it, err := policy.ParseTool(s); err == nil && it.Server != policy.AgentServer {
			c.Definitions = append(c.Definitions, policy.Definition{Item: it})
		}
	}
	return c
}

func drawPrincipal(t *rapid.T, depth int) policy.Principal {
	p := policy.Principal{ID: "p", Role: one(t, "as", append([]string{"dev", "dev", "guest", "", "Boss"}, lawRoles...)...),
		Roles: some(t, "may", lawRoles)}
	if depth > 0 && one(t, "child", true, false, false, false) {
		parent := drawPrincipal(t, depth-1)
		p.Parent = &parent
	}
	return p
}

func drawCall(t *rapid.T, dir string) policy.Call {
	it, _ := policy.ParseTool(one(t, "item", append([]string{"absent__tool", "agent__Other"}, lawTools...)...))
	c := policy.Call{Item: it, Args: policy.Args{}, Scope: policy.Scope{Principal: drawPrincipal(t, 1),
		Skills: append(some(t, "active", lawSkills), "s0")}}
	switch one(t, "mode", 0, 1, 2) {
	case 1:
		c.Args["mode"] = one(t, "modeIs", "x", "y")
	case 2:
		c.Args["mode"] = map[string]any{"x": int64(1)}
	}
	if one(t, "hasN", true, false) {
		c.Args["n"] = one(t, "n", any(int64(0)), any(int64(9)), any("9"))
	}
	for range one(t, "parts", 0, 1, 1, 2) {
		part := policy.Part{Effects: some(t, "effects", []string{"execute"}), Unclear: some(t, "unclear", []string{"?"})}
		if one(t, "program", true, false) {
			part.Program, part.Argv = "git", []string{"git", "status"}
		}
		for _, access := range some(t, "accesses", []policy.Access{policy.Read, policy.Write}) {
			at := one(t, "path", dir+"/src/a.go", dir+"/.env", "/elsewhere/x")
			part.Paths = append(part.Paths, policy.Path{Access: access, Raw: at, Clean: at, Resolved: at})
		}
		c.Facts.Parts = append(c.Facts.Parts, part)
	}
	return c
}

// order is the order of answers from the strictest: unknown, deny, ask, allow.
func order(d policy.Decision) int {
	if d.Unknown {
		return 0
	}
	return 1 + int(d.Effect)
}

// The law of this package: where every change narrows, no call is decided more widely, nothing is visible that was not, no session starts
// with more skills, and no result is guarded less.
func TestLawNarrowingOpensNothing(t *testing.T) {
	narrowing, visible := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		dir, c := t.TempDir(), catalog()
		m := drawModel(r)
		n := edited(r, m)
		old, fresh := m.load(t, dir), n.load(t, dir)
		changes := Compare(old, fresh, c, nil)
		if !OnlyNarrows(changes) {
			return
		}
		if len(changes) > 0 {
			narrowing++
		}
		was, _, _ := old.Compile(c)
		is, _, _ := fresh.Compile(c)
		told := func(format string, a ...any) {
			r.Helper()
			r.Fatalf("%s\nchanges: %+v\nold: %+v\nnew: %+v", fmt.Sprintf(format, a...), changes, m, n)
		}
		for _, role := range is.Roles() {
			if more := gained(was.StartSkills(role), is.StartSkills(role)); more != nil {
				told("%s starts with %v", role, more)
			}
			if a, b := was.OpenSkills(role), is.OpenSkills(role); gained(a, b) != nil {
				told("%s may use %v", role, gained(a, b))
			}
			a, _ := was.Role(role)
			b, _ := is.Role(role)
			if slices.Index(memories, b.Memory) > max(0, slices.Index(memories, a.Memory)) {
				told("%s has memory %s instead of %s", role, b.Memory, a.Memory)
			}
		}
		for range 40 {
			call := drawCall(r, old.Dir)
			a, b := was.Decide(call), is.Decide(call)
			if !b.Unknown && len(changes) > 0 && !call.Item.IsControl() {
				visible++
			}
			if order(b) > order(a) || is.Visible(call.Scope, call.Item) && !was.Visible(call.Scope, call.Item) {
				told("%+v: from %+v to %+v", call, a, b)
			}
			if b.Effect != policy.Deny && a.Guard.And(b.Guard) != b.Guard {
				told("%+v: the guard %+v is %+v", call, a.Guard, b.Guard)
			}
			for _, bound := range was.Bounds(call.Scope.Principal.Role) {
				if !slices.ContainsFunc(is.Bounds(call.Scope.Principal.Role), func(o policy.Bound) bool {
					return o.Tools == bound.Tools && o.Session == bound.Session && o.And(bound.Rates) == o.Rates
				}) && is.Decide(call).Effect != policy.Deny {
					told("the limit %+v is gone", bound)
				}
			}
		}
	})
	if narrowing < 10 || visible < 20 {
		t.Errorf("%d edits narrowed, and %d calls were of a tool that is visible: the law was hardly tried", narrowing, visible)
	}
}
