package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// fifty is a world of more tools than a list shows: fifty of a box, and a few that have names.
func fifty(search string) plan {
	p := plan{search: search, roles: []policy.Role{{ID: "guest"}, {ID: "whole", ToolSearch: "off"}, {ID: "few", ToolSearch: "80"}}}
	grant := policy.Grant{Name: "all", AllowedRoles: []string{"guest", "whole", "few"}, AllowedTools: []string{"box__*", "mail__send_email"}}
	for i := range 50 {
		p.tools = append(p.tools, fmt.Sprintf("box__thing%d", i))
	}
	p.tools = append(p.tools, "mail__send_email", "mail__delete_mailbox")
	p.skills = []skill.Skill{{Grant: grant, Description: "Everything."}}
	return p
}

// listed returns what the client of a session is listed, the gate's own tools aside.
func listed(s *session.Session, searches bool) []string {
	out := []string{}
	for _, l := range s.Tools(searches) {
		if !view.IsOwn(l.Item.Server) {
			out = append(out, l.Item.String())
		}
	}
	return out
}

// TestDeferral: which lists leave tools out, and that everything in view can be called.
func TestDeferral(t *testing.T) {
	t.Parallel()
	for _, tt := range [...]struct {
		search, role string
		searches     bool
		want         int
	}{
		{"", "guest", false, 0}, {"auto", "guest", false, 0}, {"on", "guest", false, 0}, {"off", "guest", false, 51},
		{"60", "guest", false, 51}, {"50", "guest", false, 0}, {"on", "whole", false, 51}, {"on", "few", false, 51},
		{"auto", "guest", true, 51}, {"on", "guest", true, 0},
		{"nonsense", "guest", false, 51},
	} {
		h := build(t, fifty(tt.search))
		s := h.enter(tt.role)
		if got := listed(s, tt.searches); len(got) != tt.want {
			t.Errorf("toolSearch %q, role %s, a client that searches %v: %d tools listed, want %d",
				tt.search, tt.role, tt.searches, len(got), tt.want)
		}
		if n := len(h.sees(s)); n != 51 {
			t.Errorf("%d tools in view", n)
		}
	}
	h := build(t, fifty("on"))
	s := h.enter("guest")
	if own := s.Tools(false); len(own) < 10 {
		t.Errorf("the gate's own tools are not listed: %d", len(own))
	}
	if _, err := h.Call(t.Context(), s, request("box__thing7", "")); err != nil {
		t.Errorf("a tool that is not listed: %v", err)
	}
	if got := listed(s, false); !slices.Equal(got, []string{"box__thing7"}) {
		t.Errorf("listed after a call: %v", got)
	}
	if got := listed(h.enter("guest"), false); !slices.Equal(got, []string{"box__thing7"}) {
		t.Errorf("another session is not listed what was used lately: %v", got)
	}
	if l := h.Sessions.Listed(); l.Sessions != 2 || l.Listed <= 0 || l.Listed >= l.All {
		t.Errorf("saved %+v", l)
	}
}

