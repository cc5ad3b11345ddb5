package screen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mycelium/internal/agent"
	"mycelium/internal/agent/ink"
	"mycelium/internal/agent/slash"
	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
)

// works is a turn with two calls.
func works(_ context.Context, _ string, tell func(agent.Event)) (agent.Turn, error) {
	tell(agent.Event{Thinking: "The person wants an edit.\nI read first."})
	tell(agent.Event{Text: "I read `CLAUDE.md` **first**.\n\n"})
	tell(agent.Event{Call: &agent.Call{ID: "1", Tool: "files__read_file", Args: json.RawMessage(`{"path":"CLAUDE.md"}`)}})
	tell(agent.Event{Done: &agent.Done{CallID: "1", Effect: "allow", Text: "a\nb\nc"}})
	tell(agent.Event{Call: &agent.Call{ID: "2", Tool: "agent__Edit",
		Args: json.RawMessage(`{"file_path":"CLAUDE.md","old_string":"a\nold","new_string":"a\nnew"}`)}})
	tell(agent.Event{Done: &agent.Done{CallID: "2", Effect: "deny", Failed: true, Text: "Not on a Friday."}})
	tell(agent.Event{Text: "# 編集"})
	tell(agent.Event{Text: "しました\n\n- one\n- two\n"})
	tell(agent.Event{Spent: &agent.Spent{Cost: 0.0421, Context: 12345}})
	return agent.Turn{Stop: agent.StopEnd}, nil
}

// TestTurn: the answer is drawn as Markdown below its header, calls are one line each, and the first line has what was used.
func TestTurn(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 12}} {
		s := newShown(t, size[0], size[1])
		s.engine.say = works
		s.press("CLAUDE.mdを編集して", "enter").press("ctrl+end")
		s.has("編集しました", "• one", "✗ Edit CLAUDE.md")
		if size[0] >= 80 {
			s.has("● [common]", "developer · opus · 12.3k tokens · $0.04", "I read CLAUDE.md first.", "✓ files__read_file CLAUDE.md  3 lines",
				"denied: Not on a Friday.", "✻ I read first.", "❯ CLAUDE.mdを編集して")
		}
		s.hasNot("**", "# 編集", "old_string")
	}
}

// TestUnfold: Ctrl-O unfolds the last call with its arguments, an edit as a diff, and its result; the arrow keys choose another one.
func TestUnfold(t *testing.T) {
	s := newShown(t, 80, 40)
	s.engine.say = works
	s.press("go", "enter", "ctrl+o")
	s.has("│ - old", "│ + new", "│ Not on a Friday.")
	s.press("enter")
	s.hasNot("│ - old")
	s.press("up", "enter")
	s.has(`│   "path": "CLAUDE.md"`, "│ b")
	s.press("up", "enter")
	s.has("✻ The person wants an edit.")
	if s.press("esc", "x"); s.chosen != nil || s.edit.String() != "x" {
		t.Error("Esc does not leave the calls")
	}
}

// TestSession is the example of requirement B2: texts of the person ask for skills, which become active when the person says so.
func TestSession(t *testing.T) {
	s := newShown(t, 80, 40)
	wants, active := "code-modifier", []string{"common"}
	s.engine.say = func(ctx context.Context, _ string, tell func(agent.Event)) (agent.Turn, error) {
		if s.ask(ctx, wants) {
			active = append(active, wants)
			s.door.now.Active = active
			tell(agent.Event{Skills: &agent.Skills{Role: "developer", Active: active, Added: []string{wants}}})
		}
		tell(agent.Event{Text: "CLAUDE.mdを編集しました。"})
		return agent.Turn{Stop: agent.StopEnd}, nil
	}
	s.has("● [common]")
	answer := func(said string, keys ...string) {
		ended := make(chan struct{})
		s.press(said)
		_, cmd := s.Update(named["enter"])
		go func() {
			defer close(ended)
			for _, c := range cmd().(tea.BatchMsg)[1:] {
				s.queue <- c()
			}
		}()
		_, _ = s.Update(<-s.queue)
		if len(keys) > 0 {
			s.has("⚠ This asks for the skill "+wants, "y yes")
			s.press("y", "enter") // before it could be seen
			if s.offer == nil {
				t.Error("a key was an answer before the question was seen")
			}
			s.at = s.at.Add(unseen)
			s.press("backspace").press(keys...).has("Enter answers with " + keys[0])
			s.press("enter")
		}
		<-ended
		s.pump()
	}
	answer("CLAUDE.mdを編集して", "y")
	s.has("● [common, code-modifier] ", "✓ [common, code-modifier] (+code-modifier)", "CLAUDE.mdを編集しました。")
	wants = "test-runner"
	answer("テストして", "N")
	s.hasNot("test-runner]")
	answer("テストして") // never again
	s.hasNot("test-runner]")
	wants = "git"
	answer("コミットして", "a")
	wants = "docs"
	answer("文書も") // always
	s.has("● [common, code-modifier, git, docs]")
}

