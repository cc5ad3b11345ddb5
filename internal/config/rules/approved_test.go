package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// approvedPolicy is a policy with one written rule, for a developer whose own tools are asked about.
func approvedPolicy(t *testing.T, rules []policy.Rule) *policy.Policy {
	t.Helper()
	defs := []policy.Definition{{Item: policy.Item{Server: "db", Name: "query"},
		Raw: []byte(`{"name":"query","inputSchema":{"type":"object"}}`)}}
	pol, problems := policy.New(policy.Source{
		Catalog: defs, Rules: rules, Dir: "/p", Home: "/home/u", Fallback: policy.Fallback{MCP: "ask", Agent: "ask"},
		Roles: []policy.Role{{ID: "developer"}, {ID: "guest"}},
		Grants: []policy.Grant{{Name: "all", AllowedRoles: []string{"developer", "guest"},
			AllowedTools: []string{"db__query", "agent__Bash", "agent__Write"}}},
	})
	for _, p := range problems {
		if !p.Warning {
			t.Fatalf("%+v", p)
		}
	}
	return pol
}

func effectOf(t *testing.T, p *policy.Policy, role, tool, args, dir string, effects ...string) policy.Effect {
	t.Helper()
	it, err := policy.ParseTool(tool)
	if err != nil {
		t.Fatal(err)
	}
	a, err := policy.ParseArgs([]byte(args))
	if err != nil {
		t.Fatal(err)
	}
	facts := policy.Facts{Dir: dir, Parts: []policy.Part{{Program: "npm", Effects: append([]string{policy.EffectExecute}, effects...)}}}
	return p.Decide(policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: []string{"all"}}, Item: it,
		Args: a, Facts: facts, Time: time.Unix(1, 0)}).Effect
}

func TestApprovedRuleAllowsThisCallAndNoOther(t *testing.T) {
	bash := approval.Request{ID: "k3m9", Kind: approval.Call, Tool: "agent__Bash", Role: "developer", Dir: "/p",
		Args: []byte(`{"command":"npm publish --tag \"新\"\n","description":"x"}`)}
	query := approval.Request{ID: "q7", Kind: approval.Call, Tool: "db__query", Role: "developer",
		Args: []byte(`{"sql":"select 'a' \\ b","limit":10,"deep":{"list":[1,"two",null,true],"rate":0.5}}`)}
	for _, c := range []struct {
		r     approval.Request
		role  string
		args  string
		dir   string
		extra string
		want  policy.Effect
	}{
		{bash, "developer", string(bash.Args), "/p", "", policy.Allow},
		{bash, "developer", `{"command":"npm publish --tag \"新\"\n","timeout":5}`, "/p", "", policy.Allow},
		{bash, "developer", `{"command":"npm publish --tag \"新\""}`, "/p", "", policy.Ask},
		{bash, "developer", `{"command":"npm publish --tag \"新\"\n","run_in_background":true}`, "/p", "", policy.Ask},
		{bash, "developer", string(bash.Args), "/p/sub", "", policy.Ask},
		{bash, "guest", string(bash.Args), "/p", "", policy.Ask},
		{bash, "developer", string(bash.Args), "/p", policy.EffectWrittenHere, policy.Ask},
		{bash, "developer", `{}`, "/p", "", policy.Ask},
		{query, "developer", string(query.Args), "/p", "", policy.Allow},
		{query, "developer", `{"deep":{"rate":0.5,"list":[1,"two",null,true]},"limit":10,"sql":"select 'a' \\ b"}`, "/p", "", policy.Allow},
		{query, "developer", `{"sql":"select 'a' \\ b","limit":11,"deep":{"list":[1,"two",null,true],"rate":0.5}}`, "/p", "", policy.Ask},
		{query, "developer", `{"sql":"select 'a' \\ b","limit":10,"deep":{"list":[1,"two",null,true],"rate":0.5},"more":1}`, "/p", "",
			policy.Ask},
		{query, "developer", `{"sql":"select 'a' \\ b","limit":10}`, "/p", "", policy.Ask},
		{query, "developer", `{"sql":"select 'a' \\ b","limit":10,"deep":{"list":[1,"two",null,true,2],"rate":0.5}}`, "/p", "", policy.Ask},
		{query, "guest", string(query.Args), "/p", "", policy.Ask},
	} {
		rule, err := Approved(c.r, "")
		if err != nil {
			t.Fatal(err)
		}
		var more []string
		if c.extra != "" {
			more = append(more, c.extra)
		}
		if got := effectOf(t, approvedPolicy(t, []policy.Rule{rule}), c.role, c.r.Tool, c.args, c.dir, more...); got != c.want {
			t.Errorf("%s as %s in %s %s: %s, want %s\n%s", c.args, c.role, c.dir, c.extra, got, c.want, rule.When)
		}
	}
}