// TestFindTool: what is found is listed from now on, the client hears of it, and a hidden tool is never found.
func TestFindTool(t *testing.T) {
	t.Parallel()
	h := build(t, fifty("auto"))
	s := h.enter("guest")
	_ = listed(s, false)
	changed := s.Changed()
	answer, _ := h.ask(s, "mycelium-router__find_tool", `{"query":"田中さんにメールを送って","limit":3}`)
	tools := answer["tools"].([]any)
	if first := tools[0].(map[string]any); first["name"] != "mail__send_email" || first["description"] == "" || first["inputSchema"] == nil {
		t.Errorf("found %v", tools)
	}
	if answer["callableTools"] != 51.0 {
		t.Errorf("callable %v", answer["callableTools"])
	}
	select {
	case <-changed:
	default:
		t.Error("the client is not told that the list changed")
	}
	if got := listed(s, false); !slices.Contains(got, "mail__send_email") {
		t.Errorf("listed %v", got)
	}
	for _, query := range []string{"delete the mailbox", "mail__delete_mailbox", "delete_mailbox mail"} {
		answer, _ = h.ask(s, "mycelium-router__find_tool", fmt.Sprintf(`{"query":%q,"limit":50}`, query))
		if got := fmt.Sprint(answer); strings.Contains(got, "delete_mailbox") {
			t.Errorf("%q finds what is hidden: %s", query, got)
		}
	}
	for _, bad := range []string{`{"query":""}`, `{"query":"x","limit":0}`, `{"query":"x","limit":51}`} {
		if _, text := h.ask(s, "mycelium-router__find_tool", bad); text == "" {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestHiddenIsAbsentInFind: the answer is the same, byte for byte, whether a hidden tool exists or not.
func TestHiddenIsAbsentInFind(t *testing.T) {
	t.Parallel()
	with, without := fifty("on"), fifty("on")
	without.tools = slices.DeleteFunc(without.tools, func(n string) bool { return n == "mail__delete_mailbox" })
	var answers [2]string
	for i, p := range []plan{with, without} {
		h := build(t, p)
		answer, _ := h.ask(h.enter("guest"), "mycelium-router__find_tool", `{"query":"delete the mailbox and send mail"}`)
		answers[i] = fmt.Sprint(answer)
	}
	if answers[0] != answers[1] {
		t.Errorf("a hidden tool shows:\n%s\n%s", answers[0], answers[1])
	}
}

// TestFindLearns: a tool that was called after a search is found by the words of that search.
func TestFindLearns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	h := buildWith(t, fifty("on"), nil, func() time.Time { return now })
	s := h.enter("guest")
	query := `{"query":"defrobnicate the gizmo","limit":1}`
	if answer, _ := h.ask(s, "mycelium-router__find_tool", query); len(answer["tools"].([]any)) != 0 {
		t.Fatalf("found %v", answer)
	}
	if _, err := h.Call(t.Context(), s, request("box__thing31", "")); err != nil {
		t.Fatal(err)
	}
	answer, _ := h.ask(h.enter("guest"), "mycelium-router__find_tool", query)
	if got := fmt.Sprint(answer["tools"]); !strings.Contains(got, "box__thing31") {
		t.Errorf("found %s", got)
	}
	now = now.Add(session.Follows + time.Second)
	if _, err := h.Call(t.Context(), s, request("box__thing32", "")); err != nil {
		t.Fatal(err)
	}
	answer, _ = h.ask(s, "mycelium-router__find_tool", `{"query":"defrobnicate the gizmo","limit":9}`)
	if got := fmt.Sprint(answer["tools"]); strings.Contains(got, "box__thing32") {
		t.Errorf("a call long after the search was learnt: %s", got)
	}
}

// TestDeferralNeedsFindTool: where find_tool is denied, nothing is left out, since nothing could be found.
func TestDeferralNeedsFindTool(t *testing.T) {
	t.Parallel()
	p := fifty("on")
	p.roles[0].Deny = []string{"mycelium-router__find_tool"}
	h := build(t, p)
	s := h.enter("guest")
	if got := listed(s, false); len(got) != 51 {
		t.Errorf("%d tools listed", len(got))
	}
	if text := h.Instructions(s); strings.Contains(text, "find_tool") {
		t.Errorf("the instructions name a hidden tool: %s", text)
	}
	h = build(t, fifty("on"))
	if text := h.Instructions(h.enter("guest")); !strings.Contains(text, "mycelium-router__find_tool finds them") {
		t.Errorf("the instructions do not say how to find tools: %s", text)
	}
}

// TestSuggestWithoutTriggers: a skill is suggested by what it says about itself.
func TestSuggestWithoutTriggers(t *testing.T) {
	t.Parallel()
	h := build(t, plan{
		tools: []string{"box__a"},
		skills: []skill.Skill{
			{Grant: policy.Grant{Name: "translator", AllowedRoles: []string{"guest"}}, Description: "Translates documents into other languages."},
			{Grant: policy.Grant{Name: "painter", AllowedRoles: []string{"guest"}}, Description: "Draws charts and diagrams."},
			{Grant: policy.Grant{Name: "secret", AllowedRoles: []string{"admin"}}, Description: "Translates documents in secret."},
		},
		roles: []policy.Role{{ID: "guest"}, {ID: "admin"}},
	})
	s := h.enter("guest")
	for intent, want := range map[string]string{
		"translate this document": "translator", "この文書を翻訳して": "translator", "グラフを描いて": "painter",
		"what a lovely day": "",
	} {
		answer, _ := h.ask(s, "mycelium-router__suggest_skills", fmt.Sprintf(`{"intent":%q}`, intent))
		got := fmt.Sprint(answer["suggestions"])
		if want == "" && got != "[]" || !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%q suggests %s, want %q", intent, got, want)
		}
	}
}
