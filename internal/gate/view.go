package gate

import (
	"bytes"
	"slices"
	"sync"

	"mycelium/internal/policy"
)

// Listed is one visible item with its raw definition, for lists.
type Listed struct {
	Item policy.Item
	Raw  []byte // the definition, its name (or uri) already in the form that clients use

	number int32  // of its name, from 1; 0: it has none that texts mention
	names  *named // what it mentions; nil: nothing
}

// view is what a scope sees, sorted. It is immutable.
type view struct {
	lists     [3][]Listed // by kind
	templates []Listed
	seen      nameBits // the names that are in view

	declared struct {
		once sync.Once
		raw  []byte
	}
}

// List returns what a session sees of one kind, sorted, from a snapshot that is computed only when something changed. The
// slice is shared: do not modify it.
func (g *Gate) List(s *Session, k policy.Kind) []Listed {
	if int(k) >= len(view{}.lists) {
		return nil
	}
	return s.look().lists[k]
}

// Templates lists the resource templates that a session's grants admit: those whose text, taken as a URI, a grant covers. To
// read through a template that is not listed is decided by the URI that comes of it, like any other.
func (g *Gate) Templates(s *Session) []Listed { return s.look().templates }

// look is what the session sees now, and notes that it was shown. When the world changes meanwhile it looks again: either
// this loop sees the new world, or [Gate.Swap] sees what was shown, and tells the session.
func (s *Session) look() *view {
	for {
		sc := s.now()
		v := sc.view()
		if s.shown.Load() != v {
			s.shown.Store(v)
		}
		if s.gate.world.Load() == sc.world && s.state.Load() == sc.state {
			return v
		}
	}
}

// view computes what the scope sees, once.
func (sc *scoped) view() *view {
	sc.once.Do(func() { sc.seen = sc.world.views.of(sc.world.Policy.ViewKey(sc.scope), sc.compute) })
	return sc.seen
}

// views are those that sessions share: a thousand sessions of three roles have three.
type views struct {
	mu   sync.Mutex
	made map[string]*view
}

// maxViews bounds the views that are kept to be shared.
const maxViews = 1024

// of returns the view of a key, computed where there is none yet. Without a key nobody shares it.
func (x *views) of(key string, compute func() *view) *view {
	if key == "" {
		return compute()
	}
	x.mu.Lock()
	v := x.made[key]
	x.mu.Unlock()
	if v != nil {
		return v
	}
	fresh := compute() // not under the lock: other views need not wait
	x.mu.Lock()
	defer x.mu.Unlock()
	if v = x.made[key]; v != nil {
		return v
	}
	if x.made == nil || len(x.made) >= maxViews {
		x.made = map[string]*view{}
	}
	x.made[key] = fresh
	return fresh
}

func (sc *scoped) compute() *view {
	v, w := &view{}, sc.world
	v.lists[policy.Tool] = w.listed(w.Policy.Items(sc.scope, policy.Tool))
	v.lists[policy.Resource] = sc.visible(w.resources)
	v.lists[policy.Prompt] = sc.visible(w.prompts)
	v.templates = sc.visible(w.templates)
	for _, k := range w.skills {
		if !slices.Contains(sc.open, k.name) {
			continue
		}
		if sc.sees(k.prompt.Item) {
			v.lists[policy.Prompt] = append(v.lists[policy.Prompt], k.prompt)
		}
		for _, r := range k.resources {
			if sc.sees(r.Item) {
				v.lists[policy.Resource] = append(v.lists[policy.Resource], r)
			}
		}
	}
	for _, k := range []policy.Kind{policy.Resource, policy.Prompt} {
		slices.SortFunc(v.lists[k], func(a, b Listed) int { return compareItems(a.Item, b.Item) })
	}
	sc.mask(v)
	return v
}

// listed are the definitions of sorted tools; a tool without one is left out. Both lists are walked side by side: to look up
// thousands of names takes four times as long.
func (w *world) listed(items []policy.Item) []Listed {
	out := make([]Listed, 0, len(items))
	rest := w.tools
	for _, it := range items {
		for len(rest) > 0 && compareItems(rest[0].Item, it) < 0 {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].Item == it {
			out = append(out, rest[0])
		}
	}
	return out
}

func (sc *scoped) visible(from []entry) []Listed {
	var out []Listed
	for _, e := range from {
		if sc.sees(e.Item) {
			out = append(out, e.Listed)
		}
	}
	return out
}

// sees is the one predicate of visibility, that of calls.
func (sc *scoped) sees(it policy.Item) bool { return sc.world.Policy.Visible(sc.scope, it) }

// servers are the servers whose tools are in view, sorted.
func (v *view) servers() []string {
	names := []string{}
	for _, l := range v.lists[policy.Tool] {
		if n := len(names); n == 0 || names[n-1] != l.Item.Server {
			names = append(names, l.Item.Server)
		}
	}
	return names
}

// tools are the text forms of the tools in view, sorted.
func (v *view) tools() []string {
	names := make([]string, 0, len(v.lists[policy.Tool]))
	for _, l := range v.lists[policy.Tool] {
		names = append(names, l.Item.String())
	}
	slices.Sort(names)
	return names
}

// same reports whether two views would be listed alike.
func (v *view) same(o *view) bool {
	if v == o {
		return true
	}
	alike := func(a, b []Listed) bool {
		return slices.EqualFunc(a, b, func(x, y Listed) bool { return x.Item == y.Item && bytes.Equal(x.Raw, y.Raw) })
	}
	for k := range v.lists {
		if !alike(v.lists[k], o.lists[k]) {
			return false
		}
	}
	return alike(v.templates, o.templates)
}
