package session

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Claims are what an issuer that the operator trusts says about the bearer of a token. The caller has verified the token.
type Claims struct {
	// Issuer, Subject and Client are together the credential: tokens that agree in them, and in Principal, share a session.
	Issuer, Subject, Client string
	Principal               string    // who asks, for policy and record
	Roles                   []string  // may be taken; the first that exists is taken at the start. None: the session has no role
	Issued                  time.Time // when the token was issued
}

// byIssuer is who changed a session, in the log, when the claims of a token did.
const byIssuer = "issuer"

// ErrSuperseded means that a token is void because a newer token of the same holder says something else.
var ErrSuperseded = errors.New("a newer token of the same holder allows other roles")

// Bearer are claims, prepared to be joined to a session many times.
type Bearer struct {
	Claims
	hash [sha256.Size]byte // names the session where a token's hash names that of a token of ours
	may  []string          // the roles as a session keeps them
}

// NewBearer prepares claims. They must say who asks, and when the token was issued.
func NewBearer(c Claims) (*Bearer, error) {
	if c.Issuer == "" || c.Subject == "" || c.Principal == "" || c.Issued.IsZero() {
		return nil, errors.New("the claims do not say who asks, or since when")
	}
	var b []byte // each part quoted, so that no two credentials read alike; and no token of ours begins with a comma
	for _, s := range []string{"oauth", c.Issuer, c.Subject, c.Client, c.Principal} {
		var err error
		if b, err = jsontext.AppendQuote(append(b, ','), s); err != nil {
			return nil, fmt.Errorf("claim %q: %w", s, err)
		}
	}
	return &Bearer{Claims: c, hash: sha256.Sum256(b), may: SortedSet(c.Roles)}, nil
}

// Join returns the session of claims. If a session that an earlier token of the same holder began is alive, it is that one: its role
// and skills stay as long as the claims allow the role; otherwise it falls back to the first role of the claims. The claims of the
// newest token hold: Join returns [ErrSuperseded] for an older token that says something else, and [ErrNoSession] for one that was
// issued before an operator ended the session of its holder.
func (r *Registry) Join(ctx context.Context, c *Bearer) (*Session, error) {
	s := r.live.token(c.hash)
	if s == nil || s.lapsed(r.now()) {
		var err error
		if s, err = r.welcome(ctx, c); err != nil {
			return nil, err
		}
	}
	if s.ended.Load() { // the mark of an end that the database could not be told
		return nil, ErrNoSession
	}
	if err := r.conform(ctx, s, c); err != nil {
		return nil, err
	}
	return s, nil
}

// welcome finds the session of claims in the database, or makes one.
func (r *Registry) welcome(ctx context.Context, c *Bearer) (*Session, error) {
	r.live.load.Lock()
	defer r.live.load.Unlock()
	if s := r.live.token(c.hash); s != nil {
		if !s.lapsed(r.now()) {
			return s, nil // another request was faster
		}
		r.expire(s)
	}
	refused, alive, err := r.predecessor(ctx, c.hash)
	if err != nil {
		return nil, err
	}
	if c.Issued.UnixMicro() <= refused {
		return nil, ErrNoSession
	}
	if alive {
		s, err := r.loadRow(ctx, "token_hash = ?", c.hash[:])
		if err != nil {
			return nil, err
		}
		r.live.put(s)
		r.watch(s)
		return s, nil
	}
	s := r.newSession(Spec{Name: c.Client, Principal: c.Principal, Role: r.first(c.Roles), Roles: c.Roles, TTL: DefaultTTL})
	s.hash, s.issuer, s.refused = c.hash[:], c.Issuer, refused
	st := s.state.Load()
	s.state.Store(&state{role: st.role, may: st.may, asked: st.asked, issued: c.Issued})
	if err := r.recordStart(ctx, s, "verified"); err != nil {
		return nil, fmt.Errorf("join session: %w", err)
	}
	if err := r.insertRow(ctx, s); err != nil {
		taken := change{Act: "verified", By: byIssuer, Failed: "it could not be kept"}
		return nil, errors.Join(fmt.Errorf("join session: %w", err), r.recordChange(ctx, s, s.Scope(), taken))
	}
	r.live.put(s)
	r.watch(s)
	return s, nil
}

// predecessor returns what the database knows of a holder: whether the session is alive, and the time (microseconds since 1970) up to
// which tokens are void.
func (r *Registry) predecessor(ctx context.Context, hash [sha256.Size]byte) (refused int64, alive bool, err error) {
	if r.db == nil {
		return 0, false, errNoDB
	}
	var ended sql.NullInt64
	var expires int64
	row := r.db.QueryRowContext(ctx, `SELECT ended_at, expires_at, refused_before FROM sessions WHERE token_hash = ?`, hash[:])
	switch err := row.Scan(&ended, &expires, &refused); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("read session: %w", err)
	}
	return max(refused, ended.Int64), !ended.Valid && expires > r.now().UnixMicro(), nil
}

// first returns the first role that exists, or "".
func (r *Registry) first(roles []string) string {
	p := r.world.Load().Policy
	for _, name := range roles {
		if _, ok := p.Role(name); ok {
			return name
		}
	}
	return ""
}

// conform makes a session follow the claims of its newest token. It costs nothing if they have not changed.
func (r *Registry) conform(ctx context.Context, s *Session, c *Bearer) error {
	if c.Issued.UnixMicro() <= s.refused {
		return ErrNoSession
	}
	if st := s.state.Load(); slices.Equal(st.may, c.may) && (st.role != "" || len(c.may) == 0) && !c.Issued.After(st.issued) {
		return nil
	}
	_, _, err := r.alter(ctx, s, func(now *Snapshot) (*state, change, error) {
		st := now.state
		if !c.Issued.After(st.issued) && !slices.Equal(st.may, c.may) {
			return nil, change{}, ErrSuperseded
		}
		next := &state{role: st.role, may: c.may, asked: st.asked, issued: st.issued}
		if c.Issued.After(next.issued) {
			next.issued = c.Issued
		}
		if next.role == "" || !slices.Contains(c.may, next.role) {
			next.role = r.first(c.Roles)
		}
		return next, change{Act: "claims", By: byIssuer, From: st.role, To: next.role, Roles: c.may}, nil
	})
	return err
}
