package view

import (
	"slices"
	"sync"

	"mycelium/internal/policy"
)

// part says what a value of a definition is, and so what is done to the strings in it.
type part uint8

const (
	prose   part = iota // texts for people and models
	keep                // a name of the definition's own, or what refers to keys
	data                // values of a schema
	schema              // a JSON schema, or several in an array
	schemas             // an object whose members are schemas
	params              // the arguments of a prompt

	whole // the definition itself
)

// ofDefinition returns what the members of a definition are. own is the member that names it.
func ofDefinition(own string) memberPart {
	return func(object part, key []byte) part {
		if object != whole {
			return object.member(string(key))
		}
		switch string(key) {
		case own:
			return keep
		case "inputSchema", "outputSchema":
			return schema
		case "arguments":
			return params
		}
		return prose
	}
}

// member returns what a member of a part of a definition is.
func (p part) member(key string) part {
	switch {
	case p == params && key == "name":
		return keep
	case p == params:
		return prose
	case p == schemas:
		return schema
	case p != schema:
		return p
	}
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return schemas
	case "$ref", "$dynamicRef", "$id", "$schema", "$anchor", "$dynamicAnchor", "required", "dependentRequired", "type", "format", "pattern":
		return keep
	case "enum", "const", "default", "example", "examples":
		return data
	}
	return schema
}

// named are the numbers of the names that a definition mentions, sorted, without its own. A definition without any is never masked,
// and all sessions share it.
type named struct {
	server  string
	own     string // its member that names it
	numbers []int32
}

// namesIn finds the names that a definition mentions; nil means that it mentions none.
func (c *catalogNames) namesIn(raw []byte, it policy.Item, own string) (*named, error) {
	self := int32(-1)
	if it.Kind != policy.Resource {
		self = c.client.number[it.String()]
	}
	var numbers []int32
	var buf [16]mention
	_, err := walk(raw, ofDefinition(own), func(s string, p part) (string, bool) {
		for _, m := range c.mentions(buf[:0], s, it.Server, p != data) {
			if m.number != self {
				numbers = append(numbers, m.number)
			}
		}
		return s, false
	})
	if err != nil || numbers == nil {
		return nil, err
	}
	slices.Sort(numbers)
	return &named{it.Server, own, slices.Compact(numbers)}, nil
}

// masks keeps masked definitions, because many sessions share one of a few views.
type masks struct {
	mu   sync.Mutex
	made map[maskKey][]byte
}

type maskKey struct {
	of     *named
	hidden string // the places in of.numbers of what is hidden, as bits
}

// maxMasks bounds the masked definitions that are kept.
const maxMasks = 1 << 14

// definition returns a definition as a view shows it.
func (w *Catalog) definition(l Listed, view nameBits) []byte {
	hidden := make([]byte, (len(l.names.numbers)+7)/8)
	some := false
	for i, n := range l.names.numbers {
		if !view.has(n) {
			hidden[i/8] |= 1 << (i % 8)
			some = true
		}
	}
	if !some {
		return l.Raw
	}
	key := maskKey{l.names, string(hidden)}
	w.masks.mu.Lock()
	defer w.masks.mu.Unlock()
	if raw, ok := w.masks.made[key]; ok {
		return raw
	}
	raw, err := walk(l.Raw, ofDefinition(l.names.own), func(s string, p part) (string, bool) {
		return w.names.mask(s, l.names.server, p != data, view)
	})
	if err != nil {
		raw = l.Raw // it was gone through when its names were looked for
	}
	if w.masks.made == nil || len(w.masks.made) == maxMasks {
		w.masks.made = map[maskKey][]byte{}
	}
	w.masks.made[key] = raw
	return raw
}

// mask removes the hidden names from a view's definitions.
func (w *Catalog) mask(v *Lists) {
	v.seen = make(nameBits, (w.names.count+63)/64)
	for _, k := range []policy.Kind{policy.Tool, policy.Prompt} {
		for i := range v.Items[k] {
			if n := v.Items[k][i].number; n > 0 {
				v.seen.add(n - 1)
			}
		}
	}
	for _, list := range [][]Listed{v.Items[policy.Tool], v.Items[policy.Resource], v.Items[policy.Prompt], v.Templates} {
		for i := range list {
			if list[i].names != nil {
				list[i].Raw = w.definition(list[i], v.seen)
			}
		}
	}
}
