package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/run/pane"
)

const (
	maxTexts  = 100            // that are kept
	textLife  = 24 * time.Hour // how long a text is kept
	textEvery = time.Second    // how often the terminals are looked at while texts are kept
)

// keptText is a text for an agent that could not be typed when it was sent.
type keptText struct {
	Session approval.AgentSession `json:"session"`
	Text    string                `json:"text"`
	Sent    time.Time             `json:"sent"`
}

// texts keeps texts for agents in a file until they can be typed, each agent's in order.
type texts struct {
	path   string
	logger *slog.Logger
	more   chan struct{} // holds one: a text was kept

	mu sync.Mutex // held while texts are read, typed and written
}

// send types a text for a session, or keeps it and says why.
func (t *texts) send(ctx context.Context, c *Chats, s approval.AgentSession, text string) (why string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, err := t.read()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(k keptText) bool { return k.Session.ID == s.ID }) {
		why = "an earlier text is kept for it"
	} else {
		err := c.Runs.Type(ctx, s, text)
		var notNow *pane.NotNowError
		if !errors.As(err, &notNow) {
			if err == nil {
				c.Logger.Info("a text from a chat was typed for an agent", "session", s.ID, "pane", s.Pane, "bytes", len(text))
			}
			return "", err
		}
		why = notNow.Why
	}
	if len(all) >= maxTexts {
		return "", fmt.Errorf("%s, and too many texts are kept already", why)
	}
	if err := t.write(append(all, keptText{s, text, time.Now()})); err != nil {
		return "", fmt.Errorf("%s, and the text could not be kept: %w", why, err)
	}
	c.Logger.Info("a text from a chat is kept for an agent", "session", s.ID, "pane", s.Pane, "bytes", len(text), "why", why)
	select {
	case t.more <- struct{}{}:
	default:
	}
	return why, nil
}

func (t *texts) read() (all []keptText, err error) {
	b, err := os.ReadFile(t.path)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the texts that are kept for agents: %w", err)
	}
	return all, nil
}

func (t *texts) write(all []keptText) error {
	b, err := json.Marshal(all)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(t.path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(t.path, append(b, '\n'), 0o600)
	}
	return err
}

// DeliverTexts types the texts that are kept for agents, as soon as that is possible, until ctx is done.
func (c *Chats) DeliverTexts(ctx context.Context) error {
	for {
		left, err := c.deliver(ctx)
		if err != nil && ctx.Err() == nil {
			c.Logger.Warn("texts for agents are not typed", "error", err)
		}
		var next <-chan time.Time
		if left {
			next = time.After(textEvery)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.texts.more:
		case <-next:
		}
	}
}

// deliver types the texts that can be typed now. left reports whether some are kept.
func (c *Chats) deliver(ctx context.Context) (left bool, err error) {
	c.texts.mu.Lock()
	defer c.texts.mu.Unlock()
	all, err := c.texts.read()
	if err != nil || len(all) == 0 {
		return false, err
	}
	live, err := c.Sessions(ctx)
	if err != nil {
		return true, err
	}
	var keep []keptText
	for _, k := range all {
		if slices.ContainsFunc(keep, func(before keptText) bool { return before.Session.ID == k.Session.ID }) {
			keep = append(keep, k)
			continue
		}
		typed, why := c.deliverOne(ctx, k, live)
		switch {
		case ctx.Err() != nil:
			return true, ctx.Err()
		case typed:
			c.Logger.Info("a text that was kept was typed for an agent", "session", k.Session.ID, "pane", k.Session.Pane)
			c.tellOf(k, "typed, what was kept for it: "+k.Text)
		case why != "":
			c.Logger.Warn("a text that was kept for an agent is dropped", "session", k.Session.ID, "why", why)
			c.tellOf(k, "not typed, because "+why+": "+k.Text)
		default:
			keep = append(keep, k)
			continue
		}
		// Each change is written at once: a text that was typed is not typed again after a crash.
		if err := c.texts.write(append(slices.Clone(keep), all[slices.IndexFunc(all, k.equal)+1:]...)); err != nil {
			return true, err
		}
	}
	return len(keep) > 0, nil
}

func (k keptText) equal(o keptText) bool {
	return k.Session.ID == o.Session.ID && k.Text == o.Text && k.Sent.Equal(o.Sent)
}

// deliverOne types a kept text. why says why it never can be; with neither, it stays kept.
func (c *Chats) deliverOne(ctx context.Context, k keptText, live []approval.AgentSession) (typed bool, why string) {
	at := slices.IndexFunc(live, func(s approval.AgentSession) bool {
		return s.ID == k.Session.ID && s.Pane == k.Session.Pane && approval.SocketOf(s.Tmux) == approval.SocketOf(k.Session.Tmux)
	})
	switch {
	case time.Since(k.Sent) > textLife:
		return false, "it was kept for a day"
	case at < 0:
		return false, "its agent is not there any more"
	}
	if _, _, err := c.paneOf(ctx, live[at]); err != nil {
		return false, err.Error()
	}
	err := c.Runs.Type(ctx, live[at], k.Text)
	var notNow *pane.NotNowError
	switch {
	case err == nil:
		return true, ""
	case errors.As(err, &notNow) || ctx.Err() != nil:
		return false, ""
	}
	return false, err.Error()
}

// tellOf tells people what became of a kept text.
func (c *Chats) tellOf(k keptText, words string) {
	c.Post(approval.Notice{Kind: approval.Delivered, Session: k.Session.ID, Agent: k.Session.Agent, Label: k.Session.Label, Text: words})
}
