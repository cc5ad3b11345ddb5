package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy/box"
)

// wallSource is a policy with a wall and a rule for each program: its name says what the rule does.
func wallSource() Source {
	rule := func(program, action, place string) Rule {
		return Rule{Name: program, Action: action, Tool: Names{"Bash"}, Place: place,
			Match: map[string]Values{"program": {{Literal: &program}}}}
	}
	return Source{
		Roles:  []Role{{ID: "developer"}},
		Grants: []Grant{{Name: "k", AllowedRoles: []string{"developer"}, AllowedTools: []string{"agent__Bash", "agent__Write"}}},
		Rules: []Rule{rule("push", "ask", "outside"), rule("fetch", "allow", "outside"), rule("no", "deny", ""), rule("asked", "ask", ""),
			rule("tail", "allow", ""), rule("open", "allow", ""), {Name: "npm", Action: "allow", Tool: Names{"Bash"},
				Sandbox: box.Box{Registries: []string{"npm"}}, Match: map[string]Values{"program": {{Literal: new("npm")}}}}, {Name: "strict", Action: "allow", Tool: Names{"Bash"}, Sandbox: box.Of("strict"),
				Match: map[string]Values{"program": {{Literal: new("strict")}}}}},
		Dir: "/p", Wall: box.Project,
	}
}

// wallCall is a command of parts, each named by its program. A part NAME@HOST reaches a host, and NAME! runs code.
func wallCall(parts string) Call {
	c := Call{Scope: Scope{Principal: Principal{Role: "developer"}, Skills: []string{"k"}}, Item: Bash,
		Args: Args{"command": strings.ReplaceAll(parts, "!", "")}}
	for _, name := range strings.Fields(parts) {
		p := Part{Effects: []string{EffectExecute}}
		name, host, reaches := strings.Cut(name, "@")
		if reaches {
			p.Hosts, p.Effects = []string{host}, append(p.Effects, EffectNetwork)
		}
		if strings.HasSuffix(name, "!") {
			p.Effects = append(p.Effects, EffectProjectCode)
		}
		p.Program = strings.TrimSuffix(name, "!")
		p.Argv = []string{p.Program}
		c.Facts.Parts = append(c.Facts.Parts, p)
	}
	return c
}

// TestWall: with a wall, a command runs inside without a question unless a rule says otherwise; outside it runs as a whole or not at all.
func TestWall(t *testing.T) {
	p, problems := New(wallSource())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		parts   string
		effect  Effect
		sandbox string
		outside string
		reason  string
	}{
		{"x", Allow, "project", "", "runs in the sandbox"},
		{"x!", Allow, "project", "", ""},
		{"x y!", Allow, "project", "", ""},
		{"asked", Ask, "project", "", ""},
		{"no", Deny, "", "", ""},
		{"x no", Deny, "", "", ""},
		{"strict", Allow, "strict", "", ""},
		{"x strict", Ask, "strict", "", "its parts want the sandboxes"}, // project writes what strict does not, and strict has limits
		{"push", Ask, "", "rule push", ""},
		{"fetch", Allow, "", "rule fetch", ""},
		{"tail push", Ask, "", "rule push", ""},
		{"push tail", Ask, "", "rule push", ""},
		{"fetch push", Ask, "", "rule fetch", ""},
		{"push x", Deny, "", "", "Make them two calls"}, // no rule allows x outside
		{"push tail!", Deny, "", "", "Make them two calls"},
		{"fetch x!", Allow, "project", "", ""},           // no keys are needed, as far as the program tells
		{"x! fetch@localhost", Allow, "project", "", ""}, // a server that the command started is inside
		{"fetch@localhost", Allow, "", "rule fetch", ""},
		{"fetch push x!", Deny, "", "", "Make them two calls"},
		{"x@a.example", Ask, "project with hosts a.example", "", "it reaches a.example"},
		{"x@A.example y", Ask, "project with hosts a.example", "", "it reaches a.example"},
		{"npm!", Allow, "project with registries npm", "", ""},
		{"npm! x!", Allow, "project with registries npm", "", ""}, // no proxy can tell which program asks
		{"open@a.example", Allow, "project with hosts a.example", "", ""},
		{"open@a.example y!", Ask, "project with hosts a.example", "", "granted to another part only"},
		{"x@localhost", Allow, "project", "", ""},
		{"x@127.0.0.1", Allow, "project", "", ""},
		{"git@", Ask, "", "it needs keys or services that are not in the sandbox", "your keys"}, // a pull
		{"git@a.example", Ask, "project with hosts a.example", "", "it reaches a.example"},
		{"docker", Ask, "", "it needs keys or services that are not in the sandbox", ""}, // also one that only looks
		{"ssh@build.example", Ask, "", "it needs keys or services that are not in the sandbox", ""},
		{"ssh@build", Ask, "", "it needs keys or services that are not in the sandbox", ""},
		{"git@ x!", Deny, "", "", "Make them two calls"},
		{"x@*.example", Allow, "project", "", ""}, // inside it reaches nothing
	} {
		d := p.Decide(wallCall(c.parts))
		if d.Effect != c.effect || d.Sandbox.String() != c.sandbox || d.Outside != c.outside || !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%s: %v in %q, outside %q: %s; want %v in %q, outside %q", c.parts, d.Effect, d.Sandbox, d.Outside, d.Reason, c.effect,
				c.sandbox, c.outside)
		}
	}
	// Other tools know no wall.
	write := Call{Scope: wallCall("").Scope, Item: Item{Server: AgentServer, Name: "Write"}}
	if d := p.Decide(write); d.Effect != Ask || !d.Sandbox.None() {
		t.Errorf("Write: %+v", d)
	}
}

