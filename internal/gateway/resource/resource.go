// Package resource is the gateway as an OAuth 2.1 resource server: it publishes where clients get access tokens (RFC 9728), fetches
// the keys of the authorization servers, verifies tokens, and opens the session of whoever holds a valid one.
package resource

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/work"
)

// Config says whose access tokens are accepted, and what they allow.
type Config struct {
	// Resource is the URL by which clients know this gateway: the audience of its tokens, and where its metadata is found.
	Resource   string
	Issuers    []string          // authorization servers, each exactly as in the claim iss
	Keys       map[string]string // issuer → URL of its key set; the others name it in their metadata
	Audience   []string          // further audiences that mean this gateway
	Scopes     []string          // a token needs all of them
	Algorithms []string          // accepted signature algorithms; only those with a public key ever are
	Principal  string            // claim that names the principal; empty: sub
	Role       string            // claim with the first role, or a list that begins with it; empty: "role". a.b is member b of a
	May        string            // claim with further roles that may be taken; empty: none
	Roles      map[string]string // value of such a claim → role; nil: the values are the roles
	Bound      []string          // the roles that a claim may name; nil: any
	Skew       time.Duration     // by how much the clocks may differ
	Now        func() time.Time  // nil: time.Now
}

// Server is an OAuth resource server.
type Server struct {
	Config
	gate     *gate.Gate
	log      *slog.Logger
	work     *work.Group // fetches of keys
	client   *http.Client
	issuers  map[string]*issuer
	host     string
	paths    []string // of the metadata
	metadata []byte   // RFC 9728
	where    string   // URL of the metadata

	mu       sync.Mutex
	verified map[[sha256.Size]byte]verified // by the hash of the token
}

// verified is a token that passed every check.
type verified struct {
	bearer *session.Bearer
	until  time.Time
	issuer *issuer
	keys   *KeySet // with which it was verified; once the issuer has others, it is verified again
}

// maxVerified bounds the tokens whose verification is remembered.
const maxVerified = 4096

// wellKnown is where RFC 9728 puts the metadata of a resource.
const wellKnown = "/.well-known/oauth-protected-resource"

// New returns a resource server that opens sessions at g. Close gives back what it uses.
func New(c Config, g *gate.Gate, log *slog.Logger) *Server {
	s := &Server{
		Config: c, gate: g, log: log, work: work.New(), client: NewKeyClient(), issuers: map[string]*issuer{},
		paths: []string{wellKnown}, verified: map[[sha256.Size]byte]verified{},
	}
	if s.Role == "" {
		s.Role = "role"
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if u, err := url.Parse(c.Resource); err == nil {
		path := strings.TrimSuffix(u.EscapedPath(), "/")
		s.host, s.paths = u.Host, append(s.paths, wellKnown+path)
		s.where = u.Scheme + "://" + u.Host + wellKnown + path
	}
	for _, name := range c.Issuers {
		s.issuers[name] = s.newIssuer(name, c.Keys[name])
	}
	doc := map[string]any{
		"resource": c.Resource, "authorization_servers": c.Issuers, "bearer_methods_supported": []string{"header"}, "resource_name": "Mycelium",
	}
	if len(c.Scopes) > 0 {
		doc["scopes_supported"] = c.Scopes
	}
	s.metadata, _ = json.Marshal(doc, json.Deterministic(true)) // strings and lists of strings always encode
	return s
}

// Close ends the fetches of keys.
func (s *Server) Close() {
	s.work.Close()
	s.client.CloseIdleConnections()
}

// Host returns the host of the resource's URL: clients may use it to reach the gateway.
func (s *Server) Host() string { return s.host }

// ServeHTTP serves the protected-resource metadata (RFC 9728) at "/.well-known/oauth-protected-resource" and, for a resource with a
// path, at that URL followed by the path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !slices.Contains(s.paths, strings.TrimSuffix(r.URL.EscapedPath(), "/")):
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(s.metadata)
	}
}

// TokenError says why a token is refused. The client learns the status, the code and the description; the cause is for the operator.
type TokenError struct {
	Status      int
	Code        string // RFC 6750
	Description string
	Cause       error
}

func (e *TokenError) Error() string { return e.Description }

// invalid is the same answer for every token that is not valid.
func invalid(cause error) error {
	return &TokenError{http.StatusUnauthorized, "invalid_token", "the access token is not valid here", cause}
}

// Session opens the session of an access token. It ends for the token at until; the session itself lives on. The error is a
// [TokenError].
func (s *Server) Session(ctx context.Context, token string) (sess *session.Session, until time.Time, err error) {
	v, err := s.accept(ctx, token)
	if err != nil {
		return nil, until, err
	}
	sess, err = s.gate.Sessions.Join(ctx, v.bearer)
	switch {
	case errors.Is(err, session.ErrNoSession), errors.Is(err, session.ErrSuperseded):
		return nil, until, invalid(err)
	case err != nil:
		s.log.Error("a good token has no session", "principal", v.bearer.Principal, "error", err)
		return nil, until, &TokenError{http.StatusServiceUnavailable, "", "the session cannot be opened; the operator's log says why", err}
	}
	return sess, v.until, nil
}

// accept verifies a token, unless it was verified before with the keys that its issuer has now.
func (s *Server) accept(ctx context.Context, token string) (verified, error) {
	hash := sha256.Sum256([]byte(token))
	s.mu.Lock()
	v, ok := s.verified[hash]
	s.mu.Unlock()
	if ok && s.Now().Before(v.until) {
		if keys, fresh := v.issuer.current(); keys == v.keys {
			if !fresh {
				v.issuer.renew()
			}
			return v, nil
		}
	}
	v, err := s.verify(ctx, token)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.verified, hash)
		return verified{}, err
	}
	s.makeRoom()
	s.verified[hash] = v
	return v, nil
}

// makeRoom forgets tokens once there are too many: expired ones first, then any. The caller holds mu.
func (s *Server) makeRoom() {
	if len(s.verified) < maxVerified {
		return
	}
	now := s.Now()
	for hash, v := range s.verified {
		if !now.Before(v.until) {
			delete(s.verified, hash)
		}
	}
	for hash := range s.verified {
		if len(s.verified) < maxVerified/2 {
			return
		}
		delete(s.verified, hash)
	}
}

// Challenge returns the value of WWW-Authenticate (RFC 6750, RFC 9728): it tells the client how to get a token. A nil Server, which
// accepts no access tokens, names neither scopes nor metadata.
func (s *Server) Challenge(code, description string) string {
	b := `Bearer realm="mycelium"`
	add := func(key, value string) {
		if value != "" {
			b += fmt.Sprintf(`, %s="%s"`, key, value)
		}
	}
	add("error", code)
	add("error_description", description)
	if s != nil {
		add("scope", strings.Join(s.Scopes, " "))
		b += fmt.Sprintf(`, resource_metadata="%s"`, s.where)
	}
	return b
}

// IsLoopback reports whether a host, without a port, is this machine.
func IsLoopback(host string) bool {
	host = strings.Trim(host, "[]")
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
