package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// The verbs behind buttons.
const (
	tapApprove = "a"
	tapDeny    = "d"
	tapSession = "s"
	tapRule    = "r"
	tapNever   = "n"
	tapDetails = "m"
	tapOption  = "o" // of a question: question.option
	tapDone    = "f" // of a question that takes several: question
	tapPick    = "p" // one of several things that a command may have meant: the id is the list's
)

// tap is what a button says: a verb, the id of a request or of a list, and for some verbs a number or two.
type tap struct {
	verb, id string
	first    int // question, or place in the list
	second   int // option
}

// tapData writes what parseTap reads.
func tapData(verb, id, arg string) string {
	if arg == "" {
		return verb + ":" + id
	}
	return verb + ":" + id + ":" + arg
}

// parseTap reads the data of a button. Buttons are ours, but what comes back is anybody's.
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
	case tapApprove, tapDeny, tapSession, tapRule, tapNever, tapDetails:
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

// tapped takes one tap of an enrolled person. Every tap is answered, else the button keeps turning on the phone.
func (t *Bot) tapped(ctx context.Context, q *models.CallbackQuery, chat int64, message int) {
	said, alert := "This button is none of mine.", true
	if p, ok := parseTap(q.Data); ok {
		said, alert = t.tapOn(ctx, p, q, chat, message)
	}
	if alert && !t.mayRefuse(q.From.ID) {
		said, alert = "", false
	}
	said = text.TruncateRunes(said, maxToast)
	if _, err := t.bot.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{CallbackQueryID: q.ID, Text: said, ShowAlert: alert}); err != nil && !errors.Is(err, bot.ErrorBadRequest) {
		t.complain("a tap was not answered", err) // a bad request: the tap is too old, its person is gone
	}
}

// tapOn does what a tap says. What is said goes to who tapped; alert: as a window, because it was refused.
func (t *Bot) tapOn(ctx context.Context, p tap, q *models.CallbackQuery, chat int64, message int) (said string, alert bool) {
	if p.verb == tapPick {
		return t.picked(ctx, p, q.From.ID)
	}
	r, err := t.o.Queue.Show(ctx, p.id)
	switch {
	case errors.Is(err, approval.ErrUnknown):
		t.adopt(ctx, p.id, "", chat, message)
		return "This request is not known any more: nothing was done.", true
	case err != nil:
		t.complain("a request could not be read", err)
		return "Something went wrong here: nothing was done.", true
	}
	t.adopt(ctx, r.ID, r.Session, chat, message)
	a := approval.Answer{By: personOf(&q.From)}
	switch p.verb {
	case tapDetails:
		return t.showDetails(ctx, r, message)
	case tapOption, tapDone:
		return t.chose(ctx, r, p, &q.From)
	case tapApprove:
		a.Allow = true
	case tapSession:
		a.Allow, a.For = true, approval.Session
	case tapRule:
		a.Allow, a.For = true, approval.Rule
	case tapNever:
		a.For = approval.Never
	}
	return t.settle(ctx, r, a, q.From.ID, message)
}

// adopt remembers a message of ours that was forgotten: it was sent, and we ended before we could note it.
func (t *Bot) adopt(ctx context.Context, id, session string, chat int64, message int) {
	if _, ok, err := t.kept.at(ctx, chat, message); err != nil || ok || message == 0 {
		return
	}
	if err := t.kept.add(ctx, sent{chat: chat, message: message, request: id, session: session}, t.now()); err != nil {
		t.complain("a message was not noted", err)
		return
	}
	t.touch(id)
}

// settle gives an answer to the queue, if this person may give it in this way. The message changes when the queue says so, never here.
func (t *Bot) settle(ctx context.Context, r approval.Request, a approval.Answer, user int64, message int) (said string, refused bool) {
	a.Via, a.Digest = viaTelegram, r.Digest
	if a.Allow && r.State == approval.Pending && r.Kind == approval.Call {
		if _, whole := t.requestPage(r, t.viewOf(r.ID)); !whole && !t.viewOf(r.ID).opened {
			return "Not everything is shown. Press “Show the rest” first: you approve what you have seen.", true
		}
		if t.o.Config.PIN != "" && r.Risk == policy.Critical {
			return t.askPIN(ctx, r, a, user, message)
		}
	}
	return t.settleNow(ctx, r, a)
}

func (t *Bot) settleNow(ctx context.Context, r approval.Request, a approval.Answer) (said string, refused bool) {
	now, err := t.o.Queue.Settle(ctx, r.ID, a)
	t.touch(r.ID)
	if late, ok := lateness(err); ok {
		verb := yesNo(a.Allow, "approval", "denial")
		if r.Kind != approval.Call {
			verb = "answer"
		}
		t.change(r.ID, func(v *view) {
			if len(v.late) < 3 {
				v.late = append(v.late, fmt.Sprintf("⚠️ Too late and refused: %s by %s at %s", verb, approval.Short(a.By, 60), t.clock(t.now())))
			}
		})
		t.touch(r.ID)
		return "Too late: " + late, true
	}
	if err != nil {
		t.complain("an answer was not taken", err)
		return "Not done: " + approval.Short(t.link.clean(err), 150), true
	}
	return text.FirstLine(t.outcome(now)), false
}

// Bounds of the details of one request.
const (
	detailPages = 3       // messages; more goes into a file
	detailRoom  = 3800    // UTF-16 code units of one
	maxDetails  = 1 << 20 // bytes of the file
)

// showDetails sends everything about a request. Only then it counts as seen.
func (t *Bot) showDetails(ctx context.Context, r approval.Request, message int) (said string, alert bool) {
	text := t.detailsText(r)
	if len(text) > maxDetails {
		return "That is too long for a chat. Look at it on the machine: myc approvals show " + r.ID, true
	}
	if units(text) <= detailPages*detailRoom {
		for rest := text; rest != ""; {
			var head string
			head, rest = cut(rest, detailRoom)
			if t.say(ctx, (&page{}).pre("", head), replyTo(message)) == 0 {
				return "The details could not be sent.", true
			}
		}
	} else if _, err := t.bot.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID: t.chat, Document: &models.InputFileUpload{Filename: "request-" + r.ID + ".txt", Data: strings.NewReader(text)},
		ReplyParameters: &models.ReplyParameters{MessageID: message, AllowSendingWithoutReply: true},
	}); err != nil {
		t.complain("details were not sent", err)
		return "The details could not be sent.", true
	}
	t.change(r.ID, func(v *view) { v.opened = true })
	t.touch(r.ID)
	return "Sent", false
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