// TestWallThatCannotBe: where no sandbox holds the command the rules decide alone; where it holds only what nobody is asked about, the
// question is about the command as it is. A session whose commands run in the sandbox only has none outside.
func TestWallThatCannotBe(t *testing.T) {
	src := wallSource()
	src.Shipped = []Rule{{Name: "fence", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"program": {{Literal: new("make")}}}}}
	p, _ := New(src)
	none, asked := Walls{No: "no namespaces"}, Walls{Asked: "its dialog"}
	for _, c := range []struct {
		parts   string
		walls   Walls
		profile string
		effect  Effect
		sandbox string
		outside string
	}{
		{"x", none, "", Ask, "", ""},
		{"make", none, "", Allow, "", ""},
		{"npm", none, "", Ask, "", ""}, // the rule is about what runs inside
		{"make", Walls{}, "", Allow, "project", ""},
		{"push x", none, "", Ask, "", ""},
		{"strict", none, "", Ask, "", ""},
		{"x", asked, "", Allow, "project", ""},
		{"asked", asked, "", Ask, "", "its dialog"},
		{"x", none, "project", Deny, "", ""},
		{"push", Walls{}, "project", Ask, "project", ""},
		{"fetch", Walls{}, "project", Allow, "project", ""},
		{"x", Walls{Lacked: "host a.example", Profile: "project"}, "", Ask, "project", ""},
		{"x", Walls{Lacked: "host a.example", Profile: "strict"}, "", Allow, "project", ""},
	} {
		call := wallCall(c.parts)
		call.Facts.Walls, call.Scope.Profile = c.walls, c.profile
		d := p.Decide(call)
		if d.Effect != c.effect || c.effect != Deny && (d.Sandbox.String() != c.sandbox || d.Outside != c.outside) {
			t.Errorf("%s with %+v in %q: %v in %q, outside %q: %s", c.parts, c.walls, c.profile, d.Effect, d.Sandbox, d.Outside, d.Reason)
		}
		if lacked := c.walls.Lacked != "" && d.Effect == Ask; lacked != (d.Without == Allow) {
			t.Errorf("%s: without what it lacked %v", c.parts, d.Without)
		}
	}
	if p, problems := New(Source{Wall: "nowhere", Roles: src.Roles, Grants: src.Grants}); len(problems) == 0 || p.Decide(wallCall("x")).Effect != Deny {
		t.Errorf("a wall of a profile that does not exist: %v, %+v", problems, p.Decide(wallCall("x")))
	}
	for _, r := range []Rule{{Action: "deny", Place: "outside"}, {Action: "ask", Place: "inside"}, {Action: "ask", Place: "outside", Sandbox: box.Of("strict")}} {
		r.Name, r.Tool = "r", Names{"Bash"}
		if _, problems := New(Source{Rules: []Rule{r}}); len(problems) == 0 || !strings.Contains(problems[0].Message, "place: ") {
			t.Errorf("%+v: %v", r, problems)
		}
	}
}

