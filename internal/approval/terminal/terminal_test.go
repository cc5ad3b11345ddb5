package terminal

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
	"mycelium/internal/text"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// screen is a list without a terminal that records the answers.
type screen struct {
	*terminal
	sent []approval.Answer // each with its sign
	fail error
}

func newScreen(width, height int) *screen {
	s := &screen{}
	s.terminal = &terminal{ctx: context.Background(), width: width, height: height, o: Options{
		Title: "/home/u/店", By: "taro", Plain: true, Now: func() time.Time { return noon },
		Settle: func(_ context.Context, id string, a approval.Answer, second sign.Sign) (approval.Request, error) {
			if s.fail != nil {
				return approval.Request{}, s.fail
			}
			a.Sign = second
			s.sent = append(s.sent, a)
			state := approval.Denied
			if a.Allow {
				state = approval.Allowed
			}
			return approval.Request{ID: id, State: state, Answer: &a}, nil
		},
	}}
	return s
}

// press presses keys one after the other and runs their commands.
func (s *screen) press(keys ...string) {
	for _, k := range keys {
		var msg tea.KeyPressMsg
		switch k {
		case "enter":
			msg.Code = tea.KeyEnter
		case "down":
			msg.Code = tea.KeyDown
		case "pgdown":
			msg.Code = tea.KeyPgDown
		case "esc":
			msg.Code = tea.KeyEscape
		case "backspace":
			msg.Code = tea.KeyBackspace
		default:
			msg.Code, msg.Text = []rune(k)[0], k
		}
		if _, cmd := s.Update(msg); cmd != nil {
			s.Update(cmd())
		}
	}
}

func (s *screen) text() string { return ansi.Strip(s.View().Content) }

func call(id, tool, args string) approval.Request {
	return approval.Request{
		ID: id, Kind: approval.Call, Agent: "claude", Label: "shop", Role: "developer", Dir: "/home/u/shop", Tool: tool, Args: []byte(args),
		Rule: "ask-delete", Reason: "Deleting asks.",
		Risk: policy.High, Category: "SHELL_EXEC", Digest: "d-" + id, State: approval.Pending, Created: noon,
		Deadline: noon.Add(271 * time.Second), Waiting: 1,
	}
}

func TestTerminalShowsWhatIsAnswered(t *testing.T) {
	s := newScreen(80, 24)
	if !strings.Contains(s.text(), "nothing waits") {
		t.Errorf("empty:\n%s", s.text())
	}
	s.Update(call("one", "agent__Bash", `{"command":"rm -rf 建物 && make\u001b[2J"}`))
	edit := call("two", "agent__Edit", `{"file_path":"/home/u/shop/設定.go","old_string":"a\nb\n","new_string":"a\nc\n"}`)
	edit.Facts = policy.Facts{Parts: []policy.Part{{Paths: []policy.Path{{Raw: "設定.go"}}, Unclear: []string{"a part"}}}}
	edit.Created = noon.Add(time.Second)
	s.Update(edit)
	for _, want := range []string{
		"myc approvals · /home/u/店", "2 waiting · 12:00:00", "▸ high     4:31  claude shop", `rm -rf 建物 && make\x1b[2J`,
		"asked because: Deleting asks. (ask-delete)", "SHELL_EXEC", "a allow",
	} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, s.text())
		}
	}
	s.press("down")
	for _, want := range []string{"- b", "+ c", "edit /home/u/shop/設定.go", "not understood: a part"} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, s.text())
		}
	}
	s.press("d")
	if len(s.sent) != 1 || s.sent[0].Allow || s.sent[0].Digest != "d-two" || s.sent[0].By != "taro" || s.sent[0].Via != "terminal" ||
		s.sent[0].For != approval.Once {
		t.Errorf("sent %+v", s.sent)
	}
	if s.chosen != "one" || !strings.Contains(s.text(), "✗ denied by taro (terminal)") {
		t.Errorf("chosen %q:\n%s", s.chosen, s.text())
	}
}

