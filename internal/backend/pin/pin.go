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
	CauseChanged  = "changed"  // the definition differs from the accepted one
	CauseRenamed  = "renamed"  // an accepted definition came back under another name
	CauseAdded    = "added"    // it came after the first use of the server, and additions have to be accepted
	CauseFound    = "found"    // the scan found something in it
	CauseUnproven = "unproven" // it is not known what was accepted: the pins are missing or were changed
)

// Held is an item in quarantine. Its definition was not accepted, so agents do not see it.
type Held struct {
	Item     policy.Item
	Template bool           // a resource template: Item.Name is the URI template
	Cause    string         // one of the causes above
	Reason   string         // for people
	Former   string         // its former name; of a rename
	Old      []byte         // the accepted definition, raw; nil: there is none
	New      []byte         // the offered definition, raw
	Digest   string         // of New
	Findings []scan.Finding // of the scan, hard ones first
	KeptOut  *KeptOut       // nil: nobody has decided about this definition
}

// KeptOut is the decision of a person that a definition stays in quarantine. It holds for the definition with one digest.
type KeptOut struct {
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// Name is the name of the item for people: server__name, with the prefix prompt:, resource: or template: for other kinds than tools.
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
	accepted bool   // by the operator, who saw the findings; false: it was offered at first use
	text     string // SKILL.md, of an approved skill
	scanned  int    // version of the scan rules that found nothing hard in it
}

type pinKey struct {
	kind catalog.Kind
	name string
}

// outKey names one definition of an item.
type outKey struct {
	pinKey
	digest string
}

// keyOfHeld is the key of an item in quarantine.
func keyOfHeld(h *Held) outKey {
	key := keyOf(policy.Definition{Item: h.Item}, h.Template)
	if h.Item.Name == "" {
		key = pinKey{kind: instructions}
	}
	return outKey{key, h.Digest}
}

// decided is what a person has decided about a definition in quarantine; nil: nothing. The lock is held.
func (p *Pins) decided(key outKey) *KeptOut {
	if k, ok := p.keptOut[key]; ok {
		return &k
	}
	return nil
}

// KeepOut keeps definitions in quarantine for a person. They wait for nobody any more, until the server offers others.
func (p *Pins) KeepOut(list []Held, by string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range list {
		p.keptOut[keyOfHeld(&list[i])] = KeptOut{by, p.book.now()}
	}
	p.dirty = true
}

// Pins are the accepted definitions of one server. A removed item keeps its pin: a server cannot launder another definition by removing
// the item and adding it again.
type Pins struct {
	book   *Book
	server string

	mu       sync.Mutex
	items    map[pinKey]*pin
	keptOut  map[outKey]KeptOut
	firstUse bool   // nothing was ever accepted of this server: the first offer is trusted
	doubt    string // why items without a pin are not trusted, although nothing is known of the server; empty: they may be trusted
	dirty    bool   // differs from the file
}

// maxPins bounds the pins of one server. A pin is never dropped to make room, because a server could push an old pin out.
const maxPins = 4 * catalog.MaxItems

// Judge divides definitions into those that may be used and those in quarantine. template reports that they are resource templates.
// live reports that the server itself sent them just now, so that new items may be pinned; otherwise they come from the stored catalog,
// where no item can be new. strict puts every addition into quarantine.
func (p *Pins) Judge(defs []policy.Definition, template, live, strict bool, sc *Scanner) (good []policy.Definition, held []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	offered := map[pinKey]bool{}
	for _, d := range defs {
		offered[keyOf(d, template)] = true
	}
	var n *additions
	good = defs[:0:0]
	for _, d := range defs {
		h, ok := p.judgeKnown(d, template, sc)
		if !ok {
			if n == nil && !p.firstUse {
				n = p.compare(offered)
			}
			h = p.judgeNew(d, template, live, strict, n, sc)
		}
		if h == nil {
			good = append(good, d)
			continue
		}
		h.Item, h.Template, h.New, h.Digest = d.Item, template, d.Raw, catalog.Digest(d.Raw)
		if h.Findings == nil {
			h.Findings = sc.scan(d.Raw)
		}
		h.KeptOut = p.decided(keyOfHeld(h))
		held = append(held, *h)
	}
	if !template { // otherwise offered has only templates
		p.dropGoneResources(offered)
	}
	return good, held
}