// TestNothingRunsOutsideUnseen is the law of the wall: whatever the rules, a command that is not denied runs in a sandbox, unless a rule with
// place: outside decides a part of it and every other part only reads files that a rule allows.
func TestNothingRunsOutsideUnseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		src.Wall = box.Project
		src.Fallback.Agent = rapid.SampledFrom([]string{"", "allow", "deny"}).Draw(t, "fallback")
		p, _ := New(src)
		c := drawCall(t)
		c.Item = Bash
		c.Args["command"] = rapid.SampledFrom([]string{"git fetch", "git fetch; cat $X", "cat *", ""}).Draw(t, "command")
		d := p.Decide(c)
		if strings.Contains(d.Reason, "more than plain words") && d.Rule != "" {
			t.Fatalf("rule %s asks, and it does not: %+v", d.Rule, d)
		}
		if d.Effect == Deny || !d.Sandbox.None() {
			return
		}
		command, _ := c.Args["command"].(string)
		if d.Effect == Allow && !plain(command) {
			t.Fatalf("%q runs outside without a question", command)
		}
		if d.Outside == "" || !slices.ContainsFunc(src.Rules, func(r Rule) bool { return r.Place == "outside" }) {
			t.Fatalf("it runs outside: %+v", d)
		}
		for i := range c.Facts.Parts {
			alone := c
			alone.Facts.Parts = c.Facts.Parts[i : i+1]
			if one := p.Decide(alone); one.Outside == "" && !one.quiet(&c.Facts.Parts[i]) {
				t.Fatalf("the part %+v runs outside, alone it is decided as %+v", c.Facts.Parts[i], one)
			}
		}
	})
}

// TestPlain: of plain words, each means itself.
func TestPlain(t *testing.T) {
	for command, want := range map[string]bool{
		"git fetch": true, "cd src && git fetch -q origin 2>&1 | tail -3": true, `gh pr list --search 'is:open $x *'`: true, `curl -s "http://localhost:80/?a=b"`: true,
		"": false, "git fetch; cat $COLUMNS": false, "git fetch `x`": false, "git fetch\ncat": false, `git "$x"`: false, "cat *": false, "cat .en?": false,
		"X=1 git fetch": false, "git fetch 'x": false, "git() fetch": false, "git fetch --depth=1 -q": true,
		"a; X=1 git fetch": false, "git fetch -q;X=1 b": false, "git fetch '-q' a=b": false, "git fetch -q	X=1": false, "a -b|X=1 c": false, "cat ~/x": false, `git \x`: false, "git {a,b}": false, "git fetch < x": false,
		"git fetch # x": false, "git fetch \u00a0": false, "! git fetch": false,
	} {
		if plain(command) != want {
			t.Errorf("%q is plain: %t", command, !want)
		}
	}
}

// TestOtherToolsThatRunCommands: of another tool of the agent than its shell it is not known how the command runs, so it asks.
func TestOtherToolsThatRunCommands(t *testing.T) {
	src := wallSource()
	src.Grants[0].AllowedTools = append(src.Grants[0].AllowedTools, "agent__Monitor")
	p, _ := New(src)
	c := wallCall("x")
	c.Item.Name = "Monitor"
	if d := p.Decide(c); d.Effect != Ask || !d.Sandbox.None() {
		t.Errorf("%+v", d)
	}
}
