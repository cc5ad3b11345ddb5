package chat

import (
	"context"
	"errors"
	"sync"

	"mycelium/internal/approval"
	"mycelium/internal/approval/telegram"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/state"
)

// This file is a project for which a bot asks that runs in the daemon of another project.

// announce notes which bot asks for this project, so that the daemon which runs that bot attaches to this one.
func (c *Chats) announce(conf channels) {
	own := c.ownBot(conf)
	if noted, err := c.State.ReadBot(); err == nil && own == (api.Bot{}) && noted.Asks() == "" {
		return
	}
	err := c.State.ChangeBot(func(b *state.Bot) { b.Own, b.Terms = own.Digest, own.Terms })
	if err != nil {
		c.Logger.Warn("the daemon that runs the Telegram bot is not told of this project", "error", err)
	}
}

// noBot is the digest of a bot whose token cannot be read: it is that of no token, and no other bot asks.
const noBot = "none"

// ownBot is the bot that the files of the project name; the zero value if they name none.
func (c *Chats) ownBot(conf channels) api.Bot {
	switch {
	case conf.telegram != nil:
		return botOf(*conf.telegram)
	case c.Project().File.Approval.Telegram != nil:
		return api.Bot{Digest: noBot}
	}
	return api.Bot{}
}

// botOf is the bot of a configuration with its secrets.
func botOf(conf approval.TelegramConfig) api.Bot {
	return api.Bot{Digest: telegram.TokenDigest(conf.Token), Terms: telegram.Terms(conf)}
}

// errOtherBot refuses a bot that does not ask for this project.
var errOtherBot = failure.New(failure.Denied, errors.New("this Telegram bot does not ask for this project"), "")

// Admit refuses a bot that does not ask for this project by its files and its state of this moment: another bot than the files name, or
// the same with another chat, other people or another PIN; where the files name none, a bot that has started no agent here.
func (c *Chats) Admit(b api.Bot) error {
	conf, err := c.channels()
	if err != nil {
		conf.telegram = nil // ownBot knows that there is one
	}
	if own := c.ownBot(conf); own != (api.Bot{}) {
		if own != b || c.polls.Load() {
			return errOtherBot
		}
		return nil
	}
	noted, err := c.State.ReadBot()
	switch {
	case err != nil:
		return err
	case noted.Own != "" || !noted.Admits(b.Digest, b.Terms):
		return errOtherBot
	}
	return nil
}

// Serve tells a bot what waits and what happens, until ctx is done or the bot does not ask for this project any more. While it does, people
// can be asked in the chat.
func (c *Chats) Serve(ctx context.Context, b api.Bot, tell func(api.BotEvent)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.left()
	c.serving.Add(1)
	defer c.serving.Add(-1)
	c.Logger.Info("the daemon of another project asks for this one through its Telegram bot")
	var one sync.Mutex
	say := func(e api.BotEvent) {
		one.Lock()
		defer one.Unlock()
		if c.Admit(b) != nil {
			cancel()
			return
		}
		tell(e)
	}
	var parts sync.WaitGroup
	parts.Go(func() { c.Queue.Watch(ctx, func(r approval.Request) { say(api.BotEvent{Request: &r}) }) })
	parts.Go(func() { c.board.Watch(ctx, nil, func(n approval.Notice) { say(api.BotEvent{Notice: &n}) }) })
	parts.Wait()
}

// left says that a daemon which asked for this project has gone: its bot may be free.
func (c *Chats) left() {
	select {
	case c.free <- struct{}{}:
	default:
	}
}

// admitted has f answer a method for the bot that asks for this project.
func admitted[P interface{ Is() api.Bot }, R any](c *Chats, to socket.Table, m op.Op[P, R], f func(context.Context, P) (R, error)) {
	socket.Handle(to, m, func(ctx context.Context, _ op.Caller, p P) (none R, _ error) {
		if err := c.Admit(p.Is()); err != nil {
			return none, err
		}
		return f(ctx, p)
	})
}

// Methods are the requests of a bot that runs in another daemon.
func (c *Chats) Methods(to socket.Table) {
	admitted(c, to, api.BotShow, func(ctx context.Context, p api.BotRequest) (api.BotShown, error) {
		return requestOf(c.Queue.Show(ctx, p.ID))
	})
	admitted(c, to, api.BotSettle, func(ctx context.Context, p api.BotAnswer) (api.BotShown, error) {
		if p.Answer.Digest == "" || !telegram.NamesPerson(p.Answer.By) {
			return api.BotShown{}, failure.New(failure.Invalid, errors.New("an answer from a chat names who gives it and what was shown"), "")
		}
		return requestOf(c.Queue.Settle(ctx, p.ID, inChat(p.Answer), p.Sign))
	})
	admitted(c, to, api.BotAdopt, func(ctx context.Context, p api.BotReply) (string, error) {
		r, err := c.Queue.Show(ctx, p.ID)
		if err != nil {
			return "", err
		}
		return c.Replies.Adopt(ctx, r, p.Reply, p.By)
	})
	admitted(c, to, api.BotPast, func(ctx context.Context, p api.BotRequest) ([]string, error) {
		r, err := c.Queue.Show(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		return c.past(ctx, telegram.Wider(r))
	})
	admitted(c, to, api.BotAgents, func(ctx context.Context, _ api.Bot) (s api.BotSessions, err error) {
		if s.Now, err = c.Sessions(ctx); err == nil {
			s.Past, err = c.Past(ctx)
		}
		return s, err
	})
	admitted(c, to, api.BotSummary, func(ctx context.Context, p api.BotSession) (string, error) { return c.Summary(ctx, p.Session) })
	admitted(c, to, api.BotSend, func(ctx context.Context, p api.BotText) (string, error) { return c.Send(ctx, p.Session, p.Text) })
	admitted(c, to, api.BotAbort, func(ctx context.Context, p api.BotSession) (op.None, error) {
		return op.None{}, c.Abort(ctx, p.Session)
	})
	admitted(c, to, api.BotQuestion, func(ctx context.Context, p api.BotRequest) (s api.BotShown, _ error) {
		s.Request, s.Known = c.Question(ctx, p.ID)
		return s, nil
	})
	admitted(c, to, api.BotThere, func(ctx context.Context, p api.BotAnswer) (string, error) {
		return c.AnswerThere(ctx, p.ID, inChat(p.Answer), p.Sign)
	})
	admitted(c, to, api.BotMode, func(ctx context.Context, p api.BotModeParams) (string, error) {
		if p.Mode != "" {
			if err := c.SetMode(ctx, p.Mode); err != nil {
				return "", err
			}
		}
		return c.Asked(), nil
	})
	admitted(c, to, api.BotCosts, func(ctx context.Context, _ api.Bot) (approval.Costs, error) { return c.Replies.Costs(ctx) })
}

// inChat is an answer as a person gives it in a chat: the rest of its fields is not the bot's to say.
func inChat(a approval.Answer) approval.Answer {
	return approval.Answer{Allow: a.Allow, For: a.For, As: a.As, By: a.By, Via: telegram.Via, Reason: a.Reason, Text: a.Text, Digest: a.Digest}
}

// requestOf returns a request of the queue, for the bot.
func requestOf(r approval.Request, err error) (api.BotShown, error) {
	var late *approval.LateError
	switch {
	case errors.As(err, &late):
		return api.BotShown{Request: late.Request, Known: true, Late: true}, nil
	case errors.Is(err, approval.ErrUnknown):
		return api.BotShown{}, nil
	case err != nil:
		return api.BotShown{}, err
	}
	return api.BotShown{Request: r, Known: true}, nil
}
