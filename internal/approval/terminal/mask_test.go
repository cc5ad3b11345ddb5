package terminal

import (
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/approval/approvaltest"
	"mycelium/internal/credential/credentialtest"
)

// TestNoFormIsShown: secrets of every known form are masked for the people who are asked.
func TestNoFormIsShown(t *testing.T) {
	for _, kind := range []approval.Kind{approval.Call, approval.Stop, approval.Question} {
		for _, f := range credentialtest.Samples() {
			r := approvaltest.Shown(t, kind, f)
			screen := newScreen(200, 200)
			screen.Update(r)
			if text := screen.text() + Gist(r); strings.Contains(text, f.Secret) {
				t.Errorf("%s: a %s shows it: %s", f.Form, kind, text)
			}
		}
	}
}
