// Package telegramtest is a fake of Telegram for tests: a Bot API server on loopback with the methods that the bot uses. It enforces the
// bounds of the real server, and lets a test act as the people in the chat.
package telegramtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// patience bounds every wait of a test.
const patience = 60 * time.Second

// Bot is a fake server with one bot and its chats.
type Bot struct {
	Token string
	URL   string // of the server, for approval.telegram.server

	server *http.Server
	done   chan struct{}

	mu       sync.Mutex
	changed  chan struct{} // closed at every change
	chats    map[int64]bool
	messages map[int]*Message
	updates  []update
	taps     map[string]*Tapped
	faults   map[string][]Fault
	held     map[string]chan struct{}
	calls    []Call
	last     int   // number of the newest message
	lastID   int64 // of the newest update
	poller   chan struct{}
	closed   bool
}

// Message is a message in a chat as people see it.
type Message struct {
	ID      int
	Chat    int64
	From    int64 // 0: the bot
	Text    string
	Styles  []Style
	Buttons [][]Button
	ReplyTo int
	Asks    bool // it opens a reply on the phone (force_reply)
	File    string
	Edits   int // number of changes
	Deleted bool
}

// Style is a style of a part of a text: bold, code, pre …
type Style struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"` // UTF-16 code units
	Length   int    `json:"length"`
	Language string `json:"language"`
}

// Button is a button under a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Tapped is the bot's answer to a tap.
type Tapped struct {
	Answered bool
	Text     string
	Alert    bool
}

// Call is a call of the bot.
type Call struct {
	Method string
	Params map[string]string
}

// Fault is an error that the server returns instead of an answer.
type Fault struct {
	Status     int    // of HTTP and of the answer; 0: the connection is cut
	Text       string // of the answer
	RetryAfter int    // seconds, for 429
	After      bool   // the call takes effect, and only its answer is lost
}

type update struct {
	id   int64
	body string
	kind string
}

// New starts a server whose bot may write to the given chats.
func New(chats ...int64) (*Bot, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the fake Bot API: %w", err)
	}
	b := &Bot{
		Token: "123456:TEST-token_of_the_fake_Bot_API", URL: "http://" + l.Addr().String(), done: make(chan struct{}), lastID: 1000,
		changed: make(chan struct{}), chats: map[int64]bool{}, messages: map[int]*Message{}, taps: map[string]*Tapped{},
		faults: map[string][]Fault{}, held: map[string]chan struct{}{},
	}
	for _, c := range chats {
		b.chats[c] = true
	}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: patience}
	go func() {
		defer close(b.done)
		_ = b.server.Serve(l)
	}()
	return b, nil
}

// Close stops the server and the calls that wait in it.
func (b *Bot) Close() {
	b.mu.Lock()
	b.closed = true
	for m, c := range b.held {
		close(c)
		delete(b.held, m)
	}
	b.change()
	b.mu.Unlock()
	_ = b.server.Close()
	<-b.done
}

// change wakes all waiters. The lock is held.
func (b *Bot) change() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Say sends a text of a person and returns the number of its message. replyTo is 0 for a text that is no reply.
func (b *Bot) Say(chat, user int64, text string, replyTo int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	b.messages[b.last] = &Message{ID: b.last, Chat: chat, From: user, Text: text, ReplyTo: replyTo}
	reply := ""
	if replyTo != 0 {
		buttons := ""
		if m := b.messages[replyTo]; m != nil && len(m.Buttons) > 0 {
			rows, err := json.Marshal(m.Buttons)
			if err == nil {
				buttons = `,"reply_markup":{"inline_keyboard":` + string(rows) + `}`
			}
		}
		reply = fmt.Sprintf(`,"reply_to_message":{"message_id":%d,"date":1,"chat":%s%s}`, replyTo, chatJSON(chat), buttons)
	}
	b.update("message", fmt.Sprintf(`{"message_id":%d,"date":1,"chat":%s,"from":%s,"text":%s%s}`, b.last, chatJSON(chat), userJSON(user),
		quoted(text), reply))
	return b.last
}

