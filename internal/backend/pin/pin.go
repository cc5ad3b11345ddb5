// Package pin keeps the definitions that the operator has accepted of each server, and decides which of the offered definitions may be
// used and which are in quarantine.
package pin

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/scan"
)

// Causes of a quarantine.
const (
	CauseChanged  = "changed"  // the definition is another than the one that was accepted
	CauseRenamed  = "renamed"  // an accepted definition came back under another name
	CauseAdded    = "added"    // it came after the server was first used, and additions have to be accepted
	CauseFound    = "found"    // the scan found something in it
	CauseUnproven = "unproven" // what was accepted earlier is not known: the pins are missing or were changed
)

// Held is an item in quarantine: what its server offers under this name is not what was accepted, so agents do not see it.
type Held struct {
	Item     policy.Item
	Template bool           // a resource template: Item.Name is the URI template
	Cause    string         // one of the causes above
	Reason   string         // for people
	Former   string         // the name that it had; of a rename
	Old      []byte         // the accepted definition, raw; nil: there is none
	New      []byte         // what is offered now, raw
	Digest   string         // of New
	Findings []scan.Finding // of the scan, hard ones first
}

// Name is how people name the item: server__name, or prompt:, resource: or template: before it.
func (h *Held) Name() string { return heldName(h.Item, h.Template) }

func heldName(it policy.Item, template bool) string {
	switch {
	case it.Name == "":
		return "instructions:" + it.Server
	case template:
		return "template:" + it.String()
	case it.Kind == policy.Prompt:
		return "prompt:" + it.String()
	case it.Kind == policy.Resource:
		return "resource:" + it.String()
	}
	return it.String()
}

// pin is one accepted definition.
type pin struct {
	raw      []byte
	since    time.Time
	accepted bool   // by the operator, who saw the findings; else because it was there at first use
	text     string // SKILL.md, of an approved skill
	scanned  int    // version of the rules that found nothing hard in it
}

type pinKey struct {
	kind catalog.Kind
	name string
}

// Pins are the accepted definitions of one server. A removed item keeps its pin, so that to remove it and to add it again with
// another definition does not launder it.
type Pins struct {
	book   *Book
	server string

	mu    sync.Mutex
	items map[pinKey]*pin
	fresh bool   // nothing was ever accepted of this server: what it offers first is trusted
	doubt string // why items without a pin are not trusted, although a first use is due; empty: no doubt
	dirty bool   // differs from the file
}

// maxPins bounds the pins of one server. A pin is never dropped to make room: else a server could flood an old one out.
const maxPins = 4 * catalog.MaxItems

// Judge sorts a listing: what may be used, and what is in quarantine. live: the server itself said it just now, so that what is new may
// be pinned; else it comes from the stored catalog, in which nothing can be new.
func (p *Pins) Judge(defs []policy.Definition, template, live, strict bool, sc *Scanner) (good []policy.Definition, held []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	there := map[pinKey]bool{}
	for _, d := range defs {
		there[keyOf(d, template)] = true
	}
	var n *newcomers
	good = defs[:0:0]
	for _, d := range defs {
		h, ok := p.known(d, template, sc)
		if !ok {
			if n == nil && !p.fresh {
				n = p.compare(there)
			}
			h = p.take(d, template, live, strict, n, sc)
		}
		if h == nil {
			good = append(good, d)
			continue
		}
		h.Item, h.Template, h.New, h.Digest = d.Item, template, d.Raw, catalog.Digest(d.Raw)
		if h.Findings == nil {
			h.Findings = sc.scan(d.Raw)
		}
		held = append(held, *h)
	}
	if !template { // else there are only templates in it
		p.forget(there)
	}
	return good, held
}

// forget drops the pins of resources that are no longer offered: a resource is data that comes and goes, and its pin only says that it was
// scanned. The lock is held.
func (p *Pins) forget(there map[pinKey]bool) {
	for key := range p.items {
		if key.kind == catalog.Resources && !there[key] && len(there) > 0 {
			delete(p.items, key)
		}
	}
}

func keyOf(d policy.Definition, template bool) pinKey {
	switch {
	case template:
		return pinKey{catalog.Templates, d.Item.Name}
	case d.Item.Kind == policy.Prompt:
		return pinKey{catalog.Prompts, d.Item.Name}
	case d.Item.Kind == policy.Resource:
		return pinKey{catalog.Resources, d.Item.Name}
	}
	return pinKey{catalog.Tools, d.Item.Name}
}

// known judges an item that was accepted, or that nothing can be said of: nil and true, it may be used; nil and false, it is new. The lock
// is held.
func (p *Pins) known(d policy.Definition, template bool, sc *Scanner) (*Held, bool) {
	key := keyOf(d, template)
	old := p.items[key]
	if old != nil && key.kind == catalog.Resources && !catalog.SameDefinition(old.raw, d.Raw) {
		return nil, false // data that changed is looked at anew
	}
	if old != nil {
		if !catalog.SameDefinition(old.raw, d.Raw) {
			return &Held{Cause: CauseChanged, Reason: "its definition changed since it was accepted", Old: old.raw}, true
		}
		old.raw = d.Raw // one copy in memory
		if old.accepted || old.scanned == scan.Version {
			return nil, true
		}
		if found := sc.scan(d.Raw); scan.HasHard(found) {
			return &Held{Cause: CauseFound, Reason: foundReason(found), Findings: found}, true
		}
		old.scanned, p.dirty = scan.Version, true
		return nil, true
	}
	if p.doubt != "" && key.kind != catalog.Resources {
		return &Held{Cause: CauseUnproven, Reason: p.doubt}, true
	}
	return nil, false
}

