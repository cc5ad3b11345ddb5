// Package telegram runs a Telegram bot that asks people for approvals, takes their answers, and reports on agents.
package telegram

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"mycelium/internal/approval"
	"mycelium/internal/policy/sign"
	"mycelium/internal/store"
)

// Via is the [approval.Answer.Via] of answers from the chat.
const Via = "telegram"

// Queue is the requests that the bot asks people about. An [approval.Queue] is that of one project. Where a bot asks for several projects,
// each request has the name of its project.
type Queue interface {
	List(ctx context.Context) ([]approval.Request, error)
	// Show returns a request. The error is an [*AwayError] if the request may be one of a project that cannot be asked now.
	Show(ctx context.Context, id string) (approval.Request, error)
	Settle(ctx context.Context, id string, a approval.Answer, s sign.Sign) (approval.Request, error)
	// Watch is as [approval.Queue.Watch].
	Watch(ctx context.Context, f func(approval.Request))
}

// AwayError means that a project cannot be asked now, because no daemon of it answers.
type AwayError struct {
	Projects string          // their names
	Back     <-chan struct{} // closed when one of them can be asked again
}

func (e *AwayError) Error() string { return "no daemon runs for " + e.Projects }

// Notices are where notices come from, as an [approval.Board].
type Notices interface {
	Watch(ctx context.Context, ready chan<- struct{}, f func(approval.Notice))
}

// Options configure a [Bot]. Config, Queue and DB are required.
type Options struct {
	Config approval.TelegramConfig // with secrets expanded
	Queue  Queue
	DB     *store.DB
	Board  Notices // nil: the bot sends no notices
	// A command is offered only if the interfaces that it needs are set.
	Agents   approval.Agents
	Control  approval.AgentControl
	Starter  approval.Starter
	Settings approval.Settings
	// Read interprets a text about a request. nil: requests are answered by buttons only.
	Read func(ctx context.Context, r approval.Request, text string) (approval.Reply, error)
	// Adopt writes a policy or rule that a person gave and returns what it wrote. nil: the bot writes no policies or rules.
	Adopt func(ctx context.Context, r approval.Request, p approval.Reply, by string) (string, error)
	// Past says in a few words what the rule of each candidate would have allowed of the calls on record. nil: that is not shown.
	Past   func(ctx context.Context, r approval.Request, list []approval.Candidate) ([]string, error)
	Logger *slog.Logger
	Now    func() time.Time
	Zone   *time.Location // of the times in messages; nil: the local zone
}

// Bot is a Telegram bot. Enrolled people answer requests, read notices and talk to their agents through it. The bot polls Telegram and
// opens no port. A failure of the bot leaves the queue unchanged: a request that reaches nobody is denied at its deadline.
type Bot struct {
	o         Options
	client    *client
	kept      messages
	outbox    *outbox
	answers   *answers
	pins      *pins
	picks     *picks
	commands  *commands
	enrolment *enrolment
	refusals  *refusals
	logger    *slog.Logger
	now       func() time.Time
	work      sync.WaitGroup
	inbox     chan *models.Message
}

// New checks the configuration and prepares the bot. It does not connect to Telegram.
func New(o Options) (*Bot, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	conf := o.Config
	chat := chatOf(conf)
	c := &client{link: newLink(conf.Token, o.Logger), chat: chat, logger: o.Logger}
	kept := messages{o.DB, TokenDigest(conf.Token)}
	render := renderer{o.Now, cmp.Or(o.Zone, time.Local)}
	seen := &views{byID: map[string]*view{}}
	out := &outbox{queue: o.Queue, kept: kept, views: seen, client: c, render: render, kinds: conf.Notices, now: o.Now,
		wake: make(chan struct{}, 1)}
	secrets := &pins{pin: conf.PIN, client: c, now: o.Now, tries: map[int64]*pinTries{}, prompts: map[int]pinPrompt{}}
	choices := &picks{now: o.Now, lists: map[string]pick{}}
	t := &Bot{
		o: o, client: c, kept: kept, outbox: out, pins: secrets, picks: choices, logger: o.Logger, now: o.Now,
		inbox: make(chan *models.Message, 64),
		answers: &answers{queue: o.Queue, client: c, outbox: out, views: seen, pins: secrets, picks: choices, render: render, past: o.Past,
			read: o.Read, adopt: o.Adopt, control: o.Control},
		commands:  &commands{Options: o, client: c, outbox: out, picks: choices, past: &pastLists{}},
		enrolment: &enrolment{chat: chat, users: conf.Users, logger: o.Logger, strangers: map[[2]int64]bool{}},
		refusals:  &refusals{now: o.Now, used: map[int64]*allowance{}},
	}
	last, err := kept.lastUpdate(context.Background(), t.now())
	if err != nil {
		return nil, err
	}
	c.api, err = bot.New(conf.Token, bot.WithSkipGetMe(), bot.WithServerURL(cmp.Or(conf.Server, approval.DefaultBotServer)),
		bot.WithHTTPClient(pollTime, c.link),
		bot.WithErrorsHandler(c.link.pollFailed), bot.WithNotAsyncHandlers(), bot.WithDefaultHandler(t.update), bot.WithInitialOffset(last),
		bot.WithAllowedUpdates(bot.AllowedUpdates{models.AllowedUpdateMessage, models.AllowedUpdateCallbackQuery}))
	if err != nil {
		return nil, fmt.Errorf("prepare the Telegram bot: %s", c.link.clean(err))
	}
	return t, nil
}

