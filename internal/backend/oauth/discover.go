package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// maxMetadata bounds a metadata document, in bytes.
const maxMetadata = 256 << 10

// resourceMetadata is what we read of a protected resource's metadata (RFC 9728).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// serverMetadata is what we read of an authorization server's metadata (RFC 8414, OpenID Connect Discovery, RFC 9207).
type serverMetadata struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Register     string   `json:"registration_endpoint"`
	Scopes       []string `json:"scopes_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	Methods      []string `json:"token_endpoint_auth_methods_supported"`
	Documents    bool     `json:"client_id_metadata_document_supported"`
	IssParameter bool     `json:"authorization_response_iss_parameter_supported"`

	assumed bool // there was no metadata; these are the default endpoints of the revision 2025-03-26
}

// discovery is the result of discovering: what a token is for, and who issues it.
type discovery struct {
	resource string
	scopes   []string // of the resource's metadata
	issuer   serverMetadata
}

// statusError is an HTTP status where a document was expected.
type statusError struct{ code int }

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d", e.code) }

// document gets a JSON document from a discovered address.
func (a *Authority) document(ctx context.Context, address string, into any) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%.80q is not an address", address)
	}
	if err := a.egress.Check(u); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fmt.Errorf("%.80q is not an address", address)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("MCP-Protocol-Version", a.Protocol)
	res, err := a.client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &statusError{res.StatusCode}
	}
	return readJSON(res.Body, maxMetadata, into)
}

// withoutURL is an error of an HTTP client without the address, which may carry secrets.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func readJSON(r io.Reader, limit int64, into any) error {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer: %w", withoutURL(err))
	case int64(len(b)) > limit:
		return fmt.Errorf("the answer is longer than %d KiB", limit>>10)
	}
	if err := rawjson.Decode(b, into); err != nil {
		return errors.New("the answer is not the JSON object that it should be")
	}
	return nil
}

// discover finds out for which resource and from which server to get a token.
func (a *Authority) discover(ctx context.Context, c challenge) (*discovery, error) {
	m, err := a.resource(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("its metadata: %w", err)
	}
	if m == nil { // the revision 2025-03-26: the server's origin is its own authorization server
		origin := a.URL.Scheme + "://" + a.URL.Host
		if a.conf.Issuer != "" {
			origin = a.conf.Issuer
		}
		s, err := a.issuer(ctx, origin, a.conf.Issuer == "")
		if err != nil {
			return nil, fmt.Errorf("authorization server %s: %w", httpclient.VisibleHost(origin), err)
		}
		return &discovery{resource: a.URL.String(), issuer: *s}, nil
	}
	issuer, err := a.choose(m.Servers)
	if err != nil {
		return nil, err
	}
	s, err := a.issuer(ctx, issuer, false)
	if err != nil {
		return nil, fmt.Errorf("authorization server %s: %w", httpclient.VisibleHost(issuer), err)
	}
	return &discovery{resource: m.Resource, scopes: scopesOf(m.Scopes), issuer: *s}, nil
}

// choose picks the authorization server: the one that the operator named, or the first one.
func (a *Authority) choose(servers []string) (string, error) {
	switch {
	case len(servers) == 0:
		return "", errors.New("its metadata names no authorization server")
	case a.conf.Issuer == "":
		return servers[0], nil
	case slices.Contains(servers, a.conf.Issuer):
		return a.conf.Issuer, nil
	}
	err := fmt.Errorf("it names the authorization server %s, and oauth.issuer is %s",
		httpclient.VisibleHost(servers[0]), httpclient.VisibleHost(a.conf.Issuer))
	return "", text.Hinted(err, "correct oauth.issuer if the server has moved to another one; write it letter by letter as it is there")
}

// wellKnown is a well-known address (RFC 8615): the name stands between the host and the path.
func wellKnown(u *url.URL, name, path string) string {
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + path
}

const wellKnownResource = "oauth-protected-resource"

// resource gets the metadata of the server itself: from the address in its refusal, or else from the well-known address of its path, or
// of its host. Nil: the server has none.
func (a *Authority) resource(ctx context.Context, c challenge) (*resourceMetadata, error) {
	path := strings.TrimSuffix(a.URL.EscapedPath(), "/")
	root := wellKnown(a.URL, wellKnownResource, "")
	list := []string{root}
	if path != "" {
		list = []string{wellKnown(a.URL, wellKnownResource, path), root}
	}
	if c.metadata != "" {
		list = []string{c.metadata} // the server named it: there is no second choice
	}
	for _, address := range list {
		var m resourceMetadata
		err := a.document(ctx, address, &m)
		var status *statusError
		if c.metadata == "" && errors.As(err, &status) && status.code >= 400 && status.code < 500 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &m, a.checkResource(&m, address)
	}
	return nil, nil //nolint:nilnil // there is none, which is not an error
}

// checkResource checks the resource that a token will be for. A server that could name another resource would be sent tokens for that
// one. It may name its own URL, or a parent of it, if the metadata comes from the address that belongs to that parent (RFC 9728, 3.3).
func (a *Authority) checkResource(m *resourceMetadata, address string) error {
	r, err := url.Parse(m.Resource)
	if err != nil || r.Fragment != "" || r.User != nil {
		return errors.New("the resource that it names is not an address")
	}
	same := strings.EqualFold(r.Scheme, a.URL.Scheme) && httpclient.PlainHost(r.Hostname()) == httpclient.PlainHost(a.URL.Hostname()) &&
		httpclient.PortOf(r) == httpclient.PortOf(a.URL)
	rp, up := strings.TrimSuffix(r.EscapedPath(), "/"), strings.TrimSuffix(a.URL.EscapedPath(), "/")
	own := same && rp == up && r.RawQuery == a.URL.RawQuery
	parent := same && r.RawQuery == "" && strings.HasPrefix(up+"/", rp+"/") && address == wellKnown(a.URL, wellKnownResource, rp)
	if !own && !parent {
		return fmt.Errorf("it is for the resource %s, which is not this server: its tokens are not for this server",
			httpclient.VisibleHost(m.Resource))
	}
	return nil
}

// issuer gets the metadata of an authorization server. The server must call itself by the name that we have of it: otherwise a mix-up
// could send a code or a secret of one server to another. old allows what the revision 2025-03-26 had: an issuer below the same origin,
// and no metadata at all.
func (a *Authority) issuer(ctx context.Context, issuer string, old bool) (*serverMetadata, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("its name is not an address")
	}
	if err := a.egress.Check(u); err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	list := []string{wellKnown(u, "oauth-authorization-server", path), wellKnown(u, "openid-configuration", path)}
	if path != "" {
		list = append(list, u.Scheme+"://"+u.Host+path+"/.well-known/openid-configuration")
	}
	for _, address := range list {
		m := &serverMetadata{}
		err := a.document(ctx, address, m)
		var status *statusError
		if errors.As(err, &status) && status.code >= 400 && status.code < 500 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("its metadata: %w", err)
		}
		return m, a.checkServer(m, issuer, old)
	}
	if !old {
		return nil, errors.New("it has no metadata")
	}
	base := u.Scheme + "://" + u.Host
	return &serverMetadata{
		Issuer: base, Authorize: base + "/authorize", Token: base + "/token", Register: base + "/register", assumed: true,
	}, nil
}

// checkServer checks an authorization server's metadata.
func (a *Authority) checkServer(m *serverMetadata, issuer string, old bool) error {
	below := func() bool {
		u, err := url.Parse(m.Issuer)
		return err == nil && u.Scheme+"://"+u.Host == issuer
	}
	if m.Issuer != issuer && strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") && (!old || !below()) {
		return fmt.Errorf("it calls itself %s: refused, because it may be another", httpclient.VisibleHost(m.Issuer))
	}
	if m.Token == "" {
		return errors.New("its metadata names no token endpoint")
	}
	for _, address := range []string{m.Token, m.Authorize, m.Register} {
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Fragment != "" {
			return errors.New("one of its endpoints is not an address")
		}
		if err := a.egress.Check(u); err != nil {
			return err
		}
	}
	return nil
}

// checkPKCE refuses an authorization server without PKCE (S256), where a stolen code could be used.
func (m *serverMetadata) checkPKCE() error {
	switch {
	case m.Authorize == "":
		return errors.New("its metadata names no authorization endpoint")
	case !m.assumed && !slices.Contains(m.Challenges, "S256"):
		return errors.New("it does not support PKCE with S256 (code_challenge_methods_supported), without which a stolen code could be used")
	}
	return nil
}

// scopesToRequest are the scopes to ask for: those of the operator; otherwise those that the server named in its refusal, or those of its
// metadata, together with the scopes that it asked for since (more) and those that were granted before, so that no scope is lost.
func (a *Authority) scopesToRequest(f *discovery, c challenge, before, more []string) []string {
	if a.conf.Scopes != nil {
		return scopesOf(a.conf.Scopes)
	}
	base := c.scopes
	if base == nil {
		base = f.scopes
	}
	return scopesOf(slices.Concat(before, base, more))
}
