// Package view makes what a session sees: the lists of tools, resources and prompts, in the form that clients use, from the catalog and
// the policy of the moment ([World], [Catalog]). A text that a server wrote never names what is hidden from the reader (decision 5):
// definitions are masked string by string. Keys and what refers to keys (required, $ref) stay; a hidden name leaves an enum, so that no
// value is shown that the server would refuse; every other byte stays as the server sent it.
package view

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

// Same reports whether two entries look the same to a client.
func (l Listed) Same(o Listed) bool { return l.Item == o.Item && bytes.Equal(l.Raw, o.Raw) }

// Lists are what a scope sees, sorted. They are immutable.
type Lists struct {
	Items     [3][]Listed // by kind
	Templates []Listed
	seen      nameBits // the names that are in view
	finder    finder

	declared struct {
		once sync.Once
		raw  []byte
	}
}

// Lists returns what a scope sees. open are the skills that its role may activate. above reports whether what is above the scope sees an
// item at this moment; nil: nothing is above it.
func (w *Catalog) Lists(scope policy.Scope, open []string, above func(policy.Item) bool) *Lists {
	return w.views.of(w.Policy.ViewKey(scope), func() *Lists { return w.compute(scope, open, above) })
}

// views keeps the lists that sessions share: a thousand sessions of three roles have three.
type views struct {
	mu   sync.Mutex
	made map[string]*Lists
}

// maxViews bounds the lists that are kept.
const maxViews = 1024

// of returns the lists of a key, and computes them if there are none yet. Lists with the key "" are not shared.
func (x *views) of(key string, compute func() *Lists) *Lists {
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
		x.made = map[string]*Lists{}
	}
	x.made[key] = fresh
	return fresh
}

func (w *Catalog) compute(scope policy.Scope, open []string, above func(policy.Item) bool) *Lists {
	v := &Lists{}
	v.Items[policy.Tool] = w.listed(w.Policy.Items(scope, policy.Tool))
	w.widen(scope, v.Items[policy.Tool])
	v.Items[policy.Resource] = w.visible(scope, w.resources)
	v.Items[policy.Prompt] = w.visible(scope, w.prompts)
	v.Templates = w.visible(scope, w.templates)
	for _, k := range w.SkillEntries {
		if !slices.Contains(open, k.Name) {
			continue
		}
		if w.Policy.Visible(scope, k.prompt.Item) {
			v.Items[policy.Prompt] = append(v.Items[policy.Prompt], k.prompt)
		}
		for _, r := range k.resources {
			if w.Policy.Visible(scope, r.Item) {
				v.Items[policy.Resource] = append(v.Items[policy.Resource], r)
			}
		}
	}
	if above != nil {
		hidden := func(l Listed) bool { return !above(l.Item) }
		for _, list := range []*[]Listed{&v.Items[policy.Tool], &v.Items[policy.Resource], &v.Items[policy.Prompt], &v.Templates} {
			*list = slices.DeleteFunc(*list, hidden)
		}
	}
	for _, k := range []policy.Kind{policy.Resource, policy.Prompt} {
		slices.SortFunc(v.Items[k], func(a, b Listed) int { return compareItems(a.Item, b.Item) })
	}
	w.mask(v)
	return v
}

// listed returns the definitions of sorted tools, without the tools that have no definition. It walks both lists side by side, which
// takes a quarter of the time that looking up each name takes.
func (w *Catalog) listed(items []policy.Item) []Listed {
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

// widen puts the wider definitions of a scope in place of the others.
func (w *Catalog) widen(scope policy.Scope, tools []Listed) {
	if w.Widens == nil || !w.Widens(w.Policy, scope) {
		return
	}
	for i := range tools {
		if l, ok := w.wider[tools[i].Item]; ok {
			tools[i] = l
		}
	}
}

func (w *Catalog) visible(scope policy.Scope, from []entry) []Listed {
	var out []Listed
	for _, e := range from {
		if w.Policy.Visible(scope, e.Item) {
			out = append(out, e.Listed)
		}
	}
	return out
}

// Servers returns the servers whose tools are in view, sorted.
func (v *Lists) Servers() []string {
	names := []string{}
	for _, l := range v.Items[policy.Tool] {
		if n := len(names); n == 0 || names[n-1] != l.Item.Server {
			names = append(names, l.Item.Server)
		}
	}
	return names
}

// Tools returns the text forms of the tools in view, sorted.
func (v *Lists) Tools() []string {
	names := make([]string, 0, len(v.Items[policy.Tool]))
	for _, l := range v.Items[policy.Tool] {
		names = append(names, l.Item.String())
	}
	slices.Sort(names)
	return names
}

// Same reports whether a client would see no difference between two lists.
func (v *Lists) Same(o *Lists) bool {
	if v == o {
		return true
	}
	for k := range v.Items {
		if !slices.EqualFunc(v.Items[k], o.Items[k], Listed.Same) {
			return false
		}
	}
	return slices.EqualFunc(v.Templates, o.Templates, Listed.Same)
}

// Has reports whether a bound counts a call of an item in view.
func (v *Lists) Has(b *policy.Bound) bool {
	for _, list := range v.Items {
		for i := range list {
			if !IsOwn(list[i].Item.Server) && b.Concerns(list[i].Item) {
				return true
			}
		}
	}
	return false
}