// TokenDigest identifies a bot without revealing its token: the first 16 bytes of the token's SHA-256, in hexadecimal.
func TokenDigest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:16])
}

// chatOf is the chat in which a bot asks; 0 if it has none and nobody may speak to it.
func chatOf(c approval.TelegramConfig) int64 {
	if c.Chat == 0 && len(c.Users) > 0 {
		return c.Users[0]
	}
	return c.Chat
}

// Terms identifies who may answer through a bot: the chat, the people and the PIN of its configuration. Without the token nobody can find
// them by trying.
func Terms(c approval.TelegramConfig) string {
	users := slices.Compact(slices.Sorted(slices.Values(c.Users)))
	sum := hmac.New(sha256.New, []byte(c.Token))
	_, _ = fmt.Fprintf(sum, "%d %d %q", chatOf(c), users, c.PIN)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Run serves until ctx is done and every goroutine that it started has returned. It returns an error if Telegram does not know the bot.
func (t *Bot) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer t.work.Wait()
	defer cancel()
	defer t.client.link.client.CloseIdleConnections()
	if t.o.Board != nil { // before greet: notices posted while Telegram is down are sent later
		ready := make(chan struct{})
		t.work.Go(func() { t.o.Board.Watch(ctx, ready, t.outbox.post) })
		<-ready
	}
	if err := t.greet(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	open, err := t.kept.open(ctx)
	if err != nil {
		return err
	}
	t.outbox.touch(open...)
	t.work.Go(func() { t.o.Queue.Watch(ctx, func(r approval.Request) { t.outbox.touch(r.ID) }) })
	t.work.Go(func() {
		defer t.outbox.away.Wait()
		t.outbox.run(ctx)
	})
	t.work.Go(func() { t.readInbox(ctx) })
	t.client.api.Start(ctx)
	return nil
}

// greet waits until Telegram answers and then registers the commands.
func (t *Bot) greet(ctx context.Context) error {
	for wait := time.Duration(0); ctx.Err() == nil; {
		me, err := t.client.api.GetMe(ctx)
		if err == nil {
			t.logger.Info("Telegram asks and answers", "bot", me.Username)
			var list []models.BotCommand
			for _, c := range t.commands.table() {
				list = append(list, models.BotCommand{Command: c.name, Description: c.what})
			}
			if _, err := t.client.api.SetMyCommands(ctx, &bot.SetMyCommandsParams{Commands: list}); err != nil {
				t.client.warn("the list of commands could not be set", err)
			}
			break
		}
		if errors.Is(err, bot.ErrorUnauthorized) || errors.Is(err, bot.ErrorNotFound) {
			return errors.New("start the Telegram bot: Telegram knows no bot with this token: look at approval.telegram.token")
		}
		wait, _ = backoff(err, wait)
		sleep(ctx, max(wait, time.Second))
	}
	return nil
}

// update handles one update. The library calls it for one update after the other, so slow work runs elsewhere: a tap never waits for a
// text that a model reads.
func (t *Bot) update(ctx context.Context, _ *bot.Bot, u *models.Update) {
	fresh, err := t.kept.take(ctx, u.ID, t.now())
	if err != nil {
		t.client.warn("an update was dropped: it could not be recorded as taken", err)
		return
	}
	if !fresh {
		return
	}
	switch {
	case u.CallbackQuery != nil:
		q := u.CallbackQuery
		chat, message := tappedAt(q)
		if q.From.IsBot || !t.enrolment.has(chat, q.From.ID) {
			return
		}
		t.work.Go(func() { t.tapped(ctx, q, chat, message) })
	case u.Message != nil:
		m := u.Message
		if m.From == nil || m.From.IsBot || m.SenderChat != nil || !t.enrolment.has(m.Chat.ID, m.From.ID) {
			return
		}
		select {
		case t.inbox <- m:
		default:
			t.logger.Warn("Telegram: a message was dropped: too many at once", "user", m.From.ID)
		}
	}
}

// readInbox handles texts one after the other, so that texts to an agent arrive in order.
func (t *Bot) readInbox(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-t.inbox:
			t.message(ctx, m)
		}
	}
}

