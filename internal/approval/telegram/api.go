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

// link is how the library reaches the Bot API. It bounds time and size, follows no redirect (the token is in the path), and says once
// that Telegram is out of reach and once that it is back.
type link struct {
	client *http.Client
	token  string
	logger *slog.Logger

	mu   sync.Mutex
	down bool
}

func newLink(token string, logger *slog.Logger) *link {
	return &link{
		token: token, logger: logger,
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: callTime}).DialContext, TLSHandshakeTimeout: callTime,
				ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: 2 * time.Minute,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
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
		l.seen(r.Context(), err)
		return nil, err
	}
	res.Body = &answerBody{io.LimitReader(res.Body, maxAnswer), res.Body, cancel}
	if res.StatusCode < 500 && res.StatusCode != http.StatusConflict && res.StatusCode != http.StatusUnauthorized {
		l.seen(r.Context(), nil)
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

// seen notes whether Telegram could be reached.
func (l *link) seen(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	changed := l.down != (err != nil)
	l.down = err != nil
	l.mu.Unlock()
	switch {
	case changed && err != nil:
		l.logger.Warn("Telegram cannot be reached; requests wait for other answers, and for it to come back", "error", l.clean(err))
	case changed:
		l.logger.Info("Telegram can be reached again")
	}
}

// clean is an error without the token.
func (l *link) clean(err error) string { return strings.ReplaceAll(err.Error(), l.token, "***") }

// failed hears what the library does not return: errors of polling.
func (l *link) failed(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	switch {
	case errors.Is(err, bot.ErrorConflict):
		err = fmt.Errorf("somebody else takes this bot's messages: another program with the same token, or a webhook; end it, or make a bot of its own: %w", err)
	case errors.Is(err, bot.ErrorUnauthorized):
		err = fmt.Errorf("the token is not valid any more; write the new one into approval.telegram.token: %w", err)
	}
	l.seen(context.Background(), err)
}

// pauseAfter says how long to wait before a call is tried again, and whether that makes sense at all.
func pauseAfter(err error, before time.Duration) (wait time.Duration, again bool) {
	var slow *bot.TooManyRequestsError
	switch {
	case errors.As(err, &slow):
		return min(max(time.Duration(slow.RetryAfter)*time.Second, time.Second), 10*time.Minute), true
	case errors.Is(err, bot.ErrorBadRequest), errors.Is(err, bot.ErrorNotFound), errors.Is(err, context.Canceled):
		return 0, false
	}
	var moved *bot.MigrateError
	if errors.As(err, &moved) {
		return 0, false
	}
	return min(max(2*before, time.Second), time.Minute), true
}

// send sends a page once.
func (t *Bot) send(ctx context.Context, p *page, more func(*bot.SendMessageParams)) (message int, err error) {
	off := true
	q := &bot.SendMessageParams{ChatID: t.chat, Text: p.b.String(), Entities: p.styles, LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off}}
	if len(p.rows) > 0 {
		q.ReplyMarkup = keyboard{p.rows}
	}
	if more != nil {
		more(q)
	}
	m, err := t.bot.SendMessage(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("send a message: %w", err)
	}
	return m.ID, nil
}

// lingering is how long a message that is under way may take when everything ends: one that was sent and not noted would be sent again.
const lingering = 3 * time.Second

// linger is a context that ends a little after ctx does.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var timer *time.Timer
	armed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer = time.AfterFunc(lingering, cancel)
		close(armed)
	})
	return longer, func() {
		if !stop() {
			<-armed
			timer.Stop()
		}
		cancel()
	}
}

// say sends a page now and tries again for a short time; what cannot be sent is logged.
func (t *Bot) say(ctx context.Context, p *page, more func(*bot.SendMessageParams)) (message int) {
	var wait time.Duration
	for range 4 {
		id, err := t.send(ctx, p, more)
		if err == nil {
			return id
		}
		var again bool
		if wait, again = pauseAfter(err, wait); !again || !t.rest(ctx, min(wait, 10*time.Second)) {
			t.complain("a message could not be sent", err)
			return 0
		}
	}
	t.logger.Warn("a message to Telegram was given up")
	return 0
}

// rest waits; false if ctx ended first.
func (t *Bot) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (t *Bot) complain(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		t.logger.Warn("Telegram: "+what, "error", t.link.clean(err))
	}
}
