package terminal

import (
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// TestTerminalOffersWhatLasts: the keys for an answer that lasts are there where the queue takes it, and say why where it does not.
func TestTerminalOffersWhatLasts(t *testing.T) {
	r := call("x", "agent__Bash", `{"command":"go test ./..."}`)
	r.Facts.Parts = []policy.Part{{Program: "go", Effects: []string{policy.EffectProjectCode}}}
	s := newScreen(80, 24)
	s.Update(r)
	if strings.Contains(s.text(), "s session") || strings.Contains(s.text(), "r rule") || !strings.Contains(s.text(), "a allow  d deny") {
		t.Errorf("outside of the sandbox:\n%s", s.text())
	}
	s.press("s")
	if !strings.Contains(s.text(), "only once: it runs code of the project outside of the sandbox") {
		t.Errorf("the key says:\n%s", s.text())
	}
	s.press("r", "y")
	if len(s.sent) != 0 {
		t.Errorf("sent %+v", s.sent)
	}
	r.Sandbox = box.Of("project")
	s = newScreen(80, 24)
	s.Update(r)
	if !strings.Contains(s.text(), "s session  r rule") || !strings.Contains(s.text(), "It runs in the sandbox project.") {
		t.Errorf("in the sandbox:\n%s", s.text())
	}
	if s.press("s"); len(s.sent) != 1 {
		t.Errorf("sent %+v", s.sent)
	}
}
