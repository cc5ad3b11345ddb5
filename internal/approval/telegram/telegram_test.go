package telegram

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"mycelium/internal/policy/sign"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/approval"
	"mycelium/internal/approval/telegram/telegramtest"
	"mycelium/internal/policy"
	"mycelium/internal/store"
)

const (
	chatID = 4200
	alice  = 4200 // a private chat has the number of its person
	bob    = 77
	mallet = 666
)

// chatWorld is a queue, its database, a fake Bot API and the bot.
type chatWorld struct {
	t     *testing.T
	api   *telegramtest.Bot
	queue *approval.Queue
	db    *store.DB
	board *approval.Board
	opts  Options
	log   *LockedBuffer
	wrap  func(*approval.Queue) Queue // what the bot has instead of the queue; nil: the queue
	stop  func()
}

type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *LockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newChat starts a world; more changes the options before the bot runs.
func newChat(t *testing.T, deadline time.Duration, more func(*Options)) *chatWorld {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	api, err := telegramtest.New(chatID, -100)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &chatWorld{t: t, api: api, db: db, board: &approval.Board{}, log: &LockedBuffer{}}
	w.newQueue(deadline)
	w.opts = Options{
		Config: approval.TelegramConfig{Token: api.Token, Server: api.URL, Users: []int64{alice, bob}}, DB: db, Board: w.board, Zone: time.UTC,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	if more != nil {
		more(&w.opts)
	}
	w.start()
	return w
}

func (w *chatWorld) newQueue(deadline time.Duration) {
	w.t.Helper()
	q, err := approval.New(w.t.Context(), approval.Options{DB: w.db, Deadline: deadline,
		WriteRule: func(_ context.Context, r approval.Request, _ approval.Answer) (string, error) {
			return "from-" + r.Tool, nil
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.queue = q
	w.t.Cleanup(q.Close)
}

// start runs a bot over the world's queue.
func (w *chatWorld) start() {
	w.t.Helper()
	w.opts.Queue = w.queue
	if w.wrap != nil {
		w.opts.Queue = w.wrap(w.queue)
	}
	bot, err := New(w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(w.stop)
}

// ask calls Ask in the background.
func (w *chatWorld) ask(r approval.Request) <-chan approval.Answer {
	w.t.Helper()
	got := make(chan approval.Answer, 1)
	go func() {
		a, err := w.queue.Ask(w.t.Context(), r)
		if err != nil && w.t.Context().Err() == nil {
			a.Reason = "error: " + err.Error()
		}
		got <- a
	}()
	return got
}

// got waits for the answer to a request.
func (w *chatWorld) got(answer <-chan approval.Answer) approval.Answer {
	w.t.Helper()
	select {
	case a := <-answer:
		return a
	case <-time.After(time.Minute):
		w.t.Fatalf("nothing was answered\n%s\n%s", w.chat(), w.log)
		return approval.Answer{}
	}
}

func Bash(command string) approval.Request {
	return approval.Request{
		Session: "s1", Principal: "dev", Role: "developer", Agent: "claude", Label: "api", Dir: "/work/api", Surface: "hook", Tool: "agent__Bash",
		Risk: policy.High, Category: policy.CategoryShell,
		Args: []byte(fmt.Sprintf(`{"command":%q}`, command)), Reason: "not known to be harmless",
	}
}

// message waits for a message of the bot that contains a text.
func (w *chatWorld) message(text string) telegramtest.Message {
	w.t.Helper()
	m, err := w.api.WaitMessage(w.t.Context(), 0, "a message with "+text,
		func(m telegramtest.Message) bool { return strings.Contains(m.Text, text) })
	if err != nil {
		w.t.Fatalf("%v\nthe chat:\n%s\nthe log:\n%s", err, w.chat(), w.log)
	}
	return m
}

func (w *chatWorld) chat() string {
	var b strings.Builder
	for _, m := range w.api.Messages() {
		fmt.Fprintf(&b, "--- %d\n%s\n%v\n", m.ID, m.Text, m.Buttons)
	}
	return b.String()
}

// until waits until a watcher sees a request for which ok returns true.
func (w *chatWorld) until(ok func(approval.Request) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	found := false
	w.queue.Watch(ctx, func(r approval.Request) {
		if ok(r) {
			found = true
			cancel()
		}
	})
	if !found {
		w.t.Fatal("the queue does not tell of it")
	}
}

// tap presses a button and returns the bot's answer.
func (w *chatWorld) tap(user int64, message int, label string) telegramtest.Tapped {
	w.t.Helper()
	id, err := w.api.Tap(user, message, label)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.tapped(id)
}

func (w *chatWorld) tapped(id string) telegramtest.Tapped {
	w.t.Helper()
	got, err := w.api.WaitTap(w.t.Context(), id)
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.log)
	}
	return got
}

// TestTelegramApprove: a call waits, a person reads the message and answers, the call gets the answer, and the message shows it.
func TestTelegramApprove(t *testing.T) {
	for _, c := range []struct {
		button, outcome string
		allow           bool
		reach           approval.For
	}{
		{"✅ Approve", "✅ Approved by user4200 (telegram 4200) at", true, approval.Once},
		{"❌ Deny", "❌ Denied by user4200 (telegram 4200) at", false, approval.Once},
		{"✅ For this session", "✅ Approved for this session by", true, approval.Session},
		{"📌 Always", "✅ Approved as a rule by", true, approval.Rule},
		{"🚫 Never", "❌ Denied for the rest of this session by", false, approval.Never},
	} {
		t.Run(c.button, func(t *testing.T) {
			w := newChat(t, 0, nil)
			r := Bash("git push origin feature")
			r.Facts = policy.Facts{Parts: []policy.Part{{Program: "git", Effects: []string{policy.EffectPush, policy.EffectNetwork},
				Hosts: []string{"example.com"}}}}
			answer := w.ask(r)
			m := w.message("git push origin feature")
			for _, want := range []string{"agent__Bash", "high risk", "SHELL_EXEC", "api (claude, developer)", "push, network, host example.com",
				"not known to be harmless", "In /work/api", "Open until"} {
				if !strings.Contains(m.Text, want) {
					t.Errorf("the message does not say %q:\n%s", want, m.Text)
				}
			}
			if m.Edits != 0 {
				t.Error("the message changed before anybody answered")
			}
			if got := w.tap(alice, m.ID, c.button); got.Alert || got.Text == "" {
				t.Errorf("the tap was answered %+v", got)
			}
			a := w.got(answer)
			if a.Allow != c.allow || a.For != c.reach || a.Via != "telegram" || a.By != "user4200 (telegram 4200)" || a.Digest == "" {
				t.Errorf("the answer: %+v", a)
			}
			now := w.message(c.outcome)
			if now.ID != m.ID || len(now.Buttons) != 0 || !strings.Contains(now.Text, "git push origin feature") {
				t.Errorf("the message shows %+v", now)
			}
		})
	}
}

// TestTelegramStrangers: only enrolled people in the configured chat can answer; strangers get no answer of any kind.
func TestTelegramStrangers(t *testing.T) {
	w := newChat(t, 0, nil)
	answer := w.ask(Bash("make deploy"))
	m := w.message("make deploy")
	id := strings.TrimPrefix(m.Buttons[0][0].Data, "a:")
	var taps []string
	taps = append(taps,
		w.api.Press(mallet, chatID, m.ID, "a:"+id), // a stranger in the configured chat
		w.api.Press(alice, -100, m.ID, "a:"+id),    // an enrolled person in another chat
		w.api.Press(mallet, mallet, m.ID, "a:"+id)) // a stranger in a private chat
	for _, text := range []string{"/start", "/status", "yes", "/abort api", "/mode local"} {
		w.api.Say(mallet, mallet, text, 0)
		w.api.Say(chatID, mallet, text, m.ID)
		w.api.Say(-100, alice, text, 0)
	}
	// When this tap is answered, all updates before it have been handled.
	if got := w.tap(bob, m.ID, "❌ Deny"); got.Alert {
		t.Errorf("%+v", got)
	}
	if a := w.got(answer); a.Allow || a.By != "user77 (telegram 77)" {
		t.Errorf("%+v", a)
	}
	w.message("❌ Denied by user77")
	for _, id := range taps {
		for _, c := range w.api.Calls("answerCallbackQuery") {
			if c.Params["callback_query_id"] == id {
				t.Errorf("a stranger's tap was answered: %v", c.Params)
			}
		}
	}
	if all := w.api.Messages(); len(all) != 1 {
		t.Errorf("a stranger was answered:\n%s", w.chat())
	}
	if log := w.log.String(); !strings.Contains(log, "chat=666 user=666") || strings.Contains(log, w.api.Token) {
		t.Errorf("the log: %s", log)
	}
}

// TestTelegramLate: an answer that comes too late, or is for an unknown request, is refused, and the message says so.
func TestTelegramLate(t *testing.T) {
	w := newChat(t, 0, nil)
	answer := w.ask(Bash("make a"))
	m := w.message("make a")
	approve := m.Buttons[0][0].Data
	if _, err := w.queue.Settle(t.Context(), strings.TrimPrefix(approve, "a:"),
		approval.Answer{Allow: false, By: "carol", Via: "terminal"}, sign.None); err != nil {
		t.Fatal(err)
	}
	if a := w.got(answer); a.Allow {
		t.Errorf("%+v", a)
	}
	w.message("❌ Denied by carol (terminal) at")
	got := w.tapped(w.api.Press(alice, chatID, m.ID, approve))
	if !got.Alert || !strings.Contains(got.Text, "Too late") || !strings.Contains(got.Text, "carol") {
		t.Errorf("%+v", got)
	}
	if now := w.message("Too late and refused: approval by user4200"); now.ID != m.ID || !strings.Contains(now.Text, "❌ Denied by carol") {
		t.Errorf("%+v", now)
	}
	got = w.tapped(w.api.Press(alice, chatID, m.ID, "a:nosuchrequest"))
	if !got.Alert || !strings.Contains(got.Text, "not known") {
		t.Errorf("%+v", got)
	}
	for _, data := range []string{"", "a", "zz:x", "o:x:1", strings.Repeat("a", 64)} {
		if got := w.tapped(w.api.Press(alice, chatID, m.ID, data)); !got.Alert {
			t.Errorf("%q: %+v", data, got)
		}
	}
}

func TestTelegramExpires(t *testing.T) {
	w := newChat(t, 300*time.Millisecond, nil)
	release := w.api.Hold("sendMessage") // the deadline passes before the bot knows that its message arrived
	answer := w.ask(Bash("make b"))
	if a := w.got(answer); a.Allow || a.By != approval.ByDeadline {
		t.Errorf("%+v", a)
	}
	release()
	var id int
	if err := w.api.Wait(t.Context(), "the message to tell", func() bool {
		all := w.api.Messages()
		if len(all) == 0 { // it was settled before it was sent, so no message is sent
			return len(w.api.Calls("sendMessage")) == 0
		}
		id = all[0].ID
		return strings.Contains(all[0].Text, "⌛ Expired at")
	}); err != nil {
		t.Fatalf("%v\n%s", err, w.chat())
	}
	if id != 0 {
		if got := w.tapped(w.api.Press(alice, chatID, id, "a:abc")); !got.Alert {
			t.Errorf("%+v", got)
		}
	}
}

// TestTelegramTapOvertakes: a person taps before the bot knows that its message was sent.
func TestTelegramTapOvertakes(t *testing.T) {
	w := newChat(t, 0, nil)
	release := w.api.Hold("sendMessage")
	defer release()
	answer := w.ask(Bash("make c"))
	m := w.message("make c")
	if got := w.tap(alice, m.ID, "✅ Approve"); got.Alert {
		t.Errorf("%+v", got)
	}
	if a := w.got(answer); !a.Allow {
		t.Errorf("%+v", a)
	}
	release()
	if now := w.message("✅ Approved by"); now.ID != m.ID {
		t.Errorf("another message tells: %d, not %d", now.ID, m.ID)
	}
}

// TestTelegramRestart: after a restart of the bot, messages show what was settled meanwhile, and requests that wait can be answered.
func TestTelegramRestart(t *testing.T) {
	w := newChat(t, 0, nil)
	first, second := w.ask(Bash("make one")), w.ask(Bash("make two"))
	one, two := w.message("make one"), w.message("make two")
	w.stop()
	if _, err := w.queue.Settle(t.Context(), strings.TrimPrefix(one.Buttons[0][0].Data, "a:"),
		approval.Answer{Allow: true, By: "carol", Via: "http"}, sign.None); err != nil {
		t.Fatal(err)
	}
	w.got(first)
	pressed := w.api.Press(alice, chatID, two.ID, two.Buttons[0][0].Data) // while no bot runs
	w.start()
	if now := w.message("✅ Approved by carol (http)"); now.ID != one.ID {
		t.Errorf("%+v", now)
	}
	if got := w.tapped(pressed); got.Alert {
		t.Errorf("%+v", got)
	}
	if a := w.got(second); !a.Allow {
		t.Errorf("%+v", a)
	}
	if now := w.message("✅ Approved by user4200"); now.ID != two.ID {
		t.Errorf("%+v", now)
	}
	if n := len(w.api.Messages()); n != 2 {
		t.Errorf("%d messages:\n%s", n, w.chat())
	}
}

// TestTelegramDaemonRestart: a new process reads the queue and the messages from the database.
func TestTelegramDaemonRestart(t *testing.T) {
	w := newChat(t, 0, nil)
	go func() { _, _ = w.queue.Ask(t.Context(), Bash("make three")) }()
	m := w.message("make three")
	w.stop()
	w.queue.Close()
	w.newQueue(0)
	w.start()
	again := w.ask(Bash("make three")) // the hook comes back
	w.until(func(r approval.Request) bool { return r.Waiting == 1 })
	if got := w.tap(alice, m.ID, "✅ Approve"); got.Alert {
		t.Errorf("%+v", got)
	}
	if a := w.got(again); !a.Allow {
		t.Errorf("%+v", a)
	}
	if now := w.message("✅ Approved by user4200"); now.ID != m.ID || len(w.api.Messages()) != 1 {
		t.Errorf("%s", w.chat())
	}
}
