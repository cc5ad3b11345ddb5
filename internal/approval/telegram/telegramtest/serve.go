package telegramtest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// refusal is an error answer.
type refusal struct {
	status int
	text   string
	retry  int
}

func (r *refusal) Error() string { return r.text }

func bad(text string) *refusal { return &refusal{http.StatusBadRequest, "Bad Request: " + text, 0} }

// maxLong bounds a poll, in seconds, as the real server does.
const maxLong = 50

// ServeHTTP serves /bot<token>/<method>, with parameters as a form or a query.
func (b *Bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	if !ok || token != b.Token {
		reply(w, "", &refusal{http.StatusUnauthorized, "Unauthorized", 0})
		return
	}
	params, err := parameters(r)
	if err != nil {
		reply(w, "", bad("can't parse the parameters: "+err.Error()))
		return
	}
	b.mu.Lock()
	b.calls = append(b.calls, Call{method, params})
	var fault *Fault
	if f := b.faults[method]; len(f) > 0 {
		fault, b.faults[method] = &f[0], f[1:]
	}
	b.change()
	b.mu.Unlock()
	if fault != nil && !fault.After {
		fail(w, fault)
		return
	}
	result, err := b.do(r, method, params)
	b.mu.Lock()
	held := b.held[method]
	b.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}
	if fault != nil {
		fail(w, fault)
		return
	}
	reply(w, result, err)
}

func fail(w http.ResponseWriter, f *Fault) {
	if f.Status != 0 {
		reply(w, "", &refusal{f.Status, f.Text, f.RetryAfter})
		return
	}
	if h, ok := w.(http.Hijacker); ok {
		if c, _, err := h.Hijack(); err == nil {
			_ = c.Close()
			return
		}
	}
	panic(errCut)
}

