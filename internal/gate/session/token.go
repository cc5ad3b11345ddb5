package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/limit"
	"mycelium/internal/policy"
)

// Spec describes a session to open.
type Spec struct {
	Name      string             // for people
	Principal string             // empty: the session's id
	Role      string             // first role; empty: none
	Roles     []string           // roles that it may take besides
	Skills    []string           // active skills; nil: the start set of the role
	Asks      approval.WhenAsked // see Session.Asks
	Writes    string             // see Session.Writes
	Folder    string             // see Session.Folder
	TTL       time.Duration      // 0: 12 h for a minted one, the life of the process for an opened one

	ID    string // of an opened one that several processes open one after the other; empty: a new one
	Known bool   // the beginning of the session ID is on record, or shall not be
	// Counts names an opened session that comes again under another id, so that its limits go on counting over a restart. Empty: its ID.
	Counts string
}

// errNoDB refuses what needs a database.
var errNoDB = errors.New("there is no database here: only the daemon keeps sessions")

// DefaultTTL is the life of a minted session whose Spec has no TTL.
const DefaultTTL = 12 * time.Hour

// A token is this prefix and 32 random bytes in base64url without padding: 47 characters.
const (
	tokenPrefix = "myc_"
	tokenBytes  = 32
)

// Mint creates a session with a credential. The token is returned once and kept only as a hash. A role that no skill or role file
// names is an error, and so is a skill that none of the session's roles may use.
func (r *Registry) Mint(ctx context.Context, spec Spec) (*Session, string, error) {
	if r.db == nil {
		return nil, "", fmt.Errorf("create session: %w", errNoDB)
	}
	if err := r.check(spec); err != nil {
		return nil, "", fmt.Errorf("create session: %w", err)
	}
	if spec.TTL == 0 {
		spec.TTL = DefaultTTL
	}
	token, hash, err := newToken()
	if err != nil {
		return nil, "", err
	}
	s := r.newSession(spec)
	s.hash = hash
	r.live.load.Lock()
	defer r.live.load.Unlock()
	if err := r.recordStart(ctx, s, "minted"); err != nil {
		return nil, "", fmt.Errorf("create session: %w", err)
	}
	if err := r.insertRow(ctx, s); err != nil {
		taken := change{Act: "minted", By: string(ByOperator), Failed: "it could not be kept"}
		return nil, "", errors.Join(fmt.Errorf("create session: %w", err), r.recordChange(ctx, s, s.Scope(), taken))
	}
	r.live.put(s)
	r.watch(s)
	return s, token, nil
}

// newToken makes a token and its hash.
func newToken() (token string, hash []byte, err error) {
	var secret [tokenBytes]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return "", nil, fmt.Errorf("create session: %w", err)
	}
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	return token, sum[:], nil
}

// kept reports whether the database has the session: it has a credential that outlives this process.
func (s *Session) kept() bool { return s.hash != nil && s.above == nil }

// Open creates a session without a credential, for a client that is bound to this process by its connection (stdio). It ends with End,
// and is not kept in the database. While the policy is broken Open accepts a role that the policy does not know: such a session sees
// at most the control tools, and its client learns from them that the operator must look.
func (r *Registry) Open(ctx context.Context, spec Spec) (*Session, error) {
	if err := r.check(spec); err != nil && r.world.Load().Broken == "" {
		return nil, fmt.Errorf("open session: %w", err)
	}
	s := r.newSession(spec)
	if spec.ID == "" && spec.Counts == "" { // no other process can open it
		s.Counters = limit.Counters{}
	}
	if !spec.Known {
		if err := r.recordStart(ctx, s, "opened"); err != nil {
			return nil, fmt.Errorf("open session: %w", err)
		}
	}
	r.live.put(s)
	r.watch(s)
	return s, nil
}

// check refuses a spec that names a role or skill that does not exist. Its words are for the operator.
func (r *Registry) check(spec Spec) error {
	w := r.world.Load()
	if spec.TTL < 0 {
		return errors.New("its life time is negative")
	}
	if spec.Writes != "" && !clean(spec.Writes) {
		return fmt.Errorf("the only file that it may change is not an absolute path: %s", spec.Writes)
	}
	if spec.Folder != "" && (!clean(spec.Folder) || r.trees == nil || !slices.Contains(r.trees(), spec.Folder)) {
		return fmt.Errorf("the folder in which it works is no worktree of the project: %s", spec.Folder)
	}
	roles := spec.Roles
	if spec.Role != "" {
		roles = append([]string{spec.Role}, roles...)
	}
	var open []string
	for _, role := range roles {
		if _, ok := w.Policy.Role(role); !ok {
			return fmt.Errorf("no role %q: no skill and no role file names it (there are: %s)", role, OrNone(w.Policy.Roles()))
		}
		open = append(open, w.Policy.OpenSkills(role)...)
	}
	for _, name := range spec.Skills {
		if !slices.Contains(open, name) {
			slices.Sort(open)
			return &SkillError{Skill: name, To: "its roles", Open: slices.Compact(open)}
		}
	}
	return nil
}

