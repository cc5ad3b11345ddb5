package backend

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// Catalog returns an immutable snapshot of what is known. It never waits for a server.
func (p *Pool) Catalog() Catalog {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.catalog
}

// Changed returns a channel that is closed when the catalog changes.
func (p *Pool) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// rebuild makes a new snapshot, and closes the channel of Changed if it differs from the last one.
func (p *Pool) rebuild() {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := Catalog{Pending: map[string]string{}, Learning: map[string]time.Duration{}, Servers: map[string]catalog.About{}}
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		p.entries[name].addTo(&next)
	}
	if equal(next, p.catalog) {
		return
	}
	p.catalog = next
	close(p.changed)
	p.changed = make(chan struct{})
}

// addTo adds the items of an entry to a catalog.
func (e *entry) addTo(c *Catalog) {
	if e.builtin != nil {
		defs, temps := builtinDefinitions(e.name, e.builtin)
		c.Definitions, c.Templates = append(c.Definitions, defs...), append(c.Templates, temps...)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.state == StateDisabled:
	case e.known:
		c.Definitions, c.Templates = append(c.Definitions, e.definitions...), append(c.Templates, e.templates...)
		about := e.about
		if e.instructionsHeld {
			about.Instructions = ""
		}
		c.Servers[e.name] = about
		c.Held = append(c.Held, e.held...)
		c.Skills = append(c.Skills, e.skills...)
	case e.fault != nil:
		c.Pending[e.name] = text.Describe(e.fault)
	default:
		c.Pending[e.name] = "its catalog is not learned yet"
		if e.learning {
			c.Learning[e.name] = min(e.cfg.Start.or(DefaultStart), DefaultStart)
		}
	}
}

// builtinDefinitions are the definitions of a server in this process. Its annotations are trusted.
func builtinDefinitions(name string, b Builtin) (defs, temps []policy.Definition) {
	for _, d := range b.Definitions() {
		d.Item.Server = name
		if d.Annotations == nil && d.Item.Kind == policy.Tool {
			d.Annotations = catalog.Annotations(d.Raw)
		}
		if d.Item.Kind == policy.Resource && rawjson.Member(d.Raw, catalog.Templates.Key()) != nil {
			temps = append(temps, d)
		} else {
			defs = append(defs, d)
		}
	}
	slices.SortFunc(defs, catalog.CompareDefinitions)
	slices.SortFunc(temps, catalog.CompareDefinitions)
	return defs, temps
}

func equal(a, b Catalog) bool {
	definition := func(x, y policy.Definition) bool {
		return x.Item == y.Item && bytes.Equal(x.Raw, y.Raw) && maps.Equal(x.Annotations, y.Annotations)
	}
	about := func(x, y catalog.About) bool {
		return x.Version == y.Version && x.Instructions == y.Instructions &&
			bytes.Equal(x.Capabilities, y.Capabilities) && bytes.Equal(x.Info, y.Info)
	}
	held := func(x, y pin.Held) bool {
		return x.Item == y.Item && x.Template == y.Template && x.Cause == y.Cause && x.Reason == y.Reason && x.Digest == y.Digest &&
			(x.KeptOut == nil) == (y.KeptOut == nil)
	}
	served := func(x, y pin.Served) bool {
		return x.Name == y.Name && x.URI == y.URI && x.Digest == y.Digest && x.State == y.State
	}
	return b.Pending != nil && slices.EqualFunc(a.Held, b.Held, held) && slices.EqualFunc(a.Skills, b.Skills, served) &&
		maps.Equal(a.Pending, b.Pending) && maps.Equal(a.Learning, b.Learning) && maps.EqualFunc(a.Servers, b.Servers, about) &&
		slices.EqualFunc(a.Definitions, b.Definitions, definition) && slices.EqualFunc(a.Templates, b.Templates, definition)
}
