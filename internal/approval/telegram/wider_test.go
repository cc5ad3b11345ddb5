package telegram

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
)

// pushing is a call of git push with its facts.
func pushing(command string) approval.Request {
	r := Bash(command)
	r.Facts = policy.Facts{Dir: r.Dir, Parts: []policy.Part{{Program: "git", Argv: strings.Fields(command),
		Paths:   []policy.Path{{Access: policy.Read, Raw: ".", Clean: r.Dir, Resolved: r.Dir}},
		Effects: []string{policy.EffectExecute, policy.EffectRead, policy.EffectNetwork, policy.EffectPush}}}}
	return r
}

// TestTelegramApprovesMore: the phone offers what the terminal offers, shows first what it would have allowed, and then approves it for the
// session or as a rule. A call that cannot be generalised has no such button.
func TestTelegramApprovesMore(t *testing.T) {
	fail := false
	w := newChat(t, -1, func(o *Options) {
		o.Past = func(_ context.Context, _ approval.Request, list []approval.Candidate) (words []string, err error) {
			if fail {
				return nil, errors.New("no log")
			}
			for _, c := range list {
				words = append(words, "rule of "+c.Rule.Tool[0]+" matches 7")
			}
			return words, nil
		}
	})
	answer := w.ask(pushing("git push origin main"))
	m := w.message("git push origin main")
	if got := w.tap(alice, m.ID, "↔️ More"); got.Alert {
		t.Fatalf("%+v", got)
	}
	list := w.message("Approve more than this call?")
	if !strings.Contains(list.Text, "1. program: git push origin …, in /work/api – rule of agent__Bash matches 7") || len(list.Buttons) != 2 {
		t.Fatalf("%+v", list)
	}
	if got := w.tap(bob, list.ID, "1. program, for this session"); !got.Alert {
		t.Errorf("another person chose: %+v", got)
	}
	w.tap(alice, list.ID, "1. program, for this session")
	if a := w.got(answer); !a.Allow || a.As != approval.ThisProgram || a.For != approval.Session || a.Via != "telegram" {
		t.Errorf("%+v", a)
	}
	w.message("✅ Approved (program) for this session by user4200")
	if a := w.got(w.ask(pushing("git push origin feature"))); !a.Allow {
		t.Errorf("the next branch: %+v", a)
	}
	w.tap(alice, list.ID, "1. program, as a rule")
	w.message("Too late")

	answer = w.ask(pushing("git fetch origin main"))
	m = w.message("git fetch origin main")
	fail = true
	if got := w.tap(alice, m.ID, "↔️ More"); !got.Alert || !strings.Contains(got.Text, "nothing was done") {
		t.Errorf("without the log: %+v", got)
	}
	fail = false
	w.tap(alice, m.ID, "↔️ More")
	list = w.message("git fetch origin …")
	w.tap(alice, list.ID, "1. program, as a rule")
	if a := w.got(answer); !a.Allow || a.As != approval.ThisProgram || a.For != approval.Rule || a.Rule == "" {
		t.Errorf("%+v", a)
	}

	answer = w.ask(Bash("make unknown"))
	m = w.message("make unknown")
	for _, row := range m.Buttons {
		for _, b := range row {
			if strings.Contains(b.Text, "More") {
				t.Error("a call without facts can be generalised")
			}
		}
	}
	if got := w.tapped(w.api.Press(alice, chatID, m.ID, "w:"+strings.Split(m.Buttons[0][0].Data, ":")[1])); !got.Alert {
		t.Errorf("%+v", got)
	}
	w.tap(alice, m.ID, "❌ Deny")
	w.got(answer)
}
