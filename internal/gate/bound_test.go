package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// TestBound: the calls of a session that is bound to a worktree are judged in that folder, and change nothing in the project's own folder;
// a sub-agent of it is bound, too. A restart changes nothing of that, and where the folder is gone nothing is called. A session that is
// bound to none is judged in the project's folder.
func TestBound(t *testing.T) {
	closed := "closed/**"
	p := three()
	p.tools = append(p.tools, "mycelium-sandbox__bash", "files__search_files")
	p.skills = []skill.Skill{{Grant: policy.Grant{Name: "all", AllowedRoles: []string{"developer"}, AllowedTools: []string{
		"files__*", "database__*", "agent__*", "execution__*", "mycelium-sandbox__*"}}, Description: "Does all."}}
	p.rules = []policy.Rule{
		{Name: "closed", Action: "deny", Match: map[string]policy.Values{"path": {{Glob: &closed}}}},
		{Name: "all", Action: "allow", Tool: policy.Names{"*"}},
	}
	h := build(t, p)
	tree := filepath.Join(filepath.Dir(h.dir), filepath.Base(h.dir)+"-tree")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", h.dir, "-c", "user.name=t", "-c", "user.email=t@localhost"},
			args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	for _, folder := range []string{"tree", h.dir, tree, tree + "/../x"} {
		if _, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "developer", Folder: folder}); err == nil {
			t.Errorf("a session in %s", folder)
		}
	}
	git("worktree", "add", "-q", "--detach", tree)
	t.Cleanup(func() { _ = os.RemoveAll(tree) })
	if err := os.Symlink(h.dir, filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}
	minted, token, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "developer", Folder: tree})
	if err != nil {
		t.Fatal(err)
	}
	if log := h.last("session"); log["args"].(map[string]any)["folder"] != tree {
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
	free := h.enter("developer")
	calls := map[string][2]policy.Effect{ // bound, and bound to none
		`files__write_file {"path":"a"}`:                                {policy.Allow, policy.Allow},
		`files__write_file {"path":"closed/a"}`:                         {policy.Deny, policy.Deny},
		`files__write_file {"path":"` + tree + `/closed/a"}`:            {policy.Deny, policy.Deny},
		`files__write_file {"path":"rules.yaml"}`:                       {policy.Deny, policy.Deny}, // a base constraint
		`files__write_file {"path":"link/rules.yaml"}`:                  {policy.Deny, policy.Allow},
		`mycelium-sandbox__bash {"command":"echo x > closed/a"}`:        {policy.Deny, policy.Deny},
		`mycelium-sandbox__bash {"command":"echo x > ` + tree + `/a"}`:  {policy.Allow, policy.Allow},
		`mycelium-sandbox__bash {"command":"echo x > link/rules.yaml"}`: {policy.Deny, policy.Allow},
		`database__query {}`:                                            {policy.Allow, policy.Allow},
		`database__delete_database {"path":"a"}`:                        {policy.Deny, policy.Allow},
		`database__delete_database {"path":"` + tree + `/a"}`:           {policy.Allow, policy.Allow},
		`execution__run_command {"command":"true"}`:                     {policy.Deny, policy.Allow},
		`agent__Read {"file_path":"a"}`:                                 {policy.Allow, policy.Allow},
		`agent__Read {"file_path":"` + h.dir + `/a"}`:                   {policy.Allow, policy.Allow},
		`agent__Write {"file_path":"` + h.dir + `/a"}`:                  {policy.Deny, policy.Allow},
		`agent__Write {"file_path":"` + tree + `/a"}`:                   {policy.Allow, policy.Allow},
		`agent__Write {"file_path":"` + tree + `/link/a"}`:              {policy.Deny, policy.Allow},
		`agent__Write {"file_path":"/tmp/a"}`:                           {policy.Deny, policy.Allow},
		`agent__Edit {"file_path":"` + tree + `/../x/a"}`:               {policy.Deny, policy.Allow},
		`agent__Bash {"command":"echo x > ` + h.dir + `/a"}`:            {policy.Deny, policy.Allow},
		`agent__Bash {"command":"cd ` + h.dir + ` && rm a"}`:            {policy.Deny, policy.Allow},
		`agent__Bash {"command":"cp a ` + h.dir + `/"}`:                 {policy.Deny, policy.Allow},
		`agent__Bash {"command":"rm -f ` + tree + `/*.o /tmp/x.log"}`:   {policy.Allow, policy.Allow},
	}
	judge := func(want func([2]policy.Effect) policy.Effect, as ...*session.Session) {
		t.Helper()
		for call, effects := range calls {
			name, args, _ := strings.Cut(call, " ")
			for _, s := range as {
				if d := h.admitted(s, request(name, args)); d.Effect != want(effects) {
					t.Errorf("%s: %+v", call, d)
				}
			}
		}
	}
	judge(func(e [2]policy.Effect) policy.Effect { return e[0] }, s, below)
	judge(func(e [2]policy.Effect) policy.Effect { return e[1] }, free)
	for path, want := range map[string]bool{"a": true, "closed/a": false} {
		if got := h.MaySearch(s.Scope(), filepath.Join(tree, path)); got != want {
			t.Errorf("a search reads %s: %t", path, got)
		}
	}
	// What no rule decides is not left to an agent's own permissions here.
	p.rules = p.rules[:1]
	h.Swap(p.world(t, h.dir))
	for who, want := range map[*session.Session]policy.Effect{s: policy.Ask, free: policy.Allow} {
		r := request("agent__Read", `{"file_path":"a"}`)
		r.Abstains = true
		if d := h.admitted(who, r); d.Effect != want {
			t.Errorf("an agent's own tool: %+v", d)
		}
	}
	git("worktree", "remove", "--force", tree)
	for _, call := range []string{`files__read_file {"path":"a"}`, `database__query {}`} {
		name, args, _ := strings.Cut(call, " ")
		if d := h.admitted(s, request(name, args)); d.Effect != policy.Deny || d.Rule != "session" {
			t.Errorf("%s without the worktree: %+v", call, d)
		}
	}
	if d := h.admitted(free, request("files__read_file", `{"path":"a"}`)); d.Effect != policy.Allow {
		t.Errorf("of a session that is bound to none: %+v", d)
	}
}
