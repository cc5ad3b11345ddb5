package telegram

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
)

// fakeStarter records what is started.
type fakeStarter struct{ started *[]string }

func (f fakeStarter) Places(context.Context, string) ([]string, error) { return nil, nil }
func (f fakeStarter) Start(_ context.Context, dir, prompt, resume string) (string, error) {
	*f.started = append(*f.started, strings.TrimSpace(dir+" "+resume+" "+prompt))
	return "shop-2", nil
}

// pastAgents are agents at work and past ones.
type pastAgents struct {
	fakeAgents
	past func() []approval.AgentSession
}

func (p pastAgents) Past(context.Context) ([]approval.AgentSession, error) {
	return slices.Clone(p.past()), nil
}

// TestTelegramStatus: /status has state, name, turns, denials, cost, task and result of each session, and of those that ended lately (E18).
func TestTelegramStatus(t *testing.T) {
	now := time.Now()
	w := newChat(t, -1, func(o *Options) {
		o.Agents = pastAgents{fakeAgents{sessions: []approval.AgentSession{{ID: "s1", Label: "shop", Agent: "claude", Role: "developer",
			State: approval.Idle, Task: "make it nice", Turns: 3, Denials: 2, Cost: 0.42, Result: "It is nice.", Seen: now}}},
			func() []approval.AgentSession {
				return []approval.AgentSession{
					{ID: "s2", Label: "api", Agent: "claude", State: approval.Failed, Turns: 1, Ended: now, Result: "API Error: 529"},
					{ID: "s3", Label: "old", Agent: "claude", State: approval.Done, Ended: now.Add(-2 * endedFor)},
					{ID: "s4", Label: "silent", Agent: "claude", State: approval.Idle},
				}
			}}
	})
	m := w.said(alice, "/status", 0, "shop")
	for _, want := range []string{"💤 idle shop (claude, developer) · 3 turns · 2 denied · $0.42", "Task: make it nice", "Said: It is nice.",
		"❌ ended with an error api (claude) · 1 turn", "Said: API Error: 529"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("no %q in:\n%s", want, m.Text)
		}
	}
	if strings.Contains(m.Text, "old") || strings.Contains(m.Text, "silent") {
		t.Errorf("what ended long ago or did not end is listed:\n%s", m.Text)
	}
}

// TestTelegramResume: /resume lists what can be resumed with its first prompt, and takes up one by its number in that list, or by its name.
func TestTelegramResume(t *testing.T) {
	var started []string
	past := func(ids ...string) (all []approval.AgentSession) {
		for _, id := range ids {
			all = append(all, approval.AgentSession{ID: id, Label: "name-" + id, Agent: "claude", Start: "/src/" + id, Dir: "/src/" + id + "/deep",
				Task: "do " + id, Resumable: id != "gone"})
		}
		return all
	}
	now := past("a", "gone", "b")
	w := newChat(t, -1, func(o *Options) {
		o.Agents, o.Starter = pastAgents{past: func() []approval.AgentSession { return now }}, fakeStarter{&started}
	})
	m := w.said(alice, "/resume", 0, "Take up which one?")
	if !strings.Contains(m.Text, "1. name-a") || !strings.Contains(m.Text, ": do a\n2. name-b") || strings.Contains(m.Text, "gone") {
		t.Errorf("%s", m.Text)
	}
	now = past("c", "a", "b") // a session ended since
	w.said(alice, "/resume 2", 0, "▶️ Started as shop-2 in /src/b")
	w.said(alice, "/resume name-c go on, please", 0, "in /src/c")
	w.said(alice, "/resume 3", 0, "The list has no number 3")
	w.said(bob, "/resume 1", 0, "in /src/c") // he has seen no list: the present one
	w.said(alice, "/resume gone", 0, "nothing was started")
	w.tap(alice, m.ID, "1. name-a")
	w.message("in /src/a")
	if got := fmt.Sprint(started); got != "[/src/b b /src/c c go on, please /src/c c /src/a a]" {
		t.Error(got)
	}
	now = past("gone")
	w.said(alice, "/resume", 0, "No past session is known")
}
