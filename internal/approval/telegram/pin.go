package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"mycelium/internal/approval"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

const (
	pinAttempts = 3                // wrong PINs in a row; then this person approves nothing critical here for pinLocked
	pinLocked   = 15 * time.Minute //
	pinOpen     = 2 * time.Minute  // how long a PIN may be entered after it was asked
)

// pinTries are the wrong PINs of one person.
type pinTries struct {
	wrong int
	until time.Time // locked
}

// pinPrompt is a message of ours that asked for a PIN.
type pinPrompt struct {
	user    int64
	request approval.Request
	answer  approval.Answer
	until   time.Time
	message int
}

// askPIN asks who wants to approve something critical for the PIN.
func (t *Bot) askPIN(ctx context.Context, r approval.Request, a approval.Answer, user int64, message int) (said string, refused bool) {
	t.mu.Lock()
	locked := t.pins[user] != nil && t.now().Before(t.pins[user].until)
	t.mu.Unlock()
	if locked {
		return "Too many wrong PINs: you approve nothing critical here for a while. Use the terminal.", true
	}
	p := (&page{}).text("🔐 This is critical. Reply with the PIN to approve ").bold(approval.Short(r.Tool, 60)).textf(" (%s).", shortID(r.ID))
	id := t.say(ctx, p, func(q *bot.SendMessageParams) {
		replyTo(message)(q)
		q.ReplyMarkup = &models.ForceReply{ForceReply: true, Selective: true}
	})
	if id == 0 {
		return "The PIN could not be asked for.", true
	}
	t.mu.Lock()
	for k, old := range t.prompts { // one question at a time for each person
		if old.user == user || t.now().After(old.until) {
			delete(t.prompts, k)
		}
	}
	t.prompts[id] = pinPrompt{user: user, request: r, answer: a, until: t.now().Add(pinOpen), message: id}
	t.mu.Unlock()
	return "PIN?", false
}

// openPrompt is what a text answers: the prompt that it replies to, else the one that is open for this person.
func (t *Bot) openPrompt(user int64, reply int) (pinPrompt, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.prompts {
		if p.user == user && (reply == 0 || reply == p.message) {
			return p, true
		}
	}
	return pinPrompt{}, false
}

// isPIN reports whether a text is meant as a PIN.
func (t *Bot) isPIN(m *models.Message, reply int, text string) bool {
	if t.o.Config.PIN == "" || text == "" || text[0] == '/' {
		return false
	}
	p, ok := t.openPrompt(m.From.ID, reply)
	return ok && (reply == p.message || t.now().Before(p.until))
}

// enteredPIN compares a PIN in constant time, takes it out of the chat, and gives the answer that waited for it.
func (t *Bot) enteredPIN(ctx context.Context, m *models.Message, reply int, text string) {
	p, ok := t.openPrompt(m.From.ID, reply)
	if _, err := t.bot.DeleteMessage(ctx, &bot.DeleteMessageParams{ChatID: m.Chat.ID, MessageID: m.ID}); err != nil {
		t.complain("a PIN could not be deleted from the chat; delete it yourself", err)
	}
	if !ok {
		return
	}
	given, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(t.o.Config.PIN))
	right := subtle.ConstantTimeCompare(given[:], want[:]) == 1
	t.mu.Lock()
	now := t.now()
	tries := t.pins[m.From.ID]
	if tries == nil {
		tries = &pinTries{}
		t.pins[m.From.ID] = tries
	}
	locked, expired := now.Before(tries.until), !now.Before(p.until)
	left := 0
	switch {
	case locked || expired:
		delete(t.prompts, p.message)
	case right:
		delete(t.prompts, p.message)
		tries.wrong = 0
	default:
		tries.wrong++
		if left = pinAttempts - tries.wrong; left <= 0 {
			delete(t.prompts, p.message)
			*tries = pinTries{until: now.Add(pinLocked)}
		}
	}
	t.mu.Unlock()
	switch {
	case locked:
	case expired:
		t.refuse(ctx, m.From.ID, p.message, "That was too late for the PIN: tap again.")
	case right:
		said, _ := t.settleNow(ctx, p.request, p.answer)
		t.say(ctx, (&page{}).text(said), replyTo(p.message))
	case left > 0:
		t.refuse(ctx, m.From.ID, p.message, fmt.Sprintf("Wrong PIN: nothing was approved. %d left.", left))
	default:
		t.logger.Warn("Telegram: too many wrong PINs", "user", m.From.ID)
		t.refuse(ctx, m.From.ID, p.message, "Wrong PIN again: you approve nothing critical here for 15 minutes. Use the terminal.")
	}
}
