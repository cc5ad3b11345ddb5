package view

import (
	"bytes"
	"cmp"
	"log/slog"
	"slices"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/policy/remote"
	"mycelium/internal/rawjson"
	"mycelium/internal/skill"
)

// World is what calls are judged by at one moment. It is replaced as a whole and never changed.
type World struct {
	Policy      *policy.Policy
	Skills      *skill.Library
	Definitions []policy.Definition // the catalog that the policy was compiled with
	Templates   []policy.Definition // resource templates
	Held        []policy.Item       // in quarantine: what servers offer and no session may use or see named
	Broken      string              // why the policy is not the one that people wrote; empty if it is
	Promotion   string              // who may activate skills: auto (the policy decides; the default), confirm or manual
	Roots       map[string]string   // the folder where relative paths of a server begin, absolute; default: the project folder
	Servers     map[string]Server   // what the servers said about themselves, by name
	// RolePrompt returns the prompt of a role that comes from a server; nil: the prompt of its file. It may wait a moment for the server.
	RolePrompt func(role string, r *remote.Instruction) string
	FixedRoles bool   // a role follows from the identity of an agent: no agent switches to another
	AskClient  bool   // ask a client that supports elicitation about its calls that wait for an approval
	ToolSearch string // when a list of tools leaves some out; see Deferral
	// Learning are the servers whose offer is being learned for the first time, with the time that a client waits for it at most. Ahead is
	// the policy with the skills that wait for one of them; nil: no skill does.
	Learning map[string]time.Duration
	Ahead    *policy.Policy

	// Wider are definitions that a scope gets in place of those of the same names if Widens says so. Widens must depend on the roles of the
	// scope's principal and its ancestors only, because scopes with the same roles share their lists.
	Wider  []policy.Definition
	Widens func(*policy.Policy, policy.Scope) bool

	Bare string // the one server whose names and URIs clients see without a prefix; empty: none
}

// The modes of promotion. Any other word counts as manual.
const (
	PromoteAuto    = "auto"
	PromoteConfirm = "confirm"
)

// PromotionMode returns Promotion, with its default.
func (w World) PromotionMode() string {
	switch w.Promotion {
	case "", PromoteAuto:
		return PromoteAuto
	case PromoteConfirm:
		return PromoteConfirm
	default:
		return "manual"
	}
}

// Catalog is a World and what is computed from it once: the definitions as clients see them, and the names that texts may mention.
type Catalog struct {
	World
	byItem       map[policy.Item]entry
	wider        map[policy.Item]Listed
	tools        []Listed // of the catalog, control tools included; sorted
	resources    []entry  // sorted
	prompts      []entry  // sorted
	templates    []entry  // sorted
	SkillEntries []SkillEntry
	servers      map[string]struct{}
	names        *catalogNames
	masks        masks
	views        views
	skills       skillIndexes
}

// entry is one definition, as the server sent it and as clients see it.
type entry struct {
	Listed
	sent  []byte
	notes policy.Annotations
}

