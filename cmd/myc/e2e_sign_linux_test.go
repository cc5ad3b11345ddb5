package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
)

// TestSecondSignShort: red first.
func TestSecondSignShort(t *testing.T) {
	t.Parallel()
	p := &team{project: newProject(t, world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\n" +
			"approval: {mode: remote, deadline: 300s}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
	}))}
	p.url = p.serve()
	operator := strings.TrimSpace(p.must("approvals", "token"))
	for name, answer := range map[string]func(r approval.Request){
		"command on a pipe": func(r approval.Request) { _, _, _ = p.run("approvals", "approve", r.ID) },
		"HTTP": func(r approval.Request) {
			_, _, _ = p.fetch(http.MethodPost, strings.TrimSuffix(p.url, "/mcp")+"/api/approvals/"+r.ID, fmt.Sprintf(`{"allow":true,"digest":%q}`, r.Digest),
				strings.TrimPrefix(strings.TrimSuffix(p.url, "/mcp"), "http://"), "Content-Type", "application/json", "Authorization", "Bearer "+operator)
		},
	} {
		hook := p.hookAsks("t-"+name, "git push --force origin work")
		r := p.next("")
		if r.Risk != policy.Critical {
			t.Errorf("the risk is %s: is the test wrong?", r.Risk)
		}
		answer(r)
		var now approval.Request
		p.decode(&now, "approvals", "show", r.ID)
		if now.State != approval.Pending {
			t.Errorf("%s: without a second sign the call is %s", name, now.State)
		}
		_, _, _ = p.run("approvals", "deny", r.ID)
		<-hook.ended
	}
}
