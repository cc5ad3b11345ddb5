// Package httpclient makes the HTTP clients with which we reach servers: [New] for addresses that the operator configured, and
// [Egress] for addresses that somebody else named.
package httpclient

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"mycelium/internal/text"
)

// New returns a client for an address from the configuration. It takes no proxy from the environment, and it follows no redirect
// that would carry credentials to another host or turn a POST into a GET.
func New() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxIdleConnsPerHost:    64,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			first := via[0]
			switch {
			case len(via) > 3:
				return errors.New("more than 3 redirects")
			case req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme:
				return text.Hinted(errors.New("redirect to another host refused"), "put that address into the configuration")
			case req.Method != first.Method:
				return errors.New("redirect that changes the method refused")
			}
			return nil
		},
	}
}

// MaxErrorBody bounds what is read of an answer that is not a JSON-RPC message, in bytes.
const MaxErrorBody = 4 << 10

// Drain reads the rest of a short answer and closes it, so that its connection is used again.
func Drain(res *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, MaxErrorBody))
	_ = res.Body.Close()
}