func TestTerminalAnswers(t *testing.T) {
	critical := call("x", "agent__Bash", `{"command":"dd"}`)
	critical.Risk = policy.Critical
	wide := call("x", "agent__WebFetch", `{"url":"https://docs.example.com/a"}`)
	wide.Risk, wide.Dir = policy.Critical, "/p"
	wide.Facts = policy.Facts{Dir: "/p", Parts: []policy.Part{{Effects: []string{policy.EffectNetwork}, Hosts: []string{"docs.example.com"}}}}
	stop := approval.Request{ID: "x", Kind: approval.Stop, State: approval.Pending, Text: "I could not do it.", Digest: "d"}
	ask := approval.Request{ID: "x", Kind: approval.Question, State: approval.Pending, Digest: "d", Questions: []approval.Asked{
		{Text: "Which?", Options: []string{"red", "blue"}}, {Text: "And?", Options: []string{"one", "two", "three"}, Many: true},
	}}
	for _, c := range []struct {
		name string
		r    approval.Request
		keys []string
		want []approval.Answer // Allow, For, Reason and Text only
	}{
		{"allow", call("x", "t", "{}"), []string{"a"}, []approval.Answer{{Allow: true, For: approval.Once}}},
		{"for the session", call("x", "t", "{}"), []string{"s"}, []approval.Answer{{Allow: true, For: approval.Session}}},
		{"as a rule, confirmed", call("x", "t", "{}"), []string{"r", "y"}, []approval.Answer{{Allow: true, For: approval.Rule}}},
		{"as a rule, not confirmed", call("x", "t", "{}"), []string{"r", "a"}, nil},
		{"never", call("x", "t", "{}"), []string{"n"}, []approval.Answer{{For: approval.Never}}},
		{"with a reason", call("x", "t", "{}"), []string{"D", "n", "o", "x", "backspace", "、", "後", "enter"},
			[]approval.Answer{{For: approval.Once, Reason: "no、後"}}},
		{"taken back", call("x", "t", "{}"), []string{"D", "n", "esc", "q"}, nil},
		{"critical takes two keys", critical, []string{"a", "y"}, []approval.Answer{{Allow: true, For: approval.Once, Sign: sign.Sure}}},
		{"critical and one key", critical, []string{"a"}, nil},
		{"critical as a rule takes three", critical, []string{"r", "y", "y"}, []approval.Answer{{Allow: true, For: approval.Rule, Sign: sign.Sure}}},
		{"critical as a rule and two keys", critical, []string{"r", "y"}, nil},
		{"critical as something wider", wide, []string{"w", "1", "s"}, nil},
		{"critical as something wider, meant", wide, []string{"w", "1", "s", "y"},
			[]approval.Answer{{Allow: true, For: approval.Session, Sign: sign.Sure}}},
		{"critical and denied", critical, []string{"d"}, []approval.Answer{{For: approval.Once}}},
		{"critical and no", critical, []string{"a", "n"}, nil},
		{"critical for the session", critical, []string{"s", "enter"}, nil},
		{"go on", stop, []string{"c", "t", "r", "y", "enter"}, []approval.Answer{{Allow: true, For: approval.Once, Text: "try"}}},
		{"let it stop", stop, []string{"l"}, []approval.Answer{{For: approval.Once}}},
		{"a stop is not allowed by a", stop, []string{"a", "s", "r"}, nil},
		{"questions", ask, []string{"2", "1", "3", "3", "2", "enter"},
			[]approval.Answer{{Allow: true, For: approval.Once, Text: "Which?\n→ blue\nAnd?\n→ one, two"}}},
		{"another answer", ask, []string{"t", "緑", "enter", "9", "enter", "2", "enter"},
			[]approval.Answer{{Allow: true, For: approval.Once, Text: "Which?\n→ 緑\nAnd?\n→ two"}}},
		{"no answer", ask, []string{"x"}, []approval.Answer{{For: approval.Once, Reason: "not answered"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(80, 24)
			s.Update(c.r)
			s.press(c.keys...)
			if len(s.sent) != len(c.want) {
				t.Fatalf("sent %+v", s.sent)
			}
			for i, a := range s.sent {
				if got := (approval.Answer{Allow: a.Allow, For: a.For, Reason: a.Reason, Text: a.Text, Sign: a.Sign}); got != c.want[i] {
					t.Errorf("sent %+v", got)
				}
			}
		})
	}
}

// A request that somebody else settles leaves the list, and a key that was meant for it has no effect.
func TestTerminalWhenAnotherWasFirst(t *testing.T) {
	s := newScreen(80, 24)
	r := call("x", "t", "{}")
	s.Update(r)
	s.press("D", "n")
	r.State, r.Answer = approval.Allowed, &approval.Answer{Allow: true, By: "hanako", Via: "telegram", For: approval.Session}
	s.Update(r)
	s.press("enter", "a", "d")
	if len(s.sent) != 0 || !strings.Contains(s.text(), "✓ allowed by hanako (telegram), for the session: t") {
		t.Errorf("sent %v:\n%s", s.sent, s.text())
	}
	s.Update(call("y", "t", "{}"))
	s.fail = fmt.Errorf("the answer comes too late: hanako allowed it\x1b[2J")
	s.press("a")
	if !strings.Contains(s.text(), `the answer comes too late: hanako allowed it\x1b[2J`) {
		t.Errorf("a late answer is not told of:\n%s", s.text())
	}
}

// The screen always fits the terminal and contains no control characters.
func TestLawTheScreenFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScreen(rapid.IntRange(20, 220).Draw(t, "width"), rapid.IntRange(8, 60).Draw(t, "height"))
		words := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("日本語 abc\n\t\x1b\u202e\u200b👩‍👩‍👧"))))
		for i := range rapid.IntRange(0, 40).Draw(t, "requests") {
			r := call(fmt.Sprint(i), words.Draw(t, "tool"), fmt.Sprintf(`{"command":%q}`, words.Draw(t, "args")))
			r.Label, r.Reason, r.Thinking = words.Draw(t, "label"), words.Draw(t, "reason"), words.Draw(t, "thinking")
			r.Kind = rapid.SampledFrom([]approval.Kind{approval.Call, approval.Stop, approval.Question}).Draw(t, "kind")
			r.Text, r.Questions = words.Draw(t, "text"),
				[]approval.Asked{{Text: words.Draw(t, "question"), Options: []string{words.Draw(t, "option")}}}
			if rapid.Bool().Draw(t, "settled") {
				r.State, r.Answer = approval.Denied, &approval.Answer{By: words.Draw(t, "by"), Via: "telegram"}
			}
			s.Update(r)
		}
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"down", "pgdown", "D", "t", "c", "x", "r", "esc"}), 0, 6).Draw(t, "keys") {
			s.press(k)
		}
		lines := strings.Split(s.text(), "\n")
		if len(lines) != s.height {
			t.Fatalf("%d lines on a screen of %d", len(lines), s.height)
		}
		for _, l := range lines {
			if w := ansi.StringWidth(l); w > s.width {
				t.Fatalf("a line of %d on a screen of %d: %q", w, s.width, l)
			}
			if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || text.IsHidden(r) }) {
				t.Fatalf("a character hides: %q", l)
			}
		}
	})
}
