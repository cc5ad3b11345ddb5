package view

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"mycelium/internal/rawjson"
)

// SetString returns a definition with the string value of one of its members replaced. Every other byte stays. It is an error if the
// definition is not a valid JSON object, or if the member is not a string.
func SetString(raw []byte, member, value string) ([]byte, error) {
	if !rawjson.Valid(raw) || rawjson.Trim(raw)[0] != '{' {
		return nil, errors.New("definition is not a JSON object without duplicate names")
	}
	old := rawjson.Member(raw, member)
	switch {
	case old == nil:
		return nil, fmt.Errorf("definition has no %q", member)
	case old[0] != '"':
		return nil, fmt.Errorf("definition: %q is not a string", member)
	case !utf8.ValidString(value):
		return nil, fmt.Errorf("quote %s: %q is not UTF-8", member, value)
	}
	return rawjson.Set(raw, member, rawjson.Quote(value)), nil
}

// errShape means that a text is not valid JSON.
var errShape = errors.New("it is not valid JSON")

// memberPart returns what the value of a member is, from what its object is and from the key.
type memberPart func(object part, key []byte) part

// walk returns a definition with the strings replaced for which text returns true. Every other byte stays.
func walk(in []byte, member memberPart, text func(s string, p part) (string, bool)) ([]byte, error) {
	out, ok := rawjson.Rewrite(nil, in, whole, &rawjson.Visitor[part]{
		Member: func(object part, key []byte, first byte) (part, bool) {
			return member(object, key), object == schema && first == '[' && string(key) == "enum"
		},
		String: func(p part, token []byte) []byte {
			if p == keep {
				return nil
			}
			return rawjson.Edit(token, func(s string) (string, bool) { return text(s, p) })
		},
		Value: func(_ part, enum []byte) []byte { return withoutHidden(enum, text) },
	})
	if !ok {
		return nil, errShape
	}
	return out, nil
}

// withoutHidden leaves out of an enum the values that name something hidden: the server takes each of the others. If no value remains,
// the enum holds a word that no server takes, because a schema needs at least one. It returns nil if no value is hidden.
func withoutHidden(enum []byte, text func(s string, p part) (string, bool)) []byte {
	var kept [][]byte
	dropped := false
	for value := range rawjson.Elements(enum) {
		if value[0] == '"' {
			if _, hidden := text(string(rawjson.Unquote(value)), data); hidden {
				dropped = true
				continue
			}
		}
		kept = append(kept, value)
	}
	switch {
	case !dropped:
		return nil
	case kept == nil:
		kept = [][]byte{rawjson.Quote(anotherTool)}
	}
	return rawjson.Array(kept)
}
