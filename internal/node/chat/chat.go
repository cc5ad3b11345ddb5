// Package chat connects a node with people who are elsewhere: a Telegram bot that asks them, notices on other channels, and marks
// on the tmux windows of agents that wait.
package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/approval/notify"
	"mycelium/internal/approval/telegram"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/node/api"
	"mycelium/internal/node/presence"
	"mycelium/internal/op"
	"mycelium/internal/policy"
	"mycelium/internal/run"
	"mycelium/internal/state"
	"mycelium/internal/store"
)

// Replies understands what people write in a chat about a request, and keeps the policies and rules that they give.
type Replies interface {
	Read(ctx context.Context, r approval.Request, text string) (approval.Reply, error)
	Adopt(ctx context.Context, r approval.Request, reply approval.Reply, by string) (string, error)
	Costs(ctx context.Context) (approval.Costs, error)
}

// Options of Chats. All are required.
type Options struct {
	Dir     string                            // the project folder
	Project func() *config.Project            // the files in force
	Policy  func() *policy.Policy             // made of them
	Expand  func(text string) (string, error) // replaces ${VAR} and references to secrets
	Queue   *approval.Queue
	Replies Replies
	State   state.Paths // of the project
	Logger  *slog.Logger
}

// Chats is the connection. It is safe for concurrent use.
type Chats struct {
	Options
	Runs *run.Registry // the agents at work; it is set before Run

	terminals presence.Terminals // of this machine: whether somebody is there

	board   approval.Board // notices; each channel posts them
	polls   atomic.Bool    // the bot of this project runs here
	serving atomic.Int64   // daemons that ask for this project through their bot
	free    chan struct{}  // holds one: a daemon that asked for this project has gone
	texts   texts
	bells   chan bell
	renewed chan struct{} // holds one: configuration or variables may have changed
	mode    atomic.Value  // approval.Mode: set by a person; empty: what the files say
}

// New makes the connection. Nothing runs until Run is called.
func New(o Options) *Chats {
	c := &Chats{Options: o, bells: make(chan bell, 64), renewed: make(chan struct{}, 1),
		free: make(chan struct{}, 1)}
	c.terminals.Panes = c.panes
	c.texts = texts{path: o.State.KeptTexts(), logger: o.Logger, more: make(chan struct{}, 1)}
	c.restoreMode()
	return c
}

// Run runs the bot and the notices that the files name until ctx is done. It restarts them when their configuration changes, so that a
// token can be rotated by a change of the file.
func (c *Chats) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		conf, err := c.channels()
		if err != nil {
			c.Logger.Warn("chats and notices do not work until this is fixed", "error", err)
			conf = channels{}
		}
		c.announce(conf)
		part, cancel := context.WithCancel(ctx)
		var parts sync.WaitGroup
		parts.Go(func() { c.runNotify(part, conf.notify) })
		if conf.telegram != nil {
			parts.Go(func() { c.runTelegram(part, *conf.telegram, conf.starts) })
		}
		c.waitForChange(ctx, conf)
		cancel()
		parts.Wait()
	}
	return nil
}

// waitForChange returns when the configuration differs from have, or ctx is done.
func (c *Chats) waitForChange(ctx context.Context, have channels) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.renewed:
		}
		if now, err := c.channels(); err != nil || !reflect.DeepEqual(now, have) {
			return
		}
	}
}

// Renew says that configuration or variables may have changed.
func (c *Chats) Renew() {
	select {
	case c.renewed <- struct{}{}:
	default:
	}
}

// Post shows people a notice.
func (c *Chats) Post(n approval.Notice) { c.board.Post(n) }

// Notify is Post for a client of the node, which only a person may be.
func (c *Chats) Notify(_ context.Context, _ op.Caller, n approval.Notice) (none op.None, _ error) {
	c.Post(n)
	return none, nil
}

// Chat reports whether people can be asked in a chat: by the bot of the project, or by that of another one.
func (c *Chats) Chat() bool { return c.Project().File.Approval.Telegram != nil || c.serving.Load() > 0 }

