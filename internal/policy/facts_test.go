package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArgFacts prints facts as "access:clean", hosts as "host:", effects and "?" for what was not understood.
func TestArgFacts(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"files__read_file", `{"path":"a/../b"}`, "read:/p/b | read"},
		{"files__list_directory", `{}`, "read:/p | read"},
		{"files__write_file", `{"path":"/x"}`, "write:/x | write"},
		{"files__move_file", `{"source":"a","destination":"b"}`, "write:/p/b delete:/p/a | write delete"},
		{"files__delete_file", `{"path":"a"}`, "delete:/p/a | delete"},
		{"agent__Edit", `{"file_path":"/p/a"}`, "write:/p/a | write"},
		{"agent__NotebookEdit", `{"notebook_path":"/p/a"}`, "write:/p/a | write"},
		{"agent__Grep", `{"pattern":"x"}`, "read:/p | read"},
		{"agent__Bash", `{"command":"ls"}`, "| unclear execute ?"},
		{"agent__WebFetch", `{"url":"HTTPS://User@Host.Example:80/x"}`, "host:host.example | network"},
		{"srv__x", `{"paths":["a","b"]}`, "read:/p/a write:/p/a read:/p/b write:/p/b | read write"},
		{"srv__ro", `{"path":"a"}`, "read:/p/a | read"},
		{"srv__x", `{"edits":[{"filePath":"a"}]}`, "read:/p/a write:/p/a | read write"},
		{"srv__x", `{"source":"a"}`, "read:/p/a write:/p/a delete:/p/a | read write delete"},
		{"srv__x", `{"path":7}`, "| unclear ?"},
		{"srv__x", `{"path":{"path":"a"}}`, "read:/p/a write:/p/a | read write"},
		{"srv__x", `{"url":"file:///etc/%70asswd"}`, "read:/etc/passwd write:/etc/passwd | unclear read write ?"},
		{"srv__x", `{"url":"no address"}`, "| unclear ?"},
		{"srv__x", `{"url":"http://[::1]:80/"}`, "host:::1 | network"},
		{"srv__x", `{"url":"http://evil.com\\@good.com/"}`, "host:evil.com | unclear network ?"},
		{"srv__x", `{"url":"www.x.com"}`, "host:www.x.com | network"},
		{"srv__x", `{"url":"localhost:3000"}`, "host:localhost | network"},
		{"srv__x", `{"url":"localhost:3000@x.com"}`, "host:x.com | unclear network ?"},
		{"srv__x", `{"url":"http:x.com"}`, "| unclear ?"},
		{"srv__x", `{"url":"mailto:a@x.com"}`, "host:x.com | unclear network ?"},
		{"srv__x", `{"url":"http://0x7f.1/"}`, "host:127.0.0.1 | network"},
		{"srv__x", `{"url":"http://%65vil.com/"}`, "host:%65vil.com | unclear network ?"},
		{"srv__x", `{"text":"path"}`, "|"},
		{"resource:docs__file:///a/b", ``, "read:/a/b | read"},
	} {
		args, err := ParseArgs([]byte(c.args))
		if err != nil {
			t.Fatal(err)
		}
		it := itemOf(c.tool)
		f := ArgFacts(it, Annotations{"readOnlyHint": it.Name == "ro"}, args, "/p")
		if f.Dir != "/p" || len(f.Parts) != 1 {
			t.Fatalf("%+v", f)
		}
		var words []string
		for _, p := range f.Parts[0].Paths {
			words = append(words, string(p.Access)+":"+p.Clean)
		}
		for _, h := range f.Parts[0].Hosts {
			words = append(words, "host:"+h)
		}
		words = append(words, "|")
		words = append(words, f.Parts[0].Effects...)
		if len(f.Parts[0].Unclear) > 0 {
			words = append(words, "?")
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, got, c.want)
		}
	}
}

