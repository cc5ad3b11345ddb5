package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptrace"
	"time"

	"mycelium/internal/rpc"
)

// stream handles an answer that comes as events. A stream that ends early is resumed if the server gave its events ids.
func (h *httpTransport) stream(ctx context.Context, res *http.Response, p *pending) error {
	last, retry := "", time.Second
	for attempt := 0; ; attempt++ {
		body := p.Answer.Meter(ctx, res.Body)
		err := rpc.Events(ctx, body, MaxAnswer, func(e rpc.Event) bool {
			if e.ID != "" {
				last, attempt = e.ID, 0
			}
			if e.Retry > 0 {
				retry = min(e.Retry, 30*time.Second)
			}
			if len(e.Data) > 0 {
				h.in.handle(e.Data, p)
			}
			if h.in.calls.isComplete(p) {
				return false
			}
			body.Reset()
			return true
		})
		_ = res.Body.Close()
		body.Reset()
		switch {
		case errors.Is(err, rpc.ErrBusy):
			return err
		case errors.Is(err, rpc.ErrEventTooLong): // the same one would come again
			return errTooLong
		}
		if h.in.calls.isComplete(p) {
			return nil
		}
		if last == "" || attempt >= maxResume || h.isModern() {
			if err == nil {
				err = errors.New("its event stream ended before the result")
			}
			return err
		}
		if err := sleep(ctx, retry); err != nil {
			return err
		}
		if res, err = h.resume(ctx, last); err != nil {
			return err
		}
	}
}

// maxResume bounds how often a stream is resumed without an event in between.
const maxResume = 3

// sleep waits, or ends with ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resume opens a stream of the events that followed an event. Without an event id it opens the stream of notices.
func (h *httpTransport) resume(ctx context.Context, last string) (*http.Response, error) {
	req, err := h.request(ctx, http.MethodGet, nil, "", "")
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := h.do(req)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		_ = res.Body.Close()
		return nil, &statusError{res.StatusCode}
	}
	return res, nil
}

// statusError is an unexpected HTTP status.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("it answers HTTP %d %s", e.code, http.StatusText(e.code))
}

// listen keeps the stream of notices open until the transport ends. It returns if the server has no such stream. sent is called when
// the first request for the stream was sent or failed, and possibly again.
func (h *httpTransport) listen(sent func()) {
	ctx := httptrace.WithClientTrace(h.ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }})
	last, wait := "", time.Second
	for {
		res, err := h.resume(ctx, last)
		sent()
		var status *statusError
		if errors.As(err, &status) {
			if status.code == http.StatusNotFound && h.hasSession() {
				h.fail(ErrSessionGone)
			}
			if status.code < 500 {
				return
			}
		}
		if err == nil {
			h.in.notice(noticeAcknowledged, nil)
			body := h.claim().Meter(h.ctx, res.Body)
			_ = rpc.Events(h.ctx, body, MaxAnswer, func(e rpc.Event) bool {
				if e.ID != "" {
					last = e.ID
				}
				if len(e.Data) > 0 {
					h.in.handle(e.Data, nil)
				}
				body.Reset()
				wait = max(time.Second, min(e.Retry, 30*time.Second))
				return true
			})
			_ = res.Body.Close()
			body.Reset()
		}
		if sleep(h.ctx, wait) != nil {
			return
		}
		wait = min(2*wait, 30*time.Second)
	}
}