// Notices reports whether people are told elsewhere that a call waits: on the screen, by ntfy or by Slack.
func (c *Chats) Notices() bool {
	conf, err := c.channels()
	return err == nil && notify.Reaches(conf.notify, os.Getenv)
}

// channels is the configuration with its secrets put in.
type channels struct {
	telegram *approval.TelegramConfig
	notify   approval.NotifyConfig
	starts   bool // agents may be started from the chat
}

func (c *Chats) channels() (out channels, err error) {
	conf := c.Project().File.Approval
	fill := func(key string, s *string) {
		text, e := c.Expand(*s)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", key, e))
		}
		*s = text
	}
	out.notify, out.starts = conf.Notify, len(c.Project().File.Spawn.SearchPaths) > 0
	for key, w := range map[string]**approval.WebhookConfig{"approval.notify.ntfy": &out.notify.Ntfy,
		"approval.notify.slack": &out.notify.Slack} {
		if *w != nil {
			filled := **w
			fill(key+".url", &filled.URL)
			fill(key+".token", &filled.Token)
			*w = &filled
		}
	}
	if conf.Telegram != nil {
		t := *conf.Telegram
		fill("approval.telegram.token", &t.Token)
		fill("approval.telegram.pin", &t.PIN)
		out.telegram = &t
	}
	return out, err
}

func (c *Chats) runNotify(ctx context.Context, conf approval.NotifyConfig) {
	out, err := notify.New(notify.Options{Config: conf, Queue: c.Queue, Board: &c.board, Getenv: os.Getenv, Logger: c.Logger})
	if err != nil {
		c.Logger.Warn("notices of waiting calls are off", "error", err)
		return
	}
	_ = out.Run(ctx)
}

// runTelegram runs the bot as soon as no other daemon of this user runs it: Telegram gives every message to one poller only. Meanwhile that
// daemon asks for this project.
func (c *Chats) runTelegram(ctx context.Context, conf approval.TelegramConfig, starts bool) {
	bot := botOf(conf)
	lock, err := c.lockBot(ctx, bot.Digest)
	if err == nil {
		defer func() { _ = lock.Unlock() }()
		c.polls.Store(true)
		defer c.polls.Store(false)
		err = c.poll(ctx, conf, bot, starts)
	}
	if err != nil && ctx.Err() == nil {
		c.Logger.Warn("the Telegram bot does not run", "error", err)
	}
}

// poll runs the bot, whose lock is held, for this project and for the others for which it asks.
func (c *Chats) poll(ctx context.Context, conf approval.TelegramConfig, bot api.Bot, starts bool) error {
	db, err := store.Open(ctx, "sqlite://"+c.State.BotDatabase(bot.Digest))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	p := newProjects(c, bot)
	o := telegram.Options{
		Config: conf, Queue: p, DB: db, Board: allNotices{p}, Agents: p, Control: p, Settings: p, Read: c.Replies.Read, Adopt: p.adopt,
		Past: p.wider, Logger: c.Logger,
	}
	if starts {
		o.Starter = p
	}
	t, err := telegram.New(o)
	if err != nil {
		return err
	}
	return t.Run(ctx)
}

const (
	retryLock = 30 * time.Second // how often the lock of a bot that another daemon polls is tried, besides when that daemon goes
	freeWait  = 5 * time.Second  // how long a daemon that goes may take to give the lock back: longer than its last message
)

// lockBot takes the lock of a bot. If another daemon has it, it waits for that one's end.
func (c *Chats) lockBot(ctx context.Context, bot string) (*atomicfile.Lock, error) {
	if err := c.State.MakeBots(); err != nil {
		return nil, err
	}
	path := c.State.BotLock(bot)
	lock, err := atomicfile.TryLock(path)
	if errors.Is(err, atomicfile.ErrLocked) {
		c.Logger.Warn("this Telegram bot serves another project of yours: the daemon of that one asks for this one too, if the files of both " +
			"name the same chat, people and PIN")
	}
	for errors.Is(err, atomicfile.ErrLocked) {
		wait := time.Duration(0)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.free:
			wait = freeWait
		case <-time.After(retryLock):
		}
		lock, err = atomicfile.LockWithin(ctx, path, wait)
	}
	return lock, err
}