// TestUnresolvedPath: a path whose links could not be resolved never satisfies an allow rule, and is judged by its other names.
func TestUnresolvedPath(t *testing.T) {
	p, _ := New(Source{Dir: "/p", Catalog: catalog("a__x"), Fallback: Fallback{MCP: "ask"},
		Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"*"}}},
		Rules: []Rule{
			{Name: "no", Action: "deny", Tool: Names{"*"}, Match: map[string]Values{"path": {{Glob: ptr("secret/**")}}}},
			{Name: "yes", Action: "allow", Tool: Names{"*"}, Match: map[string]Values{"path": {{Glob: ptr("**")}}}},
			{Name: "cel", Action: "allow", Tool: Names{"*"}, When: `paths.all(p, p.startsWith("/p/"))`},
		}})
	for _, c := range []struct {
		path Path
		want Effect
	}{
		{Path{Raw: "a", Clean: "/p/a", Resolved: "/p/a"}, Allow},
		{Path{Raw: "a", Clean: "/p/a"}, Ask},
		{Path{Raw: "a"}, Ask},
		{Path{Raw: "secret/a"}, Deny},
		{Path{Raw: "x/../secret/a", Clean: "/p/secret/a"}, Deny},
		{Path{Raw: "link", Clean: "/p/link", Resolved: "/p/secret/a"}, Deny},
		{Path{Access: Write, Raw: ".env.local"}, Deny},
	} {
		call := Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: itemOf("a__x"),
			Facts: Facts{Dir: "/p", Parts: []Part{{Paths: []Path{c.path}}}}}
		if d := p.Decide(call); d.Effect != c.want {
			t.Errorf("%+v: %+v, want %v", c.path, d, c.want)
		}
	}
}

// TestParts: a command is decided part by part, and the strictest answer stands.
func TestParts(t *testing.T) {
	p, _ := New(Source{Dir: "/p", Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"*"}}}, Rules: []Rule{
		{Name: "no-rm", Action: "deny", Tool: Names{"Bash"}, Match: map[string]Values{"program": {{Literal: ptr("rm")}}}},
		{Name: "push", Action: "ask", Tool: Names{"Bash"}, Match: map[string]Values{"effect": {{Literal: ptr("push")}}}},
		{Name: "git", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"program": {{Literal: ptr("git")}}}},
		{Name: "words", Action: "allow", Tool: Names{"Bash"}, Args: map[string]Values{"command": {{Regex: ptr("make.*")}}}},
		{Name: "shrug", Action: "allow", Tool: Names{"Bash"}, Match: map[string]Values{"program": {{Literal: ptr("odd")}},
			"effect": {{Glob: ptr("{execute,unclear}")}}}},
	}})
	push := bash("git push")
	push.Parts[0].Effects = append(push.Parts[0].Effects, "push")
	unclear, odd := bash("git status"), bash("odd")
	unclear.Parts[0].Unclear, odd.Parts[0].Unclear = []string{"$X"}, []string{"$X"}
	for _, c := range []struct {
		facts Facts
		rule  string
		want  Effect
	}{
		{bash("git status"), "git", Allow},
		{bash("git status", "ls"), "", Ask},
		{bash("git status", "rm x"), "no-rm", Deny},
		{bash("ls", "rm x"), "no-rm", Deny},
		{bash("git a", "git b"), "git", Allow},
		{push, "push", Ask},
		{unclear, "", Ask},
		{odd, "shrug", Allow},
		{bash("make a"), "words", Allow},
		{bash("make a", "make b"), "", Ask},
	} {
		call := Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: Item{Server: AgentServer, Name: "Bash"},
			Args: Args{"command": "make a; make b"}, Facts: c.facts}
		if d := p.Decide(call); d.Effect != c.want || d.Rule != c.rule {
			t.Errorf("%+v: %+v, want %v by %q", c.facts.Parts, d, c.want, c.rule)
		}
	}
}

// TestExplain fixes the shape of `myc policy explain --json`.
func TestExplain(t *testing.T) {
	p, _ := New(Source{Dir: "/p", Catalog: catalog("a__x"), Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"},
		AllowedTools: []string{"*"}}},
		Rules: []Rule{{Name: "no", Action: "deny", Tool: Names{"a__x"}, Args: map[string]Values{"m": {{Literal: ptr("1")}}}},
			{Name: "q", Action: "ask", Tool: Names{"a__x"}, Reason: "Look first."}}})
	x := p.Explain(Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: itemOf("a__x")})
	got, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"effect":"ask","rule":"q","reason":"Look first.","tool":"a__x","role":"dev","skills":["s"],"trace":[` +
		`{"step":"visibility","match":true,"rule":"","why":"the catalog has it, and every ceiling admits it"},` +
		`{"step":"base","match":false,"rule":"","why":"no base constraint concerns it"},` +
		`{"step":"deny","match":false,"rule":"no","why":"it does not match"},` +
		`{"step":"deny","match":false,"rule":"secret-files","why":"it does not match"},{"step":"ask","match":true,"rule":"q",` +
		`"why":"Look first."}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if x := p.Explain(Call{Item: itemOf("a__x")}); x.Effect != "unknown" || x.Trace[0].Match {
		t.Errorf("%+v", x)
	}
}

