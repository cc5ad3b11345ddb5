package signature

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Transport signs the requests of a program to one page server.
type Transport struct {
	Key  Key
	Next http.RoundTripper // nil: http.DefaultTransport

	mu  sync.Mutex // guards what follows
	run string     // of the server, as it said last
}

// RoundTrip signs a request and sends it. If the server began anew, it does so twice.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, fmt.Errorf("read what is sent: %w", err)
		}
	}
	for again := false; ; again = true {
		run, err := t.running(r, again)
		if err != nil {
			return nil, err
		}
		signed := r.Clone(r.Context())
		signed.Body, signed.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if len(body) == 0 {
			signed.Body = http.NoBody
		}
		if err := t.Key.Sign(signed, run, body, time.Now()); err != nil {
			return nil, err
		}
		got, err := t.next().RoundTrip(signed)
		if err != nil || again || got.StatusCode != http.StatusUnauthorized || got.Header.Get(RefusedHeader) != ErrRun.Why {
			return got, err
		}
		_ = got.Body.Close()
	}
}

func (t *Transport) next() http.RoundTripper {
	if t.Next == nil {
		return http.DefaultTransport
	}
	return t.Next
}

// running returns the run of the server, which it says in every answer. anew: it is another one than it was.
func (t *Transport) running(r *http.Request, anew bool) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != "" && !anew {
		return t.run, nil
	}
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.URL.Scheme+"://"+r.URL.Host+"/health", nil) // #nosec G704 -- the server that the request itself is for
	if err != nil {
		return "", fmt.Errorf("ask a page server for its run: %w", err)
	}
	ask.Host = r.Host
	got, err := t.next().RoundTrip(ask)
	if err != nil {
		return "", err
	}
	_ = got.Body.Close()
	if t.run = got.Header.Get(RunHeader); t.run == "" {
		return "", fmt.Errorf("no page server answers at %s: %s", r.URL.Host, got.Status)
	}
	return t.run, nil
}
