package telegram

import (
	"cmp"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
)

// maxStrangers bounds how many strangers the log names.
const maxStrangers = 20

// enrolment decides who may speak to the bot.
type enrolment struct {
	chat   int64
	users  []int64
	logger *slog.Logger

	mu        sync.Mutex
	strangers map[[2]int64]bool // chat and user of those whom the log has named
}

// has reports whether a user may speak in a chat. Strangers get no answer, so they do not learn that a bot listens. The log names each
// stranger once: owners find the numbers for their configuration there.
func (e *enrolment) has(chat, user int64) bool {
	if chat == e.chat && slices.Contains(e.users, user) {
		return true
	}
	e.mu.Lock()
	key := [2]int64{chat, user}
	first := !e.strangers[key] && len(e.strangers) < maxStrangers
	if first {
		e.strangers[key] = true
	}
	e.mu.Unlock()
	if first {
		e.logger.Warn("Telegram: a message from outside was dropped; if it was yours, write these numbers into approval.telegram", "chat", chat,
			"user", user)
	}
	return false
}

// maxRefusals bounds the refusals that the bot sends to one person in a minute. The bot drops the rest.
const maxRefusals = 10

// refusals limits how often the bot tells people that it did not do what they wanted.
type refusals struct {
	now func() time.Time

	mu   sync.Mutex
	used map[int64]*allowance
}

// allowance counts the refusals of one person in the minute that begins at from.
type allowance struct {
	from time.Time
	used int
}

// allow reports whether the bot may send one more refusal to a person, and counts it.
func (r *refusals) allow(user int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.used[user]
	if now := r.now(); a == nil || now.Sub(a.from) >= time.Minute {
		a = &allowance{from: now}
		r.used[user] = a
	}
	a.used++
	return a.used <= maxRefusals
}

// NamesPerson reports whether a text names a person as personOf does.
func NamesPerson(by string) bool {
	name, rest, ok := strings.Cut(by, " (telegram ")
	number, end := strings.CutSuffix(rest, ")")
	_, err := strconv.ParseInt(number, 10, 64)
	return ok && end && err == nil && name != ""
}

// personOf names a person in records. It holds the number too, because the names that Telegram's users choose are not unique.
func personOf(u *models.User) string {
	name := cmp.Or(u.Username, strings.TrimSpace(u.FirstName+" "+u.LastName), "user")
	return approval.Short(name, 40) + " (telegram " + itoa(u.ID) + ")"
}