// TestAnyConditionIsEnough: match: any makes one condition of the rule enough, and patterns mean what they mean elsewhere. Without
// conditions it is every use of the tool.
func TestAnyConditionIsEnough(t *testing.T) {
	text := `
- name: nested
  action: deny
  tool: Bash
  match: {any: {program: curl, host: evil.example}}
- {name: args, action: deny, tool: Write, match: any, args: {content: [{regex: 'KEY.*'}], file_path: [{glob: "**/*.pem"}]}}
- {name: allow, action: allow, tool: Write, match: {any: {path: [{glob: "**/src/**"}]}}, args: {content: hello}}
- {name: every, action: escalate, tool: Grep, match: any}
`
	var rules []Rule
	if err := decodeRules(text, &rules); err != nil {
		t.Fatal(err)
	}
	p, problems := New(Source{Dir: "/p", Rules: rules, Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"},
		AllowedTools: []string{"agent__*"}}}, Fallback: Fallback{Agent: "deny"}})
	if len(problems) != 0 {
		t.Error(problems)
	}
	for _, c := range []struct{ tool, args, want string }{
		{"Write", `{"file_path":"/p/a.pem"}`, "args"},
		{"Write", `{"file_path":"/p/a","content":"KEY=1"}`, "args"},
		{"Write", `{"file_path":"/p/a","content":"a KEY"}`, ""}, // a regex matches the whole value, other than in the older form
		{"Write", `{"file_path":"/p/src/a","content":"x"}`, "allow"},
		{"Write", `{"file_path":"/p/a","content":"hello"}`, "allow"},
		{"Grep", `{}`, "every"},
	} {
		it, args := Item{Server: AgentServer, Name: c.tool}, map[string]any{}
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(err)
		}
		d := p.Decide(Call{Scope: Scope{Principal: Principal{ID: "a", Role: "dev"}, Skills: []string{"s"}}, Item: it, Args: args,
			Facts: ArgFacts(it, nil, args, "/p").WithoutLinks()})
		if d.Rule != c.want {
			t.Errorf("%s %s: %+v, want %q", c.tool, c.args, d, c.want)
		}
	}
	shell := Item{Server: AgentServer, Name: "Bash"}
	for _, part := range []Part{{Program: "curl"}, {Program: "wget", Hosts: []string{"evil.example"}}} {
		d := p.Decide(Call{Scope: Scope{Principal: Principal{ID: "a", Role: "dev"}, Skills: []string{"s"}}, Item: shell,
			Facts: Facts{Dir: "/p", Parts: []Part{part}}})
		if d.Rule != "nested" {
			t.Errorf("%+v: %+v", part, d)
		}
	}
	for _, bad := range []string{"match: some", "match: {any: {}}", "match: {any: }", "match: {any: {path: x}, host: y}", "match: [any]"} {
		if err := decodeRules("- {name: a, action: deny, tool: Bash, "+bad+"}\n", &rules); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestLegacyRules: {pattern, type} is OR over its fields, searches where it refuses, and matches whole where it allows.
func TestLegacyRules(t *testing.T) {
	text := `
- name: rm
  action: deny
  tool: Bash
  match: {command: [{pattern: 'rm\s+-rf', type: regex}], file_path: [{pattern: "**/.env", type: glob}]}
- name: wr
  action: deny
  tool: Write|Edit
  match: {file_path: [{pattern: "**/*.pem", type: glob}], content: [{pattern: KEY, type: regex}]}
- {name: ok, action: allow, tool: Write, match: {file_path: [{pattern: "**/src/**", type: glob}]}}
- {name: exact, action: escalate, tool: Write, match: {content: [{pattern: hello}]}}
`
	var rules []Rule
	if err := decodeRules(text, &rules); err != nil {
		t.Fatal(err)
	}
	p, problems := New(Source{Dir: "/p", Rules: rules, Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"},
		AllowedTools: []string{"agent__*"}}}, Fallback: Fallback{Agent: "deny"}})
	if len(problems) != 4 || !problems[0].Warning {
		t.Error(problems)
	}
	for line, want := range map[string]string{
		`{"file_path":"/p/src/a.go"}`:                   "ok",
		`{"file_path":"/p/src/../a.go"}`:                "",
		`{"file_path":"/p/src/a.pem"}`:                  "wr",
		`{"file_path":"/p/src/a.go","content":"a KEY"}`: "wr",
		`{"file_path":"/p/x","content":"hello"}`:        "exact",
		`{"file_path":"/p/x","content":"hello you"}`:    "",
	} {
		args, _ := ParseArgs([]byte(line))
		it := Item{Server: AgentServer, Name: "Write"}
		d := p.Decide(Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: it, Args: args,
			Facts: ArgFacts(it, nil, args, "/p").WithoutLinks()})
		if d.Rule != want {
			t.Errorf("%s: %+v, want %q", line, d, want)
		}
	}
	args := Args{"command": "cd x && rm  -rf y"}
	if d := p.Decide(Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}},
		Item: Item{Server: AgentServer, Name: "Bash"}, Args: args}); d.Rule != "rm" {
		t.Error(d)
	}
}

