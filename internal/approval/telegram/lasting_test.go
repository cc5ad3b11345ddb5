package telegram

import (
	"fmt"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// TestTelegramOffersWhatLasts: a message has the buttons for an answer that lasts where the queue takes it.
func TestTelegramOffersWhatLasts(t *testing.T) {
	w := newChat(t, 0, nil)
	for _, sandbox := range []string{"", "project"} {
		r := Bash("go test ./pkg" + sandbox)
		r.Sandbox = box.Of(sandbox)
		r.Facts = policy.Facts{Parts: []policy.Part{{Program: "go", Effects: []string{policy.EffectProjectCode}}}}
		answer := w.ask(r)
		m := w.message("go test ./pkg" + sandbox)
		buttons := fmt.Sprint(m.Buttons)
		for _, label := range []string{"For this session", "Always"} {
			if strings.Contains(buttons, label) != (sandbox != "") {
				t.Errorf("in the sandbox %q the buttons are %s", sandbox, buttons)
			}
		}
		w.tap(alice, m.ID, "❌ Deny")
		w.got(answer)
	}
}