func reply(w http.ResponseWriter, result string, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err == nil {
		_, _ = io.WriteString(w, `{"ok":true,"result":`+result+`}`) //nolint:gosec // JSON for a bot, not a page
		return
	}
	no, ok := err.(*refusal) //nolint:errorlint // it is never wrapped
	if !ok {
		no = bad(err.Error())
	}
	w.WriteHeader(no.status)
	more := ""
	if no.retry > 0 {
		more = fmt.Sprintf(`,"parameters":{"retry_after":%d}`, no.retry)
	}
	_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%s%s}`, no.status, quoted(no.text), more) //nolint:gosec // as above
}

// parameters reads the parameters of a call.
func parameters(r *http.Request) (map[string]string, error) {
	out := map[string]string{}
	// The library omits the end mark in the body of a call without parameters, and the real server accepts that.
	err := r.ParseMultipartForm(16 << 20) //nolint:gosec // loopback, in tests
	if err != nil && !errors.Is(err, http.ErrNotMultipart) && !strings.Contains(err.Error(), "EOF") {
		return nil, err
	}
	if r.MultipartForm != nil {
		for name, files := range r.MultipartForm.File {
			f, err := files[0].Open()
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(f)
			_ = f.Close()
			if err != nil {
				return nil, err
			}
			out[name] = string(text)
		}
	}
	for k, v := range r.Form {
		out[k] = v[0]
	}
	return out, nil
}

// do runs one call and returns its result as JSON.
func (b *Bot) do(r *http.Request, method string, p map[string]string) (string, error) {
	switch method {
	case "getMe":
		return `{"id":123456,"is_bot":true,"first_name":"Mycelium","username":"mycelium_test_bot"}`, nil
	case "setMyCommands":
		return b.setCommands(p)
	case "getUpdates":
		return b.getUpdates(r, p)
	case "sendMessage", "sendDocument":
		return b.send(method, p)
	case "editMessageText":
		return b.edit(p)
	case "deleteMessage":
		return b.remove(p)
	case "answerCallbackQuery":
		return b.answer(p)
	}
	return "", &refusal{http.StatusNotFound, "Not Found: method not found", 0}
}

func (b *Bot) setCommands(p map[string]string) (string, error) {
	var all []struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	if err := json.Unmarshal([]byte(p["commands"]), &all); err != nil {
		return "", bad("can't parse commands")
	}
	for _, c := range all {
		if c.Command == "" || len(c.Command) > 32 || strings.Trim(c.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" ||
			c.Description == "" || len(c.Description) > 256 {
			return "", bad("BOT_COMMAND_INVALID")
		}
	}
	return "true", nil
}

// getUpdates waits for updates and drops those below the offset. A second poller ends the first, as at the real server.
func (b *Bot) getUpdates(r *http.Request, p map[string]string) (string, error) {
	offset, _ := strconv.ParseInt(p["offset"], 10, 64)
	seconds, _ := strconv.Atoi(p["timeout"])
	var kinds []string
	if p["allowed_updates"] != "" && json.Unmarshal([]byte(p["allowed_updates"]), &kinds) != nil {
		return "", bad("can't parse allowed_updates")
	}
	end := time.NewTimer(time.Duration(min(seconds, maxLong)) * time.Second)
	defer end.Stop()
	mine := make(chan struct{})
	b.mu.Lock()
	if b.poller != nil {
		close(b.poller)
	}
	b.poller = mine
	defer func() {
		b.mu.Lock()
		if b.poller == mine {
			b.poller = nil
		}
		b.mu.Unlock()
	}()
	b.updates = slices.DeleteFunc(b.updates, func(u update) bool { return u.id < offset || len(kinds) > 0 && !slices.Contains(kinds, u.kind) })
	b.change()
	b.mu.Unlock()
	for {
		b.mu.Lock()
		var some []string
		for _, u := range b.updates {
			if len(kinds) == 0 || slices.Contains(kinds, u.kind) {
				some = append(some, u.body)
			}
		}
		changed, closed := b.changed, b.closed
		b.mu.Unlock()
		if len(some) > 0 || closed {
			return "[" + strings.Join(some, ",") + "]", nil
		}
		select {
		case <-mine:
			return "", &refusal{http.StatusConflict, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is " +
				"running", 0}
		case <-r.Context().Done():
			return "[]", nil
		case <-end.C:
			return "[]", nil
		case <-changed:
		}
	}
}

func (b *Bot) send(method string, p map[string]string) (string, error) {
	chat, _ := strconv.ParseInt(p["chat_id"], 10, 64)
	m := &Message{Chat: chat, Text: p["text"], File: p["document"]}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.chats[chat] {
		return "", bad("chat not found")
	}
	if method == "sendDocument" && m.File == "" {
		return "", bad("there is no document in the request")
	}
	if method == "sendMessage" {
		if err := m.read(p); err != nil {
			return "", err
		}
	}
	if p["reply_parameters"] != "" {
		var to struct {
			ID      int  `json:"message_id"`
			Without bool `json:"allow_sending_without_reply"`
		}
		if json.Unmarshal([]byte(p["reply_parameters"]), &to) != nil {
			return "", bad("can't parse reply parameters")
		}
		if old := b.messages[to.ID]; old != nil && !old.Deleted && old.Chat == chat {
			m.ReplyTo = to.ID
		} else if !to.Without {
			return "", bad("message to be replied not found")
		}
	}
	b.last++
	m.ID = b.last
	b.messages[m.ID] = m
	b.change()
	return fmt.Sprintf(`{"message_id":%d,"date":1,"chat":%s,"text":%s}`, m.ID, chatJSON(chat), quoted(m.Text)), nil
}

// read sets text, styles and buttons, and refuses what the real server refuses.
func (m *Message) read(p map[string]string) error {
	m.Text = p["text"]
	units := utf16.Encode([]rune(m.Text))
	switch {
	case strings.TrimSpace(m.Text) == "":
		return bad("message text is empty")
	case !utf8.ValidString(m.Text):
		return bad("strings must be encoded in UTF-8")
	case len(units) > 4096:
		return bad("message is too long")
	}
	m.Styles, m.Buttons = nil, nil
	if p["entities"] != "" {
		if err := json.Unmarshal([]byte(p["entities"]), &m.Styles); err != nil {
			return bad("can't parse entities")
		}
	}
	for _, s := range m.Styles {
		if s.Offset < 0 || s.Length <= 0 || s.Offset+s.Length > len(units) {
			return bad("entity beyond the text")
		}
		for _, at := range []int{s.Offset, s.Offset + s.Length} {
			if at < len(units) && units[at] >= 0xdc00 && units[at] < 0xe000 {
				return bad("entity cuts a character")
			}
		}
	}
	if p["reply_markup"] == "" {
		return nil
	}
	var k struct {
		Rows  [][]Button `json:"inline_keyboard"`
		Force bool       `json:"force_reply"`
	}
	if err := json.Unmarshal([]byte(p["reply_markup"]), &k); err != nil {
		return bad("can't parse reply keyboard markup")
	}
	for _, row := range k.Rows {
		for _, x := range row {
			if x.Text == "" || len(x.Data) == 0 || len(x.Data) > 64 {
				return bad("BUTTON_DATA_INVALID")
			}
		}
	}
	m.Buttons, m.Asks = k.Rows, k.Force
	return nil
}

func (b *Bot) edit(p map[string]string) (string, error) {
	id, _ := strconv.Atoi(p["message_id"])
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages[id]
	if m == nil || m.Deleted || m.From != 0 || strconv.FormatInt(m.Chat, 10) != p["chat_id"] {
		return "", bad("message to edit not found")
	}
	next := *m
	if err := next.read(p); err != nil {
		return "", err
	}
	if next.Text == m.Text && slices.Equal(next.Styles, m.Styles) && slices.EqualFunc(next.Buttons, m.Buttons, slices.Equal) {
		return "", bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and " +
			"reply markup of the message")
	}
	next.Edits++
	*m = next
	b.change()
	return fmt.Sprintf(`{"message_id":%d,"date":1,"chat":%s,"text":%s}`, m.ID, chatJSON(m.Chat), quoted(m.Text)), nil
}

func (b *Bot) remove(p map[string]string) (string, error) {
	id, _ := strconv.Atoi(p["message_id"])
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages[id]
	if m == nil || m.Deleted {
		return "", bad("message to delete not found")
	}
	m.Deleted = true
	b.change()
	return "true", nil
}

func (b *Bot) answer(p map[string]string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.taps[p["callback_query_id"]]
	if q == nil || q.Answered {
		return "", bad("query is too old and response timeout expired or query ID is invalid")
	}
	if utf8.RuneCountInString(p["text"]) > 200 {
		return "", bad("MESSAGE_TOO_LONG")
	}
	*q = Tapped{Answered: true, Text: p["text"], Alert: p["show_alert"] == "true"}
	b.change()
	return "true", nil
}