func TestNoRuleForWhatARuleWouldNotHold(t *testing.T) {
	good := approval.Request{ID: "k3m9", Kind: approval.Call, Tool: "agent__Bash", Dir: "/p", Args: []byte(`{"command":"npm publish"}`)}
	for want, change := range map[string]func(*approval.Request){
		"is not about one":  func(r *approval.Request) { r.Kind = approval.Stop },
		"does not overrule": func(r *approval.Request) { r.Rule = "publishing" },
		"longer than":       func(r *approval.Request) { r.Args = []byte(`{"command":"` + strings.Repeat("x", maxRuleArgs) + `"}`) },
		"a secret":          func(r *approval.Request) { r.Args = []byte(`{"command":"login [REDACTED]"}`) },
		"outside of the sandbox": func(r *approval.Request) {
			r.Facts.Parts = []policy.Part{{Effects: []string{policy.EffectWrittenHere}}}
		},
		"the session wrote the code": func(r *approval.Request) {
			r.Sandbox = box.Of("host")
			r.Facts.Parts = []policy.Part{{Effects: []string{policy.EffectWrittenHere}}}
		},
		"runs x.sh (and others: 1)": func(r *approval.Request) {
			there := approval.ContentDigest{1}
			r.Code.Files = []approval.CodeFile{{Path: "/p/x.sh", Digest: there}, {Path: "/p/y.sh", Digest: there}, {Path: "/p/absent"}}
		},
		"runs code that was not read":  func(r *approval.Request) { r.Code.Unread = []string{"x.sh: too long"} },
		"not all of it was understood": func(r *approval.Request) { r.Facts.Parts = []policy.Part{{Unclear: []string{"eval"}}} },
		"makes it another call":        func(r *approval.Request) { r.Args = []byte(`{"command":"x","run_in_background":true}`) },
	} {
		r := good
		change(&r)
		if rule, err := Approved(r, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v", want, rule, err)
		}
	}
}