// TestFallbackSaysWhy: a fallback that does not allow does not speak of a grant, and what was not understood is named.
func TestFallbackSaysWhy(t *testing.T) {
	for _, c := range []struct {
		mcp   string
		facts Part
		want  Decision
	}{
		{"deny", Part{}, Decision{Effect: Deny, Reason: "no rule allows it, and policy.fallback.mcp is deny"}},
		{"ask", Part{}, Decision{Effect: Ask, Reason: "no rule allows it, and policy.fallback.mcp is ask"}},
		{"", Part{}, Decision{Effect: Allow, Reason: "no rule decides; an active skill grants the tool"}},
		{"", Part{Unclear: []string{"argument path is not a text"}}, Decision{Effect: Ask,
			Reason: "no rule decides, and part of the call was not understood: argument path is not a text"}},
	} {
		p, _ := New(Source{Dir: "/p", Catalog: catalog("a__x"), Fallback: Fallback{MCP: c.mcp},
			Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"a__x"}}}})
		got := p.Decide(Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: Item{Server: "a", Name: "x"},
			Facts: Facts{Parts: []Part{c.facts}}})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("fallback %q: %+v, want %+v", c.mcp, got, c.want)
		}
	}
}

// TestWithoutFallback: what a fallback would answer is left open, and no part of the call that a rule denies or asks about is lost in it.
func TestWithoutFallback(t *testing.T) {
	rule := func(action, program string) Rule {
		return Rule{Name: action, Action: action, Tool: Names{"Bash"}, Match: map[string]Values{"program": {{Literal: ptr(program)}}}}
	}
	for _, fallback := range []string{"allow", "ask"} {
		p, problems := New(Source{Dir: "/p", Grants: []Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Bash"}}},
			Fallback: Fallback{Agent: fallback}, Rules: []Rule{rule("deny", "rm"), rule("ask", "curl"), rule("allow", "ls")}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, c := range []struct {
			programs []string
			want     Effect
			left     bool
		}{
			{[]string{"ls"}, Allow, false}, {[]string{"make"}, Allow, true}, {[]string{"ls", "make"}, Allow, true},
			{[]string{"make", "curl"}, Ask, true}, {[]string{"curl", "ls"}, Ask, false}, {[]string{"make", "rm"}, Deny, false},
			{[]string{"curl", "rm"}, Deny, false},
		} {
			call := Call{Scope: Scope{Principal: Principal{Role: "dev"}, Skills: []string{"s"}}, Item: Bash}
			for _, name := range c.programs {
				call.Facts.Parts = append(call.Facts.Parts, Part{Program: name, Argv: []string{name}})
			}
			if got, left := p.Explain(call).WithoutFallback(); got != c.want || left != c.left {
				t.Errorf("%s, fallback %s: %v, %v, want %v, %v", c.programs, fallback, got, left, c.want, c.left)
			}
			call.Scope.Principal.Role = "other"
			if got, left := p.Explain(call).WithoutFallback(); got != Deny || left {
				t.Errorf("%s of a role that sees nothing: %v, %v", c.programs, got, left)
			}
		}
	}
}