// Tap presses the button of a message whose text begins with label. It returns the id of the tap.
func (b *Bot) Tap(user int64, message int, label string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages[message]
	if m == nil || m.Deleted {
		return "", fmt.Errorf("message %d does not exist", message)
	}
	for _, row := range m.Buttons {
		for _, x := range row {
			if strings.HasPrefix(x.Text, label) {
				return b.press(user, m.Chat, message, x.Data), nil
			}
		}
	}
	return "", fmt.Errorf("message %d has no button %q: %v", message, label, m.Buttons)
}

// Press sends the data of a button that need not exist, as a phone does that shows an old message.
func (b *Bot) Press(user, chat int64, message int, data string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.press(user, chat, message, data)
}

func (b *Bot) press(user, chat int64, message int, data string) string {
	id := fmt.Sprint(7_000_000_000 + len(b.taps))
	b.taps[id] = &Tapped{}
	date, text := 0, ""
	if m := b.messages[message]; m != nil && !m.Deleted {
		date, text = 1, `,"text":`+quoted(m.Text)
	}
	b.update("callback_query",
		fmt.Sprintf(`{"id":%s,"from":%s,"chat_instance":"1","data":%s,"message":{"message_id":%d,"date":%d,"chat":%s%s}}`,
			quoted(id), userJSON(user), quoted(data), message, date, chatJSON(chat), text))
	return id
}

// update queues an update. The lock is held.
func (b *Bot) update(kind, body string) {
	b.lastID++
	b.updates = append(b.updates, update{b.lastID, fmt.Sprintf(`{"update_id":%d,%q:%s}`, b.lastID, kind, body), kind})
	b.change()
}

// Repeat delivers the newest update again with the same id, as Telegram does if the update was not acknowledged.
func (b *Bot) Repeat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.updates); n > 0 {
		b.updates = append(b.updates, b.updates[n-1])
	}
	b.change()
}

// Fail makes the next calls of a method fail, one for each fault.
func (b *Bot) Fail(method string, faults ...Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[method] = append(b.faults[method], faults...)
}

// Hold holds the answers to a method until release is called. The calls take effect at once.
func (b *Bot) Hold(method string) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan struct{})
	b.held[method] = c
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.held[method] == c {
			delete(b.held, method)
			close(c)
		}
	}
}

// Message returns the current state of a message.
func (b *Bot) Message(id int) Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.messages[id]; m != nil {
		return *m
	}
	return Message{}
}

// Messages returns the messages of the bot that are not deleted, the oldest first.
func (b *Bot) Messages() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Message
	for _, id := range slices.Sorted(maps.Keys(b.messages)) {
		if m := b.messages[id]; m.From == 0 && !m.Deleted {
			all = append(all, *m)
		}
	}
	return all
}

// Calls returns the calls of a method so far, or all calls if method is empty.
func (b *Bot) Calls(method string) []Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Call
	for _, c := range b.calls {
		if method == "" || c.Method == method {
			all = append(all, c)
		}
	}
	return all
}

// Wait waits until holds returns true. It calls holds after every change.
func (b *Bot) Wait(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		b.mu.Lock()
		changed := b.changed
		b.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case <-changed:
		}
	}
}

// WaitMessage waits for a message of the bot that is newer than after and for which ok returns true.
func (b *Bot) WaitMessage(ctx context.Context, after int, what string, ok func(Message) bool) (found Message, err error) {
	err = b.Wait(ctx, what, func() bool {
		for _, m := range b.Messages() {
			if m.ID > after && ok(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found, err
}

// WaitTap waits for the answer to a tap.
func (b *Bot) WaitTap(ctx context.Context, id string) (got Tapped, err error) {
	err = b.Wait(ctx, "the answer to a tap", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		got = *b.taps[id]
		return got.Answered
	})
	return got, err
}

// Drained waits until the bot has fetched and acknowledged every update so far.
func (b *Bot) Drained(ctx context.Context) error {
	return b.Wait(ctx, "the bot to take all updates", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.updates) == 0
	})
}

func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func chatJSON(chat int64) string {
	kind := "private"
	if chat < 0 {
		kind = "supergroup"
	}
	return fmt.Sprintf(`{"id":%d,"type":%q}`, chat, kind)
}

func userJSON(user int64) string {
	return fmt.Sprintf(`{"id":%d,"is_bot":false,"first_name":"User","username":"user%d"}`, user, user)
}

var errCut = errors.New("the connection is cut")
