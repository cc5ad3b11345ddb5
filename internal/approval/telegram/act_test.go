package telegram

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/approval/judge"
	"mycelium/internal/approval/telegram/telegramtest"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
)

// said waits for the bot's answer to a text.
func (w *chatWorld) said(user int64, text string, replyTo int, want string) telegramtest.Message {
	w.t.Helper()
	id := w.api.Say(chatID, user, text, replyTo)
	m, err := w.api.WaitMessage(w.t.Context(), id, "an answer to "+text,
		func(m telegramtest.Message) bool { return strings.Contains(m.Text, want) })
	if err != nil {
		w.t.Fatalf("%v\n%s\n%s", err, w.chat(), w.log)
	}
	return m
}

// TestTelegramPIN: approving something critical needs the PIN, which the bot deletes from the chat. Three wrong PINs lock out one person.
// Denying needs no PIN.
func TestTelegramPIN(t *testing.T) {
	now := time.Now()
	w := newChat(t, -1, func(o *Options) {
		o.Config.PIN = "2468"
		o.Now = func() time.Time { return now }
	})
	ask := func(command string) (telegramtest.Message, <-chan approval.Answer) {
		r := Bash(command)
		r.Risk = policy.Critical
		answer := w.ask(r)
		return w.message(command), answer
	}
	m, answer := ask("terraform destroy")
	enter := func(user int64, text string) {
		t.Helper()
		n := len(w.api.Calls("deleteMessage"))
		id := w.api.Say(chatID, user, text, 0)
		if err := w.api.Wait(t.Context(), "the PIN to leave the chat",
			func() bool { return w.api.Message(id).Deleted && len(w.api.Calls("deleteMessage")) > n }); err != nil {
			t.Fatalf("%v\n%s", err, w.chat())
		}
	}
	if got := w.tap(alice, m.ID, "✅ Approve"); got.Alert || got.Text != "PIN?" {
		t.Fatalf("%+v", got)
	}
	prompt := w.message("Reply with the PIN")
	if !prompt.Asks || prompt.ReplyTo != m.ID {
		t.Errorf("%+v", prompt)
	}
	w.api.Say(chatID, bob, "2468", 0) // bob's text does not answer alice's prompt
	w.message("I do not know whom that is for")
	enter(alice, "1111")
	w.message("2 left")
	enter(alice, "24680")
	w.message("1 left")
	enter(alice, "2468")
	if a := w.got(answer); !a.Allow || a.By != "user4200 (telegram 4200)" {
		t.Errorf("%+v", a)
	}
	w.message("✅ Approved by user4200")

	m, answer = ask("terraform destroy -auto-approve")
	w.tap(alice, m.ID, "✅ Approve")
	for range 3 {
		enter(alice, "0000")
	}
	w.message("Wrong PIN again")
	if got := w.tap(alice, m.ID, "✅ Approve"); !got.Alert || !strings.Contains(got.Text, "Too many wrong PINs") {
		t.Errorf("%+v", got)
	}
	if got := w.tap(alice, m.ID, "📌 Always"); !got.Alert {
		t.Errorf("a rule without a PIN: %+v", got)
	}
	if got := w.tap(bob, m.ID, "❌ Deny"); got.Alert {
		t.Errorf("%+v", got)
	}
	if a := w.got(answer); a.Allow {
		t.Errorf("%+v", a)
	}
	// Consent in words needs the PIN too; a call that is not critical does not.
	m, answer = ask("terraform apply")
	w.api.Say(chatID, bob, "yes", m.ID)
	w.message("This bot does not read texts about requests")
	r := w.ask(Bash("make harmless"))
	w.tap(alice, w.message("make harmless").ID, "✅ Approve")
	if a := w.got(r); !a.Allow {
		t.Errorf("%+v", a)
	}
	w.tap(bob, m.ID, "✅ Approve")
	enter(bob, "2468")
	if a := w.got(answer); !a.Allow {
		t.Errorf("%+v", a)
	}
	if strings.Contains(w.log.String()+w.chat(), "2468") {
		t.Error("the PIN shows")
	}
}