// TestHostile: what a model, a tool or a name brings is never an escape sequence on the terminal.
func TestHostile(t *testing.T) {
	s := newShown(t, 80, 40)
	s.plain = false
	evil := "\x1b]0;owned\a\x1b[2J\u202ex"
	s.engine.say = func(_ context.Context, _ string, tell func(agent.Event)) (agent.Turn, error) {
		args, _ := json.Marshal(map[string]string{"path": evil})
		tell(agent.Event{Text: "`" + evil + "` **" + evil + "**\n```\n" + evil + "\n```\n"})
		tell(agent.Event{Thinking: evil})
		tell(agent.Event{Note: evil})
		tell(agent.Event{Call: &agent.Call{ID: "1", Tool: "x__" + evil, Args: args}})
		tell(agent.Event{Done: &agent.Done{CallID: "1", Text: evil}})
		tell(agent.Event{Skills: &agent.Skills{Role: evil, Active: []string{evil}, Added: []string{evil}}})
		return agent.Turn{Stop: evil}, text.Hinted(errors.New(evil), evil)
	}
	s.press("go", "enter", "ctrl+o")
	content := s.View().Content + s.View().WindowTitle
	for _, bad := range []string{"\x1b]", "\x1b[2J", "\a", "\u202e"} {
		if strings.Contains(content, bad) {
			t.Errorf("%q reaches the terminal:\n%q", bad, content)
		}
	}
	if !strings.Contains(content, `\x1b]0;owned`) || !strings.Contains(content, "\x1b[1m") {
		t.Errorf("the hidden characters are not shown, or nothing has a style: %q", content)
	}
}

// TestCancel: Esc and Ctrl-C cancel the turn, Ctrl-C pressed again ends the chat, and a line that was written meanwhile is sent afterwards.
func TestCancel(t *testing.T) {
	s := newShown(t, 80, 24)
	for _, key := range []string{"esc", "ctrl+c"} {
		turn := make(chan tea.Msg)
		s.engine.say = func(ctx context.Context, _ string, _ func(agent.Event)) (agent.Turn, error) {
			<-ctx.Done()
			return agent.Turn{Stop: agent.StopAborted}, nil
		}
		s.press("wait")
		_, cmd := s.Update(named["enter"])
		go func() { turn <- cmd().(tea.BatchMsg)[1]() }()
		s.has("Esc cancels")
		s.press("more", "enter")
		s.has("❯ more", "sent when this is over")
		s.press(key)
		ended := <-turn
		s.engine.say = nil
		s.take(ended)
		s.has("· cancelled")
		if sent := s.engine.said[len(s.engine.said)-1] == "more"; sent != (key == "ctrl+c") {
			t.Errorf("after %s the next line was sent: %v", key, sent)
		}
		s.edit.set("")
	}
	s.press("ctrl+c")
	if s.quit {
		t.Error("one Ctrl-C ends the chat")
	}
	s.has("Ctrl-C again ends the chat")
	if s.press("ctrl+c"); !s.quit {
		t.Error("Ctrl-C twice does not end the chat")
	}
}

