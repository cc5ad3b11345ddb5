package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// sseLink speaks the HTTP transport of 2024: one stream of events carries all that the server says, and its first event names the address to
// which messages are posted. The stream is the session: when it ends, everything ends.
type sseLink struct {
	*httpLink
	named chan struct{} // closed when the address is known
}

func newSSELink(l *launch, c *conn) *sseLink {
	s := &sseLink{httpLink: newHTTPLink(l, c), named: make(chan struct{})}
	s.in.apart = false
	s.wg.Go(s.read)
	return s
}

// read takes the stream of events.
func (s *sseLink) read() {
	res, err := s.resume(s.ctx, "")
	if err != nil {
		var status *statusError
		if errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden) {
			err = text.Hinted(err, "check the entry's headers, for instance Authorization")
		} else if errors.As(err, &status) {
			err = text.Hinted(fmt.Errorf("%w and no stream of events", err), "most servers of today speak type: http")
		}
		s.broken(err)
		return
	}
	defer res.Body.Close()
	flow := newFlow(res.Body, s.dead, chatterRate, chatterBurst)
	body := struct {
		io.Reader
		io.Closer
	}{flow, res.Body}
	err = rpc.Events(s.ctx, body, maxAnswer, func(e rpc.Event) bool {
		switch e.Event {
		case "endpoint":
			return s.name(string(e.Data)) == nil
		case "", "message":
			if len(e.Data) > 0 {
				flow.asked(s.in.take(e.Data, nil), len(e.Data))
			}
		}
		return true
	})
	if err == nil {
		err = errors.New("its stream of events ended")
	}
	s.broken(err) // does nothing where a reason is known
}

// name takes the address that messages go to. It must be of the server itself: it gets the headers of the entry.
func (s *sseLink) name(reference string) error {
	select {
	case <-s.named:
		return nil // it is said once
	default:
	}
	u, err := s.launch.url.Parse(reference)
	if err != nil || u.Scheme != s.launch.url.Scheme || u.Host != s.launch.url.Host || u.User != nil {
		err = errors.New("it names an address of another host for messages, which is refused")
		s.broken(err)
		return err
	}
	s.mu.Lock()
	s.posts = u
	s.mu.Unlock()
	close(s.named)
	return nil
}

func (s *sseLink) send(p *pending, method string, params []byte) error {
	ctx, cancel := context.WithCancel(s.ctx)
	p.stop = cancel
	m := rpc.Message{ID: strconv.AppendInt(nil, p.id, 10), Method: method, Params: params}
	body := m.Append(nil)
	s.wg.Go(func() {
		defer cancel()
		if err := s.put(ctx, body); err != nil {
			s.in.calls.end(p, err)
		}
	})
	return nil
}

// put posts one message. Its answer, if it has one, comes on the stream.
func (s *sseLink) put(ctx context.Context, body []byte) error {
	if err := s.await(ctx); err != nil {
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
	said, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusNotFound:
		err := &notSentError{errSessionGone}
		s.broken(errSessionGone)
		return err
	case len(said) == 0 || isHTML(res):
		return &statusError{res.StatusCode}
	}
	return fmt.Errorf("%w: %s", &statusError{res.StatusCode}, excerpt([]byte(s.launch.secrets.text(string(said)))))
}

func isHTML(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind == "text/html"
}

// await waits until the address is known.
func (s *sseLink) await(ctx context.Context) error {
	select {
	case <-s.named:
		return nil
	case <-s.dead:
		return &notSentError{s.in.calls.reason()}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sseLink) notify(ctx context.Context, method string, params []byte) error {
	if err := s.await(ctx); err != nil {
		return err
	}
	return s.httpLink.notify(ctx, method, params)
}

// close ends the stream, which ends the session at the server.
func (s *sseLink) close(time.Duration) {
	s.broken(errClosed)
	s.end()
	s.wg.Wait()
	s.client.CloseIdleConnections()
}
