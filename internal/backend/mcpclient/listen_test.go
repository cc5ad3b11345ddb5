package mcpclient

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/backend/catalog"
)

// slowLine sends every request after a delay. No answer comes.
type slowLine struct{ delay time.Duration }

func (l slowLine) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(l.delay)
	httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestCallsWaitForTheStreamOfNotices: the time in which a server has to open the stream begins when our request is on its way. On a busy
// machine calls would overtake the request otherwise, and the questions of the server would reach nobody.
func TestCallsWaitForTheStreamOfNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 3 * time.Second
		c, err := Open(&Target{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}}, nil, Options{Now: time.Now, Changed: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		h := c.transport.(*httpTransport)
		h.client.Transport = slowLine{delay}
		go c.Listen(t.Context())
		begun := time.Now()
		c.AwaitListening(t.Context())
		if waited := time.Since(begun); waited != delay+listenWait {
			t.Errorf("calls waited %s, want %s", waited, delay+listenWait)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		begun = time.Now()
		c.AwaitListening(ended)
		if waited := time.Since(begun); waited > listenWait {
			t.Errorf("the caller has gone, and its call waited %s", waited)
		}
		c.Close(0)
	})
}

// TestAStreamThatOpensLate: what changed between the first list and the opening of the stream of notices was reported to nobody, so the
// lists are made again. A stream that opens before the first list has missed nothing.
func TestAStreamThatOpensLate(t *testing.T) {
	for name, listsFirst := range map[string]bool{"after the first list": true, "before it": false} {
		t.Run(name, func(t *testing.T) {
			c, w := newWireless()
			told := 0
			c.Changed = func() { told++ }
			over, end := context.WithCancel(t.Context())
			end()
			list := func() { _, _, _ = c.List(over, catalog.Listing{}) } // no answer is waited for
			if listsFirst {
				list()
			}
			w.says(`{"jsonrpc":"2.0","method":%q}`, noticeAcknowledged)
			if listsFirst != (told == 1) {
				t.Errorf("told of %d changes", told)
			}
			if !listsFirst {
				list()
			}
			w.says(`{"jsonrpc":"2.0","method":%q}`, noticeAcknowledged) // it was closed for a while
			if want := map[bool]int{true: 2, false: 1}[listsFirst]; told != want {
				t.Errorf("told of %d changes, want %d", told, want)
			}
		})
	}
}