// TestApproval: a call of this session that waits is asked about here, with the choices that it has everywhere; one of another session is
// told.
func TestApproval(t *testing.T) {
	s := newShown(t, 80, 24)
	r := approval.Request{ID: "k3m9", Kind: approval.Call, State: approval.Pending, Session: "s-1", Tool: "files__write_file", Digest: "d",
		Risk: policy.Medium, Args: []byte(`{"path":"out.md"}`), Reason: "Writing asks."}
	other := r
	other.ID, other.Session = "k4", "s-2"
	s.take(other)
	s.has("1 call of other agents waits: myc approvals watch")
	s.take(r)
	s.has("files__write_file", "asked because: Writing asks.", "a allow  s session  r rule  w wider  d deny  D why  n never")
	s.press("a", "enter")
	if len(s.answers) != 0 {
		t.Error("a key was an answer before the question was seen")
	}
	s.at = s.at.Add(unseen)
	s.press("backspace", "s")
	if len(s.answers) != 0 {
		t.Error("a letter was an answer without Enter")
	}
	s.has("❯ s", "Enter answers with s")
	s.press("enter")
	if len(s.answers) != 1 || !s.answers[0].Allow || s.answers[0].For != approval.Session || s.answers[0].Digest != "d" {
		t.Fatalf("answers: %+v", s.answers)
	}
	settled := r
	settled.State, settled.Answer = approval.Allowed, &s.answers[0]
	s.take(settled)
	s.has("· ✓ allowed (terminal), for the session: files__write_file")
	r.ID, r.Rule, r.Reason = "k5", approval.PromotionRule, "The agent wants to activate: writing"
	s.press("half a")
	s.take(r)
	s.at = s.at.Add(unseen)
	s.press(" line", "left")
	if len(s.answers) != 1 || s.edit.String() != "half a line" {
		t.Error("a letter of a line was an answer")
	}
	s.edit.set("")
	s.has("y yes  a always in this session  n no  N never in this session")
	if s.press("N", "enter"); len(s.answers) != 2 || s.answers[1].Allow || s.answers[1].For != approval.Never {
		t.Errorf("answers: %+v", s.answers)
	}
}

// TestNoAnswer: while a call waits, what begins a message answers nothing, and neither does a letter that was written for another
// question.
func TestNoAnswer(t *testing.T) {
	ask := func(s *shown, id string) approval.Request {
		r := approval.Request{ID: id, Kind: approval.Call, State: approval.Pending, Session: "s-1", Tool: "files__write_file", Digest: id,
			Risk: policy.Medium, Args: []byte(`{"path":"out.md"}`)}
		s.take(r)
		s.at = s.at.Add(unseen)
		return r
	}
	for _, said := range []string{"@docs/", "/denied ", "do it", "and more", "no", "n!", "あ", "dd"} {
		s := newShown(t, 80, 24)
		ask(s, "k1")
		if s.press(said); len(s.answers) != 0 || s.edit.String() != said {
			t.Errorf("%q: answered %+v, the line is %q", said, s.answers, s.edit.String())
		}
		if s.press("enter"); len(s.answers) != 0 {
			t.Errorf("%q: Enter answered %+v", said, s.answers)
		}
	}
	s := newShown(t, 80, 24)
	first := ask(s, "k1")
	s.press("a")
	ask(s, "k2")
	first.State = approval.Denied
	s.take(first) // elsewhere; the second is shown now
	s.at = s.at.Add(unseen)
	s.hasNot("Enter answers")
	if s.press("enter"); len(s.answers) != 0 {
		t.Errorf("a letter for one question answered another: %+v", s.answers)
	}
}

// counted is a part that counts how often it is drawn.
type counted struct{ drawn *int }

func (c counted) draw(int) []ink.Line {
	*c.drawn++
	return []ink.Line{ink.Text("", "a line")}
}

