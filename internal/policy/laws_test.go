package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy/box"
	"mycelium/internal/policy/when"
)

var (
	lawRoles  = []string{"guest", "dev", "admin", "heir"}
	lawSkills = []string{"s0", "s1", "s2", "s3"}
	lawTools  = []string{"files__read_file", "files__write_file", "db__query", "db__drop", "agent__Bash", "agent__Write",
		"mycelium-router__set_role", "mycelium-skills__get_skill"}
	lawPats = []string{"*", "files__*", "db__*", "*__query", "files__read_file", "db__drop", "agent__*", "agent__Bash",
		"agent__Bash(git *)", "agent__Write(src/**)", "absent__tool"}
	lawPaths = []string{"src/a.go", "src/.env", "/p/README.md", "../x", "/etc/passwd", "skills/x", "~/.ssh/id"}
	lawGlobs = []string{"src/**", "**/.env*", "/p/*.md", "**", "~/**", "*.md", "/etc/**"}
	lawWhens = []string{"", "", "", `role == "dev"`, `args.mode == "x"`, `paths.exists(p, p.endsWith(".env"))`, `"s1" in skills`,
		`tool.startsWith("db")`, `args.n > 3`, `args.path[9] == "x"`, `has(args.mode)`, `1 / args.n == 0`}
)

func subset(t *rapid.T, label string, of []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(string) bool { return !rapid.Bool().Draw(t, label) })
}

func drawRule(t *rapid.T, i int, actions ...string) Rule {
	r := Rule{Name: fmt.Sprintf("r%d", i), Action: rapid.SampledFrom(actions).Draw(t, "action")}
	r.Tool = Names{rapid.SampledFrom([]string{"*", "files__*", "db__query", "Bash", "Write", "*__read_file", "mycelium-router__*"}).Draw(t,
		"tool")}
	if rapid.Bool().Draw(t, "byRole") {
		r.Role = Names{rapid.SampledFrom([]string{"guest", "dev", "*", "nobody"}).Draw(t, "role")}
	}
	if rapid.IntRange(0, 3).Draw(t, "bySkill") == 0 {
		r.Skill = Names{rapid.SampledFrom(lawSkills).Draw(t, "skill")}
	}
	if rapid.IntRange(0, 3).Draw(t, "byStage") == 0 {
		r.Stage = Names{"review"}
	}
	if rapid.Bool().Draw(t, "byPath") {
		g := rapid.SampledFrom(lawGlobs).Draw(t, "glob")
		r.Match = map[string]Values{"path": {{Glob: &g}}}
	}
	if rapid.IntRange(0, 2).Draw(t, "byArg") == 0 {
		s := "x"
		r.Args = map[string]Values{"mode": {{Literal: &s}}}
	}
	r.When = rapid.SampledFrom(lawWhens).Draw(t, "when")
	if r.Action != "deny" && rapid.IntRange(0, 3).Draw(t, "place") == 0 {
		r.Place = "outside"
	}
	return r
}

