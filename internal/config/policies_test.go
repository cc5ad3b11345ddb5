package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval/judge"
	"mycelium/internal/config/agents"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
)

func TestPoliciesInWords(t *testing.T) {
	w := newWorld(t)
	w.write("mycelium.yaml", "{}\n")
	w.write("policies.yaml", "policies:\n  - id: pol_1\n    description: 金曜日は公開しない。\n    tool: agent__Bash\n"+
		"    createdAt: 2026-11-20T10:00:00Z\n")
	w.write("policies.local.yaml", "policies:\n  - {id: pol_2, description: Be careful.}\n")
	w.writeUser("policies.yaml", "policies:\n  - {id: pol_1, description: Of the user.}\n")
	w.acceptUser()
	p := w.load()
	if len(p.Policies) != 1 || p.Policies[0].Description != "Of the user." {
		t.Errorf("untrusted: %+v", p.Policies)
	}
	w.trust()
	p = w.load()
	if len(p.Policies) != 3 || p.Policies[1].Tool != "agent__Bash" || p.Policies[1].CreatedAt.Year() != 2026 || p.Policies[2].ID != "pol_2" ||
		p.Unjudged != "" || source.Faulty(p.Problems) {
		t.Errorf("%+v %q", p.Policies, lines(p.Problems))
	}
}

// While a file of policies has a fault, the rules apply and no model judges.
func TestPoliciesThatDoNotHold(t *testing.T) {
	for text, want := range map[string]string{
		"policies: [": "policies.yaml:1",
		"policies:\n  - {id: pol_1, description: x, always: true}\n": `policies.yaml:2: unknown key "always"`,
		"policies:\n  - {id: one, description: x}\n": `policies.yaml:2: policy "one": id "one" is not pol_ ` +
			`and a number`,
		"policies:\n  - {id: pol_1, description: ''}\n":                                 "it is empty",
		"policies:\n  - {id: pol_1, description: \"a\\u202eb\"}\n":                      "invisible characters",
		"policies:\n  - {id: pol_1, description: x}\n  - {id: pol_1, description: y}\n": "policies.yaml:3: policy \"pol_1\": the number is taken",
		"policies:\n  - {id: pol_1, description: x, tool: 'a b'}\n":                     "is not a tool name",
		"policy: []\n": `unknown key "policy"`,
	} {
		w := newWorld(t)
		w.write("mycelium.yaml", "{}\n")
		w.write("policies.yaml", text)
		w.trust()
		p := w.load()
		if got := strings.Join(lines(p.Problems), "\n"); !strings.Contains(got, want) || p.Unjudged != "policies.yaml has a fault" ||
			p.Broken.All != "" {
			t.Errorf("%q: %s; unjudged %q", text, got, p.Unjudged)
		}
		if _, err := rules.AddPolicy([]string{w.dir}, "x", "", false, time.Now()); err == nil {
			t.Errorf("%q: another one was added", text)
		}
	}
}

