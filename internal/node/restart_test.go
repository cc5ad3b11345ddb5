package node

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mycelium/internal/config/restart"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/node/agentcard"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/policy/identity"
)

// elsewhere are the tests that show for every key of a section that a change of it takes effect. That the section reaches those who use
// it is shown here, by the keys of changes.
var elsewhere = map[string]string{
	"mcpServers.NAME.":   "backend.TestReconfigureTakesEveryKey",
	"approval.telegram.": "chat.TestEveryKeyOfAChannelIsTakenUp",
	"approval.notify.":   "chat.TestEveryKeyOfAChannelIsTakenUp",
	"approval.deadline":  "reload.txtar",
	"audit.sync":         "audit.TestKeep",
	"web.":               "main.TestWebServerFollowsItsFile",
}

// change is a change of one key under a running node. see is what follows from it: it returns something else afterwards.
type change struct {
	key, was, is string
	see          func(w *rig) any
}

// rig is a running node, and the files of its project.
type rig struct {
	*Node
	t      *testing.T
	loader *project.Loader
	home   string
	end    func() // ends the node
	tries  int    // of budgets and refusals: each begins a count of its own
}

func newRig(t *testing.T) *rig {
	home := t.TempDir()
	w := &rig{t: t, home: home, loader: &project.Loader{Dir: filepath.Join(home, "shop"), Err: os.Stderr, Environ: []string{"HOME=" + home,
		"XDG_STATE_HOME=" + filepath.Join(home, "s"), "KEY_ONE=sk-one", "KEY_TWO=sk-two"}}}
	w.write("skills/reader/SKILL.yaml", "{name: reader, description: Reads., allowedRoles: [guest, dev], allowedTools: [files__read_file]}")
	w.write("skills/more/SKILL.yaml", "{name: more, description: More., allowedRoles: [guest, dev], allowedTools: [agent__Read, agent__Bash]}")
	w.write("roles/dev.yaml", "inherits: guest")
	w.write("deny.yaml", "{version: 1, rules: [{name: r, action: deny, tool: files__read_file, args: {path: [x]}}]}")
	if _, err := w.loader.KnowNew(); err != nil {
		t.Fatal(err)
	}
	w.accept("")
	w.Node = w.open()
	t.Cleanup(func() { w.end() })
	return w
}

// open opens a node over the project.
func (w *rig) open() *Node {
	w.t.Helper()
	own := *w.loader // the node loads by itself, at the same time
	n, end, err := Own(w.t.Context(), Options{Loader: &own, Kind: daemon.Automatic})
	if err != nil {
		w.t.Fatal(err)
	}
	w.end = end
	return n
}

// write writes a file of the project.
func (w *rig) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.home, "shop", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// accept accepts a mycelium.yaml, as myc trust does.
func (w *rig) accept(text string) {
	w.t.Helper()
	w.write("mycelium.yaml", text)
	p, err := w.loader.Load()
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := p.Candidate()
	if err == nil {
		err = c.Accept(time.Now())
	}
	if err != nil {
		w.t.Fatal(text, err, c.Why)
	}
}

// role, and those below it, are what a change shows in.
func role(w *rig) any {
	s, err := w.Status(w.t.Context())
	if err != nil {
		w.t.Error(err)
	}
	return s.Role
}

func startSkills(w *rig) any  { return w.View().Status().Skills.Active }
func agentSession(w *rig) any { return w.View().AgentSession() }
func promotion(w *rig) any    { return w.gate.World().Promotion }
func limits(w *rig) any       { return fmt.Sprint(w.gate.World().Policy.Bounds("guest")) }

// decision returns what a call of a guest meets.
func decision(tool string) func(w *rig) any {
	return func(w *rig) any {
		item, err := policy.ParseTool(tool)
		if err != nil {
			w.t.Fatal(err)
		}
		args, err := policy.ParseArgs([]byte(`{"path":"x"}`))
		if err != nil {
			w.t.Fatal(err)
		}
		scope := policy.Scope{Principal: policy.Principal{Role: "guest"}, Skills: []string{"reader", "more"}}
		return w.gate.World().Policy.Decide(policy.Call{Scope: scope, Item: item, Args: args}).Effect
	}
}

