package backend

import (
	"context"
	"fmt"
	"slices"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// sift takes out of the definitions what is in quarantine. The lock is held.
func (e *entry) sift(live bool) {
	live = live || e.pool.pins.dir == "" // pins that are not kept cannot be compared with a stored catalog
	strict := e.cfg.Additions == "quarantine"
	var more []Held
	sc := &scanner{book: e.pool.pins, own: func() []string { return itemNames(e.raw) }}
	e.defs, e.held = e.pins.judge(e.defs, false, live, strict, sc)
	e.temps, more = e.pins.judge(e.temps, true, live, strict, sc)
	e.held = append(e.held, more...)
	e.siftSkills()
	e.muted = false
	if h := e.pins.instructions(e.about.Instructions, live, sc); h != nil {
		h.Item = policy.Item{Server: e.name}
		e.held, e.muted = append(e.held, *h), true
	}
	if live {
		e.pins.used()
	}
}

// absentError tells that the caller is to be answered as if what it asked for did not exist.
type absentError struct{ name string }

func (e *absentError) Error() string { return e.name + " is in quarantine" }

// Absent reports that the refusal must not differ from that of an item which does not exist.
func (e *absentError) Absent() bool { return true }

// withholds reports whether a request is for an item in quarantine, however the caller came by its name. The lock is held.
func (e *entry) withholds(method string, params []byte) error {
	if len(e.held) == 0 {
		return nil
	}
	k, key := policy.Tool, "name"
	switch method {
	case "tools/call":
	case "prompts/get":
		k = policy.Prompt
	case "resources/read":
		k, key = policy.Resource, "uri"
	default:
		return nil
	}
	name := rawjson.TextAt(params, key)
	if slices.ContainsFunc(e.held, func(h Held) bool { return h.Item.Kind == k && !h.Template && h.Item.Name == name }) {
		return &absentError{e.name + "__" + name}
	}
	return nil
}

// screen is withholds with the lock.
func (e *entry) screen(method string, params []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.withholds(method, params)
}

// admit is screen on a connection. On a new one it waits until the definitions are compared with the pins: what was listed from the
// stored catalog may be another by now.
func (e *entry) admit(ctx context.Context, c *conn, method string, params []byte) error {
	if method != "tools/call" && method != "prompts/get" && method != "resources/read" {
		return nil
	}
	select {
	case <-c.first:
	case <-c.link.gone():
		return nil // the request will say why
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.judged != c && c.calls.reason() == nil {
		return fmt.Errorf("its definitions could not be compared with those that were accepted: %w", c.firstErr)
	}
	return e.withholds(method, params)
}

// Acceptance names an item in quarantine, and what the operator saw of it.
type Acceptance struct {
	Name   string // as of [Held.Name]
	Digest string // of the definition that is accepted
}

// Accept takes items out of quarantine: their present definitions are pinned. All or none: an item that is not in quarantine, or whose
// definition is another than the one that was seen, is an error, and nothing is changed.
func (p *Pool) Accept(list []Acceptance) error {
	byServer := map[*entry][]Held{}
	for _, a := range list {
		e, h, err := p.find(a)
		if err != nil {
			return err
		}
		byServer[e] = append(byServer[e], h)
	}
	for e, held := range byServer {
		if err := e.accept(held); err != nil {
			return err
		}
	}
	p.rebuild()
	return nil
}

// find looks an item in quarantine up.
func (p *Pool) find(a Acceptance) (*entry, Held, error) {
	p.mu.Lock()
	held := p.catalog.Held
	p.mu.Unlock()
	i := slices.IndexFunc(held, func(h Held) bool { return h.Name() == a.Name })
	if i < 0 {
		return nil, Held{}, fmt.Errorf("%s is not in quarantine", a.Name)
	}
	if held[i].Digest != a.Digest {
		return nil, Held{}, fmt.Errorf("%s changed again since it was shown", a.Name)
	}
	e := p.entry(held[i].Item.Server)
	if e == nil {
		return nil, Held{}, fmt.Errorf("server %q: %w", held[i].Item.Server, ErrUnknownServer)
	}
	return e, held[i], nil
}

// accept pins items of this server and judges its listing anew.
func (e *entry) accept(list []Held) error {
	e.mu.Lock()
	e.pins.accept(list)
	e.know(e.raw, e.about, false)
	e.pins.settle(e.held)
	e.mu.Unlock()
	return e.pins.save()
}

// HeldBy finds what a name means: an item in quarantine, or all those of a server.
func (c Catalog) HeldBy(name string) []Held {
	var out []Held
	for _, h := range c.Held {
		if h.Name() == name || h.Item.Server == name {
			out = append(out, h)
		}
	}
	return out
}
