package migrate

import (
	"strings"
	"testing"

	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// old is a rules file as ClaudeCube has it (E2 to E7).
const oldRules = `# Rules of the team.
version: "1"
defaults:
  unmatched: escalate   # a person decides
  max_budget_per_agent: 5.00
  max_turns_per_agent: 50
rules:
  # Nothing that cannot be taken back.
  - name: destructive
    action: deny
    tool: Bash
    match:
      command:
        - pattern: "rm\\s+-rf\\s+/"   # at the root
          type: regex
        - {pattern: "git push", type: literal}
    reason: It cannot be taken back.

  - name: secrets
    action: deny
    tool: "Write|Edit"
    match:
      file_path: [{pattern: "**/.env*", type: glob}]
      content: [{pattern: "PRIVATE KEY", type: regex}]
  - name: reading   # as it was
    action: allow
    tool: Read|Glob|Grep
  - {name: source, action: allow, tool: Write, match: {file_path: [{pattern: "/p/src/**", type: glob}]}}
  - name: tests
    action: allow
    tool: Bash
    match: {command: [{pattern: "npm (test|run lint)", type: regex}]}
  - name: fetch
    action: escalate
    tool: WebFetch
`

// newRules is its present form.
const newRules = `# Rules of the team.
version: 1
# a person decides
rules:
  # Nothing that cannot be taken back.
  # at the root
  - name: destructive
    action: deny
    tool: Bash
    args: {command: [{regex: "(?s:.*)(?:rm\\s+-rf\\s+/)(?s:.*)"}, {literal: git push}]}
    reason: It cannot be taken back.

  - name: secrets
    action: deny
    tool: "Write|Edit"
    args: {content: [{regex: "(?s:.*)(?:PRIVATE KEY)(?s:.*)"}]}
  - name: secrets-file_path
    action: deny
    tool: "Write|Edit"
    match: {path: [{glob: "**/.env*"}]}
  - name: reading   # as it was
    action: allow
    tool: Read|Glob|Grep
  - name: source
    action: allow
    tool: Write
    match: {path: [{glob: "/p/src/**"}]}
  - name: tests
    action: allow
    tool: Bash
    args: {command: [{regex: "npm (test|run lint)"}]}
  - name: fetch
    action: escalate
    tool: WebFetch
`

func TestRulesInTheirPresentForm(t *testing.T) {
	p, problems := Read("rules.yaml", []byte(oldRules), []byte("# ours\nsession: {defaultRole: guest}\n"))
	if p == nil {
		t.Fatal(problems)
	}
	if string(p.Text) != newRules {
		t.Errorf("got\n%s", p.Text)
	}
	want := "# ours\nsession: {defaultRole: guest}\nagents:\n  turns: 50   # answers of the model in a session\n" +
		"  budget: {session: 5}   # US dollars of a session\npolicy:\n  fallback: {mcp: ask, agent: ask}   # what becomes of " +
		"a call that no rule decides\n"
	if string(p.Main) != want {
		t.Errorf("mycelium.yaml is\n%s", p.Main)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "rule secrets is 2 rules now") {
		t.Errorf("%q", p.Notes)
	}
	again, _ := Read("rules.yaml", p.Text, p.Main)
	if again == nil || again.Old(p.Text) || len(again.Notes) > 0 {
		t.Errorf("a second time: %+v", again)
	}
}

// TestThePresentFormDecidesAlike asks both forms about calls.
func TestThePresentFormDecidesAlike(t *testing.T) {
	p, _ := Read("rules.yaml", []byte(oldRules), nil)
	compiled := func(text string) *policy.Policy {
		f, problems := rules.Parse("rules.yaml", []byte(text))
		if f == nil {
			t.Fatal(problems)
		}
		pol, _ := policy.New(policy.Source{Dir: "/p", Rules: f.Rules, Fallback: policy.Fallback{Agent: "ask"},
			Grants: []policy.Grant{{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__*"}}}})
		return pol
	}
	was, is := compiled(oldRules), compiled(string(p.Text))
	seen := map[policy.Effect]bool{}
	for _, c := range []struct{ tool, args string }{
		{"Bash", `{"command":"sudo rm -rf / now"}`}, {"Bash", `{"command":"git push"}`}, {"Bash", `{"command":"git push -f"}`},
		{"Bash", `{"command":"npm test"}`}, {"Bash", `{"command":"npm test; ls"}`}, {"Bash", `{"command":"x\nrm -rf /\ny"}`},
		{"Write", `{"file_path":"/p/.env.local"}`}, {"Write", `{"file_path":"/p/src/a","content":"a PRIVATE KEY b"}`},
		{"Write", `{"file_path":"/p/src/a"}`}, {"Write", `{"file_path":"/p/src/../a"}`}, {"Edit", `{"file_path":"/p/src/a"}`},
		{"Read", `{"file_path":"/etc/x"}`}, {"WebFetch", `{"url":"https://example.com"}`}, {"Task", `{}`},
	} {
		args, _ := policy.ParseArgs([]byte(c.args))
		it := policy.Item{Server: policy.AgentServer, Name: c.tool}
		call := policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "a", Role: "dev"}, Skills: []string{"s"}}, Item: it, Args: args,
			Facts: policy.ArgFacts(it, nil, args, "/p").WithoutLinks()}
		a, b := was.Decide(call), is.Decide(call)
		if a.Effect != b.Effect {
			t.Errorf("%s %s: %v, and now %v", c.tool, c.args, a, b)
		}
		seen[a.Effect] = true
	}
	if len(seen) != 3 {
		t.Errorf("only %v was tried", seen)
	}
}

// TestWhatCannotBeCarriedOverIsSaid: a key that mycelium.yaml has otherwise stays where it is, and a rule that the older form does not
// have stays as it is.
func TestWhatCannotBeCarriedOverIsSaid(t *testing.T) {
	text := "version: 1\ndefaults: {unmatched: deny, max_turns_per_agent: 9}\nrules:\n" +
		"  - {name: a, action: deny, tool: Write, role: guest, match: {content: [{pattern: x}]}}\n" +
		"  - name: b\n    action: deny\n    tool: Bash\n    match: any\n"
	main := "agents: {budget: {session: 4}}\npolicy: {fallback: {mcp: allow, agent: ask}}\n"
	p, problems := Read("rules.yaml", []byte(text), []byte(main))
	if p == nil {
		t.Fatal(problems)
	}
	want := strings.Replace(text, "{unmatched: deny, max_turns_per_agent: 9}", "{max_turns_per_agent: 9, unmatched: deny}", 1)
	if string(p.Text) != want || p.Main != nil {
		t.Errorf("%s\n%s", p.Text, p.Main)
	}
	said := strings.Join(p.Notes, "\n")
	for _, want := range []string{"rule a stays as it is", "defaults.unmatched stays", "write policy.fallback: {mcp: deny, agent: deny} there",
		"defaults.max_turns_per_agent stays"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
}

func TestSettingsOfTheOrchestrator(t *testing.T) {
	text := `model: claude-sonnet-4-5-20250929
maxTotalBudgetUsd: 20.00
maxAgents: 5
escalation: {evaluatorModel: claude-haiku-4-5-20251001, confidenceThreshold: 0.8, telegramTimeoutSeconds: 300}
telegram: {enabled: true, notifyOnStart: false, notifyOnComplete: true, notifyOnError: true, denialAlertThreshold: 5}
agent: {maxTurnsPerAgent: 50, maxBudgetPerAgent: 5.00, consecutiveDenialLimit: 5}
`
	p, problems := Read("config/orchestrator.yaml", []byte(text), nil)
	if p == nil {
		t.Fatal(problems)
	}
	var got map[string]any
	if problems := yamlfile.Decode("mycelium.yaml", p.Main, &got); len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, want := range []string{"budget: {session: 5, total: 20}", "denials: {alert: 5, end: 5}", "turns: 50", "deadline: 300s",
		"judge: {model: claude-haiku-4-5-20251001, confidence: 0.8}"} {
		if !strings.Contains(string(p.Main), want) {
			t.Errorf("%q is missing in\n%s", want, p.Main)
		}
	}
	said := strings.Join(p.Notes, "\n")
	if len(p.Notes) != 5 || !strings.Contains(said, "maxAgents: 5") || !strings.Contains(said, "notifyOnStart") {
		t.Errorf("%s", said)
	}
	if p, problems := Read("x.yaml", []byte("a: 1\n"), nil); p != nil || len(problems) == 0 {
		t.Errorf("%+v", p)
	}
}

// FuzzRead: no file makes the migration panic; what it writes reads, and has nothing old that it could still write.
func FuzzRead(f *testing.F) {
	f.Add(oldRules, "session: {defaultRole: guest}\n")
	f.Add("version: '1'\nrules: [{name: a, action: deny, match: {x: [{pattern: b}]}}]\n", "agents: {}\n")
	f.Add("maxAgents: 5\nagent: {maxTurnsPerAgent: 9}\n", "agents: {turns: 3}\n")
	f.Add("rules:\n- name: a\n  action: deny\n  match:\n    p: {pattern: 'x # y'} # z\n# end\n", "")
	f.Fuzz(func(t *testing.T, text, main string) {
		p, _ := Read("rules.yaml", []byte(text), []byte(main))
		if p == nil {
			return
		}
		if p.Text != nil {
			if _, problems := rules.Parse("rules.yaml", p.Text); source.Faulty(problems) {
				t.Errorf("%q became %q: %v", text, p.Text, problems)
			}
		}
		if p.Main == nil {
			return
		}
		var m map[string]any
		if problems := yamlfile.Decode("mycelium.yaml", p.Main, &m); len(problems) > 0 {
			t.Errorf("%q became %q: %v", main, p.Main, problems)
		}
	})
}