// walls returns the sandbox of an agent's command that no rule decides.
func walls(w *rig) any {
	scope := policy.Scope{Principal: policy.Principal{Role: "guest"}, Skills: []string{"reader", "more"}}
	return w.gate.World().Policy.Decide(policy.Call{Scope: scope, Item: policy.Bash}).Sandbox.String()
}

// judgeConf returns with what a model is asked.
func judgeConf(w *rig) any {
	client, conf, err := w.judge.model()
	return fmt.Sprintln(client != nil, conf.Model, conf.Threshold(), conf.MayDeny, conf.TimeLimit(), w.judge.to, err)
}

// unknownAgent returns what becomes of an agent that no rule matches.
func unknownAgent(w *rig) any {
	got := w.View().Identify(w.t.Context(), &agentcard.Card{Card: identity.Card{Name: "other", Lacks: []string{"url"}}}, time.Time{})
	return []string{got.Role, got.Reason}
}

// expanded says where a secret was looked for in vain.
func expanded(w *rig) any {
	_, err := w.pool.Expand("${secret:ABSENT}")
	return fmt.Sprint(err)
}

// spending returns what the budget says of a session that has spent something.
func spending(w *rig) any {
	text, err := os.ReadFile("../run/testdata/transcript/session.jsonl")
	if err != nil {
		w.t.Fatal(err)
	}
	today := []byte(`"timestamp":"` + time.Now().UTC().Format(time.RFC3339) + `"`)
	w.tries++
	name := fmt.Sprint("session", w.tries)
	w.write(name+".jsonl", string(regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAll(text, today)))
	s := w.Runs.Budget.Check(name, harness.Transcript(filepath.Join(w.home, "shop", name+".jsonl")))
	return []string{s.Stop[:min(30, len(s.Stop))], s.Warn[:min(30, len(s.Warn))]}
}

// refusals returns what follows from three refusals in a row.
func refusals(w *rig) (out any) {
	w.tries++
	for range 3 {
		row := w.Runs.Denials.Decided(fmt.Sprint("session", w.tries), false)
		out = []bool{row.Advice != "", row.Halt != ""}
	}
	return out
}

// withoutToken returns the status of a request without a token.
func withoutToken(w *rig) any {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer := httptest.NewRecorder()
	w.gateway.Handler().ServeHTTP(answer, r)
	return answer.Code
}

// boxes returns what the built-in server says of the profiles of the sandbox.
func boxes(w *rig) any {
	result, _, err := w.files.View().Sandbox.Do(w.t.Context(), policy.Scope{}, "tools/call",
		[]byte(`{"name":"sandbox_profiles","arguments":{}}`), nil)
	return fmt.Sprint(string(result), err)
}

// startAgent says why a chat cannot start an agent in a folder of the project.
func startAgent(w *rig) any {
	_, err := w.chats.Start(w.t.Context(), filepath.Join(w.home, "shop", "roles"), "", "", api.Bot{})
	return fmt.Sprint(err)
}