// dropGoneResources drops the pins of resources that are no longer offered. Resources come and go; their pins only say that they were
// scanned. The lock is held.
func (p *Pins) dropGoneResources(offered map[pinKey]bool) {
	for key := range p.items {
		if key.kind == catalog.Resources && !offered[key] && len(offered) > 0 {
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

// judgeKnown judges an item that has a pin, or about whose pin there is doubt. It returns nil and true for an item that may be used, and
// false for a new item. The lock is held.
func (p *Pins) judgeKnown(d policy.Definition, template bool, sc *Scanner) (*Held, bool) {
	key := keyOf(d, template)
	old := p.items[key]
	if old != nil && key.kind == catalog.Resources && !catalog.SameDefinition(old.raw, d.Raw) {
		return nil, false // changed data is scanned again
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

// judgeNew pins a new item, unless a person has to accept it first. The lock is held.
func (p *Pins) judgeNew(d policy.Definition, template, live, strict bool, n *additions, sc *Scanner) *Held {
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
	if !p.firstUse {
		if h := p.checkAddition(key, d, strict, n); h != nil {
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

// foundReason describes the first finding.
func foundReason(found []scan.Finding) string {
	return fmt.Sprintf("the scan found %s: %s (%s: %s)", found[0].Family, found[0].Why, found[0].Where, found[0].Excerpt)
}

// additions is the data that an added item is compared with. It is made at the first need: most listings add no item.
type additions struct {
	gone    map[[sha256.Size]byte]pinKey // digest without the name → an accepted item that is no longer offered
	similar map[pinKey]string            // folded name → accepted name
}

// compare makes the data for additions. offered are the items that are offered now. The lock is held.
func (p *Pins) compare(offered map[pinKey]bool) *additions {
	n := &additions{gone: map[[sha256.Size]byte]pinKey{}, similar: map[pinKey]string{}}
	for key, old := range p.items {
		if key.kind >= catalog.Skills {
			continue
		}
		if !offered[key] {
			n.gone[catalog.SumWithoutName(key.kind, old.raw)] = key
		}
		if key.kind == catalog.Tools || key.kind == catalog.Prompts {
			n.similar[pinKey{key.kind, foldSimilar(key.name)}] = key.name
		}
	}
	return n
}

// checkAddition judges an item that a known server did not offer before.
func (p *Pins) checkAddition(key pinKey, d policy.Definition, strict bool, n *additions) *Held {
	if was, ok := n.gone[catalog.SumWithoutName(key.kind, d.Raw)]; ok {
		reason := fmt.Sprintf("it was accepted under the name %q", was.name)
		return &Held{Cause: CauseRenamed, Reason: reason, Former: was.name, Old: p.items[was].raw}
	}
	like, ok := n.similar[pinKey{key.kind, foldSimilar(key.name)}]
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

// foldSimilar maps names that a reader could mistake for one another to the same name.
func foldSimilar(name string) string {
	r := strings.NewReplacer("_", "", "-", "", ".", "", "0", "o", "1", "l", "i", "l", "5", "s", "rn", "m", "vv", "w")
	return r.Replace(strings.ToLower(name))
}

// Instructions judges the instructions of a server; nil: they may be passed on. Instructions that a server did not have at first use are
// held too, because they reach every client without a grant.
func (p *Pins) Instructions(text string, live bool, sc *Scanner) *Held {
	if text == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	raw, key := rawjson.Set(nil, instructionList, rawjson.Quote(text)), pinKey{kind: instructions}
	h := &Held{New: raw, Digest: catalog.Digest(raw)}
	h.KeptOut = p.decided(outKey{key, h.Digest})
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
	case old == nil && !p.firstUse:
		h.Cause, h.Reason = CauseAdded, "the server gave no instructions at first use"
	case old == nil && !live:
		h.Cause, h.Reason = CauseUnproven, "the stored catalog has them, and they were never pinned: somebody else wrote them there"
	default:
		p.items[key], p.dirty = &pin{raw: raw, since: p.book.now(), scanned: scan.Version}, true
		return nil
	}
	return h
}

// AcceptedInstructions returns the pinned instructions, or "".
func (p *Pins) AcceptedInstructions() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.items[pinKey{kind: instructions}]; x != nil {
		return rawjson.TextAt(x.raw, instructionList)
	}
	return ""
}

// Accept pins items in quarantine that the operator has seen.
func (p *Pins) Accept(list []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range list {
		key := keyOfHeld(&h)
		p.items[key.pinKey] = &pin{raw: h.New, since: p.book.now(), accepted: true}
		delete(p.keptOut, key)
	}
	p.firstUse, p.dirty = false, true
}

// EndDoubt ends the doubt when no held item is left that is there because of it.
func (p *Pins) EndDoubt(held []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubt != "" && !slices.ContainsFunc(held, func(h Held) bool { return h.Cause == CauseUnproven }) {
		p.doubt, p.dirty = "", true
	}
}

// EndFirstUse ends the first use: later items are additions.
func (p *Pins) EndFirstUse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.firstUse {
		p.firstUse, p.dirty = false, true
	}
}
