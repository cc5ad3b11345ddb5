package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// OAuth says whose access tokens are taken, and what they allow (OAuth 2.1 resource server). Tokens of ours go on working beside.
type OAuth struct {
	// Resource is the URL by which clients know this gateway: the audience of its tokens, and where its metadata is found.
	Resource   string
	Issuers    []string          // authorization servers, each exactly as its tokens say it
	Keys       map[string]string // issuer → URL of its key set; an issuer that is not in it is asked by its metadata
	Audience   []string          // further audiences that mean this gateway
	Scopes     []string          // each is needed
	Algorithms []string          // of signatures that may be; only those with a public key ever are
	Principal  string            // claim that names the principal; empty: sub
	Role       string            // claim with the first role, or roles the first of which is; empty: "role". a.b is member b of a
	May        string            // claim with further roles that may be taken; empty: none
	Roles      map[string]string // value of such a claim → role; nil: the values are the roles
	Bound      []string          // no other role is taken from a claim; nil: any
	Skew       time.Duration     // by how much the clocks may differ
}

// resource is the gateway as a resource server.
type resource struct {
	OAuth
	issuers  map[string]*issuer
	paths    []string // where the metadata is
	metadata []byte   // RFC 9728
	where    string   // URL of the metadata
	now      func() time.Time

	mu   sync.Mutex
	seen map[[sha256.Size]byte]accepted // by the hash of the token
}

// accepted is a token that was verified.
type accepted struct {
	bearer *gate.Bearer
	until  time.Time
	issuer *issuer
	keys   *keySet // that it was verified with: with others it is verified again
}

// maxSeen bounds the tokens that are remembered as good.
const maxSeen = 4096

// wellKnown is where RFC 9728 puts the metadata of a resource.
const wellKnown = "/.well-known/oauth-protected-resource"

// newResource prepares the resource server; its host is one of ours from now on.
func (s *Server) newResource(o OAuth) *resource {
	r := &resource{OAuth: o, issuers: map[string]*issuer{}, now: time.Now, seen: map[[sha256.Size]byte]accepted{}, paths: []string{wellKnown}}
	if r.Role == "" {
		r.Role = "role"
	}
	if u, err := url.Parse(o.Resource); err == nil {
		s.hosts[canonicalHost(u.Host)] = true
		path := strings.TrimSuffix(u.EscapedPath(), "/")
		r.paths = append(r.paths, wellKnown+path)
		r.where = u.Scheme + "://" + u.Host + wellKnown + path
	}
	client := newKeyClient()
	s.idles = client.CloseIdleConnections
	for _, name := range o.Issuers {
		r.issuers[name] = newIssuer(name, o.Keys[name], client, s, func() time.Time { return r.now() })
	}
	doc := map[string]any{
		"resource": o.Resource, "authorization_servers": o.Issuers, "bearer_methods_supported": []string{"header"}, "resource_name": "Mycelium",
	}
	if len(o.Scopes) > 0 {
		doc["scopes_supported"] = o.Scopes
	}
	r.metadata, _ = json.Marshal(doc, json.Deterministic(true)) // text and lists of text
	return r
}

// Metadata serves the protected-resource metadata (RFC 9728) at "/.well-known/oauth-protected-resource" and, for a resource with a
// path, with that path behind it. Without OAuth there is none.
func (s *Server) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.local(r):
			fail(w, http.StatusForbidden, nil, invalidRequest("this Host or Origin may not use the gateway; add it to the accepted hosts if it should"))
		case s.oauth == nil || !slices.Contains(s.oauth.paths, strings.TrimSuffix(r.URL.EscapedPath(), "/")):
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_, _ = w.Write(s.oauth.metadata)
		}
	})
}

// tokenError is a token that is not taken. Clients learn no more than its status and code.
type tokenError struct {
	status int
	code   string // RFC 6750
	said   string // to the client
	why    error  // to the operator
}

