package policy

import (
	"errors"
	"maps"
	"slices"
)

// Limit bounds how often the calls of one role are made. A figure that it leaves out is not limited. The calls of all sessions that have
// the role count together. Under Session, the calls of each session count by themselves; under Tools, the calls of items that the pattern
// matches.
type Limit struct {
	Rates   `yaml:",inline"`
	Tools   map[string]Rates `yaml:"tools" json:"tools,omitempty" about:"by pattern, server__tool or server__*"`
	Session SessionLimit     `yaml:"session" json:"session,omitzero" about:"the same for one session"`
}

// SessionLimit is what a limit says of each session.
type SessionLimit struct {
	Rates `yaml:",inline"`
	Tools map[string]Rates `yaml:"tools" json:"tools,omitempty" about:"by pattern, server__tool or server__*"`
}

// Rates are the figures of one limit. No period of a minute, an hour or a day has more calls than its figure, and at most Concurrent calls
// are in progress at any time.
type Rates struct {
	PerMinute  Count `yaml:"perMinute" json:"perMinute,omitzero" about:"calls in a minute"`
	PerHour    Count `yaml:"perHour" json:"perHour,omitzero" about:"calls in an hour"`
	PerDay     Count `yaml:"perDay" json:"perDay,omitzero" about:"calls in a day"`
	Concurrent Count `yaml:"concurrent" json:"concurrent,omitzero" about:"calls at the same time"`
}

// Count is a number of calls, from 1 to MaxCount. 0 is no limit.
type Count int

// MaxCount is the largest figure of a limit. No machine reaches more.
const MaxCount = 1_000_000_000

// YAMLSchema is how people write a number of calls.
func (Count) YAMLSchema() map[string]any {
	return map[string]any{"type": "integer", "minimum": 1, "maximum": MaxCount}
}

// UnmarshalYAML reads a number. 0 is an error, because it could mean "no call" or "no limit".
func (n *Count) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	switch v := v.(type) {
	case int64:
		*n = Count(v)
	case uint64:
		*n = Count(min(v, MaxCount+1))
	}
	if *n < 1 || *n > MaxCount {
		*n = 0
		return errors.New("write a whole number of calls from 1 to 1000000000; to forbid all calls, write a deny rule")
	}
	return nil
}

// EveryRole stands for every role in the limits that people write. The calls of each role count by themselves.
const EveryRole = "*"

// And is the limit that allows what both limits allow.
func (l Limit) And(o Limit) Limit {
	return Limit{l.Rates.And(o.Rates), andTools(l.Tools, o.Tools), SessionLimit{l.Session.And(o.Session.Rates),
		andTools(l.Session.Tools, o.Session.Tools)}}
}

// And is the rates that allow what both rates allow.
func (r Rates) And(o Rates) Rates {
	return Rates{r.PerMinute.and(o.PerMinute), r.PerHour.and(o.PerHour), r.PerDay.and(o.PerDay), r.Concurrent.and(o.Concurrent)}
}

func (n Count) and(o Count) Count {
	if n == 0 || o != 0 && o < n {
		return o
	}
	return n
}

func andTools(a, b map[string]Rates) map[string]Rates {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	for pattern, r := range b {
		out[pattern] = out[pattern].And(r)
	}
	return out
}

// Bound is one declared limit as it applies to the calls of a role.
type Bound struct {
	Rates
	Name    string // role, role.session, role.tools.PATTERN or role.session.tools.PATTERN
	Session bool   // the calls of each session count by themselves
	Tools   string // the pattern of the items whose calls count; empty for all items

	pattern Pattern
}

// Concerns reports whether the bound counts calls of an item.
func (b *Bound) Concerns(it Item) bool { return b.Tools == "" || b.pattern.Match(it) }

// Bounds are the limits that apply to the calls of a role: its own, those of the roles that it inherits, and those of every role, each with
// its strictest figure. There are none for a role without limits. The slice is shared; do not modify it.
func (p *Policy) Bounds(role string) []Bound {
	if i, ok := p.roleIndex[role]; ok {
		return p.roles[i].bounded
	}
	return nil
}

// addLimits works out the bounds of every role.
func (c *compiler) addLimits() {
	byRole := map[int]Limit{}
	for _, name := range slices.Sorted(maps.Keys(c.src.Limits)) {
		switch r := c.find(name); {
		case name == EveryRole || r == nil: // a role that nobody declares has no principal
		default:
			byRole[r.index] = byRole[r.index].And(c.src.Limits[name])
		}
	}
	for _, r := range c.p.roles {
		l := c.src.Limits[EveryRole]
		for _, i := range r.chain {
			l = l.And(byRole[i])
		}
		r.bounded = c.bounds(r.view.ID, l)
	}
}

// bounds compiles one limit.
func (c *compiler) bounds(role string, l Limit) []Bound {
	var out []Bound
	add := func(b Bound) {
		if b.Rates != (Rates{}) {
			out = append(out, b)
		}
	}
	tools := func(of string, session bool, list map[string]Rates) {
		for _, text := range slices.Sorted(maps.Keys(list)) {
			p, err := ParsePattern(text)
			if err != nil {
				c.problem("limits."+of+".tools: "+err.Error(), "until this is fixed it counts every call")
				p, _ = ParsePattern("*")
			}
			add(Bound{Rates: list[text], Name: of + ".tools." + text, Session: session, Tools: text, pattern: p})
		}
	}
	add(Bound{Rates: l.Rates, Name: role})
	tools(role, false, l.Tools)
	add(Bound{Rates: l.Session.Rates, Name: role + ".session", Session: true})
	tools(role+".session", true, l.Session.Tools)
	return out
}
