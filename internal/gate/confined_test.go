package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/skill"
)

// TestConfined: a session that may change one file changes no other one, whatever its rules allow, and neither does a subagent of it nor a
// sub-agent. Its commands run in the sandbox that writes nothing, or not at all. A restart changes nothing of that.
func TestConfined(t *testing.T) {
	p := three()
	p.skills = []skill.Skill{{Grant: policy.Grant{Name: "all", AllowedRoles: []string{"developer"}, AllowedTools: []string{
		"files__*", "database__*", "agent__*", "execution__*", policy.SkillsServer + "__run_script"}}, Description: "Does all."}}
	p.rules = []policy.Rule{{Name: "all", Action: "allow", Tool: policy.Names{"*"}, Sandbox: box.Of("")}}
	h := build(t, p)
	only := filepath.Join(h.dir, "findings.json")
	if err := os.Symlink(filepath.Join(h.dir, "elsewhere"), filepath.Join(h.dir, "link")); err != nil {
		t.Fatal(err)
	}
	minted, token, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "developer", Writes: only})
	if err != nil {
		t.Fatal(err)
	}
	if log := h.last("session"); !strings.Contains(log["args"].(map[string]any)["writes"].(string), only) {
		t.Errorf("the log has of it: %v", log)
	}
	h.restart(p)
	s, err := h.Sessions.Authenticate(t.Context(), token)
	if err != nil || s == minted {
		t.Fatal("it is the same session in memory", err)
	}
	below, _, err := s.Spawn(t.Context(), session.Start{Role: "developer"})
	if err != nil {
		t.Fatal(err)
	}
	for tool, effects := range map[string]policy.Effect{
		`files__read_file {"path":"a"}`:                                    policy.Allow,
		`agent__Read {"file_path":"a"}`:                                    policy.Allow,
		`agent__Grep {"pattern":"a"}`:                                      policy.Allow,
		`agent__TodoWrite {}`:                                              policy.Allow,
		`agent__Write {"file_path":"findings.json"}`:                       policy.Allow,
		`agent__Edit {"file_path":"./x/../findings.json"}`:                 policy.Allow,
		`files__write_file {"path":"findings.json"}`:                       policy.Allow,
		`agent__Write {"file_path":"a"}`:                                   policy.Deny,
		`agent__Write {"file_path":"findings.json/../a"}`:                  policy.Deny,
		`agent__Write {"file_path":"link"}`:                                policy.Deny,
		`agent__Edit {"file_path":"main.go"}`:                              policy.Deny,
		`agent__NotebookEdit {"notebook_path":"a.ipynb"}`:                  policy.Deny,
		`agent__Write {}`:                                                  policy.Deny,
		`agent__EnterWorktree {}`:                                          policy.Deny,
		`agent__Monitor {"command":"touch a"}`:                             policy.Deny,
		`agent__SomethingNew {}`:                                           policy.Deny,
		`files__delete_file {"path":"findings.json","other":{"path":"a"}}`: policy.Deny,
		`files__move_file {"source":"findings.json","destination":"b"}`:    policy.Deny,
		`database__query {}`:                                               policy.Deny,
		`execution__run_command {"command":"touch a"}`:                     policy.Deny,
		policy.SkillsServer + `__run_script {"skill":"all","script":"x"}`:  policy.Deny,
		policy.SkillsServer + `__list_skills {}`:                           policy.Allow,
		`agent__Bash {"command":"echo x > a"}`:                             policy.Allow, // in the sandbox; see below
	} {
		name, args, _ := strings.Cut(tool, " ")
		for who, as := range map[string]struct {
			*session.Session
			*session.Child
		}{"it": {s, nil}, "a subagent": {s, &session.Child{ID: "a"}}, "a sub-agent": {below, nil}} {
			r := request(name, args)
			r.Child, r.Unbound = as.Child, func(context.Context, policy.Effect) string { return "" }
			a, err := h.Admit(t.Context(), as.Session, r)
			if got := err == nil; got != (effects == policy.Allow) {
				t.Errorf("%s of %s: %v", tool, who, err)
			}
			if err == nil && name == "agent__Bash" && a.Sandbox().String() != "standard" {
				t.Errorf("%s of %s runs in %q", tool, who, a.Sandbox())
			}
			if err == nil {
				a.Done(t.Context(), Reply{Result: []byte(`{}`)}, nil)
			}
		}
	}
	// Where there is no sandbox, a command is no question to a person: it does not run.
	for _, unbound := range []func(context.Context, policy.Effect) string{nil, func(context.Context, policy.Effect) string { return "none" }} {
		r := request("agent__Bash", `{"command":"true"}`)
		r.Unbound = unbound
		if d := h.admitted(s, r); d.Effect != policy.Deny || d.Rule != "session" {
			t.Errorf("without a sandbox: %+v", d)
		}
	}
	if _, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "developer", Writes: "findings.json"}); err == nil {
		t.Error("a path that is not absolute is taken")
	}
}
