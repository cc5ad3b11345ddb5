package telegram

import (
	"cmp"
	"context"
	"errors"
	"mycelium/internal/approval"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// update takes one update. The library calls it for one after the other; what takes time goes elsewhere: a tap never waits for a text
// that a model reads.
func (t *Bot) update(ctx context.Context, _ *bot.Bot, u *models.Update) {
	fresh, err := t.kept.take(ctx, u.ID, t.now())
	if err != nil {
		t.complain("an update was dropped: it could not be noted as taken", err)
		return
	}
	if !fresh {
		return
	}
	switch {
	case u.CallbackQuery != nil:
		q := u.CallbackQuery
		chat, message := tappedAt(q)
		if q.From.IsBot || !t.enrolled(chat, q.From.ID) {
			return
		}
		t.work.Go(func() { t.tapped(ctx, q, chat, message) })
	case u.Message != nil:
		m := u.Message
		if m.From == nil || m.From.IsBot || m.SenderChat != nil || !t.enrolled(m.Chat.ID, m.From.ID) {
			return
		}
		select {
		case t.inbox <- m:
		default:
			t.logger.Warn("Telegram: a message was dropped: too many at once", "user", m.From.ID)
		}
	}
}

// tappedAt is where the button stood. A message that Telegram does not show to bots any more still has its numbers.
func tappedAt(q *models.CallbackQuery) (chat int64, message int) {
	switch {
	case q.Message.Message != nil:
		return q.Message.Message.Chat.ID, q.Message.Message.ID
	case q.Message.InaccessibleMessage != nil:
		return q.Message.InaccessibleMessage.Chat.ID, q.Message.InaccessibleMessage.MessageID
	}
	return 0, 0
}

// maxStrangers bounds how many strangers the log names.
const maxStrangers = 20

// enrolled reports whether this person may speak here. Everybody else is not answered: a stranger does not learn that anybody listens. The
// log names each once, so that an owner finds the numbers for his configuration.
func (t *Bot) enrolled(chat, user int64) bool {
	if chat == t.chat && slices.Contains(t.o.Config.Users, user) {
		return true
	}
	t.mu.Lock()
	key := [2]int64{chat, user}
	first := !t.strangers[key] && len(t.strangers) < maxStrangers
	if first {
		t.strangers[key] = true
	}
	t.mu.Unlock()
	if first {
		t.logger.Warn("Telegram: a message from outside was dropped; if it was yours, write these numbers into approval.telegram", "chat", chat, "user", user)
	}
	return false
}

// read reads texts, one after the other: what people send to an agent arrives in their order.
func (t *Bot) read(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-t.inbox:
			t.message(ctx, m)
		}
	}
}

// message takes one text of an enrolled person.
func (t *Bot) message(ctx context.Context, m *models.Message) {
	text := strings.TrimSpace(m.Text)
	reply := 0
	if m.ReplyToMessage != nil {
		reply = m.ReplyToMessage.ID
	}
	if t.isPIN(m, reply, text) {
		t.enteredPIN(ctx, m, reply, text)
		return
	}
	switch {
	case text == "":
		t.refuse(ctx, m.From.ID, m.ID, "I read text only.")
	case strings.HasPrefix(text, "/"):
		t.command(ctx, m, text)
	case reply != 0:
		t.replied(ctx, m, reply, text)
	default:
		t.refuse(ctx, m.From.ID, m.ID, "I do not know whom that is for: nothing was done. Reply to a message of mine, or use /send.")
	}
}

// replied takes a text that answers a message of ours.
func (t *Bot) replied(ctx context.Context, m *models.Message, to int, text string) {
	s, ok, err := t.placed(ctx, m, to)
	switch {
	case err != nil:
		t.complain("a reply could not be placed", err)
		t.refuse(ctx, m.From.ID, m.ID, "Something went wrong here: nothing was done.")
	case ok && s.request != "":
		t.work.Go(func() { t.aboutRequest(ctx, m, s.request, text) })
	case ok && s.session != "":
		t.forward(ctx, m, func(a approval.AgentSession) bool { return a.ID == s.session }, text)
	case requestUnder(m.ReplyToMessage) != "":
		t.work.Go(func() { t.aboutRequest(ctx, m, requestUnder(m.ReplyToMessage), text) })
	default:
		t.refuse(ctx, m.From.ID, m.ID, "That message waits for nothing: nothing was done. Use /send to write to an agent.")
	}
}

// placed finds the message of ours that a text answers. A person can be quicker than Telegram's answer to us: one that is not known, and
// has no buttons that tell, is looked for again when every message under way is noted.
func (t *Bot) placed(ctx context.Context, m *models.Message, to int) (s sent, ok bool, err error) {
	if s, ok, err = t.kept.at(ctx, m.Chat.ID, to); ok || err != nil || requestUnder(m.ReplyToMessage) != "" {
		return s, ok, err
	}
	t.noting.Lock()
	defer t.noting.Unlock()
	return t.kept.at(ctx, m.Chat.ID, to)
}

// requestUnder is the request that the buttons under a message name: a message of ours that we do not know (yet) tells by them.
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

