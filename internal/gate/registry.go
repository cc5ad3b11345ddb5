package gate

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
)

// registry holds the sessions that are in memory. An ended one stays as a mark when the database could not be told, so that
// its token never works again in this process.
type registry struct {
	mu      sync.RWMutex
	byID    map[string]*Session
	byToken map[[sha256.Size]byte]*Session

	// load is held while a session comes from the database or is ended there: otherwise one that ends in between would come back.
	load sync.Mutex
}

func (r *registry) init() {
	r.byID = map[string]*Session{}
	r.byToken = map[[sha256.Size]byte]*Session{}
}

func (r *registry) put(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[s.ID] = s
	if s.hash != nil {
		r.byToken[[sha256.Size]byte(s.hash)] = s
	}
}

func (r *registry) drop(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, s.ID)
	if s.hash != nil && r.byToken[[sha256.Size]byte(s.hash)] == s { // else another session has taken its place
		delete(r.byToken, [sha256.Size]byte(s.hash))
	}
}

func (r *registry) id(id string) *Session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

func (r *registry) token(hash [sha256.Size]byte) *Session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byToken[hash]
}

func (r *registry) all() []*Session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Values(r.byID))
}