func (e *tokenError) Error() string { return e.said }

// badToken is one answer for every token that is not good: why is the operator's.
func badToken(why error) error {
	return &tokenError{http.StatusUnauthorized, "invalid_token", "the access token is not valid here", why}
}

// join finds the session of an access token that somebody else issued.
func (s *Server) join(ctx context.Context, token string) (caller, error) {
	a, err := s.oauth.accept(ctx, token)
	if err != nil {
		return caller{}, err
	}
	sess, err := s.gate.Join(ctx, a.bearer)
	switch {
	case errors.Is(err, gate.ErrNoSession), errors.Is(err, gate.ErrSuperseded):
		return caller{}, badToken(err)
	case err != nil:
		s.log.Error("a good token has no session", "principal", a.bearer.Principal, "error", err)
		return caller{}, &tokenError{http.StatusServiceUnavailable, "", "the session cannot be opened; the operator's log says why", err}
	}
	// The credential is who holds the token: it is the same after a refresh.
	return caller{session: sess, credential: sha256.Sum256([]byte("oauth " + sess.ID)), until: a.until}, nil
}

// accept verifies a token, or knows it.
func (r *resource) accept(ctx context.Context, token string) (accepted, error) {
	hash := sha256.Sum256([]byte(token))
	r.mu.Lock()
	a, ok := r.seen[hash]
	r.mu.Unlock()
	if ok && r.now().Before(a.until) {
		if keys, fresh := a.issuer.current(); keys == a.keys {
			if !fresh {
				a.issuer.renew()
			}
			return a, nil
		}
	}
	a, err := r.verify(ctx, token)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		delete(r.seen, hash)
		return accepted{}, err
	}
	r.forget()
	r.seen[hash] = a
	return a, nil
}

// forget makes room: first of what is over, else of anything. The lock is held.
func (r *resource) forget() {
	if len(r.seen) < maxSeen {
		return
	}
	now := r.now()
	for hash, a := range r.seen {
		if !now.Before(a.until) {
			delete(r.seen, hash)
		}
	}
	for hash := range r.seen {
		if len(r.seen) < maxSeen/2 {
			return
		}
		delete(r.seen, hash)
	}
}

// bound is a context that ends with the caller's token: nothing is streamed to a token that is over.
func (c caller) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.until.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, c.until)
}

// unauthorized answers a request without a good credential: how to get one is in the header.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request, err error) {
	status, code, said := http.StatusUnauthorized, "", ""
	if r.Header.Get("Authorization") != "" {
		code = "invalid_token"
	}
	var bad *tokenError
	if errors.As(err, &bad) {
		status, code, said = bad.status, bad.code, bad.said
		why := bad.why.Error() // it may have words of the token's in it
		s.log.Info("an access token was refused", "why", text.Truncate(why, 300), "from", r.RemoteAddr)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
		fail(w, status, nil, &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()})
		return
	}
	w.Header().Set("WWW-Authenticate", s.challenge(code, said))
	word := "unauthorized: "
	if status == http.StatusForbidden {
		word = "forbidden: "
	}
	fail(w, status, nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: word + err.Error()})
}

// challenge is the value of WWW-Authenticate (RFC 6750, RFC 9728).
func (s *Server) challenge(code, said string) string {
	b := `Bearer realm="mycelium"`
	if code != "" {
		b += fmt.Sprintf(`, error="%s"`, code)
	}
	if said != "" {
		b += fmt.Sprintf(`, error_description="%s"`, said)
	}
	if s.oauth == nil {
		return b
	}
	if len(s.oauth.Scopes) > 0 {
		b += fmt.Sprintf(`, scope="%s"`, strings.Join(s.oauth.Scopes, " "))
	}
	return b + fmt.Sprintf(`, resource_metadata="%s"`, s.oauth.where)
}

// loopbackHost reports whether a host (without a port) is this machine.
func loopbackHost(host string) bool {
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