func drawSource(t *rapid.T) Source {
	src := Source{Dir: "/p", Home: "/home/dev"}
	if rapid.Bool().Draw(t, "wall") {
		src.Wall = box.Project
	}
	for _, s := range append([]string{}, lawTools...) {
		it, _ := ParseTool(s)
		if it.Server != AgentServer {
			src.Catalog = append(src.Catalog, Definition{Item: it, Annotations: map[string]bool{"readOnlyHint": rapid.Bool().Draw(t, "readOnly")}})
		}
	}
	for _, name := range lawSkills {
		g := Grant{Name: name, AllowedTools: subset(t, "grants", lawPats)}
		if rapid.IntRange(0, 4).Draw(t, "unlisted") > 0 {
			g.AllowedRoles = append([]string{}, subset(t, "openTo", []string{"guest", "dev", "admin", "*"})...)
		}
		src.Grants = append(src.Grants, g)
	}
	for _, id := range lawRoles {
		if !rapid.Bool().Draw(t, "file") {
			continue
		}
		r := Role{ID: id, Deny: subset(t, "deny", []string{"db__drop", "agent__*", "files__write_*"})}
		if rapid.Bool().Draw(t, "ceiling") {
			r.AllowedSkills = append([]string{}, subset(t, "ceilingOf", append([]string{"*"}, lawSkills...))...)
		}
		if rapid.Bool().Draw(t, "toolIds") {
			r.ToolIDs = subset(t, "toolIdsOf", []string{"read_file", "db__*", "agent__Bash", "nothing"})
		}
		if rapid.IntRange(0, 2).Draw(t, "inherits") == 0 {
			r.Inherits = rapid.SampledFrom(lawRoles).Draw(t, "parent")
		}
		src.Roles = append(src.Roles, r)
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "rules") {
		src.Rules = append(src.Rules, drawRule(t, i, "deny", "ask", "allow"))
	}
	src.Fallback.MCP = rapid.SampledFrom([]string{"", "ask", "deny"}).Draw(t, "mcp")
	src.Fallback.Agent = rapid.SampledFrom([]string{"", "allow", "deny"}).Draw(t, "agent")
	return src
}

func drawPrincipal(t *rapid.T, depth int) Principal {
	p := Principal{ID: "p", Role: rapid.SampledFrom(append([]string{"", "nobody"}, lawRoles...)).Draw(t, "as"),
		Roles: subset(t, "may", lawRoles)}
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "child") == 0 {
		parent := drawPrincipal(t, depth-1)
		p.Parent = &parent
	}
	return p
}

func drawCall(t *rapid.T) Call {
	it, _ := ParseTool(rapid.SampledFrom(append([]string{"absent__tool", "agent__Other"}, lawTools...)).Draw(t, "item"))
	args := Args{}
	if rapid.Bool().Draw(t, "hasPath") {
		args["path"] = rapid.SampledFrom(lawPaths).Draw(t, "path")
	}
	switch rapid.IntRange(0, 3).Draw(t, "mode") {
	case 1:
		args["mode"] = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "modeIs")
	case 2:
		args["mode"] = map[string]any{"x": int64(1)}
	}
	if rapid.Bool().Draw(t, "hasN") {
		args["n"] = rapid.SampledFrom([]any{int64(0), int64(9), "9", Number("1e999")}).Draw(t, "n")
	}
	c := Call{Item: it, Args: args, Facts: ArgFacts(it, nil, args, "/p"), Scope: Scope{Principal: drawPrincipal(t, 2),
		Skills: subset(t, "active", lawSkills)}}
	if rapid.Bool().Draw(t, "resolved") {
		c.Facts.WithoutLinks()
	}
	if rapid.IntRange(0, 3).Draw(t, "staged") == 0 {
		c.Scope.Stage = "review"
	}
	if it.Name == "Bash" {
		c.Facts.Parts = nil
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			prog := rapid.SampledFrom([]string{"git", "rm", "gitx"}).Draw(t, "program")
			c.Facts.Parts = append(c.Facts.Parts, Part{Program: prog, Argv: []string{prog, "status"}, Effects: []string{"execute"},
				Paths: []Path{{Access: Read, Raw: "src/a.go", Clean: "/p/src/a.go", Resolved: "/p/src/a.go"}}})
		}
	}
	return c
}

// rank orders the answers from the strictest: unknown, deny, ask, allow.
func rank(d Decision) int {
	if d.Unknown {
		return 0
	}
	return 1 + int(d.Effect)
}

// inTree returns the call as it is in a linked working tree of the project.
func inTree(c Call) Call {
	move := func(s string) string {
		if rest, ok := strings.CutPrefix(s, "/p"); ok && (rest == "" || rest[0] == '/') {
			return "/w" + rest
		}
		return s
	}
	c.Facts.Dir, c.Facts.Worktrees = "/w", []string{"/v", "/w"}
	c.Facts.Parts = slices.Clone(c.Facts.Parts)
	for i := range c.Facts.Parts {
		part := &c.Facts.Parts[i]
		part.Paths = slices.Clone(part.Paths)
		for j := range part.Paths {
			p := &part.Paths[j]
			p.Raw, p.Clean, p.Resolved = move(p.Raw), move(p.Clean), move(p.Resolved)
		}
	}
	return c
}