func TestAddPolicyKeepsWhatPeopleWrote(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	add := func(words, tool string, shared bool) judge.Policy {
		t.Helper()
		p, err := rules.AddPolicy([]string{w.dir}, words, tool, shared, now)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	mine := "# ours\npolicies:\n  # why\n  - id: pol_4\n    description: 'Never push.'"
	w.write("policies.yaml", mine)
	if p := add(`yes: "no" # 'x' 金曜日`, "agent__Bash", false); p.ID != "pol_5" {
		t.Errorf("%+v", p)
	}
	if p := add("- [x", "", true); p.ID != "pol_6" {
		t.Errorf("%+v", p)
	}
	if p := add("third", "", false); p.ID != "pol_7" {
		t.Errorf("%+v", p)
	}
	shared, err := os.ReadFile(filepath.Join(w.dir, "policies.yaml"))
	if err != nil || !strings.HasPrefix(string(shared), mine+"\n  - id: pol_6\n    description: \"- [x\"\n"+
		"    createdAt: 2026-11-22T12:00:00Z\n") {
		t.Errorf("%s %v", shared, err)
	}
	w.write("mycelium.yaml", "{}\n")
	w.trust()
	p := w.load()
	if len(p.Policies) != 4 || p.Policies[2].Description != `yes: "no" # 'x' 金曜日` || p.Policies[2].Tool != "agent__Bash" ||
		p.Policies[1].Description != "- [x" || p.Unjudged != "" {
		t.Errorf("%+v %q", p.Policies, lines(p.Problems))
	}
	// What cannot be continued at its end is left alone.
	for _, text := range []string{"policies: [{id: pol_1, description: x}]\n", "policies: {}\n"} {
		path := w.write("policies.yaml", text)
		if _, err := rules.AddPolicy([]string{w.dir}, "x", "", true, now); err == nil {
			t.Errorf("%q: %v", text, err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, words := range []string{"", "a\x00b", strings.Repeat("x", 3000)} {
		if p, err := rules.AddPolicy([]string{w.dir}, words, "", false, now); err == nil {
			t.Errorf("%+v", p)
		}
	}
}

func TestAddRuleKeepsWhatPeopleWrote(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, mine := range []string{"", "# ours\n", "version: 1\nrules:\n  # why\n  - name: said-1\n    action: ask\n    tool: Bash",
		"rules:\n- {name: a, action: deny, tool: x__y}\n"} {
		w := newWorld(t)
		w.write("mycelium.yaml", "{}\n")
		path := w.write("rules.yaml", mine)
		rule, err := judge.ParseRule(`deny Bash(git push *) because "we" push: by hand # 金曜日`)
		if err != nil {
			t.Fatal(err)
		}
		name, err := rules.Add([]string{w.dir}, rule, "花子\n  - name: evil", now)
		if err != nil {
			t.Fatalf("%q: %v", mine, err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(got), mine) || !strings.Contains(string(got),
			`# Added by 花子\n  - name: evil on 2026-11-22.`) {
			t.Errorf("%s %v", got, err)
		}
		w.trust()
		p := w.load()
		last := p.Rules[len(p.Rules)-1]
		if source.Faulty(p.Problems) || p.Broken.All != "" || last.Name != name || last.Reason != `"we" push: by hand # 金曜日` ||
			*last.Args["command"][0].Regex != *rule.Args["command"][0].Regex {
			t.Errorf("%+v %q", last, lines(p.Problems))
		}
		if second, err := rules.Add([]string{w.dir}, rule, "x", now); err != nil || second == name {
			t.Errorf("%q %v", second, err)
		}
	}
	w := newWorld(t)
	for _, text := range []string{"rules: [\n", "rules: []\nversion: 1\n", "rules: [{name: a, action: deny, tool: x__y}]\n"} {
		path := w.write("rules.yaml", text)
		if name, err := rules.Add([]string{w.dir}, policy.Rule{Action: "deny", Tool: policy.Names{"x__y"}}, "x", now); err == nil {
			t.Errorf("%q: %s", text, name)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	bad := "docs/[a"
	w.write("rules.yaml", "")
	if name, err := rules.Add([]string{w.dir}, policy.Rule{Action: "deny", Tool: policy.Names{"agent__Edit"},
		Match: map[string]policy.Values{"path": {{Glob: &bad}}}}, "x", now); err == nil {
		t.Errorf("a rule that does not compile: %s", name)
	}
}

// FuzzPolicies: any file and any words are either refused, or read back as what was there and the words.
func FuzzPolicies(f *testing.F) {
	f.Add([]byte("policies:\n  - {id: pol_1, description: x}\n"), "never")
	f.Add([]byte(""), "a: b\n- c")
	f.Add([]byte("policies:\n"), "# x")
	f.Add([]byte("# x"), "金\u3000曜")
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".mycelium"), 0o755); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, judge.PoliciesFile)
	f.Fuzz(func(t *testing.T, data []byte, words string) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := rules.AddPolicy([]string{dir}, words, "", true, time.Unix(1, 0))
		after, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err != nil {
			if string(after) != string(data) {
				t.Fatalf("refused and written: %q", after)
			}
			return
		}
		list, problems := rules.ParsePolicies("x", after, nil)
		if source.Faulty(problems) || !strings.HasPrefix(string(after), string(data)) ||
			list[len(list)-1].Description != strings.TrimSpace(words) || p.ID == "" {
			t.Fatalf("%q %+v", after, list)
		}
	})
}

func TestAgentsAndJudge(t *testing.T) {
	w := newWorld(t)
	w.write("mycelium.yaml", "agents: {budget: {session: 9, total: 3.5, warn: 0.5}, denials: {alert: 2, end: 0}}\n")
	w.writeUser("mycelium.yaml", "agents: {budget: {session: 5, total: 20}, denials: {end: 7}}\n"+
		"approval: {judge: {model: claude-haiku-5-5, confidence: 0.9, mayDeny: true, baseURL: \"http://127.0.0.1:1\", key: \"${secret:K}\", "+
		"timeout: 5s}}\n")
	w.trust()
	p := w.load()
	a := p.File.Agents
	session, total, warn := a.Budget.Limits()
	alert, end := a.Denials.Limits()
	if session != 5 || total != 3.5 || warn != 0.5 || alert != 2 || end != 7 {
		t.Errorf("%v %v %v %v %v", session, total, warn, alert, end)
	}
	got := strings.Join(lines(p.Problems), "\n")
	if !strings.Contains(got, "agents.budget.session has no effect: the user's files say 5") ||
		!strings.Contains(got, "agents.denials.end has no effect: the user's files say 7") || source.Faulty(p.Problems) {
		t.Errorf("%s", got)
	}
	j := p.File.Approval.Judge
	if j.Model != "claude-haiku-5-5" || j.Threshold() != 0.9 || !j.MayDeny || j.TimeLimit() != 5*time.Second || j.Off() {
		t.Errorf("%+v", j)
	}
	if alert, end := (agents.Denials{}).Limits(); alert != 5 || end != 10 {
		t.Errorf("defaults %d %d", alert, end)
	}
	for text, want := range map[string]string{
		"agents: {turns: -1}":                           "agents.turns is -1",
		"agents: {budget: {session: -1}}":               "agents.budget.session is -1",
		"agents: {budget: {total: .nan}}":               "agents.budget.total must be a number",
		"agents: {budget: {warn: 80}}":                  "agents.budget.warn is 80",
		"agents: {denials: {alert: 5000}}":              "agents.denials.alert is 5000",
		"agents: {denials: {alert: -1}}":                "agents.denials.alert is -1",
		"agents: {max: 5}":                              `unknown key "max"`,
		"approval: {judge: {confidence: 0}}":            "confidence is 0",
		"approval: {judge: {confidence: 80}}":           "confidence is 80",
		"approval: {judge: {model: 'a b'}}":             `model is "a b"`,
		"approval: {judge: {key: sk-ant-123}}":          "the key itself is in the file",
		"approval: {judge: {baseURL: 'ftp://x'}}":       `baseURL is "ftp://x"`,
		"approval: {judge: {baseURL: '${URL}'}}":        "baseURL is",
		"approval: {judge: {baseURL: 'https://k:s@x'}}": "baseURL is",
		"approval: {judge: {timeout: 1h}}":              "timeout is 1h0m0s",
		"approval: {judge: {timeout: 0}}":               "timeout is 0s",
		"approval: {judge: {enabled: maybe}}":           "mycelium.yaml:1",
		"approval: {judge: {policies: x}}":              `unknown key "policies"`,
	} {
		w := newWorld(t)
		w.write("mycelium.yaml", text+"\n")
		w.trust()
		p := w.load()
		if got := strings.Join(lines(p.Problems), "\n"); !strings.Contains(got, want) || p.Broken.All == "" {
			t.Errorf("%s: %s; broken %q", text, got, p.Broken.All)
		}
	}
}
