package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config"
	"mycelium/internal/tmux"
)

// chats is what a node has to do with people who are elsewhere.
type chats struct {
	board   *approval.Board // notices; whoever has one posts it
	bells   chan bellRing
	renewed chan struct{} // holds one: configuration or variables may have changed
	mode    *atomic.Value // approval.Mode: set from a chat; empty: what the files say
}

func newChats() chats {
	return chats{board: &approval.Board{}, bells: make(chan bellRing, 64), renewed: make(chan struct{}, 1), mode: &atomic.Value{}}
}

// runChats runs the bot and the notices that the files name, and begins anew when what they name changes: a token is rotated by changing it.
func (n *Node) runChats(ctx context.Context) error {
	if !n.Daemon {
		return nil
	}
	for ctx.Err() == nil {
		conf, err := n.chatConfig()
		if err != nil {
			n.logger.Warn("nobody is asked in a chat, and nobody is told elsewhere", "error", err)
			conf = chatConfig{}
		}
		part, cancel := context.WithCancel(ctx)
		var parts sync.WaitGroup
		parts.Go(func() { n.runNotify(part, conf.notify) })
		if conf.telegram != nil {
			parts.Go(func() { n.runTelegram(part, *conf.telegram) })
		}
		n.sameChats(ctx, conf)
		cancel()
		parts.Wait()
	}
	return nil
}

// sameChats waits until the configuration is another one, or ctx ends.
func (n *Node) sameChats(ctx context.Context, have chatConfig) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.chats.renewed:
		}
		if now, err := n.chatConfig(); err != nil || !reflect.DeepEqual(now, have) {
			return
		}
	}
}

// renewChats tells that configuration or variables may have changed.
func (n *Node) renewChats() {
	select {
	case n.chats.renewed <- struct{}{}:
	default:
	}
}

// chatConfig is the configuration with its secrets put in.
type chatConfig struct {
	telegram *approval.TelegramConfig
	notify   approval.NotifyConfig
}

func (n *Node) chatConfig() (c chatConfig, err error) {
	conf := n.View().Project.File.Approval
	fill := func(key string, s *string) {
		text, e := n.pool.Expand(*s)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", key, e))
		}
		*s = text
	}
	c.notify = conf.Notify
	for key, w := range map[string]**approval.WebhookConfig{"approval.notify.ntfy": &c.notify.Ntfy, "approval.notify.slack": &c.notify.Slack} {
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
		c.telegram = &t
	}
	return c, err
}

func (n *Node) runNotify(ctx context.Context, conf approval.NotifyConfig) {
	out, err := approval.NewNotify(approval.NotifyOptions{Config: conf, Queue: n.asks, Board: n.chats.board, Logger: n.logger})
	if err != nil {
		n.logger.Warn("nobody is told of what waits", "error", err)
		return
	}
	_ = out.Run(ctx)
}

// againAfter is how often a bot that another daemon polls is tried for again.
const againAfter = 30 * time.Second

// runTelegram runs the bot as soon as no other daemon of this user does: Telegram gives every message to one poller only.
func (n *Node) runTelegram(ctx context.Context, conf approval.TelegramConfig) {
	lock, err := lockBot(ctx, conf.Token, func(err error) {
		n.logger.Warn("this Telegram bot serves another project of yours: it asks nothing of this one until that daemon ends; give each project a bot of its own", "error", err)
	})
	if err != nil {
		if ctx.Err() == nil {
			n.logger.Warn("nobody is asked on Telegram", "error", err)
		}
		return
	}
	defer func() { _ = lock.Unlock() }()
	bot, err := approval.NewTelegram(approval.TelegramOptions{
		Config: conf, Queue: n.asks, DB: n.db, Board: n.chats.board, Desk: n.desk(), Read: n.readReply, Adopt: n.adoptReply, Logger: n.logger,
	})
	if err == nil {
		err = bot.Run(ctx)
	}
	if err != nil && ctx.Err() == nil {
		n.logger.Warn("nobody is asked on Telegram", "error", err)
	}
}

// lockBot takes the lock of a bot, which is the user's and not a project's. busy is called once if somebody has it.
func lockBot(ctx context.Context, token string, busy func(error)) (*atomicfile.Lock, error) {
	state, err := config.StateDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(state, "telegram")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the bots' locks: %w", err)
	}
	path := filepath.Join(dir, approval.TelegramKey(token)+".lock")
	for first := true; ; first = false {
		lock, err := atomicfile.TryLock(path)
		if !errors.Is(err, atomicfile.ErrLocked) {
			return lock, err
		}
		if first {
			busy(err)
		}
		if !wait(ctx, againAfter) {
			return nil, ctx.Err()
		}
	}
}

// bellRing is a bell to be set or cleared.
type bellRing struct {
	session approval.AgentSession
	on      bool
}

// ring hands a bell on; the agent's hook does not wait for tmux.
func (n *Node) ring(s approval.AgentSession, on bool) {
	if off := n.View().Project.File.Approval.Notify.Bell; s.Pane == "" || off != nil && !*off {
		return
	}
	select {
	case n.chats.bells <- bellRing{s, on}:
	default: // tmux hangs: an agent that waits shows in the lists all the same
	}
}

// ringBells marks the tmux windows of agents that wait, and clears the marks.
func (n *Node) ringBells(ctx context.Context) error {
	for {
		var b bellRing
		select {
		case <-ctx.Done():
			return nil
		case b = <-n.chats.bells:
		}
		at, act := tmux.At(b.session.Tmux), tmux.Server.Clear
		if b.on {
			act = tmux.Server.Mark
		}
		if err := act(at, ctx, b.session.Pane); err != nil && ctx.Err() == nil {
			n.logger.Debug("the window of an agent could not be marked", "pane", b.session.Pane, "error", err)
		}
	}
}

// askMode is who is asked now: what was set in a chat, else what the files say.
func (n *Node) askMode() approval.Mode {
	if m, ok := n.chats.mode.Load().(approval.Mode); ok {
		return m
	}
	if m := n.View().Project.File.Approval.Mode; m != "" {
		return m
	}
	return approval.Auto
}

// hasChat reports whether people can be asked in a chat.
func (n *Node) hasChat() bool { return n.View().Project.File.Approval.Telegram != nil }