// TestTelegramReplies: a text about a request does what it means, with the same checks as a tap.
func TestTelegramReplies(t *testing.T) {
	var adopted []string
	w := newChat(t, -1, func(o *Options) {
		e := judge.NewEvaluator(judge.Options{})
		o.Read = e.Evaluate
		o.Adopt = func(_ context.Context, _ approval.Request, p approval.Reply, by string) (string, error) {
			adopted = append(adopted, fmt.Sprintf("%s %s %s by %s", p.Kind, p.Tool, p.Text, by))
			if p.Kind == approval.ReplyRule {
				return "", errors.New("rules.yaml is read-only")
			}
			return "pol_1 in policies.yaml", nil
		}
	})
	for _, c := range []struct {
		text  string
		check func(approval.Answer) bool
	}{
		{"yes", func(a approval.Answer) bool { return a.Allow && a.For == approval.Once && a.Reason == "yes" }},
		{"はい", func(a approval.Answer) bool { return a.Allow }},
		{"やめて", func(a approval.Answer) bool { return !a.Allow && a.Text == "" && a.Reason == "やめて" }},
		{"use git stash instead of that", func(a approval.Answer) bool { return !a.Allow && a.Text == "use git stash instead of that" }},
	} {
		answer := w.ask(Bash("git reset --hard " + c.text))
		m := w.message("git reset --hard " + c.text)
		w.api.Say(chatID, alice, c.text, m.ID)
		if a := w.got(answer); !c.check(a) || a.Via != "telegram" {
			t.Errorf("%s: %+v", c.text, a)
		}
	}
	answer := w.ask(Bash("make x"))
	m := w.message("make x")
	w.said(alice, "add policy: never force a push", m.ID, "📜 Written: pol_1 in policies.yaml\nThe request still waits")
	w.said(alice, "add rule: allow Bash(make *)", m.ID, "It was not written: rules.yaml is read-only")
	w.said(alice, "maybe", m.ID, "I am not sure that this is a yes")
	if len(adopted) != 2 || adopted[0] != "policy agent__Bash never force a push by user4200 (telegram 4200)" {
		t.Errorf("%q", adopted)
	}
	if all, _ := w.queue.List(t.Context()); len(all) != 1 {
		t.Fatal("a text that was no answer settled the request")
	}
	w.tap(alice, m.ID, "❌ Deny")
	w.got(answer)
	w.said(alice, "yes", m.ID, "Too late")
	w.said(alice, "what?", 0, "nothing was done")
}

// TestTelegramStop: an agent that wants to stop goes on, stops, or is told what to do next.
func TestTelegramStop(t *testing.T) {
	w := newChat(t, -1, nil)
	stop := func(text string) (telegramtest.Message, <-chan approval.Answer) {
		answer := w.ask(approval.Request{Kind: approval.Stop, Session: "s1", Principal: "dev", Agent: "claude", Label: "api", Surface: "hook",
			Text: text})
		return w.message(text), answer
	}
	m, answer := stop("All tests pass. 完了しました。")
	w.tap(alice, m.ID, "⏹ Let stop")
	if a := w.got(answer); a.Allow {
		t.Errorf("%+v", a)
	}
	w.message("⏹ Stops by user4200")
	m, answer = stop("I could not fix it")
	w.tap(alice, m.ID, "▶️ Continue")
	if a := w.got(answer); !a.Allow || a.Text != "" {
		t.Errorf("%+v", a)
	}
	m, answer = stop("What next?")
	w.api.Say(chatID, alice, "次はテストを書いて", m.ID)
	if a := w.got(answer); !a.Allow || a.Text != "次はテストを書いて" {
		t.Errorf("%+v", a)
	}
	w.message("Told: 次はテストを書いて")
}