// aboutRequest understands a text about a request and does what it says.
func (t *Bot) aboutRequest(ctx context.Context, m *models.Message, id, text string) {
	by := personOf(m.From)
	r, err := t.o.Queue.Show(ctx, id)
	if err != nil {
		t.refuse(ctx, m.From.ID, m.ID, "That request is not known any more: nothing was done.")
		return
	}
	switch {
	case r.State == approval.Pending && r.Kind == approval.Stop:
		t.settleByText(ctx, m, r, approval.Answer{Allow: true, By: by, Text: text})
		return
	case r.State == approval.Pending && r.Kind == approval.Question:
		t.typedAnswer(ctx, m, r, text)
		return
	case t.o.Read == nil:
		t.refuse(ctx, m.From.ID, m.ID, "Nothing here understands texts: use the buttons.")
		return
	}
	p, err := t.o.Read(ctx, r, text)
	if err != nil {
		t.complain("a reply could not be understood", err)
		t.refuse(ctx, m.From.ID, m.ID, "I could not find out what that means: nothing was done. Use the buttons.")
		return
	}
	t.act(ctx, m, r, p, by)
}

// act does what a reply means.
func (t *Bot) act(ctx context.Context, m *models.Message, r approval.Request, p approval.Reply, by string) {
	if p.Doubt {
		t.refuse(ctx, m.From.ID, m.ID, strings.TrimSpace("I am not sure that this is a yes: nothing was done. Use the buttons. "+approval.Short(p.Why, 200)))
		return
	}
	switch p.Kind {
	case approval.ReplyApprove:
		t.settleByText(ctx, m, r, approval.Answer{Allow: true, By: by, Reason: text200(m.Text)})
	case approval.ReplyDeny:
		t.settleByText(ctx, m, r, approval.Answer{By: by, Reason: text200(m.Text)})
	case approval.ReplyInstruction:
		t.settleByText(ctx, m, r, approval.Answer{By: by, Reason: "told to do something else", Text: cmp.Or(p.Text, m.Text)})
	case approval.ReplyPolicy, approval.ReplyRule:
		if t.o.Adopt == nil {
			t.refuse(ctx, m.From.ID, m.ID, "No policy can be written here.")
			return
		}
		what, err := t.o.Adopt(ctx, r, p, by)
		if err != nil {
			t.complain("a policy was not written", err)
			t.refuse(ctx, m.From.ID, m.ID, "It was not written: "+approval.Short(t.link.clean(err), 300))
			return
		}
		more := ""
		if now, err := t.o.Queue.Show(ctx, r.ID); err == nil && now.State == approval.Pending {
			more = "\nThe request still waits for its own answer."
		}
		t.say(ctx, (&page{}).text("📜 Written: "+approval.Short(what, 500)+more), replyTo(m.ID))
	default:
		t.refuse(ctx, m.From.ID, m.ID, "I did not understand that: nothing was done. Use the buttons.")
	}
}

// settleByText is the answer of a text. It passes everything that a tap passes.
func (t *Bot) settleByText(ctx context.Context, m *models.Message, r approval.Request, a approval.Answer) {
	said, refused := t.settle(ctx, r, a, m.From.ID, m.ID)
	if refused {
		t.refuse(ctx, m.From.ID, m.ID, said)
	} else if said != "" {
		t.say(ctx, (&page{}).text(said), replyTo(m.ID))
	}
}

// allowance is how many maxRefusals one person still gets in this minute.
type allowance struct {
	from time.Time
	used int
}

// maxRefusals bounds what the bot says to one person who does what cannot be done, in a minute. Beyond it, silence.
const maxRefusals = 10

// mayRefuse reports whether this person still gets a word about what was refused.
func (t *Bot) mayRefuse(user int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.allowance[user]
	if now := t.now(); a == nil || now.Sub(a.from) >= time.Minute {
		a = &allowance{from: now}
		t.allowance[user] = a
	}
	a.used++
	return a.used <= maxRefusals
}

func (t *Bot) refuse(ctx context.Context, user int64, message int, why string) {
	if t.mayRefuse(user) {
		t.say(ctx, (&page{}).text(why), replyTo(message))
	}
}

func replyTo(message int) func(*bot.SendMessageParams) {
	return func(q *bot.SendMessageParams) {
		if message != 0 {
			q.ReplyParameters = &models.ReplyParameters{MessageID: message, AllowSendingWithoutReply: true}
		}
	}
}

// personOf is how a person is called in records: the name that Telegram's users choose is not unique, the number is.
func personOf(u *models.User) string {
	name := cmp.Or(u.Username, strings.TrimSpace(u.FirstName+" "+u.LastName), "user")
	return approval.Short(name, 40) + " (telegram " + itoa(u.ID) + ")"
}

func text200(s string) string { return approval.Short(s, 200) }

// lateness is what a person is told whose answer came too late.
func lateness(err error) (string, bool) {
	var late *approval.LateError
	if errors.As(err, &late) {
		return late.Error(), true
	}
	return "", false
}
