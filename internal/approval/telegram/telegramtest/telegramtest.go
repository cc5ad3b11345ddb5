// Package telegramtest is a Telegram of one's own for tests: a Bot API server on loopback that speaks the methods which our bot uses, is as
// strict as the real one about their bounds, and lets a test be the people on the other side.
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

// Bot is a bot at our server, and the chats that it is in.
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
	Asks    bool // it asks for a reply
	File    string
	Edits   int  // how often it was changed
	Deleted bool // it is gone
}

// Style is a part of a text with its looks: bold, code, pre …
type Style struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"` // UTF-16 code units
	Length   int    `json:"length"`
	Language string `json:"language"`
}

// Button is one button.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Tapped is a tap and what the bot answered to it.
type Tapped struct {
	Answered bool
	Text     string
	Alert    bool
}

// Call is one request that the bot made.
type Call struct {
	Method string
	Params map[string]string
}

// Fault is what the server does instead of an answer.
type Fault struct {
	Status     int    // of HTTP and of the answer; 0: the connection is cut
	Text       string // of the answer
	RetryAfter int    // seconds, for 429
	After      bool   // the call is done first, and only its answer is lost
}

type update struct {
	id   int64
	body string
	kind string
}

// New starts a server with one bot. chats are those that it may write to.
func New(chats ...int64) (*Bot, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the fake Bot API: %w", err)
	}
	b := &Bot{
		Token: "123456:TEST-token_of_the_fake_Bot_API", URL: "http://" + l.Addr().String(), done: make(chan struct{}),
		changed: make(chan struct{}),
		chats:   map[int64]bool{}, messages: map[int]*Message{}, taps: map[string]*Tapped{}, faults: map[string][]Fault{},
		held: map[string]chan struct{}{}, lastID: 1000,
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

// Close ends the server and everything that waits there.
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

// change wakes everybody who waits. The lock is held.
func (b *Bot) change() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Say lets a person write into a chat, and returns the number of the message. replyTo is 0 for a text that answers nothing.
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

// Tap lets a person press the button of a message whose text begins as given. It returns the number of the tap.
func (b *Bot) Tap(user int64, message int, label string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages[message]
	if m == nil || m.Deleted {
		return "", fmt.Errorf("message %d is not there", message)
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

// Press sends the data of a button as if it had been pressed, whether or not it is there (any more): a phone that is behind does so.
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

// Repeat delivers the newest update again under its own number, as Telegram does where it does not know that it arrived.
func (b *Bot) Repeat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.updates); n > 0 {
		b.updates = append(b.updates, b.updates[n-1])
	}
	b.change()
}

// Fail lets the next calls of a method go wrong, one for each fault.
func (b *Bot) Fail(method string, faults ...Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[method] = append(b.faults[method], faults...)
}

// Hold keeps the answers to a method back until release is called: the calls are done, and nobody knows yet.
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

// Message returns a message as it is now.
func (b *Bot) Message(id int) Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.messages[id]; m != nil {
		return *m
	}
	return Message{}
}

// Messages are all messages of the bot that are still there, oldest first.
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

// Calls are the calls of a method so far; all of them for the empty name.
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

// Wait waits until a condition holds; it is asked again after every change.
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

// WaitMessage waits for a message of the bot, newer than the given one, for which ok holds.
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

// Drained waits until every update so far was fetched and acknowledged by the next poll: what was to be dropped was dropped then.
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