// message handles one text of an enrolled person.
func (t *Bot) message(ctx context.Context, m *models.Message) {
	text, to := strings.TrimSpace(m.Text), 0
	if m.ReplyToMessage != nil {
		to = m.ReplyToMessage.ID
	}
	switch {
	case t.pins.expects(m.From.ID, to, text):
		p, r, right := t.pins.enter(ctx, m, to, text)
		if right {
			r = t.answers.give(ctx, p.request, p.answer, sign.PIN)
			r.refused = false // the person typed the PIN: the result is always told
		}
		t.respond(ctx, m.From.ID, p.message, r)
	case text == "":
		t.respond(ctx, m.From.ID, m.ID, refused("I read text only."))
	case strings.HasPrefix(text, "/new"), strings.HasPrefix(text, "/resume"): // it waits for the agent
		t.work.Go(func() { t.respond(ctx, m.From.ID, m.ID, t.commands.run(ctx, m, text)) })
	case strings.HasPrefix(text, "/"):
		t.respond(ctx, m.From.ID, m.ID, t.commands.run(ctx, m, text))
	case to != 0:
		t.replied(ctx, m, to, text)
	default:
		t.respond(ctx, m.From.ID, m.ID, refused("I do not know whom that is for: nothing was done. Reply to a message of mine, or use /send."))
	}
}

// replied handles a text that replies to a message.
func (t *Bot) replied(ctx context.Context, m *models.Message, to int, text string) {
	s, known, err := t.outbox.find(ctx, m, to)
	request := requestUnder(m.ReplyToMessage)
	if known && s.request != "" {
		request = s.request
	}
	respond := func(r reply) { t.respond(ctx, m.From.ID, m.ID, r) }
	switch {
	case err != nil:
		t.client.warn("the message that a text replies to could not be looked up", err)
		respond(refused("The database could not be read: nothing was done. The log of the daemon says why."))
	case known && strings.HasPrefix(s.request, approval.TerminalPrefix):
		t.work.Go(func() { respond(t.answers.there(ctx, m, s.request, text)) })
	case known && s.request == "" && s.session != "":
		respond(t.commands.forward(ctx, m.From.ID, func(a approval.AgentSession) bool { return a.ID == s.session }, text))
	case request != "":
		t.work.Go(func() { respond(t.answers.text(ctx, m, request, text)) })
	default:
		respond(refused("That message does not wait for an answer: nothing was done. Use /send to write to an agent."))
	}
}

// reply is what the bot says to a person. The zero value is silence.
type reply struct {
	page    *page
	refused bool // the bot did not do what the person wanted; see [refusals]
}

func said(text string) reply {
	if text == "" {
		return reply{}
	}
	return reply{page: (&page{}).text(text)}
}

// refusedAway refuses an act on a request of a project that cannot be asked.
func refusedAway(e *AwayError) reply {
	return refused("Nothing was done: " + approval.Short(e.Error(), 120) + ". Answer again when it runs.")
}

func refused(text string) reply { return reply{page: (&page{}).text(text), refused: true} }

// respond sends a reply to a message, unless the person has had too many refusals.
func (t *Bot) respond(ctx context.Context, user int64, message int, r reply) {
	if r.page != nil && (!r.refused || t.refusals.allow(user)) {
		t.client.say(ctx, r.page, replyTo(message))
	}
}