// TestOnlyTheVisibleIsDrawn: of 10,000 parts those that are visible are drawn, once for a width.
func TestOnlyTheVisibleIsDrawn(t *testing.T) {
	s := newShown(t, 80, 24)
	drawn := 0
	for range 10_000 {
		s.add(counted{&drawn})
	}
	_ = s.text()
	if drawn == 0 || drawn > 24 {
		t.Errorf("%d parts are drawn for 24 lines", drawn)
	}
	was := drawn
	s.press("a long line")
	if _ = s.text(); drawn != was {
		t.Errorf("%d parts are drawn again for a key", drawn-was)
	}
	s.press("pgup")
	if _ = s.text(); drawn > was+24 {
		t.Errorf("PgUp draws %d parts", drawn-was)
	}
	s.has("lines below")
	before := s.text()
	s.add(said{"something new"})
	if after := s.text(); strings.Split(after, "\n")[3] != strings.Split(before, "\n")[3] {
		t.Error("a new part moves what the person reads")
	}
	s.press("ctrl+home")
	s.has("Mycelium", "Only the tools of the active skills")
	s.press("ctrl+end")
	s.has("something new")
	s.take(tea.WindowSizeMsg{Width: 30, Height: 10})
	s.has("something new")
}

// TestEnds: a turn that fails or ends early says why.
func TestEnds(t *testing.T) {
	s := newShown(t, 80, 24)
	for _, c := range []struct {
		turn agent.Turn
		err  error
		says string
	}{
		{agent.Turn{}, text.Hinted(errors.New("the model is not there"), "try again"), "✗ the model is not there\n  try again"},
		{agent.Turn{Stop: agent.StopTurns}, nil, "as often as it may"},
		{agent.Turn{Stop: agent.StopBudget}, nil, "the budget is used"},
		{agent.Turn{Stop: agent.StopRefusal}, nil, "the model refused"},
	} {
		s.engine.say = func(context.Context, string, func(agent.Event)) (agent.Turn, error) { return c.turn, c.err }
		s.press("go", "enter")
		s.has(c.says)
	}
}

// TestGoesOn: a conversation that goes on shows what was said before.
func TestGoesOn(t *testing.T) {
	s := newShown(t, 80, 24)
	s.take(openedMsg{clear: true, talk: Talk{Engine: s.engine, Past: []transcript.Message{{Role: "user", Content: "and before?"},
		{Role: "assistant", Content: "It *was*.", Calls: []transcript.Call{{Name: "files__read_file",
			Input: []byte(`{"path":"a"}`), Output: "x"}}}}}})
	s.has("❯ and before?", "It was.", "✓ files__read_file a  x")
	s.hasNot("Say what you want")
	s.take(openedMsg{err: errors.New("no such conversation"), talk: Talk{Engine: s.engine}})
	s.has("✗ no such conversation", "It was.")
	s.take(openedMsg{err: errors.New("no daemon")})
	if !s.quit || s.fatal == nil {
		t.Error("a chat without an engine goes on")
	}
}

// TestLines is the chat where the output is no terminal.
func TestLines(t *testing.T) {
	s := newShown(t, 80, 24)
	s.engine.say = works
	s.door.answers["mycelium-router__list_roles"] = `{"roles":[{"id":"guest","current":true},{"id":"developer"}]}`
	var out strings.Builder
	in := strings.NewReader("edit it\n/nope\n/roles\n2\n/model haiku\n/quit\nnever\n")
	if err := Lines(t.Context(), in, &out, s.o); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"● [common]", "I read `CLAUDE.md` **first**.", "○ files__read_file CLAUDE.md", "✗ Not on a Friday.",
		"✗ there is no command /nope", "2  developer", "The next turn is for haiku."} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("%q is not in:\n%s", w, out.String())
		}
	}
	if len(s.ran) != 2 || fmt.Sprint(s.ran[1]) != "[session set-role s-1 developer]" || len(s.engine.said) != 1 || s.engine.closed == 0 {
		t.Errorf("ran %v, said %q", s.ran, s.engine.said)
	}
	if last := s.opened[len(s.opened)-1]; last != (slash.Start{Model: "haiku", Resume: "c-1", Keep: true}) {
		t.Errorf("opened %+v", last)
	}
}

