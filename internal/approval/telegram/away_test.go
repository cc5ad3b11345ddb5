package telegram

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/approval/telegram/telegramtest"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
)

// elsewhere is the queue of a project whose daemon may be away.
type elsewhere struct {
	*approval.Queue

	mu   sync.Mutex
	back chan struct{} // nil: the daemon is there
}

func (e *elsewhere) Show(ctx context.Context, id string) (approval.Request, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.back != nil {
		return approval.Request{}, &AwayError{Projects: "shop", Back: e.back}
	}
	r, err := e.Queue.Show(ctx, id)
	r.Project = "shop"
	return r, err
}

func (e *elsewhere) leave(back chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.back = back
}

// TestAway: a request of a project that cannot be asked is not answered, and its message stays until the project can be asked again.
func TestAway(t *testing.T) {
	w := newChat(t, time.Hour, nil)
	w.stop()
	shop := &elsewhere{}
	w.wrap = func(q *approval.Queue) Queue {
		shop.Queue = q
		return shop
	}
	w.start()
	got := w.ask(approval.Request{Session: "s", Principal: "s", Surface: "hook", Tool: "agent__Bash", Args: []byte(`{"command":"ls"}`),
		Risk: policy.Low})
	m, err := w.api.WaitMessage(t.Context(), 0, "the request", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "agent__Bash") })
	if err != nil || !strings.HasPrefix(m.Text, "📂 shop\n") {
		t.Fatalf("%+v, %v", m, err)
	}
	back := make(chan struct{})
	shop.leave(back)
	id, err := w.api.Tap(alice, m.ID, "✅ Approve")
	if err != nil {
		t.Fatal(err)
	}
	if said, err := w.api.WaitTap(t.Context(), id); err != nil || !said.Alert || !strings.Contains(said.Text, "no daemon runs for shop") {
		t.Errorf("%+v, %v", said, err)
	}
	r, err := w.queue.List(t.Context())
	if err != nil || len(r) != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	if _, err := w.queue.Settle(t.Context(), r[0].ID, approval.Answer{By: "somebody", Via: "terminal"}, sign.None); err != nil {
		t.Fatal(err)
	}
	if a := w.got(got); a.Allow {
		t.Errorf("%+v", a)
	}
	if now := w.api.Message(m.ID); now.Edits != 0 {
		t.Errorf("the message says %q of a request that was not looked at", now.Text)
	}
	shop.leave(nil)
	close(back)
	if err := w.api.Wait(t.Context(), "the outcome", func() bool {
		return strings.Contains(w.api.Message(m.ID).Text, "Denied by somebody")
	}); err != nil {
		t.Error(err, w.api.Message(m.ID).Text)
	}
}

// TestTerms: who may answer is the same whatever the order of the people, and another with another chat, person, PIN or token.
func TestTerms(t *testing.T) {
	t.Parallel()
	one := approval.TelegramConfig{Token: "1:aaaaaaaa", Users: []int64{5, 7}}
	same := []approval.TelegramConfig{{Token: one.Token, Chat: 5, Users: []int64{7, 5}}, {Token: one.Token, Users: []int64{5, 7, 7}, Server: "s"}}
	for _, c := range same {
		if Terms(c) != Terms(one) {
			t.Errorf("%+v has other terms", c)
		}
	}
	others := []approval.TelegramConfig{{Token: one.Token, Users: []int64{7, 5}}, {Token: one.Token, Users: []int64{5}},
		{Token: one.Token, Users: one.Users, PIN: "1234"}, {Token: "1:bbbbbbbb", Users: one.Users}, {Token: one.Token}}
	for _, c := range others {
		if Terms(c) == Terms(one) {
			t.Errorf("%+v has the same terms", c)
		}
	}
	for by, want := range map[string]bool{"ann (telegram 4)": true, "": false, "deadline": false, " (telegram 4)": false, "ann (telegram x)": false,
		"ann (telegram 4) ": false} {
		if NamesPerson(by) != want {
			t.Errorf("%q", by)
		}
	}
}
