package session

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"mycelium/internal/audit"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/store"
	"mycelium/internal/telemetry"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// loaded holds the sessions that are in memory. An ended session stays if the database could not be told, so that its token never
// works again in this process.
type loaded struct {
	mu      sync.RWMutex
	byID    map[string]*Session
	byToken map[[sha256.Size]byte]*Session

	// load is held while a session comes from the database or is ended there: otherwise one that ends in between would come back.
	load sync.Mutex
}

func (l *loaded) init() {
	l.byID = map[string]*Session{}
	l.byToken = map[[sha256.Size]byte]*Session{}
}

func (l *loaded) put(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byID[s.ID] = s
	if s.hash != nil {
		l.byToken[[sha256.Size]byte(s.hash)] = s
	}
}

func (l *loaded) drop(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, s.ID)
	if s.hash != nil && l.byToken[[sha256.Size]byte(s.hash)] == s { // else another session has taken its place
		delete(l.byToken, [sha256.Size]byte(s.hash))
	}
}

func (l *loaded) id(id string) *Session {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byID[id]
}

func (l *loaded) token(hash [sha256.Size]byte) *Session {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byToken[hash]
}

func (l *loaded) all() []*Session {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Collect(maps.Values(l.byID))
}

// Registry holds the sessions of a gate, and the catalog that all of them see. It is safe for concurrent use.
type Registry struct {
	log    *audit.Log
	db     *store.DB
	own    []policy.Definition
	dir    string
	trees  func() []string
	folder string // of what sessions wrote
	logger *slog.Logger
	now    func() time.Time
	meter  *telemetry.Meter
	limits *limit.Limits
	start  func(ctx context.Context, servers []string) error
	forget func(ctx context.Context, id string)

	world atomic.Pointer[view.Catalog]
	swap  sync.Mutex // held while one world replaces another, so that sessions are told in order
	live  loaded

	swapped signal // fires after each Swap

	Taught Taught // what calls taught about tools
}

// Options of a registry. DB and Meter may be nil.
type Options struct {
	Log     *audit.Log
	DB      *store.DB // keeps minted sessions; nil: only Open works (a hook without a daemon)
	World   view.World
	Own     []policy.Definition // of the gate's own servers
	Dir     string              // project folder, absolute, links resolved
	Trees   func() []string     // the other folders of the project now; nil: there are none
	Written string              // folder that keeps which files each session wrote; empty: memory only
	Logger  *slog.Logger
	Meter   *telemetry.Meter
	Now     func() time.Time
	Limits  *limit.Limits
	Start   func(ctx context.Context, servers []string) error // starts the servers that a role needs
	Forget  func(ctx context.Context, id string)              // is told of every session that is over
}

// New makes a registry.
func New(o Options) *Registry {
	r := &Registry{
		log: o.Log, db: o.DB, own: o.Own, dir: o.Dir, trees: o.Trees, folder: o.Written, logger: o.Logger, now: o.Now, meter: o.Meter, limits: o.Limits,
		start: o.Start, forget: o.Forget,
	}
	r.live.init()
	r.world.Store(view.New(o.World, o.Own, nil, o.Logger))
	return r
}

// Close ends the opened sessions and forgets the minted ones, which stay in the database: their Done channels close, and no timer is
// left behind. The registry must not be used after it.
func (r *Registry) Close() {
	for _, s := range r.live.all() {
		r.live.drop(s)
		s.finish()
	}
}

// Catalog returns the catalog of the moment.
func (r *Registry) Catalog() *view.Catalog { return r.world.Load() }

// Swap replaces the world. It tells the sessions whose view changed, and records a change of active skills. A world without a policy
// or skills is refused: the last good one stays.
func (r *Registry) Swap(w view.World) {
	if w.Policy == nil || w.Skills == nil {
		r.logger.Error("a world without a policy was not taken")
		return
	}
	r.swap.Lock()
	defer r.swap.Unlock()
	old := r.world.Load()
	next := view.New(w, r.own, old, r.logger)
	r.world.Store(next)
	r.limits.Keep(next.Policy)
	for _, s := range r.live.all() {
		r.follow(s, old, next)
	}
	r.swapped.fire()
}

// follow tells one session of a new world if it sees a difference to the old one, or to what one of its clients was last shown: a client
// may have listed while the worlds changed. That one of its clients was shown the new world says nothing of the others.
func (r *Registry) follow(s *Session, old, next *view.Catalog) {
	st := s.state.Load()
	before, after := s.scopeIn(st, old), s.scopeIn(st, next)
	if sc := s.last.Load(); sc != nil && sc.state == st && sc.World == old {
		before = sc // its view is usually known
	}
	added, removed := Difference(before.Scope.Skills, after.Scope.Skills)
	if len(added)+len(removed) > 0 || before.Known != after.Known {
		err := r.recordChange(context.Background(), s, after.Scope, change{
			Act: "policy_change", From: st.role, To: st.role, Added: added, Removed: removed, By: "policy",
		})
		if err != nil {
			r.logger.Error("a change of active skills is not in the audit log", "session", s.ID, "error", err)
		}
	}
	leaves := func(sc *Snapshot) bool { return sc.World.Defers(sc.Scope, sc.View(), false) }
	shown := s.shown.Load()
	if shown != nil && shown.Same(after.View()) && before.View().Same(after.View()) && leaves(before) == leaves(after) {
		return
	}
	s.changed.fire()
}