// TestLooks: lines that fit are not broken, an edit is a diff whoever makes it, a refusal says its reason once, and a call can be unfolded
// while a question waits.
func TestLooks(t *testing.T) {
	s := newShown(t, 80, 40)
	s.past(&transcript.Call{Name: "files__read_file", Failed: true, Output: "Denied by policy: Not now."})
	s.has("✗ files__read_file  denied: Not now.")
	s.add(printed{"input          60 tokens, and 0 written to the cache, 0 read from it\n" +
		strings.Repeat("a", 20) + "  " + strings.Repeat("b ", 60)})
	s.has("  input          60 tokens, and 0 written to the cache, 0 read from it\n", "\n"+strings.Repeat(" ", 24)+"b b")
	s.engine.say = func(_ context.Context, _ string, tell func(agent.Event)) (agent.Turn, error) {
		tell(agent.Event{Call: &agent.Call{ID: "1", Tool: "files__edit_file",
			Args: json.RawMessage(`{"path":"notes.md","oldText":"mushrooms","newText":"きのこ\u202e"}`)}})
		tell(agent.Event{Done: &agent.Done{CallID: "1", Effect: "deny", Failed: true, Text: "Denied by policy: Secrets stay."}})
		return agent.Turn{Stop: agent.StopEnd}, nil
	}
	s.press("go", "enter")
	s.has("✗ files__edit_file notes.md  denied: Secrets stay.")
	s.take(approval.Request{ID: "k3m9", Kind: approval.Call, State: approval.Pending, Session: "s-1", Tool: "files__write_file",
		Digest: "d", Risk: policy.Medium, Args: []byte(`{"path":"out.md"}`), Reason: "Writing asks."})
	s.at = s.at.Add(unseen)
	s.press("ctrl+o")
	s.has("│ - mushrooms", `│ + きのこ\u202e`, "asked because: Writing asks.")
	s.press("enter")
	s.hasNot("│ - mushrooms")
	if s.press("a", "enter"); len(s.answers) != 1 || s.chosen != nil {
		t.Errorf("answers: %+v", s.answers)
	}
}

// TestHostileNames: what a skill or a file is called reaches the terminal as text, in completions, menus and the list of commands.
func TestHostileNames(t *testing.T) {
	s := newShown(t, 80, 40)
	s.plain = false
	evil := "\x1b]0;owned\a\x1b[2J\u202ex"
	said, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	s.door.answers["mycelium-skills__list_commands"] = `{"commands":[{"name":"peek","description":` + string(said) + `,"skill":` +
		string(said) + `,"usage":"peek ` + strings.Trim(string(said), `"`) + `","handlerType":"tool","toolName":"x"}]}`
	s.door.answers["mycelium-router__list_roles"] = `{"roles":[{"id":"guest","name":` + string(said) +
		`,"description":` + string(said) + `}]}`
	s.door.answers["mycelium-skills__list_skills"] = `{"skills":[{"id":` + string(said) + `,"description":` + string(said) +
		`,"active":true}]}`
	s.o.Files = func(context.Context, string) []string { return []string{"docs/" + evil} }
	s.run(s.load())
	sees := func(what string) {
		t.Helper()
		shown := `\x1b]0;owned`
		if what == "a file that was taken" {
			shown = `]0;owned` // control characters are no part of a line
		}
		content := s.View().Content
		for _, bad := range []string{"\x1b]", "\x1b[2J", "\a", "\u202e"} {
			if strings.Contains(content, bad) {
				t.Errorf("%s: %q reaches the terminal", what, bad)
			}
		}
		if !strings.Contains(content, shown) {
			t.Errorf("%s: the name is not shown:\n%s", what, content)
		}
	}
	s.press("/pee")
	sees("a command that is completed")
	s.edit.set("")
	s.press("@d")
	sees("a file that is completed")
	s.press("tab")
	sees("a file that was taken")
	s.edit.set("")
	s.press("/help ", "enter")
	sees("/help")
	s.press("/clear ", "enter", "/all ", "enter")
	sees("/all")
	s.press("/clear ", "enter", "/roles ", "enter")
	sees("/roles")
}
