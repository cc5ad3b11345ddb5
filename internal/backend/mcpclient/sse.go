package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"mycelium/internal/backend/flow"
	"mycelium/internal/backend/httpclient"
	"mycelium/internal/backend/redact"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// sseTransport speaks the HTTP transport of 2024. One stream of events carries all messages of the server, and its first event names the
// address to which our messages are posted. The stream is the session: when it ends, the session ends.
type sseTransport struct {
	*httpTransport
	endpointKnown chan struct{} // closed when the address for messages is known
}

func newSSE(t *Target, c *Conn) *sseTransport {
	s := &sseTransport{httpTransport: newHTTP(t, c), endpointKnown: make(chan struct{})}
	s.in.streams = false
	s.wg.Go(s.read)
	return s
}

// read handles the stream of events.
func (s *sseTransport) read() {
	res, err := s.resume(s.ctx, "")
	if err != nil {
		var status *statusError
		if errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden) {
			err = text.Hinted(err, "check the entry's headers, for instance Authorization")
		} else if errors.As(err, &status) {
			err = text.Hinted(fmt.Errorf("%w and no stream of events", err), "most servers of today speak type: http")
		}
		s.fail(err)
		return
	}
	defer res.Body.Close()
	throttle := flow.New(res.Body, s.dead, flow.UnaskedRate, flow.UnaskedBurst)
	body := s.claim().Meter(s.ctx, struct {
		io.Reader
		io.Closer
	}{throttle, res.Body})
	defer body.Reset()
	err = rpc.Events(s.ctx, body, MaxAnswer, func(e rpc.Event) bool {
		switch e.Event {
		case "endpoint":
			return s.setEndpoint(string(e.Data)) == nil
		case "", "message":
			if len(e.Data) > 0 {
				throttle.Account(s.in.handle(e.Data, nil), len(e.Data))
			}
		}
		body.Reset()
		return true
	})
	switch {
	case err == nil:
		err = errors.New("its stream of events ended")
	case errors.Is(err, rpc.ErrEventTooLong):
		err = errTooLong
	}
	s.fail(err) // does nothing if it failed before
}

// setEndpoint sets the address for messages. It must be on the server's own host, because the headers of the entry are sent there.
func (s *sseTransport) setEndpoint(reference string) error {
	select {
	case <-s.endpointKnown:
		return nil // only the first one counts
	default:
	}
	u, err := s.target.URL.Parse(reference)
	if err != nil || u.Scheme != s.target.URL.Scheme || u.Host != s.target.URL.Host || u.User != nil {
		err = errors.New("it names an address of another host for messages, which is refused")
		s.fail(err)
		return err
	}
	s.mu.Lock()
	s.endpoint = u
	s.mu.Unlock()
	close(s.endpointKnown)
	return nil
}

func (s *sseTransport) send(p *pending, method string, params []byte) error {
	ctx, cancel := context.WithCancel(s.ctx)
	p.stop = cancel
	m := rpc.Message{ID: strconv.AppendInt(nil, p.id, 10), Method: method, Params: params}
	body := m.Append(nil)
	s.wg.Go(func() {
		defer cancel()
		if err := s.postMessage(ctx, body); err != nil {
			s.in.calls.failOne(p, err)
		}
	})
	return nil
}

// postMessage posts one message. Its answer, if it has one, comes on the stream.
func (s *sseTransport) postMessage(ctx context.Context, body []byte) error {
	if err := s.awaitEndpoint(ctx); err != nil {
		return err
	}
	req, err := s.request(ctx, http.MethodPost, body, "", "")
	if err != nil {
		return err
	}
	res, err := s.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(res.Body, httpclient.MaxErrorBody))
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusNotFound:
		err := &notSentError{ErrSessionGone}
		s.fail(ErrSessionGone)
		return err
	case len(said) == 0 || isHTML(res):
		return &statusError{res.StatusCode}
	}
	return fmt.Errorf("%w: %s", &statusError{res.StatusCode}, redact.Excerpt([]byte(s.target.Secrets.Text(string(said)))))
}

func isHTML(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind == "text/html"
}

// awaitEndpoint waits until the address for messages is known.
func (s *sseTransport) awaitEndpoint(ctx context.Context) error {
	select {
	case <-s.endpointKnown:
		return nil
	case <-s.dead:
		return &notSentError{s.in.calls.closedBy()}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sseTransport) notify(ctx context.Context, method string, params []byte) error {
	if err := s.awaitEndpoint(ctx); err != nil {
		return err
	}
	return s.httpTransport.notify(ctx, method, params)
}

// close ends the stream, which ends the session at the server.
func (s *sseTransport) close(time.Duration) {
	s.fail(ErrClosed)
	s.end()
	s.wg.Wait()
	s.client.CloseIdleConnections()
}