// New computes the catalog of a world. own are the definitions of the gate's own servers. It takes over what old, which may be nil,
// computed for a definition that has not changed.
func New(w World, own []policy.Definition, old *Catalog, logger *slog.Logger) *Catalog {
	n := &Catalog{World: w, byItem: make(map[policy.Item]entry, len(w.Definitions)+16), tools: make([]Listed, 0, len(w.Definitions)+16)}
	n.servers = serverNames(w)
	n.names = namesOf(w, own, old)
	add := func(d policy.Definition, member string) (entry, bool) {
		if old != nil && old.names == n.names {
			if e, ok := old.byItem[d.Item]; ok && bytes.Equal(e.sent, d.Raw) {
				e.notes = d.Annotations
				return e, true
			}
		}
		l, err := n.client(d, member)
		if err != nil {
			logger.Warn("a definition is not listed", "item", d.Item.String(), "error", err)
			return entry{}, false
		}
		return entry{l, d.Raw, d.Annotations}, true
	}
	for _, d := range slices.Concat(own, w.Definitions) {
		if d.Item.Server == policy.AgentServer {
			continue // an agent's own tools are decided, never listed
		}
		if _, twice := n.byItem[d.Item]; twice {
			continue // the policy's catalog has our own tools too
		}
		e, ok := add(d, nameMember(d.Item.Kind))
		if !ok {
			continue
		}
		n.byItem[d.Item] = e
		switch d.Item.Kind {
		case policy.Resource:
			n.resources = append(n.resources, e)
		case policy.Prompt:
			n.prompts = append(n.prompts, e)
		case policy.Tool:
			n.tools = append(n.tools, e.Listed)
		}
	}
	for _, d := range w.Templates {
		if l, err := n.client(d, "uriTemplate"); err == nil {
			n.templates = append(n.templates, entry{Listed: l})
		} else {
			logger.Warn("a resource template is not listed", "template", d.Item.String(), "error", err)
		}
	}
	n.addWider(logger)
	if old != nil && old.Skills == w.Skills {
		n.SkillEntries = old.SkillEntries
	} else {
		n.SkillEntries = skillEntries(w.Skills, logger)
	}
	slices.SortStableFunc(n.tools, func(a, b Listed) int { return compareItems(a.Item, b.Item) })
	for _, list := range [][]entry{n.resources, n.prompts, n.templates} {
		slices.SortFunc(list, func(a, b entry) int { return compareItems(a.Item, b.Item) })
	}
	return n
}

func (w *Catalog) addWider(logger *slog.Logger) {
	w.wider = map[policy.Item]Listed{}
	for _, d := range w.Wider {
		if l, err := w.client(d, nameMember(d.Item.Kind)); err == nil {
			w.wider[d.Item] = l
		} else {
			logger.Warn("a definition is not listed", "item", d.Item.String(), "error", err)
		}
	}
}

// client returns a definition as clients see it, with the names that it mentions. member is the one that names it.
func (w *Catalog) client(d policy.Definition, member string) (Listed, error) {
	raw, err := clientForm(d, member, w.Bare)
	if err != nil {
		return Listed{}, err
	}
	l := Listed{Item: d.Item, Raw: raw}
	if countsAsName(d.Item) {
		l.number = w.names.client.number[d.Item.String()] + 1
	}
	l.names, err = w.names.namesIn(raw, d.Item, member)
	return l, err
}

// clientForm returns a definition with its name in the form that clients use. Every other byte stays.
func clientForm(d policy.Definition, member, bare string) ([]byte, error) {
	if bare != "" && d.Item.Server == bare {
		return d.Raw, nil
	}
	if d.Item.Kind == policy.Tool {
		d.Raw = appForm(d)
	}
	if d.Item.Kind == policy.Resource {
		return SetString(d.Raw, member, URI(d.Item))
	}
	return SetString(d.Raw, member, d.Item.String())
}

// appForm returns the definition of a tool with the URI of its app (MCP Apps, _meta.ui.resourceUri, formerly _meta["ui/resourceUri"])
// in the form that clients use to read it.
func appForm(d policy.Definition) []byte {
	if !bytes.Contains(d.Raw, []byte("resourceUri")) {
		return d.Raw
	}
	raw := d.Raw
	for _, path := range [][]string{{"_meta", "ui", "resourceUri"}, {"_meta", "ui/resourceUri"}} {
		if uri, ok := rawjson.Text(rawjson.Path(raw, path...)); ok {
			raw = rawjson.Replace(raw, rawjson.Quote(URI(policy.Item{Server: d.Item.Server, Name: uri})), path...)
		}
	}
	return raw
}

// URI returns the URI of a resource in the form that clients use: the server, "+", and the server's own URI.
func URI(it policy.Item) string { return it.Server + "+" + it.Name }

// nameMember returns the member of a definition that names its item.
func nameMember(k policy.Kind) string {
	if k == policy.Resource {
		return "uri"
	}
	return "name"
}

func compareItems(a, b policy.Item) int {
	return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
}

// IsOwn reports whether the gate itself answers for a server.
func IsOwn(name string) bool { return name == policy.RouterServer || name == policy.SkillsServer }

// Annotations returns what the server of a tool says about it.
func (w *Catalog) Annotations(it policy.Item) policy.Annotations { return w.byItem[it].notes }
