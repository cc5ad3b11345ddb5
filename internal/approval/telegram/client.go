package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

const (
	pollTime  = 50 * time.Second // of one getUpdates
	callTime  = 30 * time.Second // of any other call
	maxAnswer = 8 << 20          // bytes of one answer of the Bot API
)

// link is the HTTP client of the Bot API. It bounds time and size and follows no redirect, because the token is in the path. It logs
// once that Telegram is unreachable and once that it is back.
type link struct {
	client *http.Client
	token  string
	logger *slog.Logger

	mu   sync.Mutex
	down bool
}

func newLink(token string, logger *slog.Logger) *link {
	return &link{token: token, logger: logger, client: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: callTime}).DialContext, TLSHandshakeTimeout: callTime,
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: 2 * time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do sends one call.
func (l *link) Do(r *http.Request) (*http.Response, error) {
	limit := callTime
	if strings.HasSuffix(r.URL.Path, "/getUpdates") {
		limit += pollTime
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	res, err := l.client.Do(r.WithContext(ctx)) //nolint:gosec // the server is the one that a person configured
	if err != nil {
		cancel()
		l.reached(r.Context(), err)
		return nil, err
	}
	res.Body = &answerBody{io.LimitReader(res.Body, maxAnswer), res.Body, cancel}
	if res.StatusCode < 500 && res.StatusCode != http.StatusConflict && res.StatusCode != http.StatusUnauthorized {
		l.reached(r.Context(), nil)
	}
	return res, nil
}

type answerBody struct {
	io.Reader
	io.Closer
	cancel context.CancelFunc
}

func (b *answerBody) Close() error {
	defer b.cancel()
	return b.Closer.Close()
}

// reached records whether a call reached Telegram: err is nil if it did.
func (l *link) reached(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	changed := l.down != (err != nil)
	l.down = err != nil
	l.mu.Unlock()
	switch {
	case changed && err != nil:
		l.logger.Warn("Telegram cannot be reached; requests can be answered elsewhere until it is back", "error", l.clean(err))
	case changed:
		l.logger.Info("Telegram can be reached again")
	}
}

// clean returns the text of an error without the token.
func (l *link) clean(err error) string { return strings.ReplaceAll(err.Error(), l.token, "***") }

// pollFailed takes the errors of polling, which the library does not return.
func (l *link) pollFailed(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		return
	case errors.Is(err, bot.ErrorConflict):
		err = fmt.Errorf("somebody else takes this bot's messages: another program with the same token, or a webhook; end it, or create a bot "+
			"for this project: %w", err)
	case errors.Is(err, bot.ErrorUnauthorized):
		err = fmt.Errorf("the token is not valid any more; write the new one into approval.telegram.token: %w", err)
	}
	l.reached(context.Background(), err)
}

// backoff returns how long to wait before a failed call is tried again, and whether to try again at all. before is the last wait.
func backoff(err error, before time.Duration) (wait time.Duration, retry bool) {
	var slow *bot.TooManyRequestsError
	var moved *bot.MigrateError
	switch {
	case errors.As(err, &slow):
		return min(max(time.Duration(slow.RetryAfter)*time.Second, time.Second), 10*time.Minute), true
	case errors.Is(err, bot.ErrorBadRequest), errors.Is(err, bot.ErrorNotFound), errors.Is(err, context.Canceled), errors.As(err, &moved):
		return 0, false
	}
	return min(max(2*before, time.Second), time.Minute), true
}

// lingerTime is how long a message under way may still take after ctx is done: a message that is sent but not recorded would be sent
// again.
const lingerTime = 3 * time.Second

// lingering calls f with a context that is done lingerTime after ctx.
func lingering(ctx context.Context, f func(context.Context) error) error {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel() // after stop; it ends the sleep too
	stop := context.AfterFunc(ctx, func() {
		sleep(longer, lingerTime)
		cancel()
	})
	defer stop()
	return f(longer)
}

// sleep waits for d. It reports false if ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// client calls the Bot API for one bot and one chat.
type client struct {
	api    *bot.Bot
	link   *link
	chat   int64
	logger *slog.Logger
}

// noPreview keeps Telegram from loading the links in a message.
func noPreview() *models.LinkPreviewOptions {
	off := true
	return &models.LinkPreviewOptions{IsDisabled: &off}
}

// send sends a page once.
func (c *client) send(ctx context.Context, p *page, more func(*bot.SendMessageParams)) (message int, err error) {
	q := &bot.SendMessageParams{ChatID: c.chat, Text: p.b.String(), Entities: p.styles, LinkPreviewOptions: noPreview()}
	if len(p.rows) > 0 {
		q.ReplyMarkup = keyboard{p.rows}
	}
	if more != nil {
		more(q)
	}
	m, err := c.api.SendMessage(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("send a message: %w", err)
	}
	return m.ID, nil
}

// edit replaces a message by a page.
func (c *client) edit(ctx context.Context, s sent, p *page) error {
	q := &bot.EditMessageTextParams{ChatID: s.chat, MessageID: s.message, Text: p.b.String(), Entities: p.styles,
		LinkPreviewOptions: noPreview()}
	if len(p.rows) > 0 {
		q.ReplyMarkup = keyboard{p.rows}
	}
	if _, err := c.api.EditMessageText(ctx, q); err != nil && !strings.Contains(err.Error(), "message is not modified") {
		return fmt.Errorf("change a message: %w", err)
	}
	return nil
}

// say sends a page and retries for a short time. It logs a failure and returns 0 then.
func (c *client) say(ctx context.Context, p *page, more func(*bot.SendMessageParams)) (message int) {
	var wait time.Duration
	for range 4 {
		id, err := c.send(ctx, p, more)
		if err == nil {
			return id
		}
		var retry bool
		if wait, retry = backoff(err, wait); !retry || !sleep(ctx, min(wait, 10*time.Second)) {
			c.warn("a message could not be sent", err)
			return 0
		}
	}
	c.logger.Warn("Telegram: a message was given up after four tries")
	return 0
}

// warn logs an error without the token.
func (c *client) warn(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.logger.Warn("Telegram: "+what, "error", c.link.clean(err))
	}
}

// replyTo makes a message a reply to another one.
func replyTo(message int) func(*bot.SendMessageParams) {
	return func(q *bot.SendMessageParams) {
		if message != 0 {
			q.ReplyParameters = &models.ReplyParameters{MessageID: message, AllowSendingWithoutReply: true}
		}
	}
}
