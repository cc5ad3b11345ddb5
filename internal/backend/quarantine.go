package backend

import (
	"context"
	"fmt"
	"slices"

	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// applyPins takes what is in quarantine out of the definitions. live reports that the server itself sent the listing just now. The lock
// is held.
func (e *entry) applyPins(live bool) {
	live = live || !e.pool.pins.Persistent() // without kept pins there is no accepted state to compare a stored catalog with
	strict := e.cfg.Additions == "quarantine"
	var more []pin.Held
	sc := e.pool.pins.Scanner(&e.listing)
	e.definitions, e.held = e.pins.Judge(e.definitions, false, live, strict, sc)
	e.templates, more = e.pins.Judge(e.templates, true, live, strict, sc)
	e.held = append(e.held, more...)
	skills, leftOut := e.pins.Skills(&e.listing)
	e.skills, e.leftOut = skills, append(e.leftOut, leftOut...)
	e.instructionsHeld = false
	if h := e.pins.Instructions(e.about.Instructions, live, sc); h != nil {
		h.Item = policy.Item{Server: e.name}
		e.held, e.instructionsHeld = append(e.held, *h), true
	}
	if live {
		e.pins.EndFirstUse()
	}
}

// absentError means that the caller gets the answer for an item that does not exist.
type absentError struct{ name string }

func (e *absentError) Error() string { return e.name + " is in quarantine" }

// Absent reports that the refusal must not differ from the refusal of an item that does not exist.
func (e *absentError) Absent() bool { return true }

// heldError refuses a request for an item in quarantine. A caller may still know its name. The lock is held.
func (e *entry) heldError(method string, params []byte) error {
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
	if slices.ContainsFunc(e.held, func(h pin.Held) bool { return h.Item.Kind == k && !h.Template && h.Item.Name == name }) {
		return &absentError{e.name + "__" + name}
	}
	return nil
}

// checkHeld is heldError with the lock.
func (e *entry) checkHeld(method string, params []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heldError(method, params)
}

// admit is checkHeld on a connection. On a new connection it waits until the definitions are compared with the pins, because they may
// differ from the stored catalog by now.
func (e *entry) admit(ctx context.Context, c *connection, method string, params []byte) error {
	if method != "tools/call" && method != "prompts/get" && method != "resources/read" {
		return nil
	}
	select {
	case <-c.learned:
	case <-c.Done():
		return nil // the request fails with the reason
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checked != c && c.Err() == nil {
		return fmt.Errorf("its definitions could not be compared with those that were accepted: %w", c.learnErr)
	}
	return e.heldError(method, params)
}

// Acceptance names an item in quarantine, and the definition that the operator saw.
type Acceptance struct {
	Name   string // as of [pin.Held.Name]
	Digest string // of the definition that is accepted
}

// Accept takes items out of quarantine and pins their present definitions. If one item is not in quarantine, or its definition differs from
// the one that the operator saw, Accept returns an error and changes nothing.
func (p *Pool) Accept(list []Acceptance) error {
	byServer := map[*entry][]pin.Held{}
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

// KeepOut keeps items in quarantine for a person, by the definitions that were seen: they wait for nobody, until their server offers others.
// It refuses what [Pool.Accept] refuses.
func (p *Pool) KeepOut(list []Acceptance, by string) error {
	byServer := map[*entry][]pin.Held{}
	for _, a := range list {
		e, h, err := p.find(a)
		if err != nil {
			return err
		}
		byServer[e] = append(byServer[e], h)
	}
	for e, held := range byServer {
		e.mu.Lock()
		e.pins.KeepOut(held, by)
		e.setListing(e.listing, e.about, false)
		e.mu.Unlock()
		if err := e.pins.Save(); err != nil {
			return err
		}
	}
	p.rebuild()
	return nil
}

// find finds an item in quarantine.
func (p *Pool) find(a Acceptance) (*entry, pin.Held, error) {
	p.mu.Lock()
	held := p.catalog.Held
	p.mu.Unlock()
	i := slices.IndexFunc(held, func(h pin.Held) bool { return h.Name() == a.Name })
	if i < 0 {
		return nil, pin.Held{}, fmt.Errorf("%s is not in quarantine", a.Name)
	}
	if held[i].Digest != a.Digest {
		return nil, pin.Held{}, fmt.Errorf("%s changed again since it was shown", a.Name)
	}
	e := p.entry(held[i].Item.Server)
	if e == nil {
		return nil, pin.Held{}, fmt.Errorf("server %q: %w", held[i].Item.Server, ErrUnknownServer)
	}
	return e, held[i], nil
}

// accept pins items of this server and judges its listing again.
func (e *entry) accept(list []pin.Held) error {
	e.mu.Lock()
	e.pins.Accept(list)
	e.setListing(e.listing, e.about, false)
	e.pins.EndDoubt(e.held)
	e.mu.Unlock()
	return e.pins.Save()
}

// HeldBy returns the items in quarantine that a name means: one item, or all items of a server.
func (c Catalog) HeldBy(name string) []pin.Held {
	var out []pin.Held
	for _, h := range c.Held {
		if h.Name() == name || h.Item.Server == name {
			out = append(out, h)
		}
	}
	return out
}