// Law: in a linked working tree a call is decided as in the project folder, unless a pattern names that by its path.
func TestLawWorktreesAreTheProject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		src.Rules = slices.DeleteFunc(src.Rules, func(r Rule) bool {
			return len(r.Match["path"]) > 0 && strings.HasPrefix(*r.Match["path"][0].Glob, "/p/")
		})
		p, _ := New(src)
		c := drawCall(t)
		if here, there := p.Decide(c), p.Decide(inTree(c)); rank(here) != rank(there) || here.Rule != there.Rule {
			t.Fatalf("%+v\nin the project: %+v\nin the working tree: %+v", c, here, there)
		}
	})
}

// Law 1: list and call agree.
func TestLawListAndCallAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := New(drawSource(t))
		c := drawCall(t)
		d := p.Decide(c)
		if p.Visible(c.Scope, c.Item) == d.Unknown {
			t.Fatalf("visible %v, decided %+v", !d.Unknown, d)
		}
		if d.Unknown && d.Effect != Deny {
			t.Fatalf("unknown, yet %v", d.Effect)
		}
		listed := slices.Contains(p.Items(c.Scope, Tool), c.Item)
		if c.Item.Server != AgentServer && listed == d.Unknown {
			t.Fatalf("listed %v, decided %+v", listed, d)
		}
		if x := p.Explain(c); !reflect.DeepEqual(x.Decision, d) || len(x.Trace) == 0 {
			t.Fatalf("explained %+v, decided %+v", x.Decision, d)
		}
	})
}

// Law 2: adding a deny rule, or a deny of a role, never widens anything.
func TestLawDenyNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		c := drawCall(t)
		before, _ := New(src)
		more := src
		more.Rules = slices.Insert(slices.Clone(src.Rules), rapid.IntRange(0, len(src.Rules)).Draw(t, "at"), drawRule(t, 99, "deny"))
		if len(src.Roles) > 0 && rapid.Bool().Draw(t, "role") {
			more.Rules, more.Roles = src.Rules, slices.Clone(src.Roles)
			more.Roles[0].Deny = append(slices.Clone(src.Roles[0].Deny), rapid.SampledFrom([]string{"db__*", "read_file", "*"}).Draw(t, "denied"))
		}
		after, _ := New(more)
		if a, b := after.Decide(c), before.Decide(c); rank(a) > rank(b) {
			t.Fatalf("widened from %+v to %+v", b, a)
		}
	})
}

// Law 3: the order of files, of rules and of skills does not change an effect.
func TestLawOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		c := drawCall(t)
		p, _ := New(src)
		d := p.Decide(c)
		other := src
		other.Grants = rapid.Permutation(src.Grants).Draw(t, "grants")
		other.Roles = rapid.Permutation(src.Roles).Draw(t, "roles")
		other.Rules = rapid.Permutation(src.Rules).Draw(t, "rules")
		other.Catalog = rapid.Permutation(src.Catalog).Draw(t, "catalog")
		q, _ := New(other)
		c.Scope.Skills = rapid.Permutation(c.Scope.Skills).Draw(t, "skills")
		if e := q.Decide(c); rank(e) != rank(d) {
			t.Fatalf("%+v in one order, %+v in another", d, e)
		}
	})
}

