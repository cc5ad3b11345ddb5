package mcpclient

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
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
