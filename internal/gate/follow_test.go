package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// speaking is a plan with skills that prompts activate. The start set is reader.
func speaking() plan {
	p := three()
	p.start = []string{"reader"}
	p.skills = append(p.skills, skill.Skill{
		Grant:       policy.Grant{Name: "tester", AllowedRoles: []string{"developer", "admin"}, AllowedTools: []string{"execution__run_command"}},
		Description: "Runs the tests.", Triggers: []string{"test", "run the tests", "テスト"},
		Instructions: "Report what fails.",
	})
	return p
}

// after says a text to a session and compares what became active and inactive.
func after(t *testing.T, h *house, s *session.Session, said string, active ...string) session.Followed {
	t.Helper()
	f, err := h.Sessions.Follow(t.Context(), s, said)
	if err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	if got := s.Scope().Skills; !slices.Equal(got, active) {
		t.Errorf("after %q active are %v, want %v", said, got, active)
	}
	return f
}

// TestSkillsFollow is B2 and BT2: what a person says activates skills, the end of a task and a new one deactivate those of before, and
// the next session begins with the start set.
func TestSkillsFollow(t *testing.T) {
	h := build(t, speaking())
	s := h.enter("developer")
	after(t, h, s, "please edit the greeting", "editor", "reader")
	if d := h.last(audit.Session); d["note"] != "skills changed (prompt); escalate editor" ||
		!strings.Contains(fmt.Sprint(d["args"]), "editor 0.3 (edit)") {
		t.Errorf("recorded %v", d)
	}
	after(t, h, s, "テストして", "editor", "reader", "tester")
	after(t, h, s, "thanks, that's done", "editor", "reader", "tester")            // B16: an end word alone
	after(t, h, s, "done, edit it again", "editor", "reader", "tester")            // nothing new
	after(t, h, s, "don't run the tests, just look", "editor", "reader", "tester") // nor does a refusal deactivate

	s = h.enter("developer")
	after(t, h, s, "edit the greeting", "editor", "reader")
	f := after(t, h, s, "thanks, that's done. now run the tests", "reader", "tester")
	if !slices.Equal(f.Added, []string{"tester"}) || !slices.Equal(f.Removed, []string{"editor"}) {
		t.Errorf("%+v", f)
	}
	var kinds []string
	for _, e := range s.History() {
		kinds = append(kinds, e.Type+" "+e.Skill)
		if e.Reason == "" || e.Time.IsZero() {
			t.Errorf("history: %+v", e)
		}
	}
	if n := len(kinds); n < 2 || !slices.Equal(kinds[n-2:], []string{"deescalate editor", "escalate tester"}) {
		t.Errorf("history %v", kinds) // demotion first (B13), each on record (B30)
	}
	if err := h.Sessions.End(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if got := h.enter("developer").Scope().Skills; !slices.Equal(got, []string{"reader"}) {
		t.Errorf("the next session begins with %v", got)
	}
}

// A prompt widens nothing: neither what is not open to the role, nor what the operator took away, nor against the mode.
func TestFollowingIsBounded(t *testing.T) {
	h := build(t, speaking())
	guest := h.enter("guest")
	if f := after(t, h, guest, "edit it and run the tests", "reader"); len(f.Wanted) > 0 {
		t.Errorf("the guest is told of %v", f.Wanted)
	}
	whole := speaking()
	whole.start = nil
	h = build(t, whole)
	s := h.enter("developer")
	if err := h.Sessions.SetSkills(t.Context(), s, nil, []string{"tester"}, session.ByOperator); err != nil {
		t.Fatal(err)
	}
	after(t, h, s, "run the tests", "editor", "reader")

	for mode, wanted := range map[string][]string{"confirm": {"editor"}, "manual": nil} {
		p := speaking()
		p.promote = mode
		h := build(t, p)
		if f := after(t, h, h.enter("developer"), "done. edit it", "reader"); !slices.Equal(f.Wanted, wanted) {
			t.Errorf("%s: %+v", mode, f)
		}
	}
}

// TestPromotionOfARole: a role's mode narrows that of the session section, also for the roles that inherit it, and never widens it (BX1).
func TestPromotionOfARole(t *testing.T) {
	for _, test := range []struct{ section, role, want string }{
		{"", "", "auto"}, {"", "confirm", "confirm"}, {"", "manual", "manual"}, {"confirm", "auto", "confirm"}, {"manual", "auto", "manual"},
		{"confirm", "manual", "manual"}, {"auto", "auto", "auto"},
	} {
		p := speaking()
		p.promote = test.section
		p.roles = []policy.Role{{ID: "developer", Promotion: test.role}, {ID: "admin", Inherits: "developer"}}
		h := build(t, p)
		for _, role := range []string{"developer", "admin"} {
			if got := h.enter(role).Snapshot().Promotion(); got != test.want {
				t.Errorf("session %q, role %q: %s has %q, want %q", test.section, test.role, role, got, test.want)
			}
		}
		if got := h.enter("guest").Snapshot().Promotion(); test.section == "" && got != "auto" {
			t.Errorf("the mode of one role holds for another: %q", got)
		}
	}
}
