package oauth

import (
	"errors"

	"mycelium/internal/backend/httpclient"

	"net/http"
)

// bearer is the HTTP transport to a server that may want tokens.
type bearer struct {
	authority *Authority
	next      http.RoundTripper
}

// Transport returns a transport that adds our token to the requests that next sends. It answers a refusal with another token, once.
func (a *Authority) Transport(next http.RoundTripper) http.RoundTripper {
	return &bearer{authority: a, next: next}
}

// RoundTrip sends a request with our token.
func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	a := b.authority
	if req.URL.Host != a.URL.Host || req.URL.Scheme != a.URL.Scheme {
		return nil, errors.New("a token is for its server only") // the client refuses such redirects before; this is the second check
	}
	token, err := a.token(req.Context())
	if err != nil {
		return nil, err
	}
	res, err := b.send(req, token)
	if err != nil {
		return nil, err
	}
	c, asked := challengeOf(res)
	if !asked || !c.bearer && token == "" && a.Config == nil {
		return res, nil // the server wants something else than a token, perhaps a key in a header
	}
	httpclient.Drain(res)
	next, err := a.onRefusal(req.Context(), c, token)
	if err != nil {
		return nil, err
	}
	if res, err = b.send(req, next); err != nil {
		return nil, err
	}
	if c, asked := challengeOf(res); asked {
		_ = res.Body.Close()
		a.mu.Lock()
		a.challenge = c
		a.mu.Unlock()
		return nil, a.needLogin("it refuses the token that was just got for it")
	}
	return res, nil
}

// send sends a copy of the request with a token.
func (b *bearer) send(req *http.Request, token string) (*http.Response, error) {
	r := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		r.Body = body
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return b.next.RoundTrip(r)
}