// unaccepted returns the role after a change that nobody has accepted.
func unaccepted(w *rig) any {
	w.write("mycelium.yaml", "session: {defaultRole: dev}")
	if err := w.files.Reload(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	return role(w)
}

// changes has every key that a running node takes up, apart from those of elsewhere. The value of user: is the user's own file.
func changes() []change {
	all := []change{
		{"mcpServers.NAME.command", "mcpServers: {a: {command: ./a}}", "mcpServers: {b: {command: ./b}}",
			func(w *rig) any { return fmt.Sprint(w.pool.Status()) }},
		{"mcpServers.NAME.bare", "mcpServers: {a: {command: ./a}}", "mcpServers: {a: {command: ./a, bare: true}}",
			func(w *rig) any { return w.gate.World().Bare }},
		{"session.defaultRole", "session: {defaultRole: guest}", "session: {defaultRole: dev}", role},
		{"session.agentRole", "session: {agentRole: guest}", "session: {agentRole: dev}", agentSession},
		{"session.roles", "session: {roles: [guest]}", "session: {roles: [guest, dev]}", agentSession},
		{"session.defaultSkills", "session: {defaultRole: guest}", "session: {defaultRole: guest, defaultSkills: [reader]}", startSkills},
		{"session.promotion", "session: {promotion: auto}", "session: {promotion: manual}", promotion},
		{"session.toolSearch", "session: {toolSearch: auto}", "session: {toolSearch: 12}",
			func(w *rig) any { return w.gate.World().ToolSearch }},
		{"session.requireApproval", "", "session: {requireApproval: true}", promotion},
		{"policy.fallback.mcp", "", "policy: {fallback: {mcp: deny}}", decision("files__read_file")},
		{"policy.fallback.agent", "", "policy: {fallback: {agent: deny}}", decision("agent__Read")},
		{"policy.wall", "", "policy: {wall: project}", walls},
		{"policy.rules", "", "policy: {rules: [deny.yaml]}", decision("files__read_file")},
		{"audit.redact", "", "audit: {redact: [ssn]}", func(w *rig) any { return string(w.log.Redact([]byte(`{"ssn":"1"}`))) }},
		{"server.anonymous", "", "server: {anonymous: guest}", withoutToken},
		{"secrets.file", "secrets: {file: /a/one.age}", "secrets: {file: /a/two.age}", expanded},
		{"secrets.identity", "secrets: {file: ~/shop/deny.yaml, identity: /a/one.key}",
			"secrets: {file: ~/shop/deny.yaml, identity: /a/two.key}", expanded},
		{"secrets.keyring", "secrets: {keyring: off}", "secrets: {keyring: other}", expanded},
		{"approval.mode", "approval: {mode: local}", "approval: {mode: remote}", func(w *rig) any { return w.chats.Mode() }},
		{"approval.askVia", "", "approval: {askVia: client}", func(w *rig) any { return w.gate.World().AskClient }},
		{"approval.ask_via", "", "approval: {ask_via: client}", func(w *rig) any { return w.gate.World().AskClient }},
		{"approval.telegram.token", "", `approval: {telegram: {token: "${KEY_ONE}", users: [1], server: "http://127.0.0.1:1"}}`,
			func(w *rig) any { return w.chats.Chat() }},
		{"approval.idle", `approval: {telegram: {token: "${KEY_ONE}", users: [1], server: "http://127.0.0.1:1"}}`,
			`approval: {idle: 0, telegram: {token: "${KEY_ONE}", users: [1], server: "http://127.0.0.1:1"}}`,
			func(w *rig) any { return w.chats.Asked() }},
		{"spawn.searchPaths", "", "spawn: {searchPaths: [~/shop]}", startAgent},
		{"spawn.command", "spawn: {searchPaths: [~/shop], command: [absent]}", "spawn: {searchPaths: [~/shop], command: [missing]}", startAgent},
		{"agents.budget.session", "", "agents: {budget: {session: 0.0001}}", spending},
		{"agents.budget.total", "", "agents: {budget: {total: 0.0001}}", spending},
		{"agents.budget.warn", "agents: {budget: {session: 1000, warn: 1}}", "agents: {budget: {session: 1000, warn: 0.0000001}}", spending},
		{"agents.turns", "", "agents: {turns: 1}", spending},
		{"agents.denials.alert", "", "agents: {denials: {alert: 2}}", refusals},
		{"identity.rejectUnknown", "identity: {}", "identity: {rejectUnknown: false, defaultRole: guest}", unknownAgent},
		{"identity.defaultRole", "identity: {rejectUnknown: false, defaultRole: guest}", "identity: {rejectUnknown: false, defaultRole: dev}",
			unknownAgent},
		{"identity.strictValidation", "identity: {}", "identity: {strictValidation: true}", unknownAgent},
		{"identity.trustedPrefixes", "identity: {}", "identity: {trustedPrefixes: [acme-]}", unknownAgent},
		{"identity.keys", "identity: {}", "identity: {keys: [/absent.jwks]}", unknownAgent},
		{"agents.denials.end", "", "agents: {denials: {end: 2}}", refusals},
		{"env", "", "env: [A_NAME]", func(w *rig) any { return w.Servers.EnvironNames() }},
	}
	for key, value := range map[string]string{"model": "m", "confidence": "0.3", "mayDeny": "true", "key": `"${KEY_TWO}"`,
		"baseURL": "http://127.0.0.1:1", "timeout": "3s", "enabled": "false"} {
		was := `approval: {judge: {key: "${KEY_ONE}"}}`
		is := fmt.Sprintf(`approval: {judge: {key: "${KEY_ONE}", %s: %s}}`, key, value)
		if key == "key" {
			is = fmt.Sprintf(`approval: {judge: {key: %s}}`, value)
		}
		all = append(all, change{"approval.judge." + key, was, is, judgeConf})
	}
	for key, value := range map[string]string{"base": "project", "network": "true", "processes": "3", "files": "99", "memory": "64MiB",
		"timeout": "7s", "read": "[docs]", "write": "[out]", "hosts": "[a.example]", "masks": "{T: [a.example]}",
		"registries": "[npm]", "packages": `["npm:left-pad"]`} {
		all = append(all, change{"sandbox.profiles.NAME." + key, "", fmt.Sprintf("sandbox: {profiles: {mine: {%s: %s}}}", key, value), boxes})
	}
	for key, corp := range map[string]string{"like": "{like: npm, hosts: [a.example]}", "hosts": "{like: pypi, hosts: [b.example]}"} {
		form := "sandbox: {profiles: {mine: {registries: [corp]}}, registries: {corp: %s}}"
		all = append(all, change{"sandbox.registries.NAME." + key, fmt.Sprintf(form, "{like: pypi, hosts: [a.example]}"), fmt.Sprintf(form, corp), boxes})
	}
	for _, figure := range []string{"perMinute", "perHour", "perDay", "concurrent"} {
		for at, form := range map[string]string{"": "%s", ".tools.NAME": "{tools: {files__*: %s}}", ".session": "{session: %s}",
			".session.tools.NAME": "{session: {tools: {files__*: %s}}}"} {
			is := "limits: {guest: " + fmt.Sprintf(form, "{"+figure+": 7}") + "}"
			all = append(all, change{"limits.NAME" + at + "." + figure, "", is, limits})
		}
	}
	return append(all, change{"sandbox.backend", "", "user: {sandbox: {backend: bubblewrap}}", boxes},
		change{"trust", "", "user: {trust: folder}", unaccepted},
		// with files that nobody has accepted: strict refuses that a role inherits, and what does not load cannot be accepted
		change{"policy.strict", "policy: {strict: false}", "policy: {strict: true}", func(w *rig) any { return w.files.Broken() }})
}

// TestReloadTakesUpEveryKey: each key that needs no restart is in force in a running node once a change of it is accepted and read.
func TestReloadTakesUpEveryKey(t *testing.T) {
	w, shown := newRig(t), map[string]bool{}
	put := func(text string) {
		w.t.Helper()
		if own, ok := strings.CutPrefix(text, "user: "); ok {
			text = ""
			path := filepath.Join(w.home, ".config", "mycelium", "mycelium.yaml")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(own+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		strict := strings.Contains(text, "{strict:")
		if strict {
			w.write("mycelium.yaml", text)
		} else {
			w.accept(text)
		}
		if err := w.files.Reload(t.Context()); err != nil && !strict {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for _, c := range changes() {
		put(c.was)
		before := fmt.Sprint(c.see(w))
		put(c.is)
		if after := fmt.Sprint(c.see(w)); after == before {
			t.Errorf("%s: %q became %q, and it is still %s", c.key, c.was, c.is, before)
		}
		shown[c.key] = true
	}
	for _, k := range restart.Keys() {
		key := k.Path
		if k.Restart || shown[key] {
			continue
		}
		covered := false
		for section := range elsewhere {
			covered = covered || key == section || strings.HasSuffix(section, ".") && strings.HasPrefix(key, section)
		}
		if !covered {
			t.Errorf("%s: nothing shows that a change of it takes effect", key)
		}
	}
}