// TestTelegramQuestion: questions are answered in turn, by one button, by several, and in a person's own words.
func TestTelegramQuestion(t *testing.T) {
	w := newChat(t, -1, nil)
	answer := w.ask(approval.Request{Kind: approval.Question, Session: "s1", Principal: "dev", Agent: "claude", Label: "api", Surface: "hook",
		Tool: "agent__AskUserQuestion", Questions: []approval.Asked{
			{Header: "DB", Text: "Which database?", Options: []string{"PostgreSQL", "SQLite"}},
			{Text: "Which checks?", Options: []string{"lint", "test", "ビルド"}, Many: true},
			{Text: "Name?", Options: []string{"a", "b"}},
		}})
	m := w.message("Which database?")
	first := m.Buttons[0][0].Data
	w.tap(alice, m.ID, "SQLite")
	w.message("✔ Which database? → SQLite")
	if got := w.tapped(w.api.Press(bob, chatID, m.ID, first)); !got.Alert || !strings.Contains(got.Text, "answered already") {
		t.Errorf("%+v", got)
	}
	if got := w.tap(alice, m.ID, "✅ Done"); !got.Alert {
		t.Errorf("nothing was chosen: %+v", got)
	}
	for _, label := range []string{"☐ test", "☐ lint", "☐ ビルド"} {
		w.tap(alice, m.ID, label)
		if err := w.api.Wait(t.Context(), "the box to be ticked", func() bool {
			return strings.Contains(fmt.Sprint(w.api.Message(m.ID).Buttons), "☑"+strings.TrimPrefix(label, "☐"))
		}); err != nil {
			t.Fatal(err)
		}
	}
	w.tap(alice, m.ID, "☑ lint")
	w.api.Say(chatID, alice, "and a benchmark", m.ID)
	w.message("Also: and a benchmark")
	w.tap(alice, m.ID, "✅ Done")
	w.message("→ test, ビルド, and a benchmark")
	w.api.Say(chatID, alice, "call it きのこ", m.ID)
	a := w.got(answer)
	want := "Which database? → SQLite\nWhich checks? → test, ビルド, and a benchmark\nName? → call it きのこ"
	if !a.Allow || a.Text != want {
		t.Errorf("%+v", a)
	}
	if now := w.message("✅ Answered by user4200"); now.ID != m.ID || len(now.Buttons) != 0 {
		t.Errorf("%+v", now)
	}
	if got := w.tapped(w.api.Press(bob, chatID, m.ID, first)); !got.Alert || !strings.Contains(got.Text, "Too late") {
		t.Errorf("%+v", got)
	}
	answer = w.ask(approval.Request{Kind: approval.Question, Session: "s1", Principal: "dev", Surface: "hook",
		Questions: []approval.Asked{{Text: "Really?", Options: []string{"y"}}}})
	m = w.message("Really?")
	w.tap(alice, m.ID, "❌ Do not answer")
	if a := w.got(answer); a.Allow {
		t.Errorf("%+v", a)
	}
}