// clean reports whether a path is absolute and in its shortest form.
func clean(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// OrNone joins names for people; no names are "none".
func OrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// newSession makes a session in memory.
func (r *Registry) newSession(spec Spec) *Session {
	s := &Session{ID: cmp.Or(spec.ID, audit.NewID()), registry: r, Name: spec.Name, start: spec.Role, done: make(chan struct{})}
	s.Asks, s.Writes, s.Folder = spec.Asks, spec.Writes, spec.Folder
	s.Written = facts.NewWritten(r.folder, s.ID, r.dir)
	s.Counters = r.limits.Session(cmp.Or(spec.Counts, s.ID))
	// Microseconds are what the database keeps: the session is the same before and after a restart.
	s.Created = r.now().Truncate(time.Microsecond)
	if spec.TTL > 0 {
		s.expires = s.Created.Add(spec.TTL)
	}
	may := slices.Clone(spec.Roles)
	if spec.Role != "" {
		may = append(may, spec.Role)
	}
	slices.Sort(may)
	s.Principal = policy.Principal{ID: cmp.Or(spec.Principal, s.ID)}
	st := &state{role: spec.Role, may: slices.Compact(may)}
	if spec.Skills != nil {
		st.asked.Only = SortedSet(spec.Skills)
	}
	s.state.Store(st)
	return s
}

// SortedSet returns a sorted copy without repetitions, never nil.
func SortedSet(names []string) []string {
	out := append([]string{}, names...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Authenticate returns the session of a token, or ErrNoSession for an unknown, ended or expired one. It finds the session by the hash
// of the whole token, so the time that it takes does not tell how much of a wrong token is right.
func (r *Registry) Authenticate(ctx context.Context, token string) (*Session, error) {
	if !wellFormed(token) {
		return nil, ErrNoSession
	}
	hash := sha256.Sum256([]byte(token))
	s := r.live.token(hash)
	if s == nil {
		var err error
		if s, err = r.restore(ctx, "token_hash = ?", hash[:]); err != nil {
			return nil, err
		}
	}
	return r.alive(s)
}

// OurToken reports whether a text begins like a token of [Registry.Mint]. No token of another issuer does.
func OurToken(token string) bool { return strings.HasPrefix(token, tokenPrefix) }

// wellFormed reports whether a text has the form of a token of ours.
func wellFormed(token string) bool {
	text, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil
}

// alive returns the session unless its time has passed.
func (r *Registry) alive(s *Session) (*Session, error) {
	if s == nil || s.ended.Load() {
		return nil, ErrNoSession
	}
	if s.Over(r.now()) {
		r.expire(s)
		return nil, ErrNoSession
	}
	return s, nil
}

// Find returns a live session by id.
func (r *Registry) Find(ctx context.Context, id string) (*Session, error) {
	s := r.live.id(id)
	if s == nil {
		var err error
		if s, err = r.restore(ctx, "id = ?", id); err != nil {
			return nil, err
		}
	}
	return r.alive(s)
}

// End ends a session and those of its sub-agents, and closes their channels. It ends in this process even if that can be neither recorded
// nor kept; the error says so.
func (r *Registry) End(ctx context.Context, id string) error {
	s, err := r.end(ctx, id)
	if s != nil {
		err = errors.Join(err, s.endBelow(ctx))
	}
	return err
}

// end ends one session. It is nil if no live one has the id.
func (r *Registry) end(ctx context.Context, id string) (*Session, error) {
	r.live.load.Lock()
	defer r.live.load.Unlock()
	s := r.live.id(id)
	if s == nil {
		row, err := r.loadRow(ctx, "id = ?", id)
		if err != nil {
			return nil, err
		}
		s = row
	}
	if s.ended.Load() {
		return nil, ErrNoSession
	}
	s.finish()
	r.forget(ctx, s.ID)
	err := r.recordChange(ctx, s, s.Snapshot().Scope, change{Act: "ended", By: string(ByOperator)})
	if s.kept() {
		kept := r.endRow(ctx, s.ID)
		if kept != nil {
			r.live.put(s) // as a mark: its token must not be looked up again
			return s, errors.Join(err, kept)
		}
	}
	r.live.drop(s)
	return s, err
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
	Above     string      `json:"above,omitempty"` // of a sub-agent: the id of the session that started it
}

// Summary describes the session as it is now.
func (s *Session) Summary() Summary {
	sc := s.Snapshot()
	above := ""
	if s.above != nil {
		above = s.above.ID
	}
	return Summary{
		Above: above, ID: s.ID, Name: s.Name, Principal: s.Principal.ID, Role: sc.Scope.Principal.Role,
		Roles: append([]string{}, sc.Scope.Principal.Roles...), Skills: append([]string{}, sc.Scope.Skills...),
		Created: s.Created, Expires: s.expires, Live: !s.Over(s.registry.now()),
		Limits: s.Uses(sc, s.registry.now(), ByOperator),
	}
}

// List returns the live sessions, oldest first.
func (r *Registry) List(ctx context.Context) ([]Summary, error) {
	kept, err := r.loadRows(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	infos := []Summary{}
	add := func(s *Session) {
		if !seen[s.ID] && !s.Over(r.now()) {
			infos = append(infos, s.Summary())
		}
		seen[s.ID] = true
	}
	for _, s := range r.live.all() {
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
