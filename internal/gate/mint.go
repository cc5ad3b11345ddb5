package gate

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/limit"
	"mycelium/internal/policy"
)

// Spec describes a session to open.
type Spec struct {
	Name      string        // for people
	Principal string        // empty: the session's id
	Role      string        // first role; empty: none
	Roles     []string      // roles that it may take besides
	Skills    []string      // active skills; nil: the start set of the role
	TTL       time.Duration // 0: 12 h for a minted one, the life of the process for an opened one

	ID    string // of an opened one that several processes open one after the other; empty: a new one
	Known bool   // the beginning of the session ID is on record, or shall not be
}

// errNoDB refuses what needs a database where there is none.
var errNoDB = errors.New("there is no database here: only the daemon keeps sessions")

// DefaultTTL is the life of a minted session that names none.
const DefaultTTL = 12 * time.Hour

// A token is this prefix and 32 random bytes in base64url without padding: 47 characters.
const (
	tokenPrefix = "myc_"
	tokenBytes  = 32
)

// Mint creates a session with a credential. The token is returned once and kept only as a hash. A role that no skill or role
// file names is an error, and so is a skill that none of the session's roles may use.
func (g *Gate) Mint(ctx context.Context, spec Spec) (*Session, string, error) {
	if g.db == nil {
		return nil, "", fmt.Errorf("create session: %w", errNoDB)
	}
	if err := g.check(spec); err != nil {
		return nil, "", fmt.Errorf("create session: %w", err)
	}
	if spec.TTL == 0 {
		spec.TTL = DefaultTTL
	}
	var secret [tokenBytes]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, "", fmt.Errorf("create session: %w", err)
	}
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	hash := sha256.Sum256([]byte(token))
	s := g.newSession(spec)
	s.hash = hash[:]
	g.live.load.Lock()
	defer g.live.load.Unlock()
	if err := g.recordStart(ctx, s, "minted"); err != nil {
		return nil, "", fmt.Errorf("create session: %w", err)
	}
	if err := g.insertRow(ctx, s); err != nil {
		taken := change{Act: "minted", By: string(ByOperator), Failed: "it could not be kept"}
		return nil, "", errors.Join(fmt.Errorf("create session: %w", err), g.recordChange(ctx, s, s.Scope(), taken))
	}
	g.live.put(s)
	g.watch(s)
	return s, token, nil
}

// Open creates a session without a credential, for a client that is bound to this process by its connection (stdio); it ends
// with End, and is not kept in the database. While the policy is broken a role that it does not know is let through: such a
// session sees control tools at most, and its client learns from them that the operator must look.
func (g *Gate) Open(ctx context.Context, spec Spec) (*Session, error) {
	if err := g.check(spec); err != nil && g.World().Broken == "" {
		return nil, fmt.Errorf("open session: %w", err)
	}
	s := g.newSession(spec)
	if !spec.Known {
		if err := g.recordStart(ctx, s, "opened"); err != nil {
			return nil, fmt.Errorf("open session: %w", err)
		}
	}
	g.live.put(s)
	g.watch(s)
	return s, nil
}