func TestAppendRuleKeepsTheFile(t *testing.T) {
	r := approval.Request{ID: "k3m9", Kind: approval.Call, Tool: "agent__Bash", Role: "developer", Dir: "/p",
		Args: []byte(`{"command":"echo '# \"x\": y' \u202e"}`)}
	rule, err := Approved(r, "")
	if err != nil {
		t.Fatal(err)
	}
	comment, reason := Comment(r, approval.Answer{By: "kimu\n- evil: x", Via: "terminal", Reason: "line\nbreak",
		Time: time.Unix(0, 0).UTC()})
	const mine = "- name: mine\n  action: deny\n  tool: Bash\n"
	for name, text := range map[string]string{
		"none": "", "comments only": "# my rules\n", "usual": "version: 1 # ours\nrules:\n  # why\n  - name: mine\n    action: deny\n" +
			"    tool: Bash # all\n",
		"not indented": "rules:\n" + mine, "no newline": "rules:\n  - {name: mine, action: deny, tool: Bash}",
		"rules first": "rules:\n" + mine + "version: 1\n",
		"flow":        "rules: [{name: mine, action: deny, tool: Bash}]\n", "empty list": "version: 1\nrules: []\n", "broken": "rules:\n  - {\n",
		"two documents": "rules:\n" + mine + "---\nrules: []\n",
	} {
		path := filepath.Join(t.TempDir(), "rules.yaml")
		if name != "none" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := Append([]string{filepath.Dir(path)}, "rules.yaml", comment, reason, rule)
		after, _ := os.ReadFile(path)
		switch name {
		case "flow", "empty list", "rules first", "broken", "two documents":
			if err == nil || string(after) != text {
				t.Errorf("%s: %v, the file is now\n%s", name, err, after)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(string(after), text) || strings.Count(string(after), "approved-k3m9") != 1 ||
			!strings.Contains(string(after), `# Approved by kimu\n- evil: x via terminal on 1970-01-01 (request k3m9). Remove this rule to be `+
				`asked again. Why: line\nbreak`) {
			t.Errorf("%s: %v, the file is now\n%s", name, err, after)
		}
	}
}

// TestGrantedRuleComesFirst: a rule that gives a command what it lacked in the sandbox stands before the rules that allow the command
// without, so that it decides. Comments stay where they were.
func TestGrantedRuleComesFirst(t *testing.T) {
	r := approval.Request{ID: "k3m9", Kind: approval.Call, Tool: "agent__Bash", Dir: "/p", Args: []byte(`{"command":"npm ci"}`), Rule: "mine",
		Sandbox: box.Of("project"), Lacked: approval.Lacked{Profile: "project", Allowed: true,
			Things: []approval.Lack{{Need: approval.NeedHost, Name: "registry.npmjs.org:443"},
				{Need: approval.NeedPackage, Name: "npm:left-pad"}}}}
	rule, err := Approved(r, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "rules.yaml")
	const before, mine = "version: 1\nrules: # ours\n", "  # why\n  - name: mine\n    action: allow\n    tool: Bash\n    sandbox: project\n"
	if err := os.WriteFile(path, []byte(before+mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Append([]string{dir}, "rules.yaml", "c", "r", rule); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), before+"  # c\n") || !strings.HasSuffix(string(text), mine) ||
		!strings.Contains(string(text), `sandbox: {profile: "project", hosts: ["registry.npmjs.org:443"], packages: ["npm:left-pad"]}`) {
		t.Errorf("%v, the file is now\n%s", err, text)
	}
	r.Lacked.Allowed = false // a rule asks about the call itself
	if _, err := Approved(r, ""); err == nil {
		t.Error("a rule was made that would not overrule")
	}
}

// TestRuleOfSeveralParts: the rule of a command of several parts names the command and all that it may do, and so does that of a command of
// git of which only is not known which files it changes. The same command in another folder, with another argument or with one more effect
// is asked about.
func TestRuleOfSeveralParts(t *testing.T) {
	several := []policy.Part{{Program: "cd", Effects: []string{policy.EffectExecute}},
		{Program: "docker", Effects: []string{policy.EffectExecute, policy.EffectContainer}}}
	pull := []policy.Part{{Program: "git", Effects: []string{policy.EffectExecute, policy.EffectNetwork}, Unclear: []string{policy.FilesNotKnown}}}
	for command, parts := range map[string][]policy.Part{"cd . && docker compose up": several, "git pull": pull} {
		r := approval.Request{ID: "k3m9", Kind: approval.Call, Tool: "agent__Bash", Role: "developer", Dir: "/p",
			Args: []byte(`{"command":"` + command + `"}`), Facts: policy.Facts{Dir: "/p", Parts: parts}}
		rule, err := Approved(r, "")
		if err != nil {
			t.Fatal(command, err)
		}
		dir := t.TempDir()
		if err := Append([]string{dir}, "rules.yaml", "c", "r", rule); err != nil {
			t.Fatal(err)
		}
		more := append([]policy.Part{}, parts...)
		more[0].Effects = append([]string{policy.EffectPush}, more[0].Effects...)
		unclear := append([]policy.Part{}, parts...)
		unclear[0].Unclear = []string{"what eval runs"}
		for i, c := range []struct {
			args, dir string
			parts     []policy.Part
			want      policy.Effect
		}{
			{string(r.Args), "/p", parts, policy.Allow},
			{`{"command":"` + command + `","description":"again"}`, "/p", parts, policy.Allow},
			{`{"command":"` + command + `","run_in_background":true}`, "/p", parts, policy.Ask},
			{`{"command":"` + command + ` now"}`, "/p", parts, policy.Ask},
			{string(r.Args), "/elsewhere", parts, policy.Ask},
			{string(r.Args), "/p", more, policy.Ask},
		} {
			a, err := policy.ParseArgs([]byte(c.args))
			if err != nil {
				t.Fatal(err)
			}
			got := approvedPolicy(t, []policy.Rule{rule}).Decide(policy.Call{Item: policy.Bash, Args: a, Time: time.Unix(1, 0),
				Scope: policy.Scope{Principal: policy.Principal{ID: "local", Role: "developer"}, Skills: []string{"all"}},
				Facts: policy.Facts{Dir: c.dir, Parts: c.parts}})
			if got.Effect != c.want {
				t.Errorf("%s %d: %s (%s), want %s", command, i, got.Effect, got.Reason, c.want)
			}
		}
		r.Facts.Parts = unclear
		if _, err := Approved(r, ""); err == nil || !strings.Contains(err.Error(), "not all of it was understood") {
			t.Errorf("%s: %v", command, err)
		}
	}
}