// Law 4: an unknown role, tool, skill or field never allows.
func TestLawUnknownNeverAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		c := drawCall(t)
		p, _ := New(src)
		d := p.Decide(c)
		with := c
		with.Scope.Skills = append(slices.Clone(c.Scope.Skills), "nonsense", "role:admin", "")
		if e := p.Decide(with); !reflect.DeepEqual(e, d) {
			t.Fatalf("an unknown skill made %+v of %+v", e, d)
		}
		nobody := c
		nobody.Scope.Principal.Role = rapid.SampledFrom([]string{"", "nobody", "*", "guest\x00", "GUEST", "role:dev"}).Draw(t, "nobody")
		if e := p.Decide(nobody); !e.Unknown && !c.Item.IsControl() {
			t.Fatalf("role %q: %+v", nobody.Scope.Principal.Role, e)
		}
		absent := c
		absent.Item.Name += rapid.SampledFrom([]string{"x", "\u200b", "\x00", " ", "*"}).Draw(t, "suffix")
		if e := p.Decide(absent); !e.Unknown && c.Item.Server != AgentServer {
			t.Fatalf("tool %q: %+v", absent.Item.Name, e)
		}
		r := drawRule(t, 99, "allow")
		v := "*"
		r.Match = map[string]Values{"colour": {{Glob: &v}}}
		src.Rules = append([]Rule{r}, src.Rules...)
		q, _ := New(src)
		if e := q.Decide(c); rank(e) != rank(d) {
			t.Fatalf("an unknown field made %+v of %+v", e, d)
		}
	})
}

// Law 5: a child never exceeds its parent.
func TestLawChildNeverExceedsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := New(drawSource(t))
		c := drawCall(t)
		parent := drawPrincipal(t, 1)
		alone := p.Decide(c)
		leaf := &c.Scope.Principal
		for leaf.Parent != nil {
			leaf = leaf.Parent
		}
		leaf.Parent = &parent
		child := p.Decide(c)
		above := c
		above.Scope.Principal, above.Scope.Skills = parent, p.OpenSkills(parent.Role)
		if up := p.Decide(above); rank(child) > rank(up) || rank(child) > rank(alone) {
			t.Fatalf("child %+v, parent %+v, without it %+v", child, up, alone)
		}
	})
}

// Law 6: a rule that cannot be evaluated never allows; one that refuses then denies.
func TestLawBrokenRuleNeverAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		c := drawCall(t)
		p, _ := New(src)
		before := p.Decide(c)
		r := drawRule(t, 99, "deny", "ask", "allow")
		bad := "("
		switch rapid.IntRange(0, 4).Draw(t, "how") {
		case 0:
			r.When = "syntax error("
		case 1:
			r.When = `args.unheard[0] == 1 / 0`
		case 2:
			r.Match = map[string]Values{"path": {{Regex: &bad}}}
		case 3:
			r.Args = map[string]Values{"mode": {{}}}
		case 4:
			r.When = `[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, ` +
				`[1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, a + b + c + d + e > 0)))))`
		}
		src.Rules = slices.Insert(slices.Clone(src.Rules), rapid.IntRange(0, len(src.Rules)).Draw(t, "at"), r)
		q, _ := New(src)
		if after := q.Decide(c); rank(after) > rank(before) {
			t.Fatalf("%s rule %q: from %+v to %+v", r.Action, r.When, before, after)
		}
	})
}

// TestLawCheckedConditionsAreTheSame: conditions that were checked before decide as those that are checked now. What cannot be read of them
// is checked anew.
func TestLawCheckedConditionsAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		p, problems := New(src)
		var conditions when.Compiler
		src.Rules = slices.Clone(src.Rules)
		for i, r := range src.Rules {
			if src.Rules[i].Checked = conditions.Check(r.When); r.When != "" && rapid.IntRange(0, 4).Draw(t, "damage") == 0 {
				src.Rules[i].Checked = [][]byte{{1, 2, 3}}
			}
		}
		q, same := New(src)
		if fmt.Sprint(problems) != fmt.Sprint(same) {
			t.Fatalf("problems: %v, %v", problems, same)
		}
		for range 8 {
			c := drawCall(t)
			if a, b := p.Decide(c), q.Decide(c); !reflect.DeepEqual(a, b) {
				t.Fatalf("%+v: %+v, %+v", c, a, b)
			}
		}
	})
}