// take pins an item that is new, unless it has to be looked at first. The lock is held.
func (p *Pins) take(d policy.Definition, template, live, strict bool, n *newcomers, sc *Scanner) *Held {
	key := keyOf(d, template)
	found := sc.scan(d.Raw)
	if scan.HasHard(found) {
		return &Held{Cause: CauseFound, Reason: foundReason(found), Findings: found}
	}
	if key.kind == catalog.Resources {
		p.items[key] = &pin{raw: d.Raw, since: p.book.now(), scanned: scan.Version}
		p.dirty = p.dirty || live
		return nil
	}
	if !p.fresh {
		if h := p.added(key, d, strict, n); h != nil {
			return h
		}
		if len(found) > 0 {
			return &Held{Cause: CauseAdded, Reason: "it is new, and " + foundReason(found), Findings: found}
		}
	}
	if !live {
		return &Held{Cause: CauseUnproven, Reason: "the stored catalog has it, and it was never pinned: somebody else wrote it there"}
	}
	p.items[key] = &pin{raw: d.Raw, since: p.book.now(), scanned: scan.Version}
	p.dirty = true
	return nil
}

// foundReason is the first finding in words.
func foundReason(found []scan.Finding) string {
	return fmt.Sprintf("the scan found %s: %s (%s: %s)", found[0].Family, found[0].Why, found[0].Where, found[0].Excerpt)
}

// newcomers is what an added item is compared with, made at the first need: most listings add nothing.
type newcomers struct {
	gone  map[[sha256.Size]byte]pinKey // digest without the name → an accepted item that is no longer offered
	alike map[pinKey]string            // folded name → accepted name
}

// compare makes it. there are the items that are offered now. The lock is held.
func (p *Pins) compare(there map[pinKey]bool) *newcomers {
	n := &newcomers{gone: map[[sha256.Size]byte]pinKey{}, alike: map[pinKey]string{}}
	for key, old := range p.items {
		if key.kind >= catalog.Skills {
			continue
		}
		if !there[key] {
			n.gone[catalog.SumWithoutName(key.kind, old.raw)] = key
		}
		if key.kind == catalog.Tools || key.kind == catalog.Prompts {
			n.alike[pinKey{key.kind, lookAlike(key.name)}] = key.name
		}
	}
	return n
}

// added judges an item that a known server did not have before.
func (p *Pins) added(key pinKey, d policy.Definition, strict bool, n *newcomers) *Held {
	if was, ok := n.gone[catalog.SumWithoutName(key.kind, d.Raw)]; ok {
		return &Held{Cause: CauseRenamed, Reason: fmt.Sprintf("it was accepted under the name %q", was.name), Former: was.name, Old: p.items[was].raw}
	}
	like, ok := n.alike[pinKey{key.kind, lookAlike(key.name)}]
	switch {
	case ok:
		return &Held{Cause: CauseAdded, Reason: fmt.Sprintf("it is new and looks like %q", like)}
	case strict:
		return &Held{Cause: CauseAdded, Reason: "it is new, and additions: quarantine says that new items have to be accepted"}
	case len(p.items) >= maxPins:
		return &Held{Cause: CauseAdded, Reason: fmt.Sprintf("the server has offered more than %d items", maxPins)}
	}
	return nil
}

// lookAlike folds what a hurried reader does not tell apart in a name.
func lookAlike(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", "0", "o", "1", "l", "i", "l", "5", "s", "rn", "m", "vv", "w").Replace(strings.ToLower(name))
}

// Instructions judges what a server tells every client at its start: nil, it may be passed on. A server that begins to give
// instructions is held too, because they need no grant.
func (p *Pins) Instructions(text string, live bool, sc *Scanner) *Held {
	if text == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	raw, key := rawjson.Set(nil, instructionList, rawjson.Quote(text)), pinKey{kind: instructions}
	h := &Held{New: raw, Digest: catalog.Digest(raw)}
	old := p.items[key]
	same := old != nil && catalog.SameDefinition(old.raw, raw)
	if same && (old.accepted || old.scanned == scan.Version) {
		return nil
	}
	h.Findings = sc.scan(raw)
	switch {
	case old != nil && !same:
		h.Cause, h.Reason, h.Old = CauseChanged, "its instructions changed since they were accepted", old.raw
	case old == nil && p.doubt != "":
		h.Cause, h.Reason = CauseUnproven, p.doubt
	case scan.HasHard(h.Findings):
		h.Cause, h.Reason = CauseFound, foundReason(h.Findings)
	case old == nil && !p.fresh:
		h.Cause, h.Reason = CauseAdded, "the server gave no instructions at first use"
	case old == nil && !live:
		h.Cause, h.Reason = CauseUnproven, "the stored catalog has them, and they were never pinned: somebody else wrote them there"
	default:
		p.items[key], p.dirty = &pin{raw: raw, since: p.book.now(), scanned: scan.Version}, true
		return nil
	}
	return h
}

// Accept pins what is in quarantine, after the operator has seen it.
func (p *Pins) Accept(list []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range list {
		key := keyOf(policy.Definition{Item: h.Item}, h.Template)
		if h.Item.Name == "" {
			key = pinKey{kind: instructions}
		}
		p.items[key] = &pin{raw: h.New, since: p.book.now(), accepted: true}
	}
	p.fresh, p.dirty = false, true
}

// EndDoubt ends the doubt when nothing is left that it is about.
func (p *Pins) EndDoubt(held []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubt != "" && !slices.ContainsFunc(held, func(h Held) bool { return h.Cause == CauseUnproven }) {
		p.doubt, p.dirty = "", true
	}
}

// EndFirstUse ends the first use: what comes later is an addition.
func (p *Pins) EndFirstUse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh {
		p.fresh, p.dirty = false, true
	}
}
