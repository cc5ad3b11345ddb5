package view

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// stage is a screen with a session in which every state is.
func stage(o Options) *Screen {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	o.Now, o.Title = func() time.Time { return at.Add(25 * time.Minute) }, "/プロジェクト/"+strings.Repeat("長", 60)
	feature := func(id, description string, state book.State, after ...string) *book.Feature {
		return &book.Feature{Feature: plan.Feature{ID: id, Description: description, DependsOn: after}, State: state}
	}
	s := &book.Session{ID: "s1", State: book.Going, Began: at, Settings: book.Settings{Workers: 3}}
	s.Features = []*book.Feature{
		feature("parser", "Read dates\x1b[31m", book.Completed),
		feature("printer", "日付を表示する"+strings.Repeat("長い", 80), book.Going, "parser"),
		feature("queue", "Q", book.Queued), feature("hard", "H", book.Waiting), feature("bad", "B", book.Failed),
		feature("last", "L", book.Pending, "printer", "queue"),
	}
	s.Features[1].Attempts = []*book.Attempt{{N: 1, State: book.Running, Cost: 0.5}}
	s.Features[3].Reason = "it conflicts with\nwhat landed"
	events := []book.Event{{Seq: 1, At: at, Feature: "printer", Text: "its worker has begun"}, {Seq: 2, At: at, Text: "lands: parser"}}
	if o.Look == nil {
		o.Look = func(_ context.Context, log string) (Seen, error) {
			seen := Seen{Session: s, Driver: "d", Events: events, Workers: []Worker{{Feature: "printer", Attempt: 1,
				Began: at, Cost: 0.75, Fresh: 0.25, Doing: "Edit 日付.go", Judgement: confidence.Judgement{Score: 88, Verdict: confidence.Working}}}}
			if log == "printer" {
				seen.Log = []worker.Event{{At: at, Kind: worker.Call, Tool: "Bash", Args: `{"command":"go test ./..."}`},
					{At: at, Kind: worker.Done, Text: "FAIL\x1b[2J", Failed: true}}
			}
			return seen, nil
		}
	}
	sc := New(context.Background(), o)
	send(sc, sc.look()())
	return sc
}

// send gives a message to the screen, and the first of what comes of it.
func send(s *Screen, msg tea.Msg) tea.Msg {
	_, cmd := s.Update(msg)
	if _, seen := msg.(seenMsg); cmd == nil || seen { // after it was looked, a clock runs
		return nil
	}
	return cmd()
}

func press(s *Screen, keys ...string) (last tea.Msg) {
	for _, k := range keys {
		m := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		switch k {
		case "enter":
			m = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			m = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "down":
			m = tea.KeyPressMsg{Code: tea.KeyDown}
		}
		last = send(s, m)
	}
	return last
}

// TestScreenFits: at every size, each line fits, the screen is full, and no text of others reaches the terminal as it is.
func TestScreenFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}, {120, 12}, {40, 10}, {20, 5}} {
		for _, plain := range []bool{true, false} {
			for _, log := range []bool{true, false} {
				s := stage(Options{Plain: plain})
				send(s, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				if press(s, "down"); log {
					press(s, "enter")
					send(s, s.look()())
				}
				drawn := s.View().Content
				if plain && strings.Contains(drawn, "\x1b") || strings.Contains(drawn, "\x1b[2J") {
					t.Errorf("%v: an escape sequence is on the screen: %q", size, drawn)
				}
				lines := strings.Split(drawn, "\n")
				if len(lines) != s.height {
					t.Errorf("%v: %d lines", size, len(lines))
				}
				for _, l := range lines {
					if plain && text.Width(l) > s.width {
						t.Errorf("%v: %d cells: %s", size, text.Width(l), l)
					}
				}
				if plain && size[0] >= 80 && !log {
					for _, want := range []string{"1 of 6 landed · $0.75 · 25m", "✓ parser",
						"▸ └─ ● printer  日付を表示する", "at work",
						"waits for you",
						"✗ bad", "after printer", "━━━━━━━─  88 working", "Edit 日付.go", "lands: parser", "q quit"} {
						if !strings.Contains(drawn, want) && size[1] >= 24 {
							t.Errorf("%v: %q is not on the screen:\n%s", size, want, drawn)
						}
					}
				}
				if plain && log && size[1] >= 24 && !strings.Contains(drawn, "Bash go test ./...") {
					t.Errorf("%v: the log is not on the screen:\n%s", size, drawn)
				}
			}
		}
	}
}

// TestKeys: a message, a pause that is confirmed, a session that goes on, a terminal that cannot be shown.
func TestKeys(t *testing.T) {
	var did []string
	paused := false
	o := Options{Plain: true,
		Tell: func(_ context.Context, feature, message string) error {
			did = append(did, feature+": "+message)
			return errors.New("no worker works on it now")
		},
		Pause:  func(context.Context) error { did, paused = append(did, "pause"), true; return nil },
		Resume: func(context.Context) error { did = append(did, "resume"); return nil },
		Attach: func(feature string) (*exec.Cmd, error) { return nil, errors.New("no worker works on " + feature) },
	}
	s := stage(o)
	shows := func(want string) {
		t.Helper()
		if got := s.View().Content; !strings.Contains(got, want) {
			t.Errorf("%q is not on the screen:\n%s", want, got)
		}
	}
	press(s, "down", "a")
	shows("no worker works on printer")
	press(s, "m", "も", "っ", "q")
	send(s, tea.PasteMsg{Content: "\n!"})
	shows(`Tell the worker of printer: もっq`)
	send(s, press(s, "enter"))
	shows("no worker works on it now")
	press(s, "p", "n")
	if len(did) != 1 {
		t.Errorf("%q", did)
	}
	send(s, press(s, "p", "y"))
	shows("paused; p goes on")
	s.seen.Session.State = book.Paused
	shows("paused; p goes on")
	send(s, press(s, "p"))
	s.seen.Session.State = book.Faulty
	press(s, "p")
	shows("the session has ended")
	if !paused || strings.Join(did[1:], " ") != "pause resume" {
		t.Errorf("%q", did)
	}
	if _, quits := press(s, "q").(tea.QuitMsg); !quits {
		t.Error("q does not quit")
	}
}

// Reviewers are workers as well, by the names of their reviews.
func TestReviewersAreSeen(t *testing.T) {
	s := &book.Session{Features: []*book.Feature{{Feature: plan.Feature{ID: "a"}}, {Feature: plan.Feature{ID: "b"},
		Attempts: []*book.Attempt{{N: 1}, {N: 2}}}}, Reviews: []*book.Review{{Type: "code", Attempt: book.Attempt{N: 3}}}}
	var got []string
	for id, a := range charges(s) {
		got = append(got, fmt.Sprint(id, a.N))
	}
	if want := []string{"b2", "review-code3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
