package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
)

const (
	pinAttempts = 3                // wrong PINs in a row that lock a person out
	pinLocked   = 15 * time.Minute // how long a person is locked out
	pinOpen     = 2 * time.Minute  // how long a prompt takes a PIN
)

// pins asks people for the PIN before they approve something critical, and locks out people who enter wrong ones.
type pins struct {
	pin    string // empty: the bot asks for no PIN
	client *client
	now    func() time.Time

	mu      sync.Mutex
	tries   map[int64]*pinTries
	prompts map[int]pinPrompt // by the number of the message that asked
}

// pinTries counts the wrong PINs of one person.
type pinTries struct {
	wrong int
	until time.Time // the person is locked out until then
}

// pinPrompt is a message of the bot that asked for a PIN.
type pinPrompt struct {
	user    int64
	request approval.Request
	answer  approval.Answer // to give when the PIN is right
	until   time.Time
	message int
}

// ask asks a person for the PIN before an approval is given.
func (s *pins) ask(ctx context.Context, r approval.Request, a approval.Answer, user int64, message int) reply {
	s.mu.Lock()
	locked := s.tries[user] != nil && s.now().Before(s.tries[user].until)
	s.mu.Unlock()
	if locked {
		return refused("Too many wrong PINs: you approve nothing critical here for a while. Use the terminal.")
	}
	p := (&page{}).of(r.Project).text("🔐 This is critical. Reply with the PIN to approve ").bold(approval.Short(r.Tool, 60)).textf(" (%s).",
		shortID(r.ID))
	id := s.client.say(ctx, p, func(q *bot.SendMessageParams) {
		replyTo(message)(q)
		q.ReplyMarkup = &models.ForceReply{ForceReply: true, Selective: true}
	})
	if id == 0 {
		return refused("The PIN could not be asked for.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, old := range s.prompts { // one prompt at a time for each person
		if old.user == user || s.now().After(old.until) {
			delete(s.prompts, k)
		}
	}
	s.prompts[id] = pinPrompt{user: user, request: r, answer: a, until: s.now().Add(pinOpen), message: id}
	return said("PIN?")
}

// open returns the prompt of a person that a text answers: the one that it replies to, or, for a text that replies to no message, any.
func (s *pins) open(user int64, to int) (pinPrompt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.prompts {
		if p.user == user && (to == 0 || to == p.message) {
			return p, true
		}
	}
	return pinPrompt{}, false
}

// expects reports whether a text of a person is meant as a PIN.
func (s *pins) expects(user int64, to int, text string) bool {
	if s.pin == "" || text == "" || text[0] == '/' {
		return false
	}
	p, ok := s.open(user, to)
	return ok && (to == p.message || s.now().Before(p.until))
}

// enter deletes a PIN from the chat and compares it in constant time. It returns the prompt and whether the PIN is right; if it is not,
// r says why.
func (s *pins) enter(ctx context.Context, m *models.Message, to int, text string) (p pinPrompt, r reply, right bool) {
	user := m.From.ID
	p, ok := s.open(user, to)
	if _, err := s.client.api.DeleteMessage(ctx, &bot.DeleteMessageParams{ChatID: m.Chat.ID, MessageID: m.ID}); err != nil {
		s.client.warn("a PIN could not be deleted from the chat; delete it yourself", err)
	}
	if !ok {
		return p, reply{}, false
	}
	given, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(s.pin))
	equal := subtle.ConstantTimeCompare(given[:], want[:]) == 1
	s.mu.Lock()
	defer s.mu.Unlock()
	now, tries := s.now(), s.tries[user]
	if tries == nil {
		tries = &pinTries{}
		s.tries[user] = tries
	}
	switch {
	case now.Before(tries.until):
		delete(s.prompts, p.message)
		return p, reply{}, false
	case !now.Before(p.until):
		delete(s.prompts, p.message)
		return p, refused("That was too late for the PIN: tap again."), false
	case equal:
		delete(s.prompts, p.message)
		tries.wrong = 0
		return p, reply{}, true
	}
	if tries.wrong++; tries.wrong < pinAttempts {
		return p, refused(fmt.Sprintf("Wrong PIN: nothing was approved. %d left.", pinAttempts-tries.wrong)), false
	}
	delete(s.prompts, p.message)
	*tries = pinTries{until: now.Add(pinLocked)}
	s.client.logger.Warn("Telegram: too many wrong PINs", "user", user)
	return p, refused("Wrong PIN again: you approve nothing critical here for 15 minutes. Use the terminal."), false
}