// TestTelegramLongArguments: the message says how much is missing, and approving waits until the person has seen everything.
func TestTelegramLongArguments(t *testing.T) {
	w := newChat(t, -1, nil)
	long := strings.Repeat("echo harmless; ", 300) + "rm -rf ~ #" + strings.Repeat(" 無害です", 300)
	answer := w.ask(Bash(long))
	m := w.message("of 6010 characters are not shown here")
	if !strings.HasPrefix(m.Buttons[2][1].Text, "🔎 Show the rest") {
		t.Errorf("%v", m.Buttons)
	}
	for _, button := range []string{"✅ Approve", "✅ For this session", "📌 Always"} {
		if got := w.tap(alice, m.ID, button); !got.Alert || !strings.Contains(got.Text, "Show the rest") {
			t.Errorf("%s: %+v", button, got)
		}
	}
	if got := w.tap(alice, m.ID, "🔎"); got.Alert {
		t.Errorf("%+v", got)
	}
	var all strings.Builder
	for _, x := range w.api.Messages() {
		if x.ReplyTo == m.ID {
			all.WriteString(x.Text)
		}
	}
	if !strings.Contains(all.String(), long) {
		t.Error("the details do not hold the command")
	}
	if got := w.tap(alice, m.ID, "✅ Approve"); got.Alert {
		t.Errorf("%+v", got)
	}
	if a := w.got(answer); !a.Allow {
		t.Errorf("%+v", a)
	}
	huge := strings.Repeat("あ", 20000)
	answer = w.ask(Bash(huge))
	m = w.message("of 20000 characters")
	w.tap(alice, m.ID, "🔎")
	if err := w.api.Wait(t.Context(), "a file", func() bool {
		for _, x := range w.api.Messages() {
			if strings.Contains(x.File, huge) {
				return true
			}
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	w.tap(alice, m.ID, "❌ Deny")
	w.got(answer)
}

// TestTelegramFaults: faults of Telegram do not change the queue, and the chat catches up.
func TestTelegramFaults(t *testing.T) {
	w := newChat(t, -1, nil)
	w.api.Fail("sendMessage", telegramtest.Fault{}, telegramtest.Fault{Status: 502, Text: "Bad Gateway"},
		telegramtest.Fault{Status: 429, Text: "Too Many Requests", RetryAfter: 1})
	answer := w.ask(Bash("make d"))
	m := w.message("make d")
	w.api.Fail("editMessageText", telegramtest.Fault{Status: 500, Text: "Internal"}, telegramtest.Fault{After: true})
	w.api.Fail("answerCallbackQuery", telegramtest.Fault{Status: 400, Text: "Bad Request: query is too old"})
	if _, err := w.api.Tap(alice, m.ID, "✅ Approve"); err != nil {
		t.Fatal(err)
	}
	if a := w.got(answer); !a.Allow {
		t.Errorf("%+v", a)
	}
	w.message("✅ Approved by")
	w.api.Fail("getUpdates", telegramtest.Fault{Status: 409, Text: "Conflict: terminated by other getUpdates request"})
	w.said(alice, "/help", 0, "/status")
	w.api.Repeat() // an update that comes twice counts once
	w.said(bob, "/help", 0, "/status")
	helps := 0
	for _, x := range w.api.Messages() {
		if strings.Contains(x.Text, "/status – ") {
			helps++
		}
	}
	if helps != 2 {
		t.Errorf("%d answers to two texts:\n%s", helps, w.chat())
	}
	if log := w.log.String(); strings.Contains(log, w.api.Token) || strings.Count(log, "cannot be reached") > 4 {
		t.Errorf("the log: %s", log)
	}
}

// TestTelegramNotices: people get the notices that they chose, and a reply to a notice goes to its agent.
func TestTelegramNotices(t *testing.T) {
	var sent []string
	w := newChat(t, -1, func(o *Options) {
		o.Config.Notices = []approval.NoticeKind{approval.Completed, approval.DenialAlert}
		agents := fakeAgents{sessions: []approval.AgentSession{{ID: "s1", Label: "api"}, {ID: "s2", Label: "web"}},
			send: func(s approval.AgentSession, text string) error {
				if text == "fail" {
					return errors.New("the pane is gone")
				}
				sent = append(sent, s.ID+": "+text)
				return nil
			}}
		o.Agents, o.Control = agents, agents
	})
	w.said(alice, "/help", 0, "/send NAME TEXT") // the bot listens
	w.api.Fail("sendMessage", telegramtest.Fault{Status: 502, Text: "Bad Gateway"})
	w.board.Post(approval.Notice{Kind: approval.Started, Session: "s1", Label: "api"})
	w.board.Post(approval.Notice{Kind: approval.Completed, Session: "s2", Label: "web", Agent: "claude", Turns: 1, Cost: 0.42,
		Text: strings.Repeat("長い", 400)})
	w.board.Post(approval.Notice{Kind: approval.DenialAlert, Session: "s1", Label: "api", Text: "5 calls in a row"})
	done, alert := w.message("✅ Completed: web (claude) · 1 turn, $0.42"), w.message("Denied again and again: api\n5 calls in a row")
	if units(done.Text) > 450 || !strings.Contains(done.Text, "of 800 characters are not shown") {
		t.Errorf("%s", done.Text)
	}
	w.said(alice, "try harder", alert.ID, "⌨️ Sent to api.")
	w.said(alice, "fail", done.ID, "Not sent to web: the pane is gone")
	w.said(alice, "/send web 続けて", 0, "⌨️ Sent to web.")
	if strings.Join(sent, "|") != "s1: try harder|s2: 続けて" {
		t.Errorf("%q", sent)
	}
	for _, m := range w.api.Messages() {
		if strings.Contains(m.Text, "Started") {
			t.Error("a notice that nobody wants was sent")
		}
	}
}

// TestTelegramNoticesWait: notices that are posted while Telegram is down are sent when it is back.
func TestTelegramNoticesWait(t *testing.T) {
	w := newChat(t, -1, nil)
	w.said(alice, "/help", 0, "/status")
	w.stop()
	greeted, release := len(w.api.Calls("getMe")), w.api.Hold("getMe")
	w.start()
	if err := w.api.Wait(t.Context(), "a greeting", func() bool { return len(w.api.Calls("getMe")) > greeted }); err != nil {
		t.Fatal(err)
	}
	w.board.Post(approval.Notice{Kind: approval.BudgetAlert, Session: "s1", Label: "api", Text: "80 % of the budget is used"})
	release()
	w.message("80 % of the budget is used")
}

// TestTelegramReplyOvertakes: a person replies to a notice before the bot knows that it was sent.
func TestTelegramReplyOvertakes(t *testing.T) {
	w := newChat(t, -1, func(o *Options) {
		agents := fakeAgents{sessions: []approval.AgentSession{{ID: "s1", Label: "api"}},
			send: func(approval.AgentSession, string) error { return nil }}
		o.Agents, o.Control = agents, agents
	})
	w.said(alice, "/help", 0, "/send")
	release := w.api.Hold("sendMessage")
	defer release()
	w.board.Post(approval.Notice{Kind: approval.DenialAlert, Session: "s1", Label: "api", Text: "5 calls in a row"})
	alert := w.message("5 calls in a row")
	w.api.Say(chatID, alice, "try harder", alert.ID)
	if err := w.api.Drained(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	w.message("⌨️ Sent to api.")
}

// TestTelegramRefusalsAreLimited: a person gets a limited number of refusals in a minute.
func TestTelegramRefusalsAreLimited(t *testing.T) {
	now := time.Now()
	w := newChat(t, -1, func(o *Options) { o.Now = func() time.Time { return now } })
	alerts := 0
	for i := range 3 * maxRefusals {
		if got := w.tapped(w.api.Press(bob, chatID, 1, fmt.Sprintf("a:none%d", i))); got.Alert {
			alerts++
		}
	}
	if alerts != maxRefusals {
		t.Errorf("%d refusals were told, want %d", alerts, maxRefusals)
	}
	w.api.Say(chatID, bob, "/nonsense", 0)
	w.said(alice, "/nonsense", 0, "I do not know that command") // another person still gets refusals
	if n := len(w.api.Messages()); n != 1 {
		t.Errorf("%d messages:\n%s", n, w.chat())
	}
}

// fakeAgents records the texts that are sent to agents.
type fakeAgents struct {
	sessions []approval.AgentSession
	send     func(s approval.AgentSession, text string) error
}

func (f fakeAgents) Sessions(context.Context) ([]approval.AgentSession, error) {
	return slices.Clone(f.sessions), nil
}
func (f fakeAgents) Past(context.Context) ([]approval.AgentSession, error)          { return nil, nil }
func (f fakeAgents) Summary(context.Context, approval.AgentSession) (string, error) { return "", nil }
func (f fakeAgents) Send(_ context.Context, s approval.AgentSession, text string) (string, error) {
	return "", f.send(s, text)
}
func (f fakeAgents) Question(context.Context, string) (approval.Request, bool) {
	return approval.Request{}, false
}

func (f fakeAgents) AnswerThere(context.Context, string, approval.Answer, sign.Sign) (string, error) {
	return "", errors.New("nothing is open")
}
func (f fakeAgents) Abort(context.Context, approval.AgentSession) error { return nil }
