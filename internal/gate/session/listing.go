package session

import (
	"slices"
	"sync"
	"time"

	"mycelium/internal/find"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// maxNoted bounds the tools that a session lists because they were found or used. The ones that were noted longest ago go first.
const maxNoted = 200

// listing is which tools a session lists where the others are left out. It is safe for concurrent use.
type listing struct {
	mu     sync.Mutex
	begun  bool
	listed int           // bytes of the definitions that it listed last; 0: it never listed
	all    int           // bytes of those that it might have listed
	noted  []policy.Item // found or used, the latest last
	asked  string        // what was last searched for
	asking time.Time
}

// note adds tools, and reports whether one of them is new.
func (l *listing) note(items []policy.Item) (fresh bool) {
	for _, it := range items {
		i := slices.Index(l.noted, it)
		if fresh = fresh || i < 0; i >= 0 {
			l.noted = slices.Delete(l.noted, i, i+1)
		}
		l.noted = append(l.noted, it)
	}
	l.noted = slices.Delete(l.noted, 0, max(0, len(l.noted)-maxNoted))
	return fresh
}

// Tools returns the tools that a list shows: all that the session sees, or, where the others are deferred, the gate's own and those that
// were found or used. Every other tool in view can be called all the same. searches is that of [view.Catalog.Defers].
func (s *Session) Tools(searches bool) []view.Listed {
	v := s.Look()
	sc := s.Snapshot()
	all := v.Items[policy.Tool]
	s.listing.mu.Lock()
	defer s.listing.mu.Unlock()
	out := all
	if sc.World.Defers(sc.Scope, v, searches) {
		if !s.listing.begun {
			s.listing.begun = true
			s.listing.note(s.registry.Taught.lately())
		}
		out = slices.DeleteFunc(slices.Clone(all), func(l view.Listed) bool {
			return !view.IsOwn(l.Item.Server) && !slices.Contains(s.listing.noted, l.Item)
		})
	}
	s.listing.listed, s.listing.all = size(out), size(all)
	return out
}

// size returns the bytes of definitions.
func size(all []view.Listed) (n int) {
	for _, l := range all {
		n += len(l.Raw)
	}
	return n
}

// Found notes what was searched for, and the tools that were found: they are listed from now on.
func (s *Session) Found(request string, items []policy.Item, now time.Time) {
	s.listing.mu.Lock()
	s.listing.asked, s.listing.asking = request, now
	fresh := s.listing.note(items)
	s.listing.mu.Unlock()
	if fresh {
		s.changed.fire()
	}
}

// Used notes that an item is used, and the files that it will have written. A tool of a server is listed from now on, and belongs to what
// was searched for before.
func (s *Session) Used(it policy.Item, f *policy.Facts, now time.Time) {
	s.Written.Note(it, f)
	if it.Kind != policy.Tool || it.Server == policy.AgentServer || view.IsOwn(it.Server) {
		return
	}
	s.listing.mu.Lock()
	asked, asking := s.listing.asked, s.listing.asking
	fresh := s.listing.note([]policy.Item{it})
	s.listing.mu.Unlock()
	if asked != "" && now.Sub(asking) <= Follows {
		s.registry.Taught.Add([]find.Use{{Request: asked, Name: it.Name, Server: it.Server, At: now}})
	} else {
		s.registry.Taught.used(it)
	}
	if fresh {
		s.changed.fire()
	}
}

// Follows is how long after a search a call may come that belongs to it.
const Follows = 10 * time.Minute

const (
	maxUses   = 2000 // that are learnt from; the log has all of them
	maxLately = 8    // tools that a new session lists because this project used them
)

// Taught is what the calls of all sessions taught: which tools followed which words, and which were used last. It is safe for concurrent
// use.
type Taught struct {
	mu     sync.Mutex
	uses   []find.Use
	last   []policy.Item // the latest last
	learnt *find.Learnt  // of uses; nil: they changed
}

// Add adds uses, oldest first.
func (t *Taught) Add(uses []find.Use) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.uses = append(t.uses, uses...)
	slices.SortStableFunc(t.uses, func(a, b find.Use) int { return a.At.Compare(b.At) })
	t.uses = slices.Delete(t.uses, 0, max(0, len(t.uses)-maxUses))
	t.learnt = nil
	for _, u := range uses {
		t.usedLocked(policy.Item{Server: u.Server, Name: u.Name})
	}
}

func (t *Taught) used(it policy.Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usedLocked(it)
}

func (t *Taught) usedLocked(it policy.Item) {
	t.last = slices.DeleteFunc(t.last, func(o policy.Item) bool { return o == it })
	t.last = append(t.last, it)
	t.last = slices.Delete(t.last, 0, max(0, len(t.last)-maxLately))
}

func (t *Taught) lately() []policy.Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.last)
}

// Learnt returns what was learnt until now.
func (t *Taught) Learnt(now time.Time) *find.Learnt {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.learnt == nil {
		t.learnt = find.Learn(t.uses, now)
	}
	return t.learnt
}

// Listed is what the lists of the sessions that are in use cost a model, in tokens.
type Listed struct {
	Sessions int `json:"inSessions"` // whose clients listed their tools
	Listed   int `json:"listed"`     // tokens of the definitions that they were listed
	All      int `json:"all"`        // tokens of all definitions that they may use
}

// bytesPerToken is what a token of a definition comes to, about: JSON in English.
const bytesPerToken = 4

// Listed returns what the lists of the sessions in use cost, and would cost whole.
func (r *Registry) Listed() (out Listed) {
	for _, s := range r.live.all() {
		s.listing.mu.Lock()
		listed, all := s.listing.listed, s.listing.all
		s.listing.mu.Unlock()
		if all > 0 {
			out.Sessions++
			out.Listed += listed / bytesPerToken
			out.All += all / bytesPerToken
		}
	}
	return out
}
