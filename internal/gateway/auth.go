package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/gateway/resource"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// caller is the sender of an HTTP request.
type caller struct {
	session    *session.Session
	credential [sha256.Size]byte // hash of the token, or of the session that an access token opened; zero for the anonymous session
	until      time.Time         // when an access token expires; zero: with the session
}

// authenticate finds the session. A caller with an invalid token never gets the anonymous session.
func (s *Server) authenticate(r *http.Request) (caller, error) {
	if len(r.Header.Values("Authorization")) > 1 {
		return caller{}, errors.New("more than one Authorization header")
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		token = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			return caller{}, errors.New("the Authorization header must be: Bearer TOKEN")
		}
		if s.oauth != nil && !session.OurToken(token) {
			sess, until, err := s.oauth.Session(r.Context(), token)
			if err != nil {
				return caller{}, err
			}
			// The credential is the session, not the token: it is the same after a refresh.
			return caller{session: sess, credential: sha256.Sum256([]byte("oauth " + sess.ID)), until: until}, nil
		}
		sess, err := s.gate.Sessions.Authenticate(r.Context(), token)
		if err != nil {
			return caller{}, err
		}
		return caller{session: sess, credential: sha256.Sum256([]byte(token))}, nil
	}
	anonymous := s.anonymous.Load()
	if anonymous == nil || !FromHere(r) {
		return caller{}, errors.New("a token is needed: Authorization: Bearer TOKEN")
	}
	select {
	case <-anonymous.Done():
		return caller{}, mcpserver.ErrEnded
	default:
		return caller{session: anonymous}, nil
	}
}

// SetAnonymous replaces [Options.Anonymous], and returns what it was.
func (s *Server) SetAnonymous(next *session.Session) (was *session.Session) {
	return s.anonymous.Swap(next)
}

// bound returns a context that ends with the caller's token: a stream must not outlive it.
func (c caller) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.until.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, c.until)
}

// unauthorized answers a request without a valid credential. The header tells how to get one.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request, err error) {
	status, code, description := http.StatusUnauthorized, "", ""
	if r.Header.Get("Authorization") != "" {
		code = "invalid_token"
	}
	var bad *resource.TokenError
	if errors.As(err, &bad) {
		status, code, description = bad.Status, bad.Code, bad.Description
		cause := bad.Cause.Error() // it may quote the token
		s.log.Info("an access token was refused", "why", text.Truncate(cause, 300), "from", r.RemoteAddr)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
		fail(w, status, nil, &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()})
		return
	}
	w.Header().Set("WWW-Authenticate", s.oauth.Challenge(code, description))
	word := "unauthorized: "
	if status == http.StatusForbidden {
		word = "forbidden: "
	}
	fail(w, status, nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: word + err.Error()})
}