// check refuses a spec that names what does not exist. The words are for the operator.
func (g *Gate) check(spec Spec) error {
	w := g.world.Load()
	if spec.TTL < 0 {
		return errors.New("its life time is negative")
	}
	roles := spec.Roles
	if spec.Role != "" {
		roles = append([]string{spec.Role}, roles...)
	}
	var open []string
	for _, r := range roles {
		if _, ok := w.Policy.Role(r); !ok {
			return fmt.Errorf("no role %q: no skill and no role file names it (there are: %s)", r, orNone(w.Policy.Roles()))
		}
		open = append(open, w.Policy.OpenSkills(r)...)
	}
	for _, name := range spec.Skills {
		if !slices.Contains(open, name) {
			slices.Sort(open)
			return fmt.Errorf("no skill %q is open to its roles (open are: %s)", name, orNone(slices.Compact(open)))
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// newSession makes a session in memory.
func (g *Gate) newSession(spec Spec) *Session {
	s := &Session{ID: cmp.Or(spec.ID, audit.NewID()), gate: g, name: spec.Name, start: spec.Role, done: make(chan struct{})}
	s.written = facts.NewWritten(g.written, s.ID, g.dir)
	// Microseconds are what the database keeps: the session is the same before and after a restart.
	s.created = g.now().Truncate(time.Microsecond)
	if spec.TTL > 0 {
		s.expires = s.created.Add(spec.TTL)
	}
	may := slices.Clone(spec.Roles)
	if spec.Role != "" {
		may = append(may, spec.Role)
	}
	slices.Sort(may)
	s.principal = policy.Principal{ID: cmp.Or(spec.Principal, s.ID)}
	st := &state{role: spec.Role, may: slices.Compact(may)}
	if spec.Skills != nil {
		st.asked.Only = sortedSet(spec.Skills)
	}
	s.state.Store(st)
	return s
}

// sortedSet is a sorted copy without repetitions, never nil.
func sortedSet(names []string) []string {
	out := append([]string{}, names...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Authenticate returns the session of a token; ErrNoSession for an unknown, ended or expired one. Tokens are found by the
// hash of the whole token, so the time that it takes says nothing about how much of a wrong one is right.
func (g *Gate) Authenticate(ctx context.Context, token string) (*Session, error) {
	if !wellFormed(token) {
		return nil, ErrNoSession
	}
	hash := sha256.Sum256([]byte(token))
	s := g.live.token(hash)
	if s == nil {
		var err error
		if s, err = g.restore(ctx, "token_hash = ?", hash[:]); err != nil {
			return nil, err
		}
	}
	return g.alive(s)
}

// OurToken reports whether a text has the look of a token that [Gate.Mint] makes: no token of another issuer does.
func OurToken(token string) bool { return strings.HasPrefix(token, tokenPrefix) }

// wellFormed reports whether a text can be a token of ours at all.
func wellFormed(token string) bool {
	text, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil
}

// alive returns the session unless its time has passed.
func (g *Gate) alive(s *Session) (*Session, error) {
	if s == nil || s.ended.Load() {
		return nil, ErrNoSession
	}
	if s.over(g.now()) {
		g.expire(s)
		return nil, ErrNoSession
	}
	return s, nil
}

// Session returns a live session by id.
func (g *Gate) Session(ctx context.Context, id string) (*Session, error) {
	s := g.live.id(id)
	if s == nil {
		var err error
		if s, err = g.restore(ctx, "id = ?", id); err != nil {
			return nil, err
		}
	}
	return g.alive(s)
}

// End ends a session; its links close. It ends in this process even when that can be neither recorded nor kept, and the error
// says so.
func (g *Gate) End(ctx context.Context, id string) error {
	g.live.load.Lock()
	defer g.live.load.Unlock()
	s := g.live.id(id)
	if s == nil {
		row, err := g.loadRow(ctx, "id = ?", id)
		if err != nil {
			return err
		}
		s = row
	}
	if s.ended.Load() {
		return ErrNoSession
	}
	s.finish()
	g.forget(ctx, s)
	err := g.recordChange(ctx, s, s.now().scope, change{Act: "ended", By: string(ByOperator)})
	if s.hash != nil {
		kept := g.endRow(ctx, s.ID)
		if kept != nil {
			g.live.put(s) // as a mark: its token must not be looked up again
			return errors.Join(err, kept)
		}
	}
	g.live.drop(s)
	return err
}

// Summary describes a session for people, in the shape of `myc session list --json`.
type Summary struct {
	ID        string      `json:"id"`
	Name      string      `json:"name,omitempty"`
	Principal string      `json:"principal"`
	Role      string      `json:"role"`
	Roles     []string    `json:"roles"`
	Skills    []string    `json:"skills"`
	Created   time.Time   `json:"created"`
	Expires   time.Time   `json:"expires,omitzero"`
	Live      bool        `json:"live"` // an opened one whose connection stands, or a minted one not expired
	Limits    []limit.Use `json:"limits,omitempty"`
}

// Summary describes the session as it is now.
func (s *Session) Summary() Summary {
	sc := s.now()
	return Summary{
		ID: s.ID, Name: s.name, Principal: s.principal.ID, Role: sc.scope.Principal.Role,
		Roles: append([]string{}, sc.scope.Principal.Roles...), Skills: append([]string{}, sc.scope.Skills...),
		Created: s.created, Expires: s.expires, Live: !s.over(s.gate.now()),
		Limits: s.uses(sc, s.gate.now(), ByOperator),
	}
}

// Sessions lists the live sessions, oldest first.
func (g *Gate) Sessions(ctx context.Context) ([]Summary, error) {
	kept, err := g.loadRows(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	infos := []Summary{}
	add := func(s *Session) {
		if !seen[s.ID] && !s.over(g.now()) {
			infos = append(infos, s.Summary())
		}
		seen[s.ID] = true
	}
	for _, s := range g.live.all() {
		add(s)
	}
	for _, s := range kept {
		add(s)
	}
	slices.SortFunc(infos, func(a, b Summary) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return infos, nil
}
