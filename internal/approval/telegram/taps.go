package telegram

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/text"
)

// The verbs in the data of buttons.
const (
	tapApprove = "a"
	tapDeny    = "d"
	tapSession = "s"
	tapRule    = "r"
	tapNever   = "n"
	tapDetails = "m"
	tapWider   = "w"
	tapOption  = "o" // question.option
	tapDone    = "f" // question that takes several options
	tapPick    = "p" // a choice of a [pick]; the id is the list's
)

// tap is the data of a button: a verb, the id of a request or a list, and for some verbs one or two numbers.
type tap struct {
	verb, id string
	first    int // question, or index in the list
	second   int // option
}

// tapData writes what parseTap reads.
func tapData(verb, id, arg string) string {
	if arg == "" {
		return verb + ":" + id
	}
	return verb + ":" + id + ":" + arg
}

// parseTap reads the data of a button. The data is not trusted: anybody can send it.
func parseTap(data string) (tap, bool) {
	if len(data) > maxButton {
		return tap{}, false
	}
	verb, rest, _ := strings.Cut(data, ":")
	id, arg, more := strings.Cut(rest, ":")
	if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return tap{}, false
	}
	p := tap{verb: verb, id: id}
	switch verb {
	case tapApprove, tapDeny, tapSession, tapRule, tapNever, tapDetails, tapWider:
		return p, !more
	case tapDone, tapPick:
		n, ok := smallNumber(arg)
		p.first = n
		return p, ok
	case tapOption:
		a, b, _ := strings.Cut(arg, ".")
		n, ok := smallNumber(a)
		m, also := smallNumber(b)
		p.first, p.second = n, m
		return p, ok && also
	}
	return tap{}, false
}

func smallNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n < 1000 && strconv.Itoa(n) == s
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// tappedAt returns where a button was. A message that is too old for bots still has its numbers.
func tappedAt(q *models.CallbackQuery) (chat int64, message int) {
	switch {
	case q.Message.Message != nil:
		return q.Message.Message.Chat.ID, q.Message.Message.ID
	case q.Message.InaccessibleMessage != nil:
		return q.Message.InaccessibleMessage.Chat.ID, q.Message.InaccessibleMessage.MessageID
	}
	return 0, 0
}

// requestUnder returns the request that the buttons under a message name, or "".
func requestUnder(m *models.Message) string {
	if m == nil || m.ReplyMarkup == nil {
		return ""
	}
	for _, row := range m.ReplyMarkup.InlineKeyboard {
		for _, b := range row {
			if p, ok := parseTap(b.CallbackData); ok && p.verb != tapPick {
				return p.id
			}
		}
	}
	return ""
}

// tapped handles one tap of an enrolled person. It answers every tap: the button on the phone shows progress until then.
func (t *Bot) tapped(ctx context.Context, q *models.CallbackQuery, chat int64, message int) {
	r := refused("This button is not from this bot.")
	if p, ok := parseTap(q.Data); ok {
		r = t.tap(ctx, p, q, chat, message)
	}
	if r.refused && !t.refusals.allow(q.From.ID) {
		r = reply{}
	}
	answer := &bot.AnswerCallbackQueryParams{CallbackQueryID: q.ID, ShowAlert: r.refused}
	if r.page != nil {
		answer.Text = text.TruncateRunes(r.page.b.String(), maxToast)
	}
	// Telegram answers "bad request" for a tap that is too old: the person is gone.
	if _, err := t.client.api.AnswerCallbackQuery(ctx, answer); err != nil && !errors.Is(err, bot.ErrorBadRequest) {
		t.client.warn("a tap was not answered", err)
	}
}

// tap does what a tap says. A refusal is shown as a window.
func (t *Bot) tap(ctx context.Context, p tap, q *models.CallbackQuery, chat int64, message int) reply {
	if p.verb == tapPick {
		c, ok := t.picks.take(p, q.From.ID)
		if !ok {
			return refused("This list is too old, or it was made for another person: ask again.")
		}
		if word := c.act(ctx); word != "" {
			t.client.say(ctx, (&page{}).text(word), nil)
		}
		return reply{}
	}
	r, err := t.o.Queue.Show(ctx, p.id)
	var away *AwayError
	switch {
	case errors.As(err, &away):
		t.outbox.restore(ctx, p.id, "", chat, message)
		return refusedAway(away)
	case errors.Is(err, approval.ErrUnknown):
		t.outbox.restore(ctx, p.id, "", chat, message)
		return refused("This request is not known any more: nothing was done.")
	case err != nil:
		t.client.warn("a request could not be read", err)
		return refused("The request could not be read: nothing was done. The log of the daemon says why.")
	}
	t.outbox.restore(ctx, r.ID, r.Session, chat, message)
	return t.answers.tap(ctx, r, p, &q.From, message)
}
