// Package telegram is a bot that asks people on their phones: it shows what waits, takes their answers, and tells how agents fare.
package telegram

import (
	"cmp"
	"context"
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
	"mycelium/internal/store"
)

// viaTelegram is the [Answer.Via] of this surface.
const viaTelegram = "telegram"

// Options are what the bot works with. Config, Queue and DB are required.
type Options struct {
	Config approval.TelegramConfig // with its secrets put in
	Queue  *approval.Queue
	DB     *store.DB
	Board  *approval.Board // nil: no notices
	// Commands need these; a command whose interface is nil is not offered.
	Agents   approval.Agents
	Control  approval.AgentControl
	Starter  approval.Starter
	Settings approval.Settings
	// Read understands what a person wrote about a request. nil: buttons only.
	Read func(ctx context.Context, r approval.Request, text string) (approval.Reply, error)
	// Adopt writes a policy or a rule that a person gave, and says what was written. nil: none can be.
	Adopt  func(ctx context.Context, r approval.Request, p approval.Reply, by string) (string, error)
	Logger *slog.Logger
	Now    func() time.Time
	Zone   *time.Location // of the times that people see; nil: this machine's
}

// Bot is a Telegram bot by which enrolled people answer requests, hear notices and talk to their agents. It polls; nothing listens. Whatever
// fails here leaves the queue as it is: a request that nobody can be asked about is denied by its deadline.
type Bot struct {
	o      Options
	bot    *bot.Bot
	link   *link
	chat   int64
	logger *slog.Logger
	now    func() time.Time
	zone   *time.Location
	kept   messages
	work   sync.WaitGroup
	inbox  chan *models.Message
	noting sync.RWMutex // held for reading from before a message that can be replied to is sent until it is noted

	mu        sync.Mutex
	due       []string // requests whose messages may have to change, in order
	views     map[string]*view
	settled   []string // those of settled requests, oldest first
	notices   []approval.Notice
	wake      chan struct{} // holds one: something is due
	pins      map[int64]*pinTries
	prompts   map[int]pinPrompt // messages that asked for a PIN
	picks     map[string]pick
	strangers map[[2]int64]bool
	allowance map[int64]*allowance
}

// New checks the configuration and prepares the bot. It calls nobody.
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
	t := &Bot{
		o: o, link: newLink(o.Config.Token, o.Logger), chat: cmp.Or(o.Config.Chat, o.Config.Users[0]), logger: o.Logger, now: o.Now, zone: cmp.Or(o.Zone, time.Local),
		kept: messages{o.DB, TokenDigest(o.Config.Token)}, inbox: make(chan *models.Message, 64), wake: make(chan struct{}, 1),
		views: map[string]*view{}, pins: map[int64]*pinTries{}, prompts: map[int]pinPrompt{}, picks: map[string]pick{},
		strangers: map[[2]int64]bool{}, allowance: map[int64]*allowance{},
	}
	last, err := t.kept.done(context.Background(), t.now())
	if err != nil {
		return nil, err
	}
	t.bot, err = bot.New(o.Config.Token, bot.WithSkipGetMe(), bot.WithServerURL(cmp.Or(o.Config.Server, approval.DefaultBotServer)), bot.WithHTTPClient(pollTime, t.link),
		bot.WithErrorsHandler(t.link.failed), bot.WithNotAsyncHandlers(), bot.WithDefaultHandler(t.update), bot.WithInitialOffset(last),
		bot.WithAllowedUpdates(bot.AllowedUpdates{models.AllowedUpdateMessage, models.AllowedUpdateCallbackQuery}))
	if err != nil {
		return nil, fmt.Errorf("prepare the Telegram bot: %s", t.link.clean(err))
	}
	return t, nil
}

// TokenDigest names a bot without telling its token: the first 16 bytes of the token's SHA-256.
func TokenDigest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:16])
}

// Run serves until ctx ends, and returns when everything that it started is gone. An error means that Telegram knows no such bot.
func (t *Bot) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer t.work.Wait()
	defer cancel()
	defer t.link.client.CloseIdleConnections()
	if t.o.Board != nil { // first of all: what is posted while Telegram does not answer waits for it
		ready := make(chan struct{})
		t.work.Go(func() { t.o.Board.Watch(ctx, ready, t.hear) })
		<-ready
	}
	if err := t.greet(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	open, err := t.kept.open(ctx)
	if err != nil {
		return err
	}
	t.touch(open...)
	t.work.Go(func() { t.o.Queue.Watch(ctx, func(r approval.Request) { t.touch(r.ID) }) })
	t.work.Go(func() { t.deliver(ctx) })
	t.work.Go(func() { t.read(ctx) })
	t.bot.Start(ctx)
	return nil
}

// greet waits until Telegram answers, and tells it the commands.
func (t *Bot) greet(ctx context.Context) error {
	for wait := time.Duration(0); ctx.Err() == nil; {
		me, err := t.bot.GetMe(ctx)
		if err == nil {
			t.logger.Info("Telegram asks and answers", "bot", me.Username)
			t.tellCommands(ctx)
			break
		}
		if errors.Is(err, bot.ErrorUnauthorized) || errors.Is(err, bot.ErrorNotFound) {
			return errors.New("start the Telegram bot: Telegram knows no bot with this token: look at approval.telegram.token")
		}
		wait, _ = pauseAfter(err, wait)
		t.rest(ctx, max(wait, time.Second))
	}
	return nil
}

func (t *Bot) tellCommands(ctx context.Context) {
	var commands []models.BotCommand
	for _, c := range t.commands() {
		commands = append(commands, models.BotCommand{Command: c.name, Description: c.what})
	}
	if _, err := t.bot.SetMyCommands(ctx, &bot.SetMyCommandsParams{Commands: commands}); err != nil {
		t.complain("the list of commands could not be set", err)
	}
}

