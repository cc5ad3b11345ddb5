package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/backend/redact"
)

// maxToken bounds a token endpoint's answer, in bytes.
const maxToken = 64 << 10

// The methods of client authentication at a token endpoint.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodKey   = "private_key_jwt"
)

// tokenError is a token endpoint's refusal.
type tokenError struct {
	code string // of RFC 6749, 5.2
	text string // its description, for a person at a login
}

func (e *tokenError) Error() string {
	if e.code == "" {
		return "the authorization server refused"
	}
	return "the authorization server says " + e.code
}

// permanent reports whether trying again cannot help.
func (e *tokenError) permanent() bool {
	codes := []string{"invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "unsupported_grant_type"}
	return slices.Contains(codes, e.code)
}

// exchange sends a request to the token endpoint of a grant, and makes the next grant from the answer.
func (a *Authority) exchange(ctx context.Context, g *grant, form url.Values) (*grant, error) {
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	u, err := url.Parse(g.Endpoint)
	if err != nil {
		return nil, errors.New("the token endpoint is not an address")
	}
	if err := a.egress.Check(u); err != nil {
		return nil, err
	}
	header, err := a.identify(g, form)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("the token endpoint is not an address")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if header != "" {
		req.Header.Set("Authorization", header)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", httpclient.VisibleHost(u.Host), withoutURL(err))
	}
	defer res.Body.Close()
	var t tokenAnswer
	if err := readJSON(res.Body, maxToken, &t); err != nil {
		if res.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the token endpoint answers HTTP %d", res.StatusCode)
		}
		return nil, fmt.Errorf("the token endpoint: %w", err)
	}
	if res.StatusCode != http.StatusOK || t.Error != "" {
		return nil, &tokenError{code: errorCode(t.Error), text: redact.Excerpt([]byte(t.Text))}
	}
	return t.apply(g, a.Now())
}

// tokenAnswer is the answer of a token endpoint.
type tokenAnswer struct {
	Access  string  `json:"access_token"`
	Type    string  `json:"token_type"`
	Seconds seconds `json:"expires_in"`
	Refresh string  `json:"refresh_token"`
	Scope   string  `json:"scope"`
	Error   string  `json:"error"`
	Text    string  `json:"error_description"`
}

// seconds is a number of seconds. Some authorization servers write it as a string. 0: it is not known.
type seconds float64

// UnmarshalJSON reads a number or a string. Anything else counts as not known: the server then says when the token has expired.
func (s *seconds) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64); err == nil && n > 0 && !math.IsInf(n, 0) {
		*s = seconds(n)
	}
	return nil
}

// apply makes the next grant. A refresh token that is not replaced stays valid.
func (t *tokenAnswer) apply(g *grant, now time.Time) (*grant, error) {
	switch {
	case !strings.EqualFold(t.Type, "Bearer"):
		return nil, fmt.Errorf("the token endpoint gives a token of type %.20q, and we know Bearer only", t.Type)
	case !isSecretText(t.Access) || t.Refresh != "" && !isSecretText(t.Refresh):
		return nil, errors.New("the token endpoint gives no token that could be sent")
	}
	next := *g
	next.Access, next.Expires = t.Access, time.Time{}
	if t.Seconds > 0 {
		next.Expires = now.Add(time.Duration(min(float64(t.Seconds), 365*24*3600) * float64(time.Second))).UTC().Truncate(time.Second)
	}
	if t.Refresh != "" {
		next.Refresh = t.Refresh
	}
	if t.Scope != "" {
		next.Granted = scopesOf(strings.Fields(t.Scope))
	}
	return &next, nil
}

// isSecretText reports whether s can be sent in a header: visible ASCII, of a length that a server takes.
func isSecretText(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= 32<<10
}

// errorCode is s if s is an OAuth error code; otherwise empty.
func errorCode(s string) string {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return s[:min(len(s), 60)]
}

// identify adds our client authentication for the token endpoint to the form, or returns it as the value of the Authorization header.
func (a *Authority) identify(g *grant, form url.Values) (string, error) {
	secret := g.ClientSecret
	if secret == "" {
		secret = a.conf.ClientSecret
	}
	switch g.Method {
	case methodKey:
		assertion, err := a.assertion(g)
		if err != nil {
			return "", err
		}
		form.Set("client_id", g.ClientID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	case methodBasic:
		pair := url.QueryEscape(g.ClientID) + ":" + url.QueryEscape(secret)
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), nil
	case methodPost:
		form.Set("client_id", g.ClientID)
		form.Set("client_secret", secret)
	default:
		form.Set("client_id", g.ClientID)
	}
	return "", nil
}

// secretMethod chooses the authentication method of a client with a secret.
func secretMethod(supported []string) string {
	if slices.Contains(supported, methodPost) && !slices.Contains(supported, methodBasic) {
		return methodPost
	}
	return methodBasic // every server must support it (RFC 6749, 2.3.1); the default of RFC 8414
}

// clientCredentials gets a token for the client itself.
func (a *Authority) clientCredentials(ctx context.Context, more []string) (string, error) {
	a.mu.Lock()
	c, held := a.challenge, a.grant
	a.mu.Unlock()
	f, err := a.discover(ctx, c)
	if err != nil {
		return "", fmt.Errorf("get a token: %w", err)
	}
	g := &grant{
		Server: a.URL.String(), Resource: f.resource, Issuer: f.issuer.Issuer, Endpoint: f.issuer.Token,
		ClientID: a.conf.ClientID, Method: methodKey,
	}
	if a.conf.PrivateKey == "" {
		g.Method = secretMethod(f.issuer.Methods)
	}
	var before []string
	if held != nil {
		before = held.Scopes
	}
	g.Scopes = a.scopesToRequest(f, c, before, more)
	form := url.Values{"grant_type": {GrantCredentials}}
	if len(g.Scopes) > 0 {
		form.Set("scope", strings.Join(g.Scopes, " "))
	}
	next, err := a.exchange(ctx, g, form)
	if err != nil {
		return "", fmt.Errorf("get a token: %w", err)
	}
	next.Refresh = "" // the next token is requested in the same way
	return next.Access, a.storeGrant(next)
}