// touch notes that the messages of requests may have to change.
func (t *Bot) touch(ids ...string) {
	t.mu.Lock()
	for _, id := range ids {
		if !slices.Contains(t.due, id) {
			t.due = append(t.due, id)
		}
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// hear keeps a notice until it is sent.
func (t *Bot) hear(n approval.Notice) {
	if len(t.o.Config.Notices) > 0 && !slices.Contains(t.o.Config.Notices, n.Kind) {
		return
	}
	t.mu.Lock()
	if len(t.notices) == approval.MaxNotices {
		t.notices = t.notices[1:]
	}
	t.notices = append(t.notices, n)
	t.mu.Unlock()
	t.touch()
}

// next takes what is to be done next: requests come before notices.
func (t *Bot) next() (id string, n *approval.Notice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(t.due) > 0:
		id, t.due = t.due[0], t.due[1:]
	case len(t.notices) > 0:
		first := t.notices[0]
		n, t.notices = &first, t.notices[1:]
	}
	return id, n
}

// deliver brings the chat up to what is true, one message after the other: it never acts on what an event said, only on what the queue
// says now. So it does not matter which event came first, or twice, or never.
func (t *Bot) deliver(ctx context.Context) {
	var wait time.Duration
	for ctx.Err() == nil {
		id, n := t.next()
		var err error
		switch {
		case id != "":
			err = t.lingering(ctx, func(ctx context.Context) error { return t.bringUp(ctx, id) })
		case n != nil:
			err = t.lingering(ctx, func(ctx context.Context) error { return t.sendNotice(ctx, *n) })
		default:
			select {
			case <-ctx.Done():
			case <-t.wake:
			}
			continue
		}
		if err == nil {
			wait = 0
			continue
		}
		var again bool
		if wait, again = pauseAfter(err, wait); !again {
			t.complain("a message was not taken", err)
			wait = 0
			continue
		}
		t.mu.Lock() // back to the front: the order stays
		if id != "" && !slices.Contains(t.due, id) {
			t.due = slices.Insert(t.due, 0, id)
		} else if n != nil {
			t.notices = slices.Insert(t.notices, 0, *n)
		}
		t.mu.Unlock()
		t.rest(ctx, wait)
	}
}

func (t *Bot) lingering(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := linger(ctx)
	defer cancel()
	return f(ctx)
}

// bringUp makes the messages of a request show what is true.
func (t *Bot) bringUp(ctx context.Context, id string) error {
	r, err := t.o.Queue.Show(ctx, id)
	if err != nil && !errors.Is(err, approval.ErrUnknown) {
		return err
	}
	known := err == nil
	all, err := t.kept.of(ctx, id)
	if err != nil {
		return err
	}
	p := (&page{}).text("This request is not known any more.")
	if known {
		p, _ = t.requestPage(r, t.viewOf(id))
	}
	final := !known || r.State != approval.Pending
	if len(all) == 0 && !final {
		message, err := t.send(ctx, p, nil)
		if err != nil {
			return err
		}
		// Should this fail, a tap brings the message back to mind: its buttons name the request.
		return t.kept.add(ctx, sent{chat: t.chat, message: message, request: id, session: r.Session, shown: p.digest()}, t.now())
	}
	for _, s := range all {
		if s.shown == p.digest() {
			continue
		}
		if err := t.edit(ctx, s, p); err != nil {
			if _, again := pauseAfter(err, 0); again {
				return err
			}
			t.complain("a message could not be changed", err) // a person deleted it
		}
		s.shown = p.digest()
		if err := t.kept.shows(ctx, s, final); err != nil {
			return err
		}
	}
	if final {
		t.forget(id)
	}
	return nil
}

func (t *Bot) edit(ctx context.Context, s sent, p *page) error {
	off := true
	q := &bot.EditMessageTextParams{ChatID: s.chat, MessageID: s.message, Text: p.b.String(), Entities: p.styles, LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off}}
	if len(p.rows) > 0 {
		q.ReplyMarkup = keyboard{p.rows}
	}
	if _, err := t.bot.EditMessageText(ctx, q); err != nil && !strings.Contains(err.Error(), "message is not modified") {
		return fmt.Errorf("change a message: %w", err)
	}
	return nil
}

func (t *Bot) sendNotice(ctx context.Context, n approval.Notice) error {
	t.noting.RLock()
	defer t.noting.RUnlock()
	message, err := t.send(ctx, t.noticePage(n), nil)
	if err != nil || n.Session == "" {
		return err
	}
	return t.kept.add(ctx, sent{chat: t.chat, message: message, session: n.Session}, t.now())
}

// digest is what a message shows, as one word.
func (p *page) digest() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %v %q", p.b.String(), p.styles, p.rows)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// viewOf is what people did with a request so far, a copy.
func (t *Bot) viewOf(id string) *view {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := view{}
	if have := t.views[id]; have != nil {
		v = have.clone()
	}
	return &v
}

// change changes what people did with a request.
func (t *Bot) change(id string, f func(*view)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.views[id] == nil {
		t.views[id] = &view{}
	}
	f(t.views[id])
}

// maxViews bounds what is remembered of settled requests: late taps on them show in the message.
const maxViews = 200

func (t *Bot) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.views[id] == nil || slices.Contains(t.settled, id) {
		return
	}
	if t.settled = append(t.settled, id); len(t.settled) > maxViews {
		delete(t.views, t.settled[0])
		t.settled = t.settled[1:]
	}
}
